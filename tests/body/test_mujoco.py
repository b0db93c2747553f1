"""Every kind of joint that MuJoCo has, or that its hinges and slides make up, against MuJoCo."""

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from tests.naive.bodies import KINDS, random_body
from tests.naive.kinematics import plane, values_of

seeds = st.integers(0, 2**32 - 1)
EXACT = {"rtol": 0.0, "atol": 1e-11}
NO_SCREW = tuple(kind for kind in KINDS if kind != "screw")
# Kinds made of hinges and slides, whose velocities are the rates of our variables.
SAME_RATES = tuple(kind for kind in NO_SCREW if kind not in ("spherical", "floating"))


def numbers(values):
    return " ".join(f"{value:.17g}" for value in values)


def elements(joint):
    """MJCF of one joint: several elements in one body act one after the other."""

    def element(kind, axis):
        return f'<joint type="{kind}" axis="{numbers(axis)}"/>'

    a, kind = joint.axis, joint.kind
    if kind == "fixed":
        return ""
    if kind in ("revolute", "continuous"):
        return element("hinge", a)
    if kind == "prismatic":
        return element("slide", a)
    if kind == "cylindrical":
        return element("hinge", a) + element("slide", a)
    if kind == "planar":
        x, y = plane(a)
        return element("slide", x) + element("slide", y) + element("hinge", a)
    slides = "".join(element("slide", axis) for axis in np.eye(3))
    ball = '<joint type="ball"/>'
    return {"xyz": slides, "spherical": ball, "floating": slides + ball}[kind]


def mjcf(body):
    def inside(link):
        mass = body.links[link].mass
        center = numbers(body.links[link].center_of_mass)
        text = f'<inertial mass="{mass:.17g}" pos="{center}" diaginertia="1 1 1"/>' if mass else ""
        for joint in body.joints.values():
            if joint.parent == link:
                quaternion = np.roll(Rotation.from_matrix(joint.origin[:3, :3].copy()).as_quat(), 1)
                place = f'pos="{numbers(joint.origin[:3, 3])}" quat="{numbers(quaternion)}"'
                text += f'<body name="{joint.child}" {place}>{elements(joint)}{inside(joint.child)}</body>'
        return text

    return (
        '<mujoco><compiler angle="radian"/><worldbody>'
        f'<body name="{body.root}">{inside(body.root)}</body></worldbody></mujoco>'
    )


def ball(order, angles):
    """Turns about moving axes as a quaternion (w, x, y, z)."""
    return np.roll(Rotation.from_euler(order.upper(), angles).as_quat(), 1)


def coordinates(body, q):
    """Our values as MuJoCo's, which are ordered depth-first too; a ball is a quaternion."""
    result = []
    for joint in body.joints.values():
        values = values_of(body, joint, q)
        if joint.kind in ("spherical", "floating"):
            values = [*values[:-3], *ball(joint.order, values[-3:])]
        result.extend(values)
    return result


class Twin:
    """The body as a MuJoCo model, in the posture of these coordinates."""

    def __init__(self, text, at):
        self.model = mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)
        self.data.qpos[:] = at
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)

    def pose(self, link):
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = self.data.body(link).xmat.reshape(3, 3), self.data.body(link).xpos
        return T

    def jacobian(self, link):
        J = np.zeros((6, self.model.nv))
        mujoco.mj_jacBody(self.model, self.data, J[:3], J[3:], self.model.body(link).id)
        return J


def assert_same(body, q):
    twin = Twin(mjcf(body), coordinates(body, q))
    poses = body.forward(q)
    for link in body.links:
        assert_allclose(poses[link], twin.pose(link), **EXACT)
    assert_allclose(body.center_of_mass(q), twin.data.body(body.root).subtree_com, **EXACT)
    return twin


@pytest.mark.parametrize("kind", NO_SCREW)
@given(seed=seeds)
def test_forward_and_center_of_mass_of_every_kind(kind, seed):
    rng = np.random.default_rng(seed)
    body = random_body(rng, 4, [kind])
    assert_same(body, rng.uniform(-4.0, 4.0, body.dof))


@given(seed=seeds, joints=st.integers(1, 14))
def test_forward_and_center_of_mass_of_trees(seed, joints):
    rng = np.random.default_rng(seed)
    body = random_body(rng, joints, NO_SCREW)
    assert_same(body, body.sample(rng))


def test_free_joint(rng):
    """MuJoCo's free joint is our floating base."""
    body = random_body(rng, 5, NO_SCREW)
    q, base = body.sample(rng), rng.uniform(-2.0, 2.0, 6)
    text = mjcf(body).replace(f'"{body.root}">', f'"{body.root}"><freejoint/>', 1)
    twin = Twin(text, [*base[:3], *ball("zxy", base[3:]), *coordinates(body, q)])
    poses = body.with_base("floating").forward([*base, *q])
    for link in body.links:
        assert_allclose(poses[link], twin.pose(link), **EXACT)


@given(seed=seeds, joints=st.integers(1, 10))
def test_jacobian(seed, joints):
    rng = np.random.default_rng(seed)
    body = random_body(rng, joints, SAME_RATES, mimics=0.0)
    q = body.sample(rng)
    twin = assert_same(body, q)
    for link in body.links:
        assert_allclose(body.jacobian(link, q), twin.jacobian(link), **EXACT)

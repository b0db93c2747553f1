"""Every kind of joint against Pinocchio, which has its own code for each of them.

A joint becomes Pinocchio's native one. Where that has no axis of its own (planar, unbounded about z), the
axis is turned there and back. Angles go in as Pinocchio wants them: cosine and sine, or a quaternion
(x, y, z, w).
"""

import math

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from memetik import Body
from memetik.build import Joint, Link, Mimic
from tests.naive.bodies import KINDS, random_body, random_origin
from tests.naive.kinematics import plane, values_of

seeds = st.integers(0, 2**32 - 1)
EXACT = {"rtol": 0.0, "atol": 1e-12}
# Kinds whose velocity is the derivative of their values in Pinocchio too, so that Jacobians can be compared.
SAME_RATES = ("fixed", "revolute", "continuous", "prismatic", "screw", "cylindrical", "xyz")


def native(joint):
    """Pinocchio's joint, and whether its z axis has to be turned to ours."""
    a, kind = joint.axis, joint.kind
    if kind == "revolute":
        return pin.JointModelRevoluteUnaligned(a), False
    if kind == "continuous":
        return pin.JointModelRUBZ(), True
    if kind == "prismatic":
        return pin.JointModelPrismaticUnaligned(a), False
    if kind == "screw":
        return pin.JointModelHelicalUnaligned(a, joint.screw_pitch), False
    if kind == "cylindrical":
        both = pin.JointModelComposite(pin.JointModelRevoluteUnaligned(a))
        both.addJoint(pin.JointModelPrismaticUnaligned(a))
        return both, False
    if kind == "planar":
        return pin.JointModelPlanar(), True
    if kind == "spherical":
        return pin.JointModelSphericalZYX() if joint.order == "zyx" else pin.JointModelSpherical(), False
    return {"xyz": pin.JointModelTranslation, "floating": pin.JointModelFreeFlyer}[kind](), False


def configuration(joint, values):
    """Our values as Pinocchio's configuration of that joint."""
    if joint.kind == "continuous":
        return [math.cos(values[0]), math.sin(values[0])]
    if joint.kind == "planar":
        return [*values[:2], math.cos(values[2]), math.sin(values[2])]
    if joint.kind == "floating" or (joint.kind == "spherical" and joint.order != "zyx"):
        # Capital letters: turns about moving axes, as ours are.
        return [*values[:-3], *Rotation.from_euler(joint.order.upper(), values[-3:]).as_quat()]
    return list(values)


class Twin:
    """The body as a Pinocchio model, one frame for each link."""

    def __init__(self, body):
        self.body, self.model = body, pin.Model()
        self.joints = []  # in the order of Pinocchio's configuration
        carrier = {body.root: (0, pin.SE3.Identity())}
        for joint in body.joints.values():
            index, placement = carrier[joint.parent]
            placement, behind = placement * pin.SE3(np.array(joint.origin)), pin.SE3.Identity()
            if joint.kind != "fixed":
                made, along_z = native(joint)
                if along_z:
                    x, y = plane(joint.axis)
                    tilt = pin.SE3(np.column_stack([x, y, joint.axis]), np.zeros(3))
                    placement, behind = placement * tilt, tilt.inverse()
                index, placement = self.model.addJoint(index, made, placement, joint.name), pin.SE3.Identity()
                self.joints.append(joint)
            carrier[joint.child] = index, placement * behind
        for name, link in body.links.items():
            index, placement = carrier[name]
            self.model.addFrame(pin.Frame(name, index, placement, pin.FrameType.OP_FRAME))
            inertia = pin.Inertia(link.mass, np.array(link.center_of_mass), np.eye(3))
            self.model.appendBodyToJoint(index, inertia, placement)
        self.data = self.model.createData()

    def configuration(self, q):
        parts = [configuration(joint, values_of(self.body, joint, q)) for joint in self.joints]
        return np.array([number for part in parts for number in part])

    def forward(self, q):
        pin.framesForwardKinematics(self.model, self.data, self.configuration(q))
        return {link: self.data.oMf[self.model.getFrameId(link)].homogeneous for link in self.body.links}

    def jacobian(self, link, q):
        frame = self.model.getFrameId(link)
        at = self.configuration(q)
        J = pin.computeFrameJacobian(self.model, self.data, at, frame, pin.LOCAL_WORLD_ALIGNED)
        return J.reshape(6, -1)  # a single column comes without its second dimension

    def center_of_mass(self, q):
        return pin.centerOfMass(self.model, self.data, self.configuration(q))


def assert_same_poses(body, q):
    poses, expected = body.forward(q), Twin(body).forward(q)
    for link in body.links:
        assert_allclose(poses[link], expected[link], **EXACT)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds)
def test_forward_of_every_kind(kind, seed):
    rng = np.random.default_rng(seed)
    body = random_body(rng, 4, [kind])
    assert_same_poses(body, rng.uniform(-4.0, 4.0, body.dof))


@given(seed=seeds, joints=st.integers(1, 16))
def test_forward_of_trees(seed, joints):
    rng = np.random.default_rng(seed)
    body = random_body(rng, joints)
    assert_same_poses(body, body.sample(rng))


@given(seed=seeds, joints=st.integers(1, 10))
def test_jacobian(seed, joints):
    rng = np.random.default_rng(seed)
    body = random_body(rng, joints, SAME_RATES, mimics=0.0)
    q, twin = body.sample(rng), Twin(body)
    for link in body.links:
        assert_allclose(body.jacobian(link, q), twin.jacobian(link, q), **EXACT)


def test_jacobian_of_euler_angles(rng):
    """Pinocchio has one ball joint whose velocities are the rates of its angles: about z, y, x."""
    links = [Link("a"), Link("b"), Link("c")]
    joints = [Joint(f"{p}{c}", "spherical", p, c, random_origin(rng), order="zyx") for p, c in ("ab", "bc")]
    body = Body("two balls", links, joints)
    q = body.sample(rng)
    assert_allclose(body.jacobian("c", q), Twin(body).jacobian("c", q), **EXACT)


@given(seed=seeds, joints=st.integers(1, 12))
def test_center_of_mass(seed, joints):
    rng = np.random.default_rng(seed)
    # Pinocchio leaves out what is fixed to the world, so nothing is.
    body = random_body(rng, joints).with_base("floating")
    q = body.sample(rng)
    assert_allclose(body.center_of_mass(q), Twin(body).center_of_mass(q), **EXACT)


URDF = """
<robot name="gearing">
  <link name="a"/><link name="b"/><link name="c"/><link name="d"/>
  <joint name="one" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0.1 0 0.3"/>
    <axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
  <joint name="two" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0 0.2 0.1"/>
    <axis xyz="0 1 0"/><limit lower="-9" upper="9" effort="1" velocity="1"/>
    <mimic joint="one" multiplier="-1.5" offset="0.2"/></joint>
  <joint name="three" type="prismatic"><parent link="c"/><child link="d"/><origin xyz="0.1 0.2 0.3"/>
    <axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="1" velocity="1"/>
    <mimic joint="one" multiplier="0.5" offset="-0.1"/></joint>
</robot>"""


def test_mimic_joints():
    """Pinocchio's own mimic joints, which it builds only from a file."""
    body = Body(
        "gearing",
        map(Link, "abcd"),
        [
            Joint("one", "revolute", "a", "b", (0.1, 0, 0.3), (0, 0, 1), lower=-2, upper=2),
            Joint("two", "revolute", "b", "c", (0, 0.2, 0.1), (0, 1, 0), mimic=Mimic("one", -1.5, 0.2)),
            Joint("three", "prismatic", "c", "d", (0.1, 0.2, 0.3), (1, 0, 0), mimic=Mimic("one", 0.5, -0.1)),
        ],
    )
    model = pin.buildModelFromXML(URDF, mimic=True)
    data = model.createData()
    assert model.nq == body.dof == 1
    for value in (-1.3, 0.0, 0.7):
        q = np.array([value])
        pin.framesForwardKinematics(model, data, q)
        poses = body.forward(q)
        for link in body.links:
            assert_allclose(poses[link], data.oMf[model.getFrameId(link)].homogeneous, **EXACT)
        J = pin.computeFrameJacobian(model, data, q, model.getFrameId("d"), pin.LOCAL_WORLD_ALIGNED)
        assert_allclose(body.jacobian("d", q)[:, 0], J, **EXACT)

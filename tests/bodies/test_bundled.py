"""The bundled bodies against Pinocchio, which reads the same files by its own means, and against published counts."""

import numpy as np
import pinocchio as pin
import pytest

import memetik as mk
from memetik import bodies

NAMES = bodies.names()


def pinocchio_model(name):
    return pin.buildModelFromUrdf(str(bodies.path(name)), mimic=False)


def pinocchio_vector(model, body, q):
    """Our joint vector in Pinocchio's order; continuous joints are cosine and sine there, mimic joints free."""
    values = {}
    for joint in body.joints.values():
        drives = body.variables.drives.get(joint.name, ())
        for variable, drive in zip(joint.variables, drives, strict=True):
            values[variable] = drive.ratio * q[drive.variable] + drive.offset
    out = pin.neutral(model)
    for index, name in enumerate(model.names):
        if index:
            joint = model.joints[index]
            at = joint.idx_q
            out[at : at + joint.nq] = values[name] if joint.nq == 1 else (np.cos(values[name]), np.sin(values[name]))
    return out


def rotation_error(a, b):
    """The angle between two rotations, accurate near zero: |a - b| is 2 sqrt(2) sin(angle / 2)."""
    return np.linalg.norm(a - b) / np.sqrt(2.0)


@pytest.mark.parametrize("name", NAMES)
def test_forward_kinematics_equals_pinocchio(name, rng):
    body, model = mk.load(name), pinocchio_model(name)
    data = model.createData()
    frames = {link: model.getFrameId(link, pin.BODY) for link in body.links if link != body.root}
    for _ in range(1_000):
        q = body.sample(rng)
        ours = body.forward(q)
        pin.framesForwardKinematics(model, data, pinocchio_vector(model, body, q))
        for link, frame in frames.items():
            theirs = data.oMf[frame]
            assert np.abs(ours[link][:3, 3] - theirs.translation).max() < 1e-12
            assert rotation_error(ours[link][:3, :3], theirs.rotation) < 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_jacobians_equal_pinocchio(name, rng):
    body, model = mk.load(name), pinocchio_model(name)
    data = model.createData()
    leaves = sorted(set(body.links) - {joint.parent for joint in body.joints.values()})
    for _ in range(20):
        q = body.sample(rng)
        at = pinocchio_vector(model, body, q)
        for link in leaves:
            frame = model.getFrameId(link, pin.BODY)
            theirs = pin.computeFrameJacobian(model, data, at, frame, pin.LOCAL_WORLD_ALIGNED)
            expected = np.zeros((6, body.dof))
            for index, joint in enumerate(model.names):
                if index:
                    drive = body.variables.drives[joint][0]
                    expected[:, drive.variable] += drive.ratio * theirs[:, model.joints[index].idx_v]
            assert np.abs(body.jacobian(link, q) - expected).max() < 1e-10


@pytest.mark.parametrize(
    ("name", "chain", "dof"),
    [
        ("ur5", None, 6),
        ("m10ia", None, 6),
        ("iiwa14", None, 7),
        ("kr120", None, 6),
        ("panda", "arm", 7),
        ("pr2", "right_arm", 7),
        ("pr2", "torso_both_arms", 15),
        ("baxter", "left_arm", 7),
        ("baxter", "both_arms", 14),
        ("valkyrie", "wrists_feet_head", 32),
        ("shadow_hand", "thesis", 19),
        ("mannequin", None, 42),
        ("kyle", None, 78),
        ("wolf", None, 58),
    ],
)
def test_degrees_of_freedom_as_published(name, chain, dof):
    body = mk.load(name)
    assert (body if chain is None else body.chain(chain)).dof == dof


def test_valkyrie_has_35_degrees_with_its_pelvis_and_13_in_each_hand():
    body = mk.load("valkyrie", base="xyz")
    fingers = {name for name in body.joint_names if any(part in name for part in ("Thumb", "Finger", "Pinky"))}
    assert len(fingers) == 2 * 13
    assert body.dof - len(fingers) - 1 == 35  # less the spinning lidar, which the thesis does not count


@pytest.mark.parametrize("name", NAMES)
def test_home_is_inside_the_limits_and_every_chain_can_be_cut(name):
    body = mk.load(name)
    assert ((body.lower <= body.home) & (body.home <= body.upper)).all()
    assert body.chains
    for chain in body.chains:
        part = body.chain(chain)
        assert 0 < part.dof <= body.dof


@pytest.mark.parametrize("name", NAMES)
def test_can_be_drawn_and_used_for_collision(name):
    shapes = [shape.kind for link in mk.load(name).links.values() for shape in link.shapes]
    assert len(shapes) >= 3
    assert "mesh" not in shapes

"""Bodies as URDF and back: the same kinematics, limits, mimics and shapes; and Pinocchio reads the same."""

import math

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import memetik as mk
from memetik import bodies
from memetik.errors import FormatError
from tests.naive.bodies import random_body

CLOSE = {"rtol": 0.0, "atol": 1e-10}  # roll and yaw of origins pitched by a right angle are known to about 1e-11


def again(body, folder):
    return mk.load(body.write_urdf(folder / "body.urdf"))


def assert_same(one, other, rng):
    """The same variables with the same limits, and all links of the one in the same places in the other."""
    assert other.joint_names == one.joint_names
    assert_allclose(other.lower, one.lower)
    assert_allclose(other.upper, one.upper)
    for _ in range(5):
        q = one.sample(rng)
        poses, there = one.forward(q), other.forward(q)
        for link in one.links:
            assert_allclose(there[link], poses[link], **CLOSE)
    assert other.mass == pytest.approx(one.mass)


@pytest.mark.parametrize("name", bodies.names())
def test_bundled_bodies(name, rng, tmp_path):
    body = mk.load(name)
    back = again(body, tmp_path)
    assert_same(body, back, rng)
    for link in body.links:
        for field in ("shapes", "visuals"):
            for one, other in zip(getattr(body.links[link], field), getattr(back.links[link], field), strict=True):
                assert (one.kind, one.size, one.mesh) == (other.kind, other.size, other.mesh)
                assert_allclose(other.link_from_shape, one.link_from_shape, **CLOSE)
    assert [joint.mimic for joint in back.joints.values()] == [joint.mimic for joint in body.joints.values()]


@pytest.mark.filterwarnings("ignore:.*a limit of 1e.09 or more")
@pytest.mark.parametrize("seed", range(8))
def test_any_body(seed, tmp_path):
    rng = np.random.default_rng(seed)
    body = random_body(rng, 9, mimics=0.3)
    assert_same(body, again(body, tmp_path), rng)


def test_joints_that_urdf_lacks(rng, tmp_path):
    builder = mk.build.BodyBuilder("odd", root_link="a")
    builder.add("a", "ball", "spherical", "b", origin=(0.1, 0.2, 0.3), lower=-1.0, upper=1.0)
    builder.add("b", "bolt", "screw", "c", origin=(0, 0, 0.2), axis=(0.6, 0, 0.8), screw_pitch=0.05, lower=-2, upper=3)
    builder.add("c", "piston", "cylindrical", "d", axis=(0, 1, 0), lower=(-1, -0.1), upper=(1, 0.1))
    body = builder.add("d", "cart", "xyz", "e", lower=-1, upper=1).build().with_base("floating", lower=-2, upper=2)
    back = again(body, tmp_path)
    assert_same(body, back, rng)
    assert back.joints["bolt.slide"].mimic == mk.build.Mimic("bolt", 0.05)
    model = pin.buildModelFromUrdf(str(tmp_path / "body.urdf"), mimic=True)
    assert model.nq == body.dof


def test_a_gripper_on_an_arm_is_read_by_pinocchio(rng, tmp_path):
    robot = mk.load("ur5").attach(mk.load("panda").subtree("panda_hand"), at="tool0", offset=(0, 0, 0.02))
    model = pin.buildModelFromUrdf(str(robot.write_urdf(tmp_path / "robot.urdf")))
    data, q = model.createData(), robot.sample(rng)
    pin.framesForwardKinematics(model, data, robot.to_pinocchio(q, model))
    for link in ("tool0", "panda_leftfinger", "panda_rightfinger"):
        assert_allclose(data.oMf[model.getFrameId(link)].homogeneous, robot.forward(q, link), **CLOSE)


def test_hulls_become_meshes(tmp_path):
    corners = np.array([(x, y, z) for x in (0, 0.1) for y in (0, 0.2) for z in (0, 0.3)], dtype=float)
    color = (1.0, 0.5, 0.0, 1.0)
    link = mk.build.Link(
        "stone", 2.0, (0.1, 0, 0), (mk.Shape("hull", points=corners),), (mk.Shape("box", (1, 1, 1), color=color),)
    )
    back = again(mk.Body("a <stone> & more", [link], []), tmp_path)
    shape = back.links["stone"].shapes[0]
    assert shape.kind == "mesh" and shape.mesh == str(tmp_path / "body_meshes" / "hull_0.stl")
    import trimesh

    assert trimesh.load(shape.mesh).volume == pytest.approx(0.006)
    assert back.name == "a <stone> & more" and back.links["stone"].visuals[0].color == color
    assert back.links["stone"].center_of_mass == (0.1, 0.0, 0.0)


def test_one_side_without_limit(tmp_path):
    body = mk.Body(
        "slide", [mk.build.Link("a"), mk.build.Link("b")], [mk.build.Joint("j", "prismatic", "a", "b", lower=0.5)]
    )
    with pytest.warns(mk.MemetikWarning, match="taken as none"):
        back = again(body, tmp_path)
    assert (back.lower[0], back.upper[0]) == (0.5, math.inf)


def test_mistakes(tmp_path):
    with pytest.raises(FormatError, match=r"has to end in \.urdf"):
        mk.load("ur5").write_urdf(tmp_path / "robot.txt")

"""Joint vectors against MuJoCo and Pinocchio, which read them by their own code."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import memetik as mk
from memetik import bodies
from tests.naive.bodies import random_body
from tests.naive.kinematics import values_of

seeds = st.integers(0, 2**32 - 1)

MJCF = """
<mujoco><compiler angle="radian"/><worldbody>
  <body name="trunk" pos="0.1 -0.4 1.2" quat="0.8 0.1 -0.5 0.3"><freejoint name="root"/><geom size="0.1"/>
    <body name="thigh" pos="0 0.1 -0.2" quat="0.9 0.3 0.2 0.1"><joint name="hip" type="ball"/><geom size="0.1"/>
      <body name="shin" pos="0 0 -0.4"><joint name="knee" type="hinge" axis="0 1 0"/><geom size="0.1"/></body>
    </body>
    <body name="arm" pos="0.1 0 0.3"><joint name="lift" type="slide" axis="0 0 1"/>
      <joint name="swing" type="hinge" axis="1 0 1"/><geom size="0.1"/></body>
  </body>
</worldbody></mujoco>
"""


@pytest.fixture(scope="module")
def animal():
    def at(place, turn=(1.0, 0.0, 0.0, 0.0)):
        return mk.transform(place, np.array(turn) / np.linalg.norm(turn))

    joints = [
        mk.build.Joint(
            "root", "floating", "world", "trunk", origin=at((0.1, -0.4, 1.2), (0.8, 0.1, -0.5, 0.3)), order="xzy"
        ),
        mk.build.Joint("hip", "spherical", "trunk", "thigh", origin=at((0, 0.1, -0.2), (0.9, 0.3, 0.2, 0.1))),
        mk.build.Joint("knee", "continuous", "thigh", "shin", origin=at((0, 0, -0.4)), axis=(0, 1, 0)),
        mk.build.Joint("lift", "prismatic", "trunk", "between", origin=at((0.1, 0, 0.3)), axis=(0, 0, 1)),
        mk.build.Joint("swing", "revolute", "between", "arm", axis=(1, 0, 1)),
    ]
    links = [mk.build.Link(name) for name in ("world", "trunk", "thigh", "shin", "between", "arm")]
    return mk.Body("animal", links, joints), mujoco.MjModel.from_xml_string(MJCF)


@given(seed=seeds)
def test_mujoco_stands_as_the_body_does(seed, animal):
    body, model = animal
    data, q = mujoco.MjData(model), np.random.default_rng(seed).uniform(-4.0, 4.0, body.dof)
    data.qpos[:] = body.to_qpos(q)
    mujoco.mj_kinematics(model, data)
    poses = body.forward(q)
    for link in ("trunk", "thigh", "shin", "arm"):
        k = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, link)
        assert_allclose(poses[link][:3, 3], data.xpos[k], atol=1e-11)
        assert_allclose(poses[link][:3, :3], data.xmat[k].reshape(3, 3), atol=1e-11)
    back = body.forward(body.from_qpos(data.qpos))
    assert_allclose(back.array, poses.array, atol=1e-11)


@pytest.mark.parametrize("name", ["panda", "h1", "go2", "baxter", "shadow_hand", "valkyrie"])
@pytest.mark.parametrize("base", ["fixed", "floating", "planar", "xyz"])
def test_pinocchio_stands_as_the_body_does(name, base, rng):
    body = mk.load(name, base=base)
    kind = {"floating": "JointModelFreeFlyer", "planar": "JointModelPlanar", "xyz": "JointModelTranslation"}.get(base)
    root = () if kind is None else (getattr(pin, kind)(),)
    model = pin.buildModelFromUrdf(str(bodies.path(name)), *root)  # which calls the base root_joint
    data = model.createData()
    for _ in range(3):
        q = body.sample(rng)
        theirs = body.to_pinocchio(q)
        assert theirs.shape == (model.nq,)
        assert_allclose(body.to_pinocchio(q, model), theirs)
        assert_allclose(body.from_pinocchio(theirs, model), body.from_pinocchio(theirs))
        pin.framesForwardKinematics(model, data, theirs)
        poses = body.forward(q)
        for frame, pose in zip(model.frames, data.oMf, strict=True):
            if frame.type == pin.FrameType.BODY and frame.name in body.links:
                assert_allclose(poses[frame.name], pose.homogeneous, atol=1e-11)
        assert_allclose(body.forward(body.from_pinocchio(theirs)).array, poses.array, atol=1e-11)


@given(seed=seeds, joints=st.integers(1, 8))
def test_there_and_back(seed, joints):
    rng = np.random.default_rng(seed)
    body = random_body(rng, joints, mimics=0.0)  # one that follows an angle would follow its whole turns, too
    rows = rng.uniform(-4.0, 4.0, (5, body.dof))
    for there, back in ((body.to_qpos, body.from_qpos), (body.to_pinocchio, body.from_pinocchio)):
        numbers = there(rows)
        assert_allclose(numbers, [there(row) for row in rows], atol=1e-15)
        again = back(numbers)
        assert_allclose(again, [back(row) for row in numbers], atol=1e-15)
        for one, other in zip(rows, again, strict=True):
            assert_allclose(body.forward(other).array, body.forward(one).array, atol=1e-11)


@given(seed=seeds)
def test_quaternions_of_turns(seed):
    rng = np.random.default_rng(seed)
    body = random_body(rng, 2, ["spherical"], mimics=0.0)
    q = rng.uniform(-4.0, 4.0, body.dof)
    joints = sorted(body.joints.values(), key=lambda joint: joint.name)
    expected = [Rotation.from_euler(joint.order.upper(), values_of(body, joint, q)).as_quat() for joint in joints]
    for ours, theirs in zip(body.to_pinocchio(q).reshape(2, 4), expected, strict=True):
        assert abs(ours @ theirs) == pytest.approx(1.0, abs=1e-14)


def test_a_mimic_joint_is_written_and_not_read():
    joints = [
        mk.build.Joint("b", "revolute", "0", "1"),
        mk.build.Joint("a", "revolute", "1", "2", mimic=mk.build.Mimic("b", -2.0, 0.1)),
    ]
    body = mk.Body("two", [mk.build.Link(str(k)) for k in range(3)], joints)
    assert_allclose(body.to_qpos([0.3]), [0.3, -0.5], atol=1e-15)
    assert_allclose(body.to_pinocchio([[0.3], [0.4]]), [[0.3, -0.5], [0.4, -0.7]], atol=1e-15)
    assert_allclose(body.from_qpos([0.3, 99.0]), [0.3])


def test_the_angles_that_come_back_are_small():
    body = mk.Body("ball", [mk.build.Link("a"), mk.build.Link("b")], [mk.build.Joint("j", "spherical", "a", "b")])
    q = body.from_qpos(np.random.default_rng(0).normal(size=(500, 4)))  # of any length
    assert (np.abs(q[:, 1]) <= np.pi / 2 + 1e-12).all() and (np.abs(q) <= np.pi + 1e-12).all()
    locked = body.from_qpos(body.to_qpos((0.3, np.pi / 2, 0.4)))
    assert_allclose(body.forward(locked)["b"], body.forward((0.3, np.pi / 2, 0.4))["b"], atol=1e-15)


def test_mistakes_are_said():
    body = mk.load("panda", base="floating")
    good = body.to_qpos(body.home)
    with pytest.raises(mk.errors.BodyError, match="shape given"):
        body.to_qpos(np.zeros(3))
    with pytest.raises(mk.errors.BodyError, match="shape given"):
        body.from_qpos(np.zeros((2, 2, good.size)))
    with pytest.raises(mk.errors.BodyError, match="NaN"):
        body.from_pinocchio(np.full(good.size, np.nan))
    with pytest.raises(mk.errors.BodyError, match="no length in row 1"):
        body.from_qpos(np.stack([good, np.zeros(good.size)]))
    with pytest.raises(mk.errors.BodyError, match="numbers"):
        body.to_qpos("abc")

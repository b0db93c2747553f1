"""Pinocchio models as bodies: every frame stands where Pinocchio has it, and joint vectors go both ways."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import memetik as mk
from memetik import bodies
from memetik.errors import BodyError, FormatError

EXACT = {"rtol": 0.0, "atol": 1e-12}


def assert_same_frames(body, model, rng, rows=5):
    """All links that are frames of the model, at random configurations; returns how many there are."""
    data = model.createData()
    lower, upper = (np.clip(end, -1.0, 1.0) for end in (model.lowerPositionLimit, model.upperPositionLimit))
    joints = (pin.FrameType.JOINT, pin.FrameType.FIXED_JOINT)
    shared = [(k, f.name) for k, f in enumerate(model.frames) if f.type not in joints and f.name in body.links]
    for _ in range(rows):
        given = pin.randomConfiguration(model, np.minimum(lower, upper), np.maximum(lower, upper))
        q = body.from_pinocchio(given, model)
        there = body.to_pinocchio(q, model)
        pin.framesForwardKinematics(model, data, there)
        poses = body.forward(q)
        for k, name in shared:
            assert_allclose(poses[name], data.oMf[k].homogeneous, **EXACT)
    return len(shared)


@pytest.mark.parametrize("name", bodies.names())
def test_bundled_bodies_through_pinocchio(name, rng):
    path = bodies.path(name)
    try:
        model = pin.buildModelFromUrdf(str(path))
    except ValueError:
        pytest.fail(f"Pinocchio refuses {name}")
    body, own = mk.read.from_pinocchio(model), mk.load(path)
    assert assert_same_frames(body, model, rng) >= len(own.links)
    assert set(own.links) <= set(body.links)
    free = [joint for joint in own.joint_names if joint in body.joint_names]
    assert set(free) == set(own.joint_names)  # those that mimic are free in Pinocchio, unless it is told otherwise
    for joint in free:
        if not any(other.mimic and other.mimic.source == joint for other in own.joints.values()):
            k, j = own.index(joint), body.index(joint)
            assert_allclose((body.lower[j], body.upper[j]), (own.lower[k], own.upper[k]))
    assert body.mass == pytest.approx(own.mass)


def test_a_free_flyer_and_the_order_of_another_model(rng):
    path = bodies.path("g1")
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    body = mk.read.from_pinocchio(model, name="g1")
    assert body.name == "g1" and body.joints["root_joint"].kind == "floating"
    assert_same_frames(body, model, rng)
    own = mk.load("g1", base="floating")  # its base is called otherwise
    q = own.sample(rng)
    data = model.createData()
    pin.framesForwardKinematics(model, data, own.to_pinocchio(q, model))
    for link in ("left_hand_palm_link", "right_ankle_roll_link"):
        assert_allclose(own.forward(q, link), data.oMf[model.getFrameId(link)].homogeneous, **EXACT)
    assert_allclose(own.to_pinocchio(own.from_pinocchio(own.to_pinocchio(q, model), model), model),
                    own.to_pinocchio(q, model), **EXACT)  # fmt: skip


def every_kind():
    """A chain of all joints that can be read, built by hand, with frames that are no bodies."""
    model, last = pin.Model(), 0
    kinds = [
        pin.JointModelRX(), pin.JointModelRUBY(), pin.JointModelPZ(), pin.JointModelHX(0.2), pin.JointModelPlanar(),
        pin.JointModelSpherical(), pin.JointModelSphericalZYX(), pin.JointModelTranslation(), pin.JointModelFreeFlyer(),
        pin.JointModelRevoluteUnaligned(np.array([0.6, 0.0, 0.8])), pin.JointModelPrismaticUnaligned(np.array([0.0, 0.6, 0.8])),
        pin.JointModelHelicalUnaligned(np.array([0.8, 0.6, 0.0]), -0.1),
    ]  # fmt: skip
    for k, kind in enumerate(kinds):
        last = model.addJoint(last, kind, pin.SE3.Random(), f"joint{k}")
        model.addJointFrame(last)
        model.appendBodyToJoint(last, pin.Inertia.Random(), pin.SE3.Identity())
        model.addBodyFrame(f"body{k}", last, pin.SE3.Random() if k % 3 else pin.SE3.Identity(), -1)
    model.addFrame(pin.Frame("tool", last, model.nframes - 1, pin.SE3.Random(), pin.FrameType.OP_FRAME))
    return model


def test_every_kind_of_joint(rng):
    pin.seed(3)
    model = every_kind()
    body = mk.read.from_pinocchio(model)
    assert assert_same_frames(body, model, rng) == 13
    kinds = [joint.kind for joint in body.joints.values() if joint.dof]
    assert sorted(set(kinds)) == sorted(
        {"revolute", "continuous", "prismatic", "screw", "planar", "spherical", "xyz", "floating"}
    )
    rows = np.array([body.sample(rng) for _ in range(4)])
    there = body.to_pinocchio(rows, model)
    assert there.shape == (4, model.nq)
    assert_allclose(body.to_pinocchio(body.from_pinocchio(there, model), model), there, **EXACT)
    data = model.createData()
    mass = pin.centerOfMass(model, data, there[0])
    assert_allclose(body.center_of_mass(rows[0]), mass, **EXACT)


def test_joints_added_out_of_order(rng):
    """Pinocchio's joints may come in any order, ours go limb by limb."""
    model = pin.Model()
    for side in ("right", "left"):
        model.addJoint(0, pin.JointModelRX(), pin.SE3.Random(), f"{side}_hip")
    for parent, side in ((1, "right"), (2, "left")):
        model.addJoint(parent, pin.JointModelRY(), pin.SE3.Random(), f"{side}_knee")
    for joint in range(1, model.njoints):
        model.addJointFrame(joint)
        model.addBodyFrame(f"body{joint}", joint, pin.SE3.Identity(), -1)
    body = mk.read.from_pinocchio(model)
    assert body.joint_names == ("right_hip", "right_knee", "left_hip", "left_knee")
    assert_same_frames(body, model, rng)


def test_a_tilted_axis_without_limits(rng):
    urdf = """<robot name="one"><link name="a"/><link name="b"/><joint name="j" type="continuous"><parent link="a"/>
    <child link="b"/><origin xyz="0.1 0 0" rpy="0.4 0.2 0.1"/><axis xyz="0 0.6 0.8"/></joint></robot>"""
    model = pin.buildModelFromXML(urdf)
    assert_same_frames(mk.read.from_pinocchio(model), model, rng)


def test_mimic_joints(rng):
    urdf = """<robot name="claw"><link name="palm"/><link name="left"/><link name="right"/><link name="tip"/>
    <joint name="close" type="prismatic"><parent link="palm"/><child link="left"/><origin xyz="0.1 0.2 0.3" rpy="0.3 0.1 0.5"/>
      <axis xyz="0 0.6 0.8"/><limit lower="0" upper="0.5" effort="1" velocity="1"/></joint>
    <joint name="follow" type="prismatic"><parent link="palm"/><child link="right"/><origin rpy="0.1 0.2 0.3"/><axis xyz="0 1 0"/>
      <limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="close" multiplier="-0.5" offset="0.1"/></joint>
    <joint name="turn" type="revolute"><parent link="right"/><child link="tip"/><origin xyz="0 0 0.1"/><axis xyz="0.6 0 0.8"/>
      <limit lower="-3" upper="3" effort="1" velocity="1"/><mimic joint="close" multiplier="3" offset="-0.2"/></joint></robot>"""
    model = pin.buildModelFromXML(urdf, mimic=True)
    body = mk.read.from_pinocchio(model)
    assert body.joint_names == ("close",) and model.nq == 1
    assert body.joints["turn"].mimic == mk.build.Mimic("close", 3.0, -0.2)
    assert_same_frames(body, model, rng)


def test_geometry_becomes_shapes():
    urdf = """<robot name="one"><link name="base"/><link name="arm"><collision><origin xyz="0.1 0 0.2"/><geometry>
    <box size="0.1 0.2 0.3"/></geometry></collision><collision><geometry><sphere radius="0.25"/></geometry></collision>
    <visual><geometry><cylinder radius="0.1" length="0.5"/></geometry></visual></link><joint name="fix" type="fixed">
    <parent link="base"/><child link="arm"/><origin xyz="1 0 0" rpy="0 0 1"/></joint></robot>"""
    model = pin.buildModelFromXML(urdf)
    solids = [pin.buildGeomFromUrdfString(model, urdf, kind) for kind in (pin.COLLISION, pin.VISUAL)]
    body = mk.read.from_pinocchio(model, collision=solids[0], visual=solids[1])
    box, ball = body.links["arm"].shapes
    assert box.kind == "box" and box.size == pytest.approx((0.1, 0.2, 0.3))
    assert_allclose(box.link_from_shape, mk.translation(0.1, 0.0, 0.2), atol=1e-12)
    assert ball.kind == "sphere" and ball.size == (0.25,)
    assert body.links["arm"].visuals[0].size == pytest.approx((0.1, 0.5))


def test_what_is_refused():
    with pytest.raises(FormatError, match=r"takes a pinocchio.Model, not RobotWrapper"):
        mk.read.from_pinocchio(type("RobotWrapper", (), {})())
    model = pin.Model()
    both = pin.JointModelComposite(pin.JointModelRX())
    both.addJoint(pin.JointModelRY())
    model.addJoint(0, both, pin.SE3.Identity(), "wrist")
    model.addJointFrame(1)
    with pytest.raises(FormatError, match="joint 'wrist' is a JointModelComposite"):
        mk.read.from_pinocchio(model)
    body = mk.build.planar_chain(2)
    with pytest.raises(BodyError, match=r"the model has no joint 'joint_1'.*and 1 more"):
        body.to_pinocchio(body.home, pin.buildSampleModelManipulator())
    with pytest.raises(BodyError, match=r"not a pinocchio.Model"):
        body.to_pinocchio(body.home, "model")
    with pytest.raises(BodyError, match=r"not a mujoco.MjModel"):
        body.to_qpos(body.home, 3)


def test_qpos_of_a_model_in_another_order(rng):
    """The file of another group has the arm before the leg, an object beside, and a free joint without a name."""
    mjcf = """<mujoco><compiler angle="radian"/><worldbody>
      <body name="cup" pos="3 0 0"><freejoint name="cup"/><geom size="0.1"/></body>
      <body name="base"><joint name="arm" axis="0 1 0"/><geom size="0.1"/>
        <body name="hand" pos="0 0 1"><joint name="slide" type="slide" axis="1 0 0"/><geom size="0.1"/></body></body>
      <body name="foot"><joint name="leg" axis="0 0 1"/><geom size="0.1"/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(mjcf)
    builder = mk.build.BodyBuilder("robot", root_link="world").add("world", "leg", "revolute", "foot")
    builder.add("world", "arm", "revolute", "base", axis=(0, 1, 0))
    body = builder.add("base", "slide", "prismatic", "hand", origin=(0, 0, 1), axis=(1, 0, 0)).build()
    q = rng.uniform(-1.0, 1.0, 3)
    qpos = body.to_qpos(q, model)
    assert_allclose(qpos[:7], model.qpos0[:7])
    assert_allclose(body.from_qpos(qpos, model), q, **EXACT)
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    assert_allclose(body.forward(q, "hand")[:3, 3], data.body("hand").xpos, **EXACT)
    with pytest.raises(BodyError, match="'cup' is revolute, but the model has 7 numbers"):
        mk.build.BodyBuilder("robot", root_link="world").add("world", "cup", "revolute", "foot").build().to_qpos(
            [0.0], model
        )

"""Loops of model files, against MuJoCo's own constraints."""

import mujoco
import numpy as np
import pytest

import memetik as mk

# A four-bar linkage closed by a connection, a rod welded to a slider by sites, and one that is switched off.
LOOPS = """
<mujoco model="loops">
  <worldbody>
    <body name="crank" pos="0 0 0.1">
      <joint name="crank" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.1 0 0" size="0.01"/>
      <body name="coupler" pos="0.1 0 0" euler="0 30 0">
        <joint name="coupler" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.01"/>
      </body>
    </body>
    <body name="rocker" pos="0.35 0 0.1">
      <joint name="rocker" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 0.2" size="0.01"/>
      <body name="free" pos="0 0.1 0"><joint name="ball" type="ball"/>
        <geom type="sphere" size="0.02"/><site name="grip" pos="0.02 0.01 0" euler="10 20 30"/></body>
    </body>
    <body name="slider" pos="0.4 0.2 0.3"><joint name="x" type="slide" axis="1 0 0"/>
      <joint name="y" type="slide" axis="0 1 0"/>
      <joint name="z" type="slide" axis="0 0 1"/><geom type="box" size="0.02 0.02 0.02"/>
      <site name="socket" pos="0.01 0 0" euler="0 40 0"/>
    </body>
  </worldbody>
  <equality>
    <connect name="four_bar" body1="coupler" body2="rocker" anchor="0.28 0 0.03"/>
    <weld name="grip" site1="grip" site2="socket"/>
    <weld name="off" body1="crank" body2="slider" active="false"/>
  </equality>
</mujoco>
"""
# The same, one body welded to another, with a pose and an anchor of its own.
WELD = """
<mujoco><worldbody>
  <body name="a"><joint name="a" axis="1 2 3" range="-90 90"/><geom size="0.1"/>
    <body name="b" pos="0.3 0 0"><joint name="b" axis="0 1 0"/><geom size="0.1"/></body></body>
  <body name="c" pos="0 1 0"><freejoint/><geom size="0.1"/></body>
</worldbody>
<equality>
  <weld name="hold" body1="b" body2="c" anchor="0.02 0.03 0.04" relpose="0.1 0.2 0.3 0.5 0.5 -0.5 0.5"/></equality></mujoco>
"""


def violation(model, qpos):
    """How far MuJoCo has its active equalities from holding [m and rad]."""
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    rows = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    assert rows.any()
    return float(np.abs(data.efc_pos[rows]).max())


def test_connections_and_welds_are_loops():
    model = mujoco.MjModel.from_xml_string(LOOPS)
    body = mk.read.from_mujoco(model)
    assert [(loop.name, loop.kind) for loop in body.loops] == [("four_bar", "spherical"), ("grip", "fixed")]
    rng = np.random.default_rng(0)
    drive = mk.JointValue("crank", 0.0, tolerance=1e-9)
    problem = mk.Problem(body, [*mk.objectives.close_loops(body), drive])
    for _ in range(5):
        drive.target = rng.uniform(-0.3, 0.3)
        start = body.home + 0.1 * rng.normal(size=body.dof)
        assert violation(model, body.to_qpos(start)) > 1e-3
        solution = mk.solve(problem, start)
        assert solution.success
        assert violation(model, body.to_qpos(solution.q)) < 1e-8


def test_a_weld_of_bodies_has_anchor_and_pose():
    model = mujoco.MjModel.from_xml_string(WELD)
    body = mk.read.from_mujoco(model)
    solution = mk.solve(mk.Problem(body, mk.objectives.close_loops(body)), body.home + 0.2)
    assert solution.success
    assert violation(model, body.to_qpos(solution.q)) < 1e-8


URDF = """
<robot name="four_bar">
  <link name="base"/><link name="crank"/><link name="coupler"/><link name="rocker"/>
  <joint name="crank" type="continuous"><parent link="base"/><child link="crank"/><axis xyz="0 0 1"/></joint>
  <joint name="coupler" type="continuous">
    <parent link="crank"/><child link="coupler"/><origin xyz="0 1 0"/><axis xyz="0 0 1"/></joint>
  <joint name="rocker" type="continuous">
    <parent link="base"/><child link="rocker"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>
  <loop name="pin" type="{kind}">
    <predecessor link="coupler"><origin xyz="1 0 0"/></predecessor>
    <successor link="rocker"><origin xyz="0 1 0"/></successor>
    {axis}
  </loop>
</robot>
"""


def four_bar(tmp_path, kind="revolute", axis='<axis xyz="0 0 1"/>'):
    path = tmp_path / "four_bar.urdf"
    path.write_text(URDF.format(kind=kind, axis=axis))
    return mk.load(path)


def test_a_loop_of_urdf_plus_closes_a_parallelogram(tmp_path):
    body = four_bar(tmp_path)
    (loop,) = body.loops
    assert (loop.name, loop.kind, loop.frame.link, loop.other.link) == ("pin", "revolute", "coupler", "rocker")
    drive = mk.JointValue("crank", 0.4, tolerance=1e-9)
    solution = mk.solve(mk.Problem(body, [*mk.objectives.close_loops(body), drive]))
    assert solution.success  # a parallelogram: opposite sides turn alike
    assert abs(solution["rocker"] - 0.4) < 1e-8 and abs(solution["coupler"] + 0.4) < 1e-8


@pytest.mark.parametrize("axis", ["", '<axis xyz="0 3 4"/>'])
def test_loops_are_written_and_read_again(tmp_path, axis):
    body = four_bar(tmp_path, axis=axis)
    again = mk.load(body.write_urdf(tmp_path / "again.urdf"))
    (loop,), (other,) = body.loops, again.loops
    assert loop.kind == other.kind
    for frame, read in ((loop.frame, other.frame), (loop.other, other.other)):
        np.testing.assert_allclose(frame.link_from_frame, read.link_from_frame, atol=1e-12)
    z = (1, 0, 0) if not axis else (0, 0.6, 0.8)
    np.testing.assert_allclose(loop.frame.link_from_frame[:3, 2], z, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "axis", "match"), [("screw", "", "closes no loop"), ("revolute", '<axis xyz="0 0 0"/>', "no direction")]
)
def test_broken_loops_are_refused_with_their_line(tmp_path, kind, axis, match):
    with pytest.raises(mk.errors.FormatError, match=match):
        four_bar(tmp_path, kind, axis)


def test_efforts_of_files(tmp_path):
    model = mujoco.MjModel.from_xml_string("""
    <mujoco><worldbody><body><joint name="a" actuatorfrcrange="-7 5"/><geom size="1"/><body><joint name="b"/><geom size="1"/>
    <body><joint name="c"/><geom size="1"/><body><joint name="d"/><geom size="1"/></body></body></body></body></worldbody>
    <actuator><motor joint="b" gear="50" ctrlrange="-2 2"/>
    <position joint="c" kp="100" forcerange="-30 30"/></actuator></mujoco>""")
    assert mk.read.from_mujoco(model).effort.tolist() == [7.0, 100.0, 30.0, np.inf]
    body = mk.build.planar_chain((0.5, 0.5))
    assert np.isinf(body.effort).all()
    builder = mk.build.BodyBuilder("arm")
    builder.add("base", "turn", "revolute", "arm", lower=-1, upper=1, effort=12.0)
    again = mk.load(builder.build().write_urdf(tmp_path / "arm.urdf"))
    assert again.effort.tolist() == [12.0]

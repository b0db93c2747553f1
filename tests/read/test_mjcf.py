"""MuJoCo models as bodies, against MuJoCo's own kinematics."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest

import memetik as mk
from memetik.errors import FormatError
from memetik.read import load, mjcf

EVERYTHING = """
<mujoco model="everything">
  <compiler angle="degree"/>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <site name="corner" pos="1 2 3" quat="1 1 0 0"/>
    <body name="cart" pos="0.1 0.2 0.3" euler="10 20 30">
      <joint name="rail" type="slide" axis="1 1 0" range="-1 2" ref="0.5"/>
      <geom type="box" size="0.1 0.2 0.3" rgba="1 0 0 1"/>
      <body name="arm" pos="0 0 0.4" quat="0.5 0.5 0.5 0.5">
        <joint name="shoulder" type="hinge" axis="0 1 0" pos="0.05 0 -0.1" range="-90 120" ref="30"/>
        <joint name="twist" type="hinge" axis="1 0 1" pos="-0.05 0.02 0"/>
        <geom type="capsule" size="0.05 0.2"/>
        <geom type="cylinder" size="0.05 0.2" contype="0" conaffinity="0"/>
        <site name="arm" pos="0 0 0.3"/>
        <body name="wrist" pos="0 0 0.5">
          <joint name="ball" type="ball" pos="0 0.01 0"/>
          <geom type="sphere" size="0.04" mass="2"/>
          <body pos="0 0 0.1">
            <joint type="slide" axis="0 0 1" range="0 0.04"/>
            <geom type="ellipsoid" size="0.01 0.02 0.03"/>
          </body>
          <body name="finger" pos="0 0.1 0.1">
            <joint name="other" type="hinge" axis="0 0 1" range="-100 100"/>
            <geom type="sphere" size="0.01"/>
          </body>
        </body>
      </body>
    </body>
    <body name="floater" pos="1 0 1" euler="40 0 0">
      <freejoint name="free"/>
      <geom type="sphere" size="0.1"/>
      <body name="fixed" pos="0.1 0.2 0.3" euler="0 50 0"><geom type="sphere" size="0.01"/></body>
    </body>
  </worldbody>
  <equality><joint joint1="other" joint2="shoulder" polycoef="0.1 0.5 0 0 0"/></equality>
  <keyframe>
    <key name="rest" qpos="0 0 0 1 0 0 0 0 0 0 0 1 1 0 0 0"/>
    <key name="home" qpos="1 0.2 0.3 1 0 0 0 0.01 0 2 0 1 0 1 0 0"/>
  </keyframe>
</mujoco>
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "everything.xml"
    path.write_text(EVERYTHING)
    return path


@pytest.fixture
def model(file):
    return mujoco.MjModel.from_xml_path(str(file))


@pytest.fixture
def body(file):
    with pytest.warns(mk.MemetikWarning, match="without shapes of planes, shapes of ellipsoids"):
        return mk.load(file)


def test_links_and_sites_are_where_mujoco_has_them(body, model, rng):
    data = mujoco.MjData(model)
    for _ in range(200):
        q = np.where(np.isfinite(body.lower), rng.uniform(-1.0, 1.0, body.dof), rng.uniform(-3.0, 3.0, body.dof))
        data.qpos[:] = body.to_qpos(q)
        mujoco.mj_kinematics(model, data)
        poses = body.forward(q)
        for k in range(model.nbody):
            name = model.body(k).name or f"body{k}"
            assert np.abs(poses[name][:3, 3] - data.xpos[k]).max() < 1e-12
            assert np.abs(poses[name][:3, :3] - data.xmat[k].reshape(3, 3)).max() < 1e-12
        for k, name in enumerate(("corner", "arm_site")):
            assert np.abs(poses[name][:3, 3] - data.site_xpos[k]).max() < 1e-12
            assert np.abs(poses[name][:3, :3] - data.site_xmat[k].reshape(3, 3)).max() < 1e-12


def test_joints_keep_kinds_limits_and_couplings(body, model):
    assert {joint.name: joint.kind for joint in body.joints.values() if joint.kind != "fixed"} == {
        "rail": "prismatic", "shoulder": "revolute", "twist": "continuous", "ball": "spherical", "joint4": "prismatic",
        "other": "revolute", "free": "floating",
    }  # fmt: skip
    assert body.joints["rail"].lower == (-1.0,) and body.joints["rail"].upper == (2.0,)
    assert np.allclose((body.joints["shoulder"].lower[0], body.joints["shoulder"].upper[0]), np.radians((-90, 120)))
    mimic = body.joints["other"].mimic
    assert mimic.source == "shoulder" and mimic.multiplier == 0.5
    # MuJoCo: q1 - q1_0 = c0 + c1 (q2 - q2_0), with the shoulder's reference of 30 degrees
    assert mimic.offset == pytest.approx(0.1 - 0.5 * np.radians(30.0))


def test_shapes_masses_and_the_home_posture_carry_over(body, model):
    assert [shape.kind for shape in body.links["arm"].shapes] == ["capsule"]
    assert [shape.kind for shape in body.links["arm"].visuals] == ["cylinder"]
    assert body.links["cart"].shapes[0].size == (0.2, 0.4, 0.6)
    assert body.links["cart"].shapes[0].color == (1.0, 0.0, 0.0, 1.0)
    assert body.links["wrist"].mass == 2.0
    assert body.mass == pytest.approx(float(np.sum(model.body_mass)))
    at = {name: body.home[body.index(name)] for name in ("rail", "shoulder", "twist", "free.x")}
    assert np.allclose(body.to_qpos(body.home)[-7:], (2.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0))
    assert at == {"rail": 1.0, "shoulder": 0.2, "twist": 0.3, "free.x": 2.0}


def test_a_compiled_model_is_taken_and_solved(model):
    with pytest.warns(mk.MemetikWarning):
        body = mk.read.from_mujoco(model, name="mine")
    target = body.forward(body.vector({"rail": 0.4, "shoulder": 0.7, "twist": 0.2}))["arm"]
    solution = mk.solve(mk.Problem(body, [mk.Pose("arm", target)]))
    assert solution.success
    data = mujoco.MjData(model)
    data.qpos[:] = body.to_qpos(solution.q)
    mujoco.mj_kinematics(model, data)
    assert np.abs(data.xpos[model.body("arm").id] - target[:3, 3]).max() < 1e-4


@pytest.mark.quick
def test_files_that_mujoco_refuses_are_refused_with_its_reason(tmp_path):
    path = tmp_path / "bad.xml"
    path.write_text("<mujoco><worldbody><body><joint type='hinge'/></body></worldbody></mujoco>")
    with pytest.raises(mk.errors.FormatError, match=r"bad.xml: MuJoCo cannot read it.*mass"):
        mk.load(path)


@pytest.mark.parametrize("name", ["robot.xml", "robot.urdf"])
@pytest.mark.parametrize("named", ["relative", "absolute"])
def test_meshes_are_found_however_the_file_is_named_and_wherever_the_program_goes(name, named, tmp_path, monkeypatch):
    """Before 3.17, MuJoCo keeps the names of files without their folder."""
    trimesh = pytest.importorskip("trimesh")
    folder = tmp_path / "models"
    (folder / "meshes" / "arms").mkdir(parents=True)
    trimesh.creation.box((0.4, 0.2, 0.1)).export(folder / "meshes" / "arms" / "b.stl")
    (folder / "robot.xml").write_text(
        """<mujoco><compiler meshdir="meshes"/><asset><mesh name="b" file="arms/b.stl"/></asset><worldbody><body name="arm">
        <joint axis="0 0 1"/><geom type="mesh" mesh="b"/></body></worldbody></mujoco>"""
    )
    (folder / "robot.urdf").write_text(
        """<robot name="r"><link name="world"/><link name="arm"><collision><geometry>
        <mesh filename="meshes/arms/b.stl"/></geometry></collision></link>
        <joint name="j" type="continuous"><parent link="world"/><child link="arm"/></joint></robot>"""
    )
    monkeypatch.chdir(tmp_path)
    body = mk.load(f"models/{name}" if named == "relative" else folder / name)
    monkeypatch.chdir("/")
    (shape,) = body.with_shapes(save=False).links["arm"].shapes
    assert shape.kind == "box" and sorted(shape.size) == pytest.approx([0.1, 0.2, 0.4], abs=1e-5)


@pytest.mark.quick
def test_other_things_than_models_are_refused():
    with pytest.raises(mk.errors.FormatError, match="MjModel, not str"):
        mk.read.from_mujoco("panda")


@pytest.mark.quick
def test_what_a_body_cannot_say_is_named_in_one_warning(tmp_path):
    path = tmp_path / "loop.xml"
    path.write_text(
        "<mujoco><worldbody>"
        "<body name='a'><joint name='j' type='ball' limited='true' range='0 1'/><geom size='0.1'/></body>"
        "<body name='b' pos='1 0 0'><joint name='k' axis='0 0 1'/><geom size='0.1'/></body></worldbody>"
        "<equality><connect body1='a' body2='b' anchor='0 0 0'/><joint joint1='k' polycoef='0 0 1 0 0'/></equality></mujoco>"
    )
    with pytest.warns(mk.MemetikWarning, match="couplings that are curved") as told:
        body = mk.load(path)
    message = str(told[0].message)
    assert "cones of ball joints" in message and "curved" in message
    assert [loop.name for loop in body.loops] == ["loop0"]


def test_keyframes_are_postures(body, model):
    """Each is MuJoCo's own posture: all bodies are where it says."""
    assert list(body.postures) == ["rest", "home"] and np.array_equal(body.postures["home"], body.home)
    for key, q in body.postures.items():
        data = mujoco.MjData(model)
        data.qpos[:] = body.to_qpos(q)  # joints that are coupled follow, which a keyframe need not say
        mujoco.mj_kinematics(model, data)
        np.testing.assert_allclose(body.forward(q)["wrist"][:3, 3], data.body("wrist").xpos, atol=1e-12)
        own, coupled = np.array(model.key(key).qpos), model.joint("other").qposadr
        np.testing.assert_allclose(np.delete(body.to_qpos(q), coupled), np.delete(own, coupled), atol=1e-12)


def test_a_damaged_binary_model_is_refused(tmp_path):
    path = tmp_path / "a.mjb"
    xml = "<mujoco><worldbody><body name='a'><joint/><geom size='.1'/></body></worldbody></mujoco>"
    mujoco.mj_saveModel(mujoco.MjModel.from_xml_string(xml), str(path), None)
    assert mk.load(path).dof == 1
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(mk.errors.FormatError, match=r"a\.mjb: MuJoCo cannot read it"):
        mk.load(path)


def test_an_error_of_mujoco_itself_is_passed_on_as_ours(tmp_path, monkeypatch):
    """As when the header of a binary model asks for more memory than there is."""

    def too_large(_):
        raise mujoco.FatalError("Could not allocate memory")

    models = SimpleNamespace(from_binary_path=too_large)
    monkeypatch.setattr(mjcf, "_mujoco", lambda: SimpleNamespace(FatalError=mujoco.FatalError, MjModel=models))
    with pytest.raises(mk.errors.FormatError, match=r"a\.mjb: MuJoCo cannot read it. Could not allocate memory"):
        mk.load(tmp_path / "a.mjb")


@pytest.mark.parametrize(
    "text",
    [
        '<asset><mesh name="m" builtin="cone" params="1000000 0.5"/></asset>',
        '<asset><mesh name="m" builtin="plate" params="3000 3000"/></asset>',
        '<asset><mesh name="m" builtin="supersphere" params="3000 1 1"/></asset>',
        '<size nkey="100000000"/>',
        "<asset>" + "".join(f'<texture name="t{k}" builtin="flat" width="7000" height="7000"/>' for k in range(60)) + "</asset>",
        '<asset><model name="x" file="model.xml"/></asset><worldbody><body><attach model="x" prefix="p"/></body></worldbody>',
    ],
)  # fmt: skip
def test_a_model_that_makes_too_much_of_itself_is_refused(tmp_path, text):
    """MuJoCo would take minutes, or follow a model into itself until the process ends."""
    (tmp_path / "model.xml").write_text(f"<mujoco>{text}</mujoco>")
    with pytest.raises(FormatError, match=r"Write fewer|attaches itself"):
        load(tmp_path / "model.xml")


def test_two_models_that_attach_each_other_are_refused(tmp_path):
    for name, other in (("a", "b"), ("b", "a")):
        (tmp_path / f"{name}.xml").write_text(
            f'<mujoco><asset><model name="x" file="{other}.xml"/></asset><worldbody><body><attach model="x" prefix="p"/>'
            "</body></worldbody></mujoco>"
        )
    with pytest.raises(FormatError, match="attaches itself"):
        load(tmp_path / "a.xml")

"""USD stages as bodies, against Pinocchio's kinematics and against what USD itself makes of the stage."""

import math
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

import memetik as mk
from memetik.errors import FormatError, MemetikWarning, MissingExtraError

pytest.importorskip("pxr", reason='pip install "memetik[usd]"')
pinocchio = pytest.importorskip("pinocchio", reason="pip install pin")

from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, UsdUtils  # noqa: E402

from tests.read.stages import add_body, add_joint, new_stage, stage_of  # noqa: E402
from tests.stress.usd import check  # noqa: E402

STANDS = "places of bodies on the stage"


def articulated(stage):
    UsdPhysics.ArticulationRootAPI.Apply(stage.GetDefaultPrim())
    return stage


def arm(count=2):
    """Links /robot/a, b, c ... 1 m apart along x, joined by joints a_b, b_c ... that turn about z."""
    stage = articulated(new_stage())
    names = "abcdef"[:count]
    for k, name in enumerate(names):
        add_body(stage, f"/robot/{name}", mk.translation(float(k), 0.0, 0.0))
    for one, other in pairwise(names):
        ends = (f"/robot/{one}", f"/robot/{other}")
        add_joint(stage, f"/robot/{one}_{other}", "Revolute", ends, (((1, 0, 0), (1, 0, 0, 0)), None))
    return stage


@pytest.mark.parametrize("name", ["ur5", "panda", "kr120"])
@pytest.mark.parametrize(("up", "meters"), [("Z", 1.0), ("Y", 0.01), ("Z", 0.0254)])
def test_links_are_where_pinocchio_has_them(name, up, meters, tmp_path, rng):
    body = mk.load(name)
    stage, same = stage_of(body, body.home, up, meters)
    found = mk.read.from_usd(stage, name=name)
    assert found.joint_names == body.joint_names and found.root == "world"
    path = same.write_urdf(tmp_path / "same.urdf")
    model = pinocchio.buildModelFromUrdf(str(path))
    data = model.createData()
    q = np.stack([body.sample(rng) for _ in range(1000)])
    frames = {link: model.getFrameId(link) for link in body.links}
    poses = found.forward(q)
    worst = 0.0
    for row, there in enumerate(same.to_pinocchio(q, model)):
        pinocchio.framesForwardKinematics(model, data, there)
        worst = max(
            worst, *(float(np.abs(poses[link][row] - data.oMf[k].homogeneous).max()) for link, k in frames.items())
        )
    assert worst < 1e-9


def test_the_file_it_was_made_from_is_met_in_single_precision(rng):
    body = mk.load("ur5")
    found = mk.read.from_usd(stage_of(body, body.home)[0])
    q = np.stack([body.sample(rng) for _ in range(100)])
    assert_allclose(found.forward(q, "tool0"), body.forward(q, "tool0"), atol=1e-6)
    assert_allclose(found.lower, body.lower, rtol=1e-6)
    assert_allclose(found.upper, body.upper, rtol=1e-6)


def test_the_stage_gives_the_home_posture(rng):
    body = mk.load("panda")
    q = body.sample(rng)
    assert_allclose(mk.read.from_usd(stage_of(body, q, "Y", 0.01)[0]).home, q, atol=1e-6)


@pytest.mark.parametrize("suffix", ["usd", "usda", "usdc", "usdz"])
def test_files_of_every_kind(suffix, tmp_path):
    arm(3).Export(str(tmp_path / "arm.usda"))
    path = tmp_path / f"robot.{suffix}"
    if suffix == "usdz":
        UsdUtils.CreateNewUsdzPackage(str(tmp_path / "arm.usda"), str(path))
    else:
        arm(3).Export(str(path))
    body = mk.load(path, base="floating")
    assert (body.name, body.dof) == ("robot", 8)
    assert_allclose(body.forward(body.home, "c")[:3, 3], (2, 0, 0), atol=1e-12)


def test_limits_speeds_and_efforts_in_the_units_of_the_stage():
    stage = articulated(new_stage(meters=0.01))
    UsdPhysics.SetStageKilogramsPerUnit(stage, 0.001)
    for name in "abc":
        add_body(stage, f"/robot/{name}")
    turn = add_joint(stage, "/robot/turn", "Revolute", ("/robot/a", "/robot/b"), limits=(-90.0, 45.0))
    slide = add_joint(stage, "/robot/slide", "Prismatic", ("/robot/b", "/robot/c"), axis="X", limits=(-5.0, math.inf))
    for prim, kind in ((turn, "angular"), (slide, "linear")):
        UsdPhysics.DriveAPI.Apply(prim, kind).CreateMaxForceAttr().Set(200.0)
        prim.CreateAttribute("physxJoint:maxJointVelocity", Sdf.ValueTypeNames.Float).Set(180.0)
    body = mk.read.from_usd(stage)
    assert_allclose(body.lower, (-math.pi / 2, -0.05), rtol=1e-7)
    assert_allclose(body.upper, (math.pi / 4, math.inf), rtol=1e-7)
    assert_allclose(body.effort, (200.0 * 1e-3 * 1e-4, 200.0 * 1e-3 * 1e-2), rtol=1e-12)
    assert_allclose([body.joints[name].velocity[0] for name in ("turn", "slide")], (math.pi, 1.8), rtol=1e-12)


def test_joints_of_all_kinds_whichever_way_they_point_and_wherever_their_frames_are(tmp_path, rng):
    stage = articulated(new_stage("Y", 0.5))
    kinds = ["Revolute", "Prismatic", "Spherical", "Fixed", "Revolute", "Prismatic", "Spherical", "Revolute"]
    for k in range(len(kinds) + 1):
        UsdGeom.XformCommonAPI(add_body(stage, f"/robot/l{k}"))
    for k, kind in enumerate(kinds):
        ends = (f"/robot/l{k}", f"/robot/l{k + 1}")
        frames = [(rng.normal(size=3), mk.geometry.to_quaternion(mk.geometry.random_rotation(rng))) for _ in range(2)]
        add_joint(stage, f"/robot/j{k}", kind, ends[:: 1 if k % 2 else -1], frames, axis="XYZ"[k % 3])
    UsdPhysics.ArticulationRootAPI.Apply(stage.GetPrimAtPath("/robot/l0"))
    stage.Export(str(tmp_path / "kinds.usda"))
    _, worst, count = check(tmp_path / "kinds.usda", rng)
    assert count == 20 * len(kinds) and worst < 1e-6  # USD's parser is of single precision


def test_bodies_with_scale(tmp_path, rng):
    stage = arm(3)
    UsdGeom.Xformable(stage.GetDefaultPrim()).AddScaleOp().Set((2.0, 2.0, 2.0))
    stage.Export(str(tmp_path / "scaled.usda"))
    at_home, worst, count = check(tmp_path / "scaled.usda", rng)
    assert count == 40 and at_home < 1e-12 and worst < 1e-12
    body = mk.load(tmp_path / "scaled.usda")
    assert_allclose(body.forward(body.home, "c")[:3, 3], (4, 0, 0), atol=1e-12)


def four_bar(excluded=True):
    """A parallelogram of sides 1 and 2 m: a at the origin, b above it, c across, d above the far end of the ground."""
    stage = articulated(new_stage())
    for name, place in (("ground", (0, 0, 0)), ("left", (0, 0, 0)), ("top", (0, 1, 0)), ("right", (2, 1, 0))):
        add_body(stage, f"/robot/{name}", mk.translation(*map(float, place)))
    add_joint(stage, "/robot/root", "Fixed", (None, "/robot/ground"))
    unit = (1, 0, 0, 0)
    for name, one, other, at in (
        ("p", "ground", "left", (0, 0, 0)),
        ("q", "left", "top", (0, 1, 0)),
        ("r", "top", "right", (2, 0, 0)),
    ):
        add_joint(stage, f"/robot/{name}", "Revolute", (f"/robot/{one}", f"/robot/{other}"), ((at, unit), None))
    ends = ("/robot/right", "/robot/ground")
    add_joint(stage, "/robot/close", "Revolute", ends, (((0, -1, 0), unit), ((2, 0, 0), unit)), excluded=excluded)
    return stage


def test_a_joint_outside_the_articulation_closes_a_loop():
    body = mk.read.from_usd(four_bar())
    (loop,) = body.loops
    assert (loop.name, loop.kind, loop.frame.link, loop.other.link) == ("close", "revolute", "right", "ground")
    poses = body.forward(body.home)
    assert_allclose(poses[loop.frame], poses[loop.other], atol=1e-12)
    target = (math.sin(-0.4), math.cos(-0.4), 0.0)
    solution = mk.solve(mk.Problem(body, [mk.Position("top", target), *mk.objectives.close_loops(body)]))
    assert solution.success
    poses = body.forward(solution.q)
    assert_allclose(poses["right"][:3, 3], np.add(target, (2, 0, 0)), atol=1e-5)  # it stays a parallelogram


def test_without_an_articulation_the_last_joint_of_a_loop_closes_it():
    stage = four_bar(excluded=False)
    stage.GetDefaultPrim().RemoveAPI(UsdPhysics.ArticulationRootAPI)
    assert [loop.name for loop in mk.read.from_usd(stage).loops] == ["close"]


def test_mass_shapes_and_frames():
    stage = arm(2)
    prim = stage.GetPrimAtPath("/robot/a")
    mass = UsdPhysics.MassAPI.Apply(prim)
    mass.CreateMassAttr().Set(2.5)
    mass.CreateCenterOfMassAttr().Set((0.5, 0.0, 0.25))
    cube = UsdGeom.Cube.Define(stage, "/robot/a/collisions/cube")
    cube.CreateSizeAttr().Set(2.0)
    cube.AddTranslateOp().Set((1.0, 2.0, 3.0))
    cube.AddScaleOp().Set((0.1, 0.2, -0.3))
    cube.CreateDisplayColorAttr().Set([(1.0, 0.5, 0.0)])
    capsule = UsdGeom.Capsule.Define(stage, "/robot/a/collisions/capsule")
    capsule.CreateAxisAttr().Set("X")
    capsule.CreateRadiusAttr().Set(0.1)
    capsule.CreateHeightAttr().Set(0.7)
    UsdGeom.Cylinder.Define(stage, "/robot/a/visuals/cylinder").CreateHeightAttr().Set(0.5)
    mesh = UsdGeom.Mesh.Define(stage, "/robot/b/hull")
    mesh.CreatePointsAttr().Set([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    mesh.AddTranslateOp().Set((0.0, 0.0, 1.0))
    for shape in (cube, capsule, mesh):
        UsdPhysics.CollisionAPI.Apply(shape.GetPrim())
    UsdGeom.Xform.Define(stage, "/robot/b/tool").AddTranslateOp().Set((0.0, 0.0, 0.5))
    body = mk.read.from_usd(stage)
    a, b = body.links["a"], body.links["b"]
    assert (a.mass, a.center_of_mass) == (2.5, (0.5, 0.0, 0.25))
    by_kind = {shape.kind: shape for shape in a.shapes}
    assert set(by_kind) == {"box", "capsule"} and [shape.kind for shape in a.visuals] == ["cylinder"]
    assert_allclose(by_kind["box"].size, (0.2, 0.4, 0.6), rtol=1e-6)
    assert_allclose(by_kind["box"].link_from_shape[:3, 3], (1, 2, 3))
    assert by_kind["box"].color == (1.0, 0.5, 0.0, 1.0)
    assert_allclose(by_kind["capsule"].size, (0.1, 0.7))
    assert_allclose(np.abs(by_kind["capsule"].link_from_shape[:3, 2]), (1, 0, 0), atol=1e-12)
    assert_allclose(b.shapes[0].points.max(axis=0), (1, 1, 2))
    assert_allclose(body.forward(body.home, "tool")[:3, 3], (1, 0, 0.5), atol=1e-12)


def test_what_is_left_out_is_named_once():
    stage = arm(2)
    UsdGeom.Cone.Define(stage, "/robot/a/cone")
    UsdGeom.Mesh.Define(stage, "/robot/a/mesh")
    add_body(stage, "/robot/stone")
    ball = add_joint(stage, "/robot/ball", "Spherical", (None, "/robot/a"))
    UsdPhysics.SphericalJoint(ball).CreateConeAngle0LimitAttr().Set(30.0)
    with pytest.warns(MemetikWarning) as said:
        body = mk.read.from_usd(stage)
    assert len(said) == 1 and "stone" not in body.links
    for part in (
        "type Cone",
        "meshes that do not collide",
        "cones of spherical joints",
        "no joint holds (/robot/stone)",
    ):
        assert part in str(said[0].message)


def test_bodies_that_stand_where_their_joint_cannot_have_them():
    stage = arm(2)
    UsdGeom.Xformable(stage.GetPrimAtPath("/robot/b")).GetOrderedXformOps()[0].Set(Gf.Matrix4d(1.0))
    with pytest.warns(MemetikWarning, match=STANDS):
        assert mk.read.from_usd(stage).home.tolist() == [0.0]


def test_generic_joints():
    stage = arm(2)
    stage.RemovePrim("/robot/a_b")
    joint = add_joint(stage, "/robot/six", "", ("/robot/a", "/robot/b"), (((1, 0, 0), (1, 0, 0, 0)), None))
    for dof in ("transY", "transZ", "rotX", "rotY"):
        limit = UsdPhysics.LimitAPI.Apply(joint, dof)
        limit.CreateLowAttr().Set(1.0)
        limit.CreateHighAttr().Set(-1.0)
    body = mk.read.from_usd(stage)
    assert body.joint_names == ("six_transX", "six_rotZ")
    there = mk.translation(1.3, 0.0, 0.0) @ mk.transform(rotation=mk.axis_angle((0, 0, 1), 0.7))
    assert_allclose(body.forward([0.3, 0.7], "b"), there, atol=1e-12)
    UsdPhysics.LimitAPI(joint, "rotX").GetLowAttr().Set(-2.0)
    with pytest.raises(FormatError, match="/robot/six: it is free in rotX and rotZ"):
        mk.read.from_usd(stage)


def test_one_of_two_robots_on_a_stage():
    stage = new_stage()
    for robot in ("left", "right"):
        for name in ("base", "hand"):
            add_body(stage, f"/robot/{robot}/{name}")
        add_joint(stage, f"/robot/{robot}/turn", "Revolute", (f"/robot/{robot}/base", f"/robot/{robot}/hand"))
    assert mk.read.from_usd(stage).joint_names == ("left/turn", "right/turn")
    one = mk.read.from_usd(stage, prim="/robot/right")
    assert (one.name, one.joint_names, set(one.links)) == ("right", ("turn",), {"world", "base", "hand"})
    for wrong in ("/robot/middle", "not a path", ""):
        with pytest.raises(FormatError):
            mk.read.from_usd(stage, prim=wrong)


def two_parents(stage):
    add_joint(stage, "/robot/again", "Revolute", ("/robot/a", "/robot/c"))


def circle(stage):
    add_joint(stage, "/robot/again", "Revolute", ("/robot/c", "/robot/a"))


def twice(stage):
    add_joint(stage, "/robot/again", "Revolute", ("/robot/a", "/robot/b"), axis="X")


def itself(stage):
    add_joint(stage, "/robot/again", "Revolute", ("/robot/a", "/robot/a"))


def nowhere(stage):
    add_joint(stage, "/robot/again", "Revolute", (None, None))


def lost(stage):
    add_joint(stage, "/robot/again", "Revolute", ("/robot/a", "/robot/z"))


def limits(stage):
    add_joint(stage, "/robot/again", "Revolute", (None, "/robot/a"), limits=(10.0, -10.0))


def nan(stage):
    add_joint(stage, "/robot/again", "Revolute", (None, "/robot/a"), (((math.nan, 0, 0), (1, 0, 0, 0)), None))


def no_turn(stage):
    add_joint(stage, "/robot/again", "Revolute", (None, "/robot/a"), (((0, 0, 0), (0, 0, 0, 0)), None))


def mirrored(stage):
    UsdGeom.Xformable(stage.GetPrimAtPath("/robot/b")).AddScaleOp().Set((1, 1, -1))


def mimic(stage):
    prim = stage.GetPrimAtPath("/robot/a_b")
    prim.CreateRelationship("newton:mimicJoint").SetTargets(["/robot/z"])


def no_bodies(stage):
    stage.RemovePrim("/robot")


def no_unit(stage):
    UsdGeom.SetStageMetersPerUnit(stage, 0.0)


def negative(stage):
    UsdPhysics.MassAPI.Apply(stage.GetPrimAtPath("/robot/a")).CreateMassAttr().Set(-1.0)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (two_parents, "/robot/again: it closes a loop.*/robot/b_c holds /robot/c already.*excludeFromArticulation"),
        (circle, "/robot/again: it closes a loop.*excludeFromArticulation"),
        (twice, "/robot/again: .* are joined by /robot/a_b already"),
        (itself, "/robot/again: body0 and body1 lead to one and the same rigid body"),
        (nowhere, "/robot/again: body0 and body1 lead to no rigid body"),
        (lost, "/robot/again: physics:body1 names /robot/z, which is not on the stage"),
        (limits, "/robot/again: its lower limit 10 is not below its upper limit -10"),
        (nan, "/robot/again, body0: its frame has a position"),
        (no_turn, "/robot/again, body0: its frame has a position"),
        (mirrored, "/robot/b: its place is mirrored"),
        (mimic, "/robot/a_b: it mimics /robot/z"),
        (no_bodies, "no rigid body"),
        (no_unit, "metersPerUnit = 0"),
        (negative, "/robot/a: physics:mass is -1"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_spoiled_stages_are_refused(spoil, said):
    stage = arm(3)
    spoil(stage)
    with pytest.raises(FormatError, match=said):
        mk.read.from_usd(stage)


def test_what_is_no_stage(tmp_path):
    for wrong in ("robot.usda", None, 3):
        with pytest.raises(FormatError, match=r"takes a pxr\.Usd\.Stage"):
            mk.read.from_usd(wrong)
    with pytest.raises(FormatError, match="there is no file"):
        mk.load(tmp_path / "none.usd")
    for name in ("torn.usda", "torn.usdc", "torn.usd", "torn.usdz"):
        for content in (b"#usda 1.0\ndef {{{", b"#usda 1.0\n\xb0\xb0", b"", b"PXR-USDC" + bytes(80)):
            (tmp_path / name).write_bytes(content)
            with pytest.raises(FormatError, match=f"{name}: USD cannot read it"):
                mk.load(tmp_path / name)


def test_a_part_that_is_not_there_is_named(tmp_path):
    stage = arm(2)
    stage.GetDefaultPrim().GetReferences().AddReference("nowhere.usda")
    stage.GetRootLayer().Export(str(tmp_path / "arm.usda"))
    with pytest.warns(MemetikWarning, match=r"arm\.usda: 1 of its parts cannot be composed.*nowhere\.usda"):
        assert mk.load(tmp_path / "arm.usda").dof == 1


def test_many_threads_read_the_same(tmp_path):
    arm(6).Export(str(tmp_path / "arm.usdc"))
    with ThreadPoolExecutor(4) as pool:
        bodies = list(pool.map(mk.load, [tmp_path / "arm.usdc"] * 40))
    assert {body.joint_names for body in bodies} == {("a_b", "b_c", "c_d", "d_e", "e_f")}


def test_the_package_is_named_where_it_is_missing(tmp_path, monkeypatch):
    stage = Usd.Stage.CreateInMemory()
    monkeypatch.setitem(sys.modules, "pxr", None)
    for call in (lambda: mk.read.from_usd(stage), lambda: mk.load(tmp_path / "robot.usd")):
        with pytest.raises(MissingExtraError, match=r"memetik\[usd\]"):
            call()

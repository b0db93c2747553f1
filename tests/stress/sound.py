"""Sound arguments and objects for hostile calls (hostile.py): what a call needs beside the one that is wrong."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np

import memetik as mk
from memetik.batch.shards import Tally
from memetik.motion import Sample
from memetik.read import parse_srdf

# What is no call: unions of types, the record of a reader.
LEFT_OUT = frozenset({
    "Element", "RotationLike", "TransformLike", "Srdf", "read_xml", "check_mjcf", "distrust", "distrusted", "forget",
    "run_limited",
    # records that only calls of memetik make, from arrays of its own
    "BatchSolution", "CollisionPairs", "Cover", "DeviceArray", "DeviceBatchSolution", "LinkPair", "Meeting", "MotionCheck",
    "Obstacle", "Minimum", "Plan", "RetargetReport", "Retargeted",
})  # fmt: skip

# Members that only other parts of memetik call: the contract of objectives with the compiler, and of solvers with kernels.
SKIPPED = frozenset({
    "LinkPoses.get", "Problem.recompile", "breed", "error", "explain", "follows_start", "joints",
    "make_record", "own", "pack", "raise_fault", "raise_faults", "rest", "search", "diagnose", "sizes", "solids",
    "step", "steps_to_stall", "target_rows", "usual", "take_slot", "take_world", "pair_anew", "target_kind",
    "World.get", "strength", "World.touching", "World.owner", "World.rows", "World.watch", "PointCloud.groups", "World.fields",
    "Distance.standing", "Distance.obstacle_name", "Loop.count", "Loop.index",
})  # fmt: skip

# Parameters that have a default and yet have to be given; most of them so that a call takes milliseconds.
NEEDED = frozenset({
    "solve_batch.targets", "FeedForward.train.hidden", "FeedForward.train.samples", "FeedForward.train.epochs",
    "Elman.train.hidden", "Elman.train.paths", "Elman.train.steps", "Elman.train.epochs", "SupportVectors.train.samples",
    "ExtremeLearning.train.hidden", "ExtremeLearning.train.samples",
    "reachability.voxel", "reachability.orientations", "reachability.budget", "reachability.threads", "solve_files.overwrite",
    "solve_files.threads", "Shape.size", "World.move.pose", "Motion.mirrored.normal", "Motion.locked.feet",
    "find_collision_pairs.samples",
    "find_collision_pairs.boxes", "Body.attach.prefix", "view.open",
})  # fmt: skip

# What is asked for by an index, or called itself.
INDEXED = frozenset({"BatchSolution.__getitem__", "LinkPoses.__getitem__", "Solution.__getitem__", "Step.__call__"})

# Records that memetik alone fills: their constructors look at nothing.
RECORDS = frozenset({
    "BatchSolution", "Calibration", "Chain", "FilesReport", "History", "Method", "Mimic", "PoseErrors", "LinkPoses", "Solution",
    "Track", "Trajectory",
})  # fmt: skip

FEW = mk.Budget(evaluations=20)


@functools.cache
def arm() -> mk.Body:
    return mk.build.planar_chain(3)


@functools.cache
def history() -> mk.solvers.History:
    return mk.solvers.BioIK(population=8, elites=2).evolve(problem(), None, FEW)[1]


@functools.cache
def problem() -> mk.Problem:
    return mk.Problem(arm(), mk.Position("tip", (0.5, 0.5, 0.0), tolerance=0.01))


@functools.cache
def step() -> mk.solvers.Step:
    taken = mk.bind(problem(), problem().objectives[0], budget=FEW)
    taken((0.5, 0.5, 0.0))
    return taken


@functools.cache
def servo() -> mk.Servo:
    made = mk.Servo(problem(), budget=FEW)
    made.step()
    return made


@functools.cache
def calibration() -> mk.motion.Calibration:
    return mk.motion.Calibration.of(
        {"left": np.eye(4), "right": np.eye(4) + UP}, {"left": np.eye(4), "right": np.eye(4) + UP}
    )


@functools.cache
def floater() -> mk.Body:
    return arm().with_base("floating")


@functools.cache
def clip() -> mk.Motion:
    return mk.Motion(floater(), (0.0, 0.1, 0.2), 0.1 * np.arange(3)[:, None] * np.ones(floater().dof))


@functools.cache
def figure() -> mk.Body:
    """A person of two legs, and nothing else."""
    parts = [("hips", None, (0.0, 0.0, 0.0))]
    for side, y in (("left", 0.1), ("right", -0.1)):
        parts += [(f"{side}_thigh", "hips", (0.0, y, 0.0)), (f"{side}_shin", f"{side}_thigh", (0.0, 0.0, -0.4))]
        parts += [(f"{side}_foot", f"{side}_shin", (0.0, 0.0, -0.4))]
    joints = [
        mk.build.Joint(f"{name}_joint", "spherical", parent, name, origin=mk.translation(*at))
        for name, parent, at in parts
        if parent
    ]
    return mk.Body("figure", [mk.build.Link(name) for name, _, _ in parts], joints).with_base("floating")


@functools.cache
def standing() -> mk.Motion:
    return mk.Motion(figure(), (0.0, 0.1), np.stack([figure().home] * 2))


@functools.cache
def cover() -> mk.collision.Cover:
    return mk.collision.cover(
        mk.Body("stone", [mk.build.Link("stone", shapes=(mk.Shape("sphere", (0.1,)),))], []), progress=False
    )


@functools.cache
def model() -> Any:
    import mujoco

    return mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint/><geom size='0.1'/></body></worldbody></mujoco>"
    )


@functools.cache
def pinocchio_model() -> Any:
    import pinocchio

    return pinocchio.buildSampleModelManipulator()


@functools.cache
def yourdf() -> Any:
    import yourdfpy

    Path("yourdf.urdf").write_text('<robot name="arm"><link name="base"/></robot>')
    return yourdfpy.URDF.load("yourdf.urdf")


@functools.cache
def usd_stage() -> Any:
    from pxr import Usd, UsdPhysics

    stage = Usd.Stage.CreateInMemory()
    UsdPhysics.RigidBodyAPI.Apply(stage.DefinePrim("/arm", "Xform"))
    return stage


def motion_file() -> str:
    return str(clip().write("clip.bvh"))


def plan_file() -> str:
    mk.motion.retarget_plan(standing(), figure()).save("plan.json")
    return "plan.json"


@functools.cache
def network() -> mk.learn.FeedForward:
    return mk.learn.FeedForward.train(problem(), hidden=3, samples=8, epochs=2)


@functools.cache
def hearing() -> mk.learn.FeedForward:
    """One that follows paths."""
    return mk.learn.FeedForward.train(problem(), hidden=3, samples=8, epochs=2, posture_spread=0.1)


@functools.cache
def recurrent() -> mk.learn.Elman:
    return mk.learn.Elman.train(problem(), hidden=3, paths=3, steps=3, epochs=2)


@functools.cache
def extreme() -> mk.learn.ExtremeLearning:
    return mk.learn.ExtremeLearning.train(problem(), hidden=3, samples=8)


@functools.cache
def machines() -> mk.learn.SupportVectors:
    return mk.learn.SupportVectors.train(problem(), samples=8)


@functools.cache
def reach() -> mk.batch.Reachability:
    return mk.batch.reachability(arm(), "tip", voxel=1.0, orientations=2, budget=FEW, threads=1, progress=False)


def target_file() -> str:
    Path("targets.csv").write_text("x,y,z\n0.5,0.5,0.0\n0.5,0.6,0.0\n")
    return "targets.csv"


def reach_file() -> str:
    return str(reach().save("reach.npz"))


def moving() -> dict[mk.Objective, Any]:
    return {problem().objectives[0]: [(0.5, 0.5, 0.0), (0.5, 0.6, 0.0)]}


def relation(value: float) -> float:
    return 0.5 * value


UP = np.zeros((4, 4))
UP[2, 3] = 1.0
HEIGHTS = np.zeros((3, 3))
TRIANGLE = (((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), ((0, 1, 2),))

URDF = """<robot name="arm"><link name="base"><visual><geometry><mesh filename="package://arm/base.stl"/></geometry></visual>
</link><link name="tip"/><joint name="turn" type="continuous"><parent link="base"/><child link="tip"/></joint></robot>"""
SRDF = '<robot name="arm"><group name="arm"><chain base_link="base" tip_link="tip"/></group></robot>'


# By the name of a parameter, or by that of the call and the parameter where the same name means several things.
def square(x: Any) -> Any:
    """A function to minimise."""
    return x[0] * x[0]


ARGUMENTS: dict[str, Any] = {
    "minimise.f": lambda: square,
    "Minimum.x": lambda: np.zeros(1),
    "Minimum.value": lambda: 0.0,
    "Minimum.success": lambda: True,
    "Minimum.evaluations": lambda: 1,
    "Minimum.attempts": lambda: 1,
    "Minimum.compile_seconds": lambda: 0.0,
    "Minimum.timed_out": lambda: False,
    "Minimum.method": lambda: "de",
    "Minimum.seconds": lambda: 0.0,
    "minimise.lower": lambda: [-1.0],
    "minimise.upper": lambda: [1.0],
    "minimise.start": lambda: [0.5],
    "minimise.target_value": lambda: 1e-3,
    "minimise.method": lambda: "pso",
    "fabrik_points.points": lambda: np.eye(3),
    "fabrik_points.target": lambda: (0.2, 0.2, 0.2),
    "elbow": lambda: (0.0, 0.1, 0.0),
    "elbow_angles.hand": lambda: (0.0, 0.1, 0.1),
    "part": lambda: "hips",
    "bone": lambda: "hips",
    "motion": clip,
    "terrain": mk.objectives.Ground,
    "feet": lambda: ["tip"],
    "gait.feet": lambda: {"left_foot": 0.0, "right_foot": 0.5},
    "gait.body": figure,
    "spans": lambda: mk.motion.Span(mk.Position("tip", (0.5, 0.5, 0.0), tolerance=None)),
    "edit.spans": lambda: mk.motion.Span(mk.Position("tip", (0.5, 0.5, 0.0), tolerance=None)),
    "Span.objective": lambda: mk.Position("tip", (0.5, 0.5, 0.0)),
    "FootPlacer.body": floater,
    "FootPlacer.q": lambda: np.zeros(floater().dof),
    "radius": lambda: 0.1,
    "retarget.motion": standing,
    "retarget.body": figure,
    "retarget_each.clips": lambda: [standing()],
    "retarget_each.body": figure,
    "retarget_plan.body": figure,
    "skeleton": figure,
    "RetargetPlan.skeleton": lambda: "figure",
    "RetargetPlan.body": lambda: "figure",
    "RetargetPlan.load.path": plan_file,
    "RetargetPlan.save.path": lambda: "plan.json",
    "matches": lambda: (mk.motion.BoneMatch("hips", "hips", "hips"),),
    "cover": cover,
    "model": model,
    "from_pinocchio.model": pinocchio_model,
    "urdf": yourdf,
    "stage": usd_stage,
    "prim": lambda: "/arm",
    "at": lambda: "tip",
    "shape": lambda: mk.Shape("sphere", (0.1,)),
    "shapes": lambda: mk.Shape("sphere", (0.1,)),
    "pairs": lambda: [("base", "tip")],
    "read_motion.path": motion_file,
    "Motion.write.path": lambda: "clip.bvh",
    "heading": lambda: 0.5,
    "world_from_world": lambda: np.eye(4),
    "Motion.blended.ratio": lambda: 0.5,
    "Motion.joined.other": clip,
    "Motion.looped.count": lambda: 2,
    "Motion.warped.time_map": lambda: {0.05: 0.1},
    "Motion.filtered.cutoff": lambda: 6.0,
    "Motion.with_root_path.root_path": lambda: np.zeros((len(clip()), 3)),
    "Motion.locked.feet": lambda: ["tip"],
    "Motion.blended.other": clip,
    "Motion.body": floater,
    "Motion.times": lambda: (0.0, 0.1, 0.2),
    "Motion.q": lambda: np.zeros((3, floater().dof)),
    "Motion.with_q.q": lambda: np.zeros((3, floater().dof)),
    "Motion.between.start_time": lambda: 0.05,
    "Motion.between.end_time": lambda: 0.15,
    "Motion.at.times": lambda: 0.1,
    "Motion.mirrored.normal": lambda: (0.0, 1.0, 0.0),
    "check_motion.trajectory": lambda: np.zeros((2, 6)),
    "check_motion.problem": lambda: mk.build.snake(6),
    **{f"World.{call}.name": (lambda: "ball") for call in ("attach", "disable", "enable", "move", "remove")},
    "World.move.pose": lambda: np.eye(4),
    "hull.source": lambda: np.eye(3),
    "SignedDistanceGrid.values": lambda: np.ones((2, 2, 2)),
    "SignedDistanceGrid.spacing": lambda: 0.5,
    "SignedDistanceGrid.distance.points": lambda: np.eye(3),
    "SignedDistanceGrid.from_mesh.source": lambda: mk.objectives.TriangleMesh(np.eye(3), [(0, 1, 2)]),
    "SignedDistanceGrid.from_mesh.spacing": lambda: 0.5,
    "World.attach.body": arm,
    "World.release.body": arm,
    "hull.points": lambda: np.eye(3),
    "find_collision_pairs.body": lambda: mk.build.snake(6),
    "find_collision_pairs.samples": lambda: 5,
    "find_collision_pairs.boxes": lambda: 2,
    **dict.fromkeys(("R", "R0", "R1"), lambda: np.eye(3)),
    **dict.fromkeys(("T", "T0", "T1", "pose"), lambda: np.eye(4)),
    "a": lambda: (1.0, 0.0, 0.0),
    "b": lambda: (0.0, 1.0, 0.0),
    "points": lambda: np.zeros((2, 3)),
    "roots": lambda: (),
    "t": lambda: 0.5,
    "text": lambda: URDF,
    "twist": lambda: np.zeros(6),
    "v": lambda: np.zeros(3),
    "srdf": lambda: parse_srdf(SRDF),
    "parse_srdf.text": lambda: SRDF,
    "resolve_mesh.name": lambda: "package://robot/hand.stl",
    "acceleration": lambda: 10.0,
    "active": lambda: np.arange(3),
    "overwrite": lambda: True,
    "angle": lambda: 0.5,
    "array": lambda: np.eye(4)[None],
    "axis": lambda: (0.0, 0.0, 1.0),
    "base": lambda: "base",
    "body": arm,
    "budget": lambda: FEW,
    "child": lambda: "rod",
    "corner": lambda: np.zeros(3),
    "count": lambda: 3,
    "deterministic": lambda: True,
    "device": lambda: "cpu",
    "direction": lambda: (0.0, 0.0, 1.0),
    "distance": lambda: 0.3,
    "domain": lambda: network().domain,
    "elite": lambda: np.zeros(2, dtype=bool),
    "start_pose": lambda: (0.0, 0.0, 0.0),
    "end_pose": lambda: (0.3, 0.2, 0.1),
    "epochs": lambda: 2,
    "errors": lambda: {},
    "evaluations": lambda: 3,
    "faces": lambda: TRIANGLE[1],
    "family": lambda: "x",
    "fitness": lambda: np.zeros(2),
    "forward": lambda: (1.0, 0.0, 0.0),
    "fraction": lambda: reach().fraction,
    "frame": lambda: "tip",
    "function": lambda: relation,
    "gamma": lambda: 1.0,
    "generation": lambda: np.zeros(2, dtype=int),
    "genes": lambda: np.zeros((2, 3)),
    "half_angle": lambda: 0.4,
    "heights": lambda: HEIGHTS,
    "hidden": lambda: 3,
    "history": history,
    "joint": lambda: "joint_1",
    "joint_names": lambda: ("joint_1", "joint_2", "joint_3"),
    "view.path": lambda: "view.html",
    "open": lambda: False,
    "Body.write_urdf.path": lambda: "body.urdf",
    **{f"{table}.save.path": (lambda: "table.csv") for table in ("BatchSolution", "Plan", "Track")},
    "joints": lambda: (mk.build.Joint("turn", "revolute", "base", "tip"),),
    "jumped": lambda: np.zeros(1, dtype=bool),
    "kind": lambda: "revolute",
    "lengths": lambda: 3,
    "lesson": lambda: network().lesson,
    "limits": lambda: "x",
    "link": lambda: "tip",
    "links": lambda: (mk.build.Link("base"), mk.build.Link("tip")),
    "lower": lambda: np.zeros(3),
    "method": lambda: "memetic",
    "name": lambda: "name",
    "normal": lambda: (0.0, 0.0, 1.0),
    "numbers": lambda: np.zeros(8),
    "Step.objectives": lambda: problem().objectives,
    "objectives": lambda: mk.Position("tip", (0.5, 0.5, 0.0)),
    "of": lambda: "collision",
    "sources": lambda: ["joint_2"],
    "offsets": lambda: machines().offsets,
    "BodyBuilder.touching.link": lambda: "base",
    "orientation": lambda: 0.0,
    "orientations": lambda: 2,
    "origin": lambda: (0.0, 0.0, 0.0),
    "other_link": lambda: "base",
    "Body.attach.other": arm,
    "prefix": lambda: "other_",
    "others": lambda: [(1.0, 1.0, 1.0)],
    "out": lambda: "answers",
    "parent": lambda: "base",
    "parents": lambda: np.zeros((2, 2), dtype=int),
    "path": lambda: "picture.svg",
    "paths": lambda: 3,
    "pitch": lambda: 0.1,
    "screw_pitch": lambda: 0.1,
    "place": lambda: "memetic.Memetic",
    "point": lambda: (0.0, 0.0, 0.0),
    "polygon": lambda: ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0)),
    "qpos": lambda: np.zeros(3),
    "poses": lambda: [np.eye(4), mk.translation(0.1, 0.0, 0.0)],
    "position": lambda: (0.0, 0.0, 0.0),
    "postures": lambda: [np.zeros(3)],
    "problem": problem,
    "q": lambda: np.zeros(3),
    **dict.fromkeys(("qd", "qdd"), lambda: np.zeros((1, 3))),
    "rate": lambda: 100.0,
    "reachability": reach,
    "reference": lambda: "x",
    "rng": lambda: np.random.default_rng(0),
    "roll": lambda: 0.1,
    "rotation": lambda: np.eye(3),
    "row_seconds": lambda: np.zeros(1),
    "rows": lambda: {"tip": 0},
    "samples": lambda: 8,
    "seconds": lambda: 0.0,
    "shards": lambda: 1,
    "size": lambda: (0.1, 0.2),
    "sizes": lambda: network().sizes.tolist(),
    "solved": lambda: Tally(),
    "source": lambda: "panda",
    "start": lambda: np.zeros(3),
    "starts": lambda: np.zeros((1, 3)),
    "status": lambda: np.zeros(1, dtype=np.int8),
    "steps": lambda: 3,
    "surface": mk.objectives.Ground,
    "takes": lambda: "x",
    "target": lambda: (0.5, 0.1, 0.2),
    "targets": moving,
    "threads": lambda: 1,
    "times": lambda: 0.1,
    "timing": lambda: sound("Trajectory").timing,
    "tip": lambda: "tip",
    "tips": lambda: ("tip",),
    "tolerance": lambda: 1e-3,
    "total": lambda: Tally(),
    "unread": lambda: (),
    "upper": lambda: np.ones(3),
    "value": lambda: 0.5,
    "values": lambda: {"joint_1": 0.1},
    "variable": lambda: "joint_1",
    "vectors": lambda: machines().vectors,
    "vertices": lambda: TRIANGLE[0],
    "via_pose": lambda: (0.2, 0.0, 0.0),
    "view": lambda: (35.0, 18.0),
    "voxel": lambda: 1.0,
    "weight": lambda: 1.0,
    "yaw": lambda: 0.1,
    **{letter: (lambda letter=letter: float(letter == "w")) for letter in "wxyz"},
    "current": lambda: arm().forward(np.zeros(3)),
    "last": lambda: arm().forward(np.zeros(3)),
    "devices": lambda: {"hand": problem().objectives[0]},
    "goal": lambda: np.zeros(3),
    "jerk": lambda: 100.0,
    "measured": lambda: {"left": np.eye(4), "right": mk.translation(0.0, -1.0, 0.0)},
    "wanted": lambda: {"left": np.eye(4), "right": mk.translation(0.0, -2.0, 0.0)},
    "Teleoperator.post.poses": lambda: {"hand": np.eye(4)},
    "realistic": lambda: True,
    "reconfigure": lambda: True,
    "response": lambda: 0.01,
    "scale": lambda: 1.0,
    "servo": servo,
    "smoothing": lambda: 0.5,
    "synchronise": lambda: True,
    "time": lambda: 0.0,
    "turns": lambda: {"left": np.eye(3)},
    "velocity": lambda: 1.0,
    "offset": lambda: np.zeros(3),
    "calibration": calibration,
    "write_stream.stream": lambda: [(0.0, {"hand": np.eye(4)})],
    "Teleoperator.replay.stream": lambda: [Sample(0.0, {"hand": np.eye(4)})],
    "read_stream.path": lambda: str(mk.motion.write_stream("stream.jsonl", [(0.0, {"hand": np.eye(4)})])),
    "write_stream.path": lambda: "stream.jsonl",
    "Calibration.apply.name": lambda: "left",
    "Teleoperator.calibration": lambda: None,
    "Calibration.yaw": lambda: 0.0,
    "JointValue.target": lambda: 0.5,
    "Orientation.target": lambda: np.eye(3),
    "Pose.target": lambda: np.eye(4),
    "PoseErrors.position": lambda: 0.0,
    "BatchSolution.__getitem__.rows": lambda: 0,
    "Body.chain.base_link": lambda: "chain",
    "BodyBuilder.chain.base_link": lambda: "base",
    "Body.with_base.kind": lambda: "planar",
    "BodyBuilder.add.joint": lambda: "new",
    "BodyBuilder.chain.name": lambda: "part",
    "FunctionalRelation.joint": lambda: "joint_1",
    "History.joints": lambda: ("joint_1", "joint_2", "joint_3"),
    "Joint.transform.values": lambda: (0.3,),
    "Objective.name": lambda: None,
    "Shape.kind": lambda: "capsule",
    "Solution.status": lambda: 0,
    "Touch.link": lambda: "link_1",
    "Elman.weights": lambda: recurrent().weights,
    "FeedForward.weights": lambda: network().weights,
    "SupportVectors.weights": lambda: machines().weights,
    "SupportVectors.owners": lambda: machines().owners,
    "SupportVectors.gammas": lambda: machines().gammas,
    "SupportVectors.served": lambda: machines().served,
    "SupportVectors.axis": lambda: 0,
    "ExtremeLearning.outer": lambda: extreme().outer,
    "ExtremeLearning.hidden": lambda: extreme().hidden,
    "ExtremeLearning.load.path": lambda: str(extreme().save("extreme.npz")),
    "FeedForward.train.posture_spread": lambda: 0.1,
    "Elman.load.path": lambda: str(recurrent().save("elman.npz")),
    "FeedForward.load.path": lambda: str(network().save("network.npz")),
    "SupportVectors.load.path": lambda: str(machines().save("machines.npz")),
    "load_reachability.path": reach_file,
    "Reachability.body": lambda: "arm",
    "Reachability.position": lambda: reach().position,
    "Reachability.centers.dimension": lambda: 0,
    "solve_files.source": target_file,
    "from_dh.table": lambda: [(0.5, 0.0, 0.1, 0.0)],
    "History.rows.generation": lambda: 0,
    "History.postures.rows": lambda: np.arange(1),
    "Group.bodies": lambda: {"one": arm(), "other": arm()},
    "Group.placements": lambda: {"other": (2.0, 0.0, 0.0)},
    "Group.name.body_name": lambda: "one",
    "Group.name.name": lambda: "tip",
    "Group.frame.body_name": lambda: "one",
    "Group.frame.link": lambda: "tip",
    "Group.split.q": lambda: np.zeros(6),
    "Group.vector.vectors": lambda: {"one": np.zeros(3)},
    "Loop.frame": lambda: mk.Frame("link_1"),
    "Loop.other": lambda: mk.Frame("tip"),
    "Loop.kind": lambda: "spherical",
    "BodyBuilder.close.frame": lambda: "base",
    "BodyBuilder.close.other_frame": lambda: "tip",
    "BodyBuilder.close.kind": lambda: "fixed",
    "Body.gravity_torque.q": lambda: np.zeros(3),
    "GravityTorque.effort": lambda: {"joint_1": 5.0},
    "close_loops.body": mk.build.five_bar,
    "five_bar.base_width": lambda: 0.3,
    "five_bar.rod_length": lambda: 0.35,
    "stewart_platform.base_radius": lambda: 0.5,
    "delta_robot.base_radius": lambda: 0.2,
    "Problem.weighting": lambda: "balanced",
}

# An object of every public class that is not one of results alone.
EXAMPLES: dict[str, Any] = {
    "Minimum": lambda: mk.solvers.minimise(square, [-1.0], [1.0], method="pso", budget=FEW),
    "BoneMatch": lambda: mk.motion.BoneMatch("hips", "hips", "hips"),
    "FootPlacer": lambda: mk.motion.FootPlacer(floater(), mk.objectives.Ground(), ["tip"]),
    "Motion": clip,
    "Plan": lambda: mk.plan(problem(), np.zeros(3), np.full(3, 0.1)),
    "PointCloud": lambda: mk.objectives.PointCloud(np.eye(3), 0.1),
    "RetargetPlan": lambda: mk.motion.retarget_plan(standing(), figure()),
    "Span": lambda: mk.motion.Span(mk.Position("tip", (0.5, 0.5, 0.0))),
    "World": lambda: mk.World({"ball": mk.Shape("sphere", (0.1,), mk.translation(5.0, 5.0, 5.0))}),
    "AvoidLimits": mk.AvoidLimits,
    "Balance": lambda: mk.Balance(((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))),
    "Budget": lambda: FEW,
    "BatchSolution": lambda: mk.solve_batch(problem(), starts=np.zeros((2, 3)), budget=FEW, threads=1),
    "Body": arm,
    "BodyBuilder": lambda: mk.build.BodyBuilder("arm"),
    "CenterJoints": mk.CenterJoints,
    "Calibration": calibration,
    "Cone": lambda: mk.Cone("tip", (1.0, 0.0, 0.0), 0.3),
    "Direction": lambda: mk.Direction("tip", (1.0, 0.0, 0.0)),
    "Displacement": mk.Displacement,
    "Distance": lambda: mk.Distance("link_2", [(1.0, 1.0, 1.0)]),
    "Elman": recurrent,
    "ExtremeLearning": extreme,
    "FeedForward": hearing,
    "FilesReport": lambda: mk.batch.solve_files(
        problem(), target_file(), "answers", budget=FEW, overwrite=True, threads=1
    ),
    "Follower": lambda: mk.motion.Follower(arm()),
    "Frame": lambda: mk.Frame("tip"),
    "FunctionalRelation": lambda: mk.FunctionalRelation("joint_1", relation, sources=["joint_2"]),
    "GravityTorque": lambda: mk.GravityTorque({"joint_1": 5.0}),
    "Ground": mk.objectives.Ground,
    "Group": lambda: mk.body.Group({"one": arm(), "other": arm()}, placements={"other": (2.0, 0.0, 0.0)}),
    "HeightField": lambda: mk.objectives.HeightField(HEIGHTS),
    "SignedDistanceGrid": lambda: mk.collision.SignedDistanceGrid(np.ones((2, 2, 2)), spacing=0.5),
    "History": history,
    "Joint": lambda: mk.build.Joint("turn", "revolute", "base", "tip"),
    "JointValue": lambda: mk.JointValue("joint_1", 0.2),
    "Line": lambda: mk.Line("tip", (0.5, 0.0, 0.0), (0.0, 1.0, 0.0)),
    "Link": lambda: mk.build.Link("tip"),
    "LookAt": lambda: mk.LookAt("tip", (1.0, 1.0, 0.0)),
    "Loop": lambda: mk.build.Loop("tip", mk.Frame("link_1"), mk.Frame("tip")),
    "Manipulability": lambda: mk.Manipulability("tip", 0.1),
    "MaxDistance": lambda: mk.MaxDistance("tip", (0.0, 0.0, 0.0), 0.5),
    "MinDistance": lambda: mk.MinDistance("tip", (0.0, 0.0, 0.0), 0.5),
    "OFKT": lambda: mk.body.OFKT(arm()),
    "Orientation": lambda: mk.Orientation("tip", np.eye(3)),
    "Plane": lambda: mk.Plane("tip", (0.5, 0.0, 0.0), (1.0, 0.0, 0.0)),
    "Pose": lambda: mk.Pose("tip", np.eye(4)),
    "LinkPoses": lambda: arm().forward(np.zeros(3)),
    "Position": lambda: mk.Position("tip", (0.5, 0.5, 0.0)),
    "Problem": lambda: mk.Problem(arm(), mk.Position("tip", (0.5, 0.5, 0.0), tolerance=0.01)),  # its root may be set
    "Projection": lambda: mk.Projection("tip", mk.objectives.Ground()),
    "Reachability": reach,
    "SelfDistance": lambda: mk.SelfDistance(mk.build.snake(6)),
    "Servo": servo,
    "Shape": lambda: mk.Shape("capsule", (0.1, 0.2)),
    "Side": lambda: mk.Side("tip", (1.0, 0.0, 0.0)),
    "Solution": lambda: mk.solve(problem(), budget=FEW),
    "SupportVectors": machines,
    "Teleoperator": lambda: mk.motion.Teleoperator(servo(), {"hand": problem().objectives[0]}),
    "Touch": lambda: mk.Touch("link_3"),
    "Step": step,
    "Track": lambda: mk.track(problem(), moving(), budget=FEW),
    "Trajectory": lambda: mk.track(problem(), moving(), budget=FEW).retime(),
    "TriangleMesh": lambda: mk.objectives.TriangleMesh(*TRIANGLE),
    **{row.solver.__name__: row.solver for row in mk.methods()},
    "Learned": lambda: mk.solvers.Learned(network=network()),
    "Portfolio": lambda: mk.solvers.Portfolio(methods=("memetic", "dls")),
}


def sound(name: str, parameter: str | None = None) -> Any:
    """An object by the name of its class, or an argument of a call that is as it should be."""
    if parameter is None:
        return EXAMPLES[name]()
    own = f"{name}.{parameter}"
    return (ARGUMENTS[own] if own in ARGUMENTS else ARGUMENTS[parameter])()

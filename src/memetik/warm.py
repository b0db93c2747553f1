"""Compile kernels before they are needed: small problems that need them, solved once.

A kernel is compiled for the one who calls it, so each is called here as users call it. What this leaves out is compiled at its
first use, as ever.
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numba.core import event

import memetik as mk
from memetik import scenes
from memetik.body.replay import replay
from memetik.collision import Style, cover_surface
from memetik.errors import MissingExtraError, RefusedError
from memetik.problem.fitness import fitness

__all__ = ["Step", "Warmed", "everything", "first_solves", "warm"]

FEW = mk.Budget(evaluations=100)
FAR = (3.0, 0.0, 0.5)  # m, out of reach
DOWN = mk.euler(180, 0, 0, degrees=True)


class Step(NamedTuple):
    """Something that needs kernels."""

    name: str
    run: Callable[[], Any]


class Warmed(NamedTuple):
    """What it took."""

    steps: int
    compiled: int  # functions, with those that kernels call
    seconds: float
    without: dict[str, str]  # steps that could not be taken, and why


def warm(steps: list[Step], tell: Callable[[int, str], None] = lambda done, name: None) -> Warmed:
    """Take the steps; `tell` is told how many are done and which is next. What needs a package that is missing is left out."""
    without: dict[str, str] = {}
    begin, compilations = time.perf_counter(), _Compilations()
    event.register("numba:compile", compilations)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mk.MemetikWarning)
            for done, step in enumerate(steps):
                tell(done, step.name)
                try:
                    step.run()
                except MissingExtraError as error:
                    without[step.name] = str(error)
    finally:
        event.unregister("numba:compile", compilations)
    return Warmed(len(steps), compilations.count, time.perf_counter() - begin, without)


class _Compilations(event.Listener):
    """How many functions Numba compiles."""

    count = 0

    def on_start(self, happening: Any) -> None:
        self.count += 1

    def on_end(self, happening: Any) -> None:
        pass


# ---- What the first solves need ----------------------------------------------------------------------------


def first_solves() -> list[Step]:
    """A whole pose, several objectives with a guide, many of both at once, paths of both, and priorities."""
    return [
        Step("forward kinematics", _forward),
        Step("objectives with a guide", partial(_solve, guided)),
        Step("a pose", partial(_solve, one_pose)),
        Step("batches of objectives", partial(_batch, guided)),
        Step("batches of poses", partial(_batch, one_pose)),
        *(Step(f"paths of {pose.__name__}", partial(_track, pose, "memetic")) for pose in (guided, one_pose)),
        Step("priorities", _priorities),
        Step("paths with priorities", _track_priorities),
    ]


def guided() -> tuple[mk.Problem, mk.Objective]:
    """Several objectives, a guide and a locked joint; and the objective that has targets."""
    body = mk.load("panda")
    hand = body.frame("panda_hand", offset=(0, 0, 0.10))
    reach = mk.Position(hand, target=(0.5, 0.1, 0.4))
    wanted = [reach, mk.Orientation(hand, target=DOWN), mk.Displacement(weight=0.01)]
    return mk.Problem(body, wanted, lock={"panda_finger_joint1": 0.04}), reach


def one_pose() -> tuple[mk.Problem, mk.Objective]:
    """A pose and nothing else, which has a search of its own."""
    body = mk.load("panda")
    pose = mk.Pose("panda_hand", mk.transform((0.5, 0.1, 0.4), DOWN))
    return mk.Problem(body, pose), pose


def _forward() -> None:
    body = mk.load("panda")
    body.forward(body.home)["panda_hand"]
    body.jacobian("panda_hand", body.home)
    many = np.tile(body.home, (2, 1))
    body.forward(many, "panda_hand")
    body.jacobian("panda_hand", many)
    body.manipulability("panda_hand", many)


def _solve(pose: Callable[[], tuple[mk.Problem, mk.Objective]]) -> None:
    """What can be reached, and what cannot, with all that a solution says of itself."""
    problem, target = pose()
    for place in ((0.5, 0.1, 0.4), FAR):
        _aim(target, place)
        solution = mk.solve(problem, budget=FEW)
        str(solution), solution.explain()


def _aim(target: Any, place: tuple[float, float, float]) -> None:
    target.target = mk.transform(place, DOWN) if isinstance(target, mk.Pose) else place


def _targets(target: mk.Objective, count: int = 8) -> dict[mk.Objective, Any]:
    """A path from what can be reached to what cannot."""
    places = np.linspace((0.5, 0.1, 0.4), FAR, count)
    return {target: [mk.transform(place, DOWN) for place in places] if isinstance(target, mk.Pose) else places}


def _batch(pose: Callable[[], tuple[mk.Problem, mk.Objective]]) -> None:
    problem, target = pose()
    mk.solve_batch(problem, _targets(target), budget=FEW, progress=False)


# ---- All others --------------------------------------------------------------------------------------------


def everything() -> list[Step]:
    """Every method, every objective, and all else that kernels do."""
    return [
        *first_solves(),
        Step("objectives that only guide", _only_guides),
        *(Step(f"objective {name}", partial(_objective, make)) for name, make in objectives().items()),
        *(Step(f"method {row.name}", partial(_method, row.name)) for row in mk.methods() if row.name != "learned"),
        Step("variants of bioik", _bio_ik),
        Step("closed forms", _closed_forms),
        Step("learning", _learning),
        Step("support vectors", _support_vectors),
        *(Step(f"all solutions of {pose.__name__}", partial(_all, pose)) for pose in (guided, one_pose)),
        *(Step(f"paths of {pose.__name__} by dls", partial(_track, pose, "dls")) for pose in (guided, one_pose)),
        Step("smooth paths", _smooth),
        *(Step(f"servo of {pose.__name__}", partial(_servo, pose)) for pose in (guided, one_pose)),
        Step("collisions", _collisions),
        Step("follower", _follow),
        Step("motion on another body", _retarget),
        Step("feet on the ground", _feet),
        Step("reachability", _reachability),
        Step("OFKT", _ofkt),
        Step("functions", _minimise),
        Step("covers", _cover),
        *(Step(f"scene {name}", partial(_scene, name)) for name in scenes.READY),
    ]


def objectives() -> dict[str, Callable[[mk.Body, str], mk.Objective]]:
    """Every kind of objective, each made from a body and its tip."""
    point, across = (0.4, 0.1, 0.5), (0.0, 0.6, 0.8)
    square = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
    mesh = mk.objectives.TriangleMesh([(-2, -2, 0), (2, -2, 0), (0, 4, 0.5)], [(0, 1, 2)])
    return {
        "Position": lambda body, tip: mk.Position(tip, point, tolerance=(1e-3, 1e-3, np.inf)),
        "Orientation": lambda body, tip: mk.Orientation(tip, DOWN, mask=(1, 0, 1)),
        "Pose": lambda body, tip: mk.Pose(tip, mk.transform(point, DOWN), relative_to=body.root),
        "Direction": lambda body, tip: mk.Direction(tip, across),
        "LookAt": lambda body, tip: mk.LookAt(tip, point),
        "Cone": lambda body, tip: mk.Cone(tip, across, 0.3),
        "Side": lambda body, tip: mk.Side(tip, across),
        "Line": lambda body, tip: mk.Line(tip, point, across),
        "Plane": lambda body, tip: mk.Plane(tip, point, across),
        "Touch": lambda body, tip: mk.Touch(tip, (0.0, 0.0, 0.2), (0, 0, 1)),
        "MinDistance": lambda body, tip: mk.MinDistance(tip, point, 0.2),
        "MaxDistance": lambda body, tip: mk.MaxDistance(tip, point, 0.2),
        "Distance": lambda body, tip: mk.Distance(tip, [(*point, 0.1)]),
        "SelfDistance": lambda body, tip: mk.SelfDistance(body),
        "hulls": lambda body, tip: mk.Distance(tip, mk.Shape("hull", points=np.array([point, FAR]))),
        "heights": lambda body, tip: mk.Distance(tip, mk.objectives.HeightField(np.zeros((2, 2)), origin=FAR[:2])),
        "grids": lambda body, tip: mk.Distance(tip, mk.collision.SignedDistanceGrid(np.ones((2, 2, 2)), spacing=1.0, origin=FAR)),
        "Projection on the ground": lambda body, tip: mk.Projection(tip, mk.objectives.Ground()),
        "Projection on heights": lambda body, tip: mk.Projection(tip, mk.objectives.HeightField(np.eye(4), origin=(-1.5, -1.5))),
        "Projection on triangles": lambda body, tip: mk.Projection(tip, mesh),
        "Balance": lambda body, tip: mk.Balance(square),
        "Manipulability": lambda body, tip: mk.Manipulability(tip),
        "GravityTorque": lambda body, tip: mk.GravityTorque(dict.fromkeys(body.joint_names, 10.0), effort_fraction=0.1),
        "JointValue": lambda body, tip: mk.JointValue(body.joint_names[0], 0.1),
        "Displacement": lambda body, tip: mk.Displacement(),
        "CenterJoints": lambda body, tip: mk.CenterJoints(),
        "AvoidLimits": lambda body, tip: mk.AvoidLimits(),
        "FunctionalRelation": lambda body, tip: mk.FunctionalRelation(
            body.joint_names[0], lambda value: 0.5 * value, sources=body.joint_names[1:2]
        ),
        "one's own": lambda body, tip: mk.objective(reads=[tip], joints=body.joint_names[:1])(
            lambda tip, joint: tip.position[2] - 0.5 + 0.1 * joint
        ),
    }  # fmt: skip


def _objective(make: Callable[[mk.Body, str], mk.Objective]) -> None:
    solution = mk.solve(problem_of(make), budget=FEW)
    str(solution), solution.explain()


def problem_of(make: Callable[[mk.Body, str], mk.Objective]) -> mk.Problem:
    """A problem with an objective, on an arm that has shapes and masses."""
    body, tip = mk.load("ur5"), "wrist_3_link"
    return mk.Problem(body, [mk.Position(tip, (0.4, 0.1, 0.3), tolerance=0.05), make(body, tip)])


def _collisions() -> None:
    body = mk.load("ur5")
    mk.collision.find_collision_pairs(body, 2, progress=False)
    mk.motion.check_motion(body, [body.home, body.home + 0.01])


def _only_guides() -> None:
    body = mk.load("panda")
    problem = mk.Problem(body, [mk.Position("panda_hand", (0.5, 0.1, 0.4), tolerance=None), mk.Displacement()])
    mk.solve(problem, budget=FEW)
    mk.solve_batch(problem, {problem.objectives[0]: np.array([FAR])}, budget=FEW, progress=False)


def _with_priorities() -> mk.Problem:
    body, tip = mk.load("panda"), "panda_hand"
    return mk.Problem(body, [mk.Position(tip, FAR), mk.Distance(tip, [(0.5, 0.0, 0.4, 0.1)]), mk.Displacement()])


def _priorities() -> None:
    problem = _with_priorities()
    mk.solve(problem, budget=FEW)
    mk.solve_batch(problem, {problem.objectives[0]: np.array([FAR])}, budget=FEW, progress=False)


def _method(name: str) -> None:
    """On each kind of problem that it takes."""
    for pose in (guided, one_pose, _one_position):
        problem, target = pose()
        for place in ((0.5, 0.1, 0.4), FAR):
            _aim(target, place)
            with contextlib.suppress(RefusedError):
                mk.solve(problem, method=name, budget=FEW).explain()


def _one_position() -> tuple[mk.Problem, mk.Objective]:
    reach = mk.Position("tip", (0.5, 0.1, 0.0))
    return mk.Problem(mk.build.planar_chain((0.6, 0.4)), reach), reach


def _bio_ik() -> None:
    problem, _ = guided()
    for solver in (
        mk.solvers.BioIK(gradient="ofkt", threads=2), mk.solvers.BioIK(gradient="differences", ofkt=True),
        mk.solvers.BioIK(loss="mean"),
    ):  # fmt: skip
        solver.solve(problem, budget=FEW)
    _, history = mk.solvers.BioIK().evolve(problem, budget=FEW)
    fitness(problem, history.postures(history.rows(0))[:2])


def _closed_forms() -> None:
    """Arms of six, seven and five joints; and of six with a guide."""
    for body, tip in (
        (mk.load("ur5"), "tool0"),
        (mk.load("iiwa14"), "tool0"),
        (mk.load("nao").chain("left_arm"), "l_gripper"),
    ):
        mk.solvers.Analytic().solve_all(mk.Problem(body, mk.Pose(tip, body.forward(body.home)[tip])))
    body = mk.load("ur5")
    for place in ((0.4, 0.1, 0.3), FAR):
        mk.solve(mk.Problem(body, [mk.Pose("tool0", mk.transform(place, DOWN)), mk.Displacement()]), budget=FEW)


def _learning() -> None:
    """A network that learns next to nothing, and another one for paths."""
    problem, target = _one_position()
    network = mk.learn.FeedForward.train(problem, hidden=2, samples=8, epochs=2, teacher=mk.solvers.Memetic())
    mk.solvers.Learned(network=network).solve(problem, budget=FEW)
    places = np.array([(0.5, 0.1, 0.0), (0.6, 0.1, 0.0)])
    network.predict_batch(problem, {target: places})
    paths = mk.learn.Elman.train(problem, hidden=2, paths=2, steps=3, epochs=2)
    paths.predict_path(problem, {target: places})
    whole, _ = one_pose()
    mk.learn.FeedForward.train(whole, hidden=2, samples=8, epochs=2).predict(whole)


def _support_vectors() -> None:
    problem, _ = _one_position()
    mk.learn.SupportVectors.train(problem, samples=20).predict(problem)


def _all(pose: Callable[[], tuple[mk.Problem, mk.Objective]]) -> None:
    problem, _ = pose()
    mk.solve_all(problem, count=2, budget=mk.Budget(evaluations=500))
    mk.solve_all(problem, count=2, budget=mk.Budget(evaluations=500), method="dls")


def _servo(pose: Callable[[], tuple[mk.Problem, mk.Objective]]) -> None:
    problem, target = pose()
    servo = mk.Servo(problem)
    for wanted in _targets(target)[target]:
        servo.step({target: wanted})


def _follow() -> None:
    body = mk.load("panda")
    mk.motion.Follower(body).step(body.home)


def _retarget() -> None:
    """Feet that stand, and a frame after the first."""
    kyle = mk.load("kyle", base="floating")
    mk.retarget(mk.Motion(kyle, [0.0, 0.1], [kyle.home, kyle.vector({"base.x": 0.01})]), mk.load("g1"))


def _feet() -> None:
    """In a clip, and live."""
    kyle = mk.load("kyle", base="floating")
    ground = mk.objectives.Ground(point=(0.0, 0.0, kyle.forward(kyle.home, "left_midfoot")[2, 3] + 0.01))
    mk.motion.place_feet(
        mk.Motion(kyle, [0.0, 0.1], [kyle.home, kyle.home]), ground, ["left_midfoot", "right_midfoot"], follow=0.1
    )
    mk.motion.FootPlacer(kyle, ground, ["left_midfoot"])(kyle.home)


def _track(pose: Callable[[], tuple[mk.Problem, mk.Objective]], method: str) -> None:
    problem, target = pose()
    mk.track(problem, _targets(target, 3), budget=FEW, method=method)


def _track_priorities() -> None:
    problem = _with_priorities()
    mk.track(problem, {problem.objectives[0]: np.array([FAR, FAR])}, budget=FEW)


def _smooth() -> None:
    """Past a ball on the way."""
    body = mk.build.planar_chain((0.5, 0.5, 0.3))
    reach = mk.Position("tip", (0.0, 0.0, 0.0))
    problem = mk.Problem(body, [reach, mk.Distance(body.frame("tip"), [(0.8, 0.0, 0.0, 0.1)])])
    mk.track(problem, {reach: np.linspace((0.8, -0.4, 0.0), (0.8, 0.4, 0.0), 20)}, budget=FEW, smooth=True)


def _reachability() -> None:
    found = mk.batch.reachability(mk.build.planar_chain((0.6, 0.4)), "tip", voxel=0.5, orientations=2, progress=False)
    with TemporaryDirectory() as folder:
        mk.write.draw_reachability(found, Path(folder) / "reach.svg")


def _cover() -> None:
    corners = np.array([(0.0, 0.0, 0.0), (0.2, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.3)])
    cover_surface(corners[[(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]], Style())


def _minimise() -> None:
    mk.solvers.minimise(_square, [-1.0, -1.0], [1.0, 1.0], budget=mk.Budget(evaluations=1_000))


def _square(x: Any) -> Any:
    return x[0] * x[0] + x[1] * x[1]


def _ofkt() -> None:
    body = mk.load("panda")
    for count in (False, True):
        tree = mk.body.OFKT(body, ["panda_hand"], count_transforms=count)
        tree.update(body.home)
        tree.predict("panda_joint1", 0.2)
    for way in ("plain", "jacobian", "ofkt", "predicted"):
        replay(body, np.zeros((1, 1), dtype=np.int64), 1, way, ["panda_hand"])()


def _scene(name: str) -> None:
    """As the studio does when it opens one."""
    scene = scenes.ready(name)
    body = scenes.load_body(scene.body)
    problem = scenes.problem(scene, body)
    scenes.solver(scene.solving).solve(problem, scenes.start(scene, body), FEW)
    mk.solvers.BioIK().evolve(problem, budget=FEW)

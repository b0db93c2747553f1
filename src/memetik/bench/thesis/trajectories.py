"""Smooth motion of whole bodies, also around a ball: Fig. 5.20 and 5.21 of the thesis.

Mannequin: poses of both hands and feet that somebody moves about, 250 times a second; then the same with one hand beyond
its reach for a while. Valkyrie: the right hand shall move along a straight line that leads through a ball, the head looks
at the hand, and the body keeps clear of the ball. Every step starts from the one before.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.bench.harness import Report, progress, pyplot
from memetik.bench.judge import SLACK
from memetik.bench.thesis.clearance import clearance
from memetik.body import Body
from memetik.geometry import pose_error
from memetik.motion import track
from memetik.objectives import Displacement, Distance, LookAt, Objective, Pose
from memetik.problem import Problem
from memetik.read.load import load
from memetik.solvers import Budget, Solver, solve
from memetik.solvers.bio_ik import BioIK
from memetik.solvers.evolution import GA
from memetik.solvers.stepping import LevenbergMarquardt
from memetik.types import Array

POSITION, ORIENTATION = 1e-3, 1e-2  # m, rad
HANDS_FEET = ("left_hand_tip", "right_hand_tip", "left_foot", "right_foot")
PALM = "rightPalm"
RATE, SECONDS = 250.0, 4.0
CALM = 0.1  # weight of the price on change from step to step
HEAVY = 100.0  # weight of the distance: keeping clear comes before the line
BALL = np.array([[0.5, -0.2, 0.23, 0.12]])  # m, from the pelvis
MOVING, BEYOND, AROUND = "mannequin", "mannequin, a hand out of reach", "valkyrie, around a ball"
LOCAL = "levenberg_marquardt, one try"


class Scene(NamedTuple):
    """Poses of tips over time."""

    label: str
    problem: Problem
    poses: dict[Pose, Array]  # (steps, 4, 4) for each tip
    judged: tuple[str, ...]  # tips that can be where they shall be
    start: Array
    seconds: float  # for each step
    links: tuple[str, ...]  # what must stay clear of the ball, if anything
    published: str


class Outcome(NamedTuple):
    """What one method made of a scene."""

    method: str
    path: Array  # (steps, joints)
    seconds: float  # a step


def run(folder: Path, *, quick: bool = False, steps: int | None = None) -> Report:
    """Measure, print, save and plot."""
    steps = steps or (120 if quick else 1_000)
    report = Report(
        "trajectories",
        f"{steps} steps, {POSITION:g} m and {ORIENTATION:g} rad. Mannequin: hands and feet of a motion of all joints by "
        "sines of their own phase, 4 ms a step; out of reach: the right hand is taken 1 m aside and back. Valkyrie: the "
        "palm along 0.6 m past a ball of 12 cm that fingers and palm would hit, gaze on the palm as a guide, "
        f"distances weigh {HEAVY:g}, 10 ms a step. All with a price on change from step to step (weight {CALM:g}). track "
        "takes the whole path in one call; the others are called step by step. Reached: steps in which forward kinematics "
        "finds all tips that can be on target there, and limits kept. Free: no collision, by distances computed apart from "
        "the library. Jerk: mean over the steps of the largest second difference of a joint.",
    )
    scenes = [_mannequin(steps, beyond=False), _mannequin(steps, beyond=True), _valkyrie(steps)]
    outcomes: dict[str, list[Outcome]] = {}
    for scene in scenes:
        outcomes[scene.label] = [_track(scene), *(_follow(scene, *method) for method in _methods(scene))]
        report.rows += [_row(scene, outcome) for outcome in outcomes[scene.label]]
    report.remarks += [
        "Published: the mannequin at 250 Hz and more, pure genetic algorithms flicker (section 5.9); the Valkyrie smooth "
        "and free of collisions in 10 ms (Fig. 5.21). Neither figure has numbers.",
        "The ball stands beside the line, a place picked among several: where the line leads through its middle, the hand "
        "jumped by 20 to 30 cm with every method, because the shorter way around changes sides there.",
        "Where the targets cannot be met, bioik looks for the closest posture everywhere and may jump between equals; "
        f"{LOCAL}, stays in the valley that it is in, and so does track until it finds a posture within tolerance, near or far. "
        f"Largest step around the ball: {_steps(report.rows)}.",
    ]
    return report.publish(folder, lambda: _plot(scenes, outcomes))


def _mannequin(steps: int, *, beyond: bool) -> Scene:
    body = load("mannequin")
    rng = np.random.default_rng(1)
    swing = np.minimum(0.2 * (body.upper - body.lower), 0.5)
    middle = np.clip(body.home, body.lower + swing, body.upper - swing)
    turns = np.linspace(0.0, 2.0 * math.pi, steps)
    motion = middle + swing * np.sin(
        np.outer(turns, rng.integers(1, 3, body.dof)) + rng.uniform(0.0, 2.0 * math.pi, body.dof)
    )
    at = [body.forward(q) for q in motion]
    poses = {_pose(tip): np.array([posed[tip] for posed in at]) for tip in HANDS_FEET}
    judged: tuple[str, ...] = HANDS_FEET
    if beyond:
        right = next(pose for pose in poses if pose.frame == "right_hand_tip")
        poses[right][:, 1, 3] -= 1.0 * np.sin(0.5 * turns) ** 4
        judged = tuple(tip for tip in HANDS_FEET if tip != "right_hand_tip")
    problem = Problem(body, [*poses, Displacement(weight=CALM)])
    label = BEYOND if beyond else MOVING
    return Scene(label, problem, poses, judged, motion[0], 1.0 / RATE, (), "250 Hz")


def _valkyrie(steps: int) -> Scene:
    whole = load("valkyrie")
    fingers = [link for link in whole.links if link.startswith("right") and link.endswith("Pitch3Link")]
    body = whole.chain("pelvis", ["head", *fingers])
    bent = [name for name in body.joint_names if any(part in name for part in ("Thumb", "Finger", "Pinky"))]
    body = body.fix({name: body.home[body.index(name)] for name in bent})
    links = tuple(link.name for link in body.links.values() if link.shapes and link.name != "pelvis")
    line = np.tile(body.forward(body.home)[PALM], (steps, 1, 1))
    line[:, :3, 3] = np.linspace((0.42, -0.5, 0.15), (0.42, 0.1, 0.15), steps)
    pose = _pose(PALM)
    gaze = LookAt("head", (0.0, 0.0, 0.0), relative_to=PALM, weight=0.1, tolerance=None)
    problem = Problem(body, [pose, gaze, Distance(links, BALL, weight=HEAVY), Displacement(weight=CALM)])
    pose.target = line[0]
    start = solve(problem).q
    return Scene(AROUND, problem, {pose: line}, (PALM,), start, 0.01, links, "smooth, free")


def _pose(tip: str) -> Pose:
    return Pose(tip, np.eye(4), position_tolerance=POSITION, orientation_tolerance=ORIENTATION)


def _methods(scene: Scene) -> list[tuple[str, Solver]]:
    """A search that stays in its valley, the thesis's method, and for the mannequin a pure genetic algorithm."""
    rest: list[tuple[str, Solver]] = [(LOCAL, LevenbergMarquardt(restarts=False)), ("bioik", BioIK())]
    return rest if scene.links else [*rest, ("ga", GA())]


def _track(scene: Scene) -> Outcome:
    targets: dict[Objective, Array] = dict(scene.poses.items())
    track(scene.problem, {pose: path[:2] for pose, path in targets.items()}, start=scene.start)  # compiles
    found = track(scene.problem, targets, start=scene.start, rate=RATE)
    return Outcome("memetik track", found.q, found.seconds / len(found.q))


def _follow(scene: Scene, name: str, solver: Solver) -> Outcome:
    budget = Budget(evaluations=1_000_000, seconds=scene.seconds)
    solver.solve(scene.problem, scene.start, budget)  # compiles
    steps = len(next(iter(scene.poses.values())))
    path, q, spent = [], scene.start, 0.0
    for k in progress(range(steps), steps, f"{scene.label}, {name}"):
        begin = time.perf_counter()
        for pose, targets in scene.poses.items():
            pose.target = targets[k]
        q = solver.solve(scene.problem, q, budget).q
        spent += time.perf_counter() - begin
        path.append(q)
    return Outcome(name, np.array(path), spent / steps)


def _row(scene: Scene, outcome: Outcome) -> dict[str, Any]:
    body, path = scene.problem.body, outcome.path
    reached, worst = _judge(
        body, path, {str(pose.frame): targets for pose, targets in scene.poses.items()}, scene.judged
    )
    free = np.array([clearance(body, q, scene.links, BALL) for q in path]) if scene.links else None
    return {
        "scene": scene.label,
        "DoF": len(scene.problem.compiled.active),
        "method": outcome.method,
        "mean [us]": outcome.seconds * 1e6,
        "steps a second": 1.0 / outcome.seconds,
        "reached [%]": 100.0 * float(reached.mean()),
        "farthest [mm]": float(worst.max()) * 1e3,
        "free [%]": None if free is None else 100.0 * float((free >= -SLACK).mean()),
        "clearance [mm]": None if free is None else float(free.min()) * 1e3,
        "largest step [deg]": math.degrees(float(_changes(path).max())),
        "jerk [deg]": math.degrees(float(np.abs(np.diff(path, n=2, axis=0)).max(axis=1).mean())),
        "published": scene.published,
    }


def _judge(
    body: Body, path: Array, targets: Mapping[str, Array], judged: Sequence[str]
) -> tuple[NDArray[np.bool_], Array]:
    """For each step whether limits and tolerances are kept, and how far the farthest tip is off [m]."""
    reached = np.array([bool((q >= body.lower - SLACK).all() and (q <= body.upper + SLACK).all()) for q in path])
    worst = np.zeros(len(path))
    for k, q in enumerate(path):
        at = body.forward(q)
        for tip in judged:
            position, orientation = pose_error(at[tip], targets[tip][k])
            reached[k] &= position <= POSITION and orientation <= ORIENTATION
            worst[k] = max(worst[k], position)
    return reached, worst


def _steps(rows: Sequence[dict[str, Any]]) -> str:
    mine = [row for row in rows if row["scene"] == AROUND]
    return ", ".join(f"{row['method']} {row['largest step [deg]']:.2g} degrees" for row in mine)


def _changes(path: Array) -> Array:
    """The largest change of a joint from each step to the next [rad]."""
    return np.asarray(np.abs(np.diff(path, axis=0)).max(axis=1))


def _plot(scenes: Sequence[Scene], outcomes: dict[str, list[Outcome]]) -> Any:
    from matplotlib.patches import Circle

    plt = pyplot()
    figure, axes = plt.subplots(2, 2, figsize=(11, 7.5), layout="constrained")
    for axis, scene in zip((axes[0, 0], axes[0, 1], axes[1, 0]), scenes, strict=True):
        for outcome in outcomes[scene.label]:
            changes = np.sort(np.degrees(_changes(outcome.path)))
            axis.plot(np.linspace(0.0, 100.0, len(changes)), changes, color=_color(outcome), label=outcome.method)
        axis.set(
            yscale="log", ylim=(0.02, 200.0), xlabel="steps [%], calm to restless", ylabel="largest change [degrees]"
        )
        axis.set_title(f"{scene.label}: change of a joint from step to step", fontsize=10)
        axis.legend(fontsize=7)
    view, scene = axes[1, 1], scenes[2]
    x, y, z, radius = BALL[0]
    view.add_patch(Circle((y, x), radius, color="C6", alpha=0.15, lw=0.0))
    line = next(iter(scene.poses.values()))
    view.plot(line[:, 1, 3], line[:, 0, 3], ":", color="C6", label="wanted")
    for outcome in outcomes[scene.label]:
        palm = np.array([scene.problem.body.forward(q)[PALM][:3, 3] for q in outcome.path])
        view.plot(palm[:, 1], palm[:, 0], lw=1.1, color=_color(outcome), label=outcome.method)
    view.set(xlabel="y, to the left [m]", ylabel="x, ahead [m]", aspect="equal")
    view.set_title(
        f"{scene.label}: path of the palm from above ({100 * (z - line[0, 2, 3]):.0f} cm below the ball)", fontsize=10
    )
    view.legend(fontsize=7)
    return figure


def _color(outcome: Outcome) -> str:
    return {"memetik track": "C0", LOCAL: "C2", "bioik": "C1", "ga": "C3"}[outcome.method]

"""Smooth motion of whole bodies, also around a ball: Fig. 5.20 and 5.21 of the thesis.

Mannequin: poses of both hands and feet that somebody moves about, 250 times a second; then the same with one hand beyond
its reach for a while. Valkyrie: the right hand shall move along a straight line that a ball is in the way of, beside it or in
the middle of it, the head looks at the hand, and the body keeps clear of the ball. Every step starts from the one before;
`track(smooth=True)` then bends the path as a whole.
"""

from __future__ import annotations

import math
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import memetik as mk
from memetik.geometry import pose_distance
from memetik.types import Array
from memetik_lab.harness import Report, Row, percent, select, subplots
from memetik_lab.judge import SLACK, within
from memetik_lab.paths import Path, followed, tracked
from memetik_lab.queries import Task, pose_of
from memetik_lab.thesis.clearance import clearance

TASK = Task(position=1e-3, orientation=1e-2, seconds=np.inf)
HANDS_FEET = ("left_hand_tip", "right_hand_tip", "left_foot", "right_foot")
PALM = "rightPalm"
RATE, SECONDS = 250.0, 4.0
CALM = 0.1  # weight of the price on change from step to step
HEAVY = 100.0  # weight of the distance, for methods that know no priorities
BESIDE = np.array([[0.5, -0.2, 0.23, 0.12]])  # m, from the pelvis
MIDDLE = np.array([[0.42, -0.2, 0.15, 0.12]])
MOVING, BEYOND = "mannequin", "mannequin, a hand out of reach"
AROUND, THROUGH = "valkyrie, a ball beside the line", "valkyrie, a ball on the line"
SMOOTH = "memetik track, smooth"
LOCAL = "levenberg_marquardt, one try"
COLORS = {"memetik track": "C0", SMOOTH: "black", LOCAL: "C2", "bioik": "C1", "ga": "C3"}


class Scene(NamedTuple):
    """Poses of tips over time."""

    label: str
    problem: mk.Problem
    poses: dict[mk.Pose, Array]  # (steps, 4, 4) for each tip
    judged: tuple[str, ...]  # tips that can be where they shall be
    start: Array
    seconds: float  # for each step
    links: tuple[str, ...]  # what must stay clear of the ball, if anything
    ball: Array
    published: str


def run(folder: pathlib.Path, *, quick: bool = False, steps: int | None = None) -> Report:
    """Measure, print, save and plot."""
    steps = steps or (120 if quick else 1_000)
    report = Report(
        "trajectories",
        f"{steps} steps, {TASK.position:g} m and {TASK.orientation:g} rad. Mannequin: hands and feet of a motion of all joints "
        "by sines of their own phase, 4 ms a step; out of reach: the right hand is taken 1 m aside and back. Valkyrie: the "
        "palm along 0.6 m past a ball of 12 cm that fingers and palm would hit, or through its middle, gaze on the palm as a "
        f"guide, 10 ms a step; distances come first by their priority, or weigh {HEAVY:g} for methods without priorities. All "
        f"with a price on change from step to step (weight {CALM:g}). track "
        "takes the whole path in one call; the others are called step by step. Reached: steps in which forward kinematics "
        "finds all tips that can be on target there, and limits kept. Free: no collision, by distances computed apart from "
        "the library. Palm step: the longest step of the palm, in mean steps. Jerk: mean over the steps of the largest second "
        "difference of a joint.",
    )
    scenes = [
        _mannequin(steps, beyond=False), _mannequin(steps, beyond=True), _valkyrie(steps, AROUND, BESIDE),
        _valkyrie(steps, THROUGH, MIDDLE),
    ]  # fmt: skip
    outcomes: dict[str, list[Path]] = {}
    for scene in scenes:
        outcomes[scene.label] = _measure(scene)
        report.rows += [_row(scene, path) for path in outcomes[scene.label]]
    report.remarks += [
        "Published: the mannequin at 250 Hz and more, pure genetic algorithms flicker (section 5.9); the Valkyrie smooth "
        "and free of collisions in 10 ms (Fig. 5.21). Neither figure has numbers.",
        "Where the line leads through the middle of the ball, the shorter way around changes sides half way, so every method "
        "that goes step by step jumps there. smooth bends the whole path instead; it leaves the line earlier, so fewer steps "
        "count as reached.",
        "With a hand out of reach, the closest posture changes valleys, and the one that reaches again is another one: both are "
        "jolts, the second one a jump that the track reports. smooth passes evenly instead, and misses more steps for it.",
        "Where the targets cannot be met, bioik looks for the closest posture everywhere and may jump between equals; "
        f"{LOCAL}, stays in the valley that it is in, and so does track until it finds a posture within tolerance, near or far. "
        f"Largest step: {_steps(report.rows)}.",
    ]
    return report.publish(folder, lambda: _plot(scenes, outcomes))


def _mannequin(steps: int, *, beyond: bool) -> Scene:
    body = mk.load("mannequin")
    rng = np.random.default_rng(1)
    swing = np.minimum(0.2 * (body.upper - body.lower), 0.5)
    middle = np.clip(body.home, body.lower + swing, body.upper - swing)
    turns = np.linspace(0.0, 2.0 * math.pi, steps)
    motion = middle + swing * np.sin(
        np.outer(turns, rng.integers(1, 3, body.dof)) + rng.uniform(0.0, 2.0 * math.pi, body.dof)
    )
    at = [body.forward(q) for q in motion]
    poses = {pose_of(tip, TASK): np.array([posed[tip] for posed in at]) for tip in HANDS_FEET}
    judged: tuple[str, ...] = HANDS_FEET
    if beyond:
        right = next(pose for pose in poses if pose.frame == "right_hand_tip")
        poses[right][:, 1, 3] -= 1.0 * np.sin(0.5 * turns) ** 4
        judged = tuple(tip for tip in HANDS_FEET if tip != "right_hand_tip")
    problem = mk.Problem(body, [*poses, mk.Displacement(weight=CALM)])
    label = BEYOND if beyond else MOVING
    return Scene(label, problem, poses, judged, motion[0], 1.0 / RATE, (), BESIDE, "250 Hz")


def _valkyrie(steps: int, label: str, ball: Array) -> Scene:
    whole = mk.load("valkyrie")
    fingers = [link for link in whole.links if link.startswith("right") and link.endswith("Pitch3Link")]
    body = whole.chain("pelvis", ["head", *fingers])
    bent = [name for name in body.joint_names if any(part in name for part in ("Thumb", "Finger", "Pinky"))]
    body = body.fix({name: body.home[body.index(name)] for name in bent})
    links = tuple(link.name for link in body.links.values() if link.shapes and link.name != "pelvis")
    line = np.tile(body.forward(body.home)[PALM], (steps, 1, 1))
    line[:, :3, 3] = np.linspace((0.42, -0.5, 0.15), (0.42, 0.1, 0.15), steps)
    pose = pose_of(PALM, TASK)
    gaze = mk.LookAt("head", (0.0, 0.0, 0.0), relative_to=PALM, weight=0.1, tolerance=None)
    problem = mk.Problem(body, [pose, gaze, mk.Distance(links, ball, weight=HEAVY), mk.Displacement(weight=CALM)])
    pose.target = line[0]
    start = mk.solve(problem).q
    return Scene(label, problem, {pose: line}, (PALM,), start, 0.01, links, ball, "smooth, free")


def _measure(scene: Scene) -> list[Path]:
    """track, a search that stays in its valley, the thesis's method, and for the mannequin a pure genetic algorithm."""
    targets: dict[mk.Objective, Array] = dict(scene.poses.items())
    methods: dict[str, mk.solvers.Solver] = {
        LOCAL: mk.solvers.LevenbergMarquardt(restarts=False),
        "bioik": mk.solvers.BioIK(),
    }
    if not scene.links:
        methods["ga"] = mk.solvers.GA()
    budget = mk.Budget(evaluations=1_000_000, seconds=scene.seconds)
    smooth = [tracked(SMOOTH, scene.problem, targets, scene.start, RATE, smooth=True)] if scene.label != MOVING else []
    return [
        tracked("memetik track", scene.problem, targets, scene.start, RATE),
        *smooth,
        *(
            followed(name, scene.problem, targets, scene.start, solver, budget, scene.label)
            for name, solver in methods.items()
        ),
    ]


def _row(scene: Scene, path: Path) -> Row:
    body = scene.problem.body
    targets = {str(pose.frame): many for pose, many in scene.poses.items()}
    reached, worst = _judge(body, path.q, targets, scene.judged)
    free = np.array([clearance(body, q, scene.links, scene.ball) for q in path.q]) if scene.links else None
    return {
        "scene": scene.label,
        "DoF": len(scene.problem.compiled.active),
        "method": path.method,
        "mean [us]": path.seconds * 1e6,
        "processor [us]": path.processor * 1e6,
        "steps a second": 1.0 / path.seconds,
        "reached [%]": percent(reached),
        "farthest [mm]": float(worst.max()) * 1e3,
        "free [%]": None if free is None else percent(free >= -SLACK),
        "clearance [mm]": None if free is None else float(free.min()) * 1e3,
        "palm step": _evenness(body, path) if scene.links else None,
        "largest step [deg]": math.degrees(path.changes.max()),
        "jerk [deg]": math.degrees(float(np.abs(np.diff(path.q, n=2, axis=0)).max(axis=1).mean())),
        "published": scene.published,
    }


def _evenness(body: mk.Body, path: Path) -> float:
    """The longest step of the palm, in mean steps."""
    steps = np.linalg.norm(np.diff(body.forward(path.q, PALM)[:, :3, 3], axis=0), axis=1)
    return float(steps.max() / steps.mean())


def _judge(
    body: mk.Body, path: Array, targets: Mapping[str, Array], judged: Sequence[str]
) -> tuple[NDArray[np.bool_], Array]:
    """For each step whether limits and tolerances are kept, and how far the farthest tip is off [m]."""
    reached = np.array([within(body, q) for q in path])
    worst = np.zeros(len(path))
    for k, q in enumerate(path):
        at = body.forward(q)
        for tip in judged:
            position, orientation = pose_distance(at[tip], targets[tip][k])
            reached[k] &= position <= TASK.position and orientation <= TASK.orientation
            worst[k] = max(worst[k], position)
    return reached, worst


def _steps(rows: Sequence[Row]) -> str:
    return "; ".join(
        f"{scene}: "
        + ", ".join(f"{row['method']} {row['largest step [deg]']:.2g} degrees" for row in select(rows, scene=scene))
        for scene in (AROUND, THROUGH)
    )


def _plot(scenes: Sequence[Scene], outcomes: dict[str, list[Path]]) -> Any:
    from matplotlib.patches import Circle

    figure, axes = subplots(2, 3, figsize=(16, 7.5), layout="constrained")
    for axis, scene in zip(axes.T.flat, scenes, strict=False):
        for path in outcomes[scene.label]:
            changes = np.sort(np.degrees(path.changes))
            axis.plot(np.linspace(0.0, 100.0, len(changes)), changes, color=COLORS[path.method], label=path.method)
        axis.set(yscale="log", ylim=(0.02, 200.0))
        axis.set(xlabel="steps [%], calm to restless", ylabel="largest change [degrees]")
        axis.set_title(f"{scene.label}: change of a joint from step to step", fontsize=10)
        axis.legend(fontsize=7)
    for view, scene in zip(axes[:, 2], scenes[2:], strict=True):
        x, _, z, radius = scene.ball[0]
        view.add_patch(Circle((scene.ball[0, 1], z), radius, color="C6", alpha=0.15, lw=0.0))
        line = next(iter(scene.poses.values()))
        view.plot(line[:, 1, 3], line[:, 2, 3], ":", color="C6", label="wanted")
        for path in outcomes[scene.label]:
            palm = scene.problem.body.forward(path.q, PALM)[:, :3, 3]
            above = path.method == SMOOTH
            view.plot(
                palm[:, 1],
                palm[:, 2],
                lw=2.0 if above else 0.9,
                color=COLORS[path.method],
                label=path.method,
                zorder=3 + above,
            )
        view.set(xlabel="y, to the left [m]", ylabel="z, up [m]", aspect="equal")
        ahead = f"ball {100 * (x - line[0, 0, 3]):.0f} cm ahead of the line"
        view.set_title(f"{scene.label}: palm from behind ({ahead})", fontsize=9)
        view.legend(fontsize=7, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.2))
    return figure

"""Table 5.4 of the thesis: eight sets of objectives on NASA's Valkyrie, from one wrist to the whole body."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from memetik.bench.harness import BLOCK, Report, progress, pyplot, solved, spread
from memetik.body import Body, Poses
from memetik.geometry import angle_between
from memetik.objectives import LookAt, Orientation, Pose, Position
from memetik.problem import Problem
from memetik.read.load import load
from memetik.solvers import Budget, solve
from memetik.types import Array

Wanted = Pose | Position | Orientation | LookAt
Query = tuple[list[Array], Array]  # a target for each objective, and the start

POSITION, ORIENTATION = 1e-4, 1e-3  # m, rad
BUDGET = Budget(seconds=0.01)
GAZE = np.array([1.0, 0.0, 0.0])  # the head looks along its x axis, at a point one metre ahead
RIGHT, LEFT = ("pose", "rightPalm"), ("pose", "leftPalm")
FEET = (("pose", "rightFoot"), ("pose", "leftFoot"))
FINGERS = ("rightThumbPitch3Link", "rightIndexFingerPitch3Link", "rightMiddleFingerPitch3Link", "rightPinkyPitch3Link")


class Setup(NamedTuple):
    """A row of the table: what is wanted of which links, and the published time and success of the RMSE loss."""

    label: str
    base: str  # "fixed", or "xyz" for a pelvis that moves by up to a metre
    wanted: tuple[tuple[str, str], ...]
    published_ms: float
    published_solved: float  # %


SETUPS = (
    Setup("right wrist", "fixed", (RIGHT,), 0.87, 99.96),
    Setup("right leg", "fixed", FEET[:1], 0.63, 99.98),
    Setup("both wrists", "fixed", (RIGHT, LEFT), 2.07, 98.31),
    Setup(
        "right wrist, elbow, head",
        "fixed",
        (RIGHT, ("position", "rightElbowPitchLink"), ("look", "head")),
        2.23,
        98.82,
    ),
    Setup("both wrists, head", "fixed", (RIGHT, LEFT, ("look", "head")), 2.67, 97.98),
    Setup(
        "right wrist turned, four fingers",
        "fixed",
        (("orientation", "rightPalm"), *(("position", finger) for finger in FINGERS)),
        3.24,
        97.69,
    ),
    Setup("wrists, feet", "xyz", (RIGHT, LEFT, *FEET), 5.64, 95.29),
    Setup("wrists, feet, head", "xyz", (RIGHT, LEFT, *FEET, ("look", "head")), 6.22, 94.56),
)


def run(folder: Path, *, quick: bool = False, count: int | None = None) -> Report:
    """Measure, print, save and plot."""
    count = count or (300 if quick else 10_000)
    report = Report(
        "valkyrie",
        f"{count} targets a set-up, from postures drawn uniformly within the limits; starts drawn the same way, "
        f"apart from the targets. {POSITION:g} m and {ORIENTATION:g} rad, {BUDGET.seconds * 1e3:g} ms a solve. "
        "Solved: forward kinematics finds every objective within tolerance and every joint within its limits. Times "
        f"as a Python user sees them, setting the targets included, over all solves, in blocks of {BLOCK}. "
        "Published: Table 5.4, RMSE loss, on its author's machine; a pose counts as two objectives there.",
    )
    for setup in SETUPS:
        report.rows.append(_measure(setup, count, report.remarks))
    return report.publish(folder, lambda: _plot(report))


def _measure(setup: Setup, count: int, remarks: list[str]) -> dict[str, Any]:
    body, objectives = body_of(setup), objectives_of(setup)
    problem = Problem(body, objectives)
    rng = np.random.default_rng(1)
    seconds: list[float] = []
    missed: list[Query] = []
    for begin in progress(range(-BLOCK, count, BLOCK), count // BLOCK + 2, setup.label):  # the first block warms up
        block = [draw(body, objectives, rng) for _ in range(min(BLOCK, count - begin))]
        answers = [_solve(problem, objectives, query, BUDGET) for query in block]
        if begin < 0:
            continue
        seconds += [spent for _, spent in answers]
        missed += [query for query, (q, _) in zip(block, answers, strict=True) if not right(body, objectives, query, q)]
    if missed:
        patient = [_solve(problem, objectives, query, Budget())[0] for query in missed]
        late = sum(right(body, objectives, query, q) for query, q in zip(missed, patient, strict=True))
        remarks.append(f"{setup.label}: missed {len(missed)}; without a time limit it solves {late} of them.")
    times = spread(seconds)
    return {
        "objectives": setup.label,
        "DoF": len(problem.compiled.active),
        **solved(count - len(missed), count),
        **times,
        "published [us]": setup.published_ms * 1e3,
        "published solved [%]": setup.published_solved,
        "published / memetik": setup.published_ms * 1e3 / times["mean [us]"],
    }


def draw(body: Body, objectives: list[Wanted], rng: np.random.Generator) -> Query:
    """Targets that can be reached together, and a start that has nothing to do with them."""
    poses = body.forward(body.sample(rng))
    return [_target(objective, poses[str(objective.frame)]) for objective in objectives], body.sample(rng)


def _solve(problem: Problem, objectives: list[Wanted], query: Query, budget: Budget) -> tuple[Array, float]:
    """The joint vector, and what it took [s] to set the targets and solve."""
    targets, start = query
    begin = time.perf_counter()
    for objective, target in zip(objectives, targets, strict=True):
        objective.target = target
    solution = solve(problem, start, budget=budget)
    return solution.q, time.perf_counter() - begin


def body_of(setup: Setup) -> Body:
    """The robot, with a pelvis that moves where the set-up has one."""
    body = load("valkyrie")
    return body if setup.base == "fixed" else body.with_base(setup.base, lower=-1.0, upper=1.0)


def objectives_of(setup: Setup) -> list[Wanted]:
    """What a set-up wants, without the targets."""
    return [objective_of(kind, link) for kind, link in setup.wanted]


def objective_of(kind: str, link: str) -> Wanted:
    """An objective without its target, which comes with every query."""
    match kind:
        case "pose":
            return Pose(link, np.eye(4), position_tolerance=POSITION, orientation_tolerance=ORIENTATION)
        case "position":
            return Position(link, np.zeros(3), tolerance=POSITION)
        case "orientation":
            return Orientation(link, np.eye(3), tolerance=ORIENTATION)
        case _:
            return LookAt(link, GAZE, axis=GAZE, tolerance=ORIENTATION)


def _target(objective: Wanted, pose: Array) -> Array:
    """What the objective must be told so that `pose` satisfies it."""
    match objective:
        case Pose():
            return pose
        case Position():
            return pose[:3, 3]
        case Orientation():
            return pose[:3, :3]
        case LookAt():
            return np.asarray(pose[:3, 3] + pose[:3, :3] @ GAZE)


def right(body: Body, objectives: list[Wanted], query: Query, q: Array) -> bool:
    """Judge by forward kinematics alone, whatever the solver says."""
    poses = body.forward(q)
    within = bool((q >= body.lower - 1e-9).all() and (q <= body.upper + 1e-9).all())
    return within and all(_near(o, t, poses) for o, t in zip(objectives, query[0], strict=True))


def _near(objective: Wanted, target: Array, poses: Poses) -> bool:
    pose = poses[str(objective.frame)]
    match objective:
        case Pose():
            close = np.linalg.norm(pose[:3, 3] - target[:3, 3]) <= POSITION
            return bool(close and angle_between(pose[:3, :3], target[:3, :3]) <= ORIENTATION)
        case Position():
            return bool(np.linalg.norm(pose[:3, 3] - target) <= POSITION)
        case Orientation():
            return angle_between(pose[:3, :3], target) <= ORIENTATION
        case LookAt():
            ahead, towards = pose[:3, :3] @ GAZE, target - pose[:3, 3]
            return float(np.arctan2(np.linalg.norm(np.cross(ahead, towards)), ahead @ towards)) <= ORIENTATION


def _plot(report: Report) -> Any:
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(9, 4))
    labels = [f"{row['objectives']} ({row['DoF']} DoF)" for row in report.rows]
    places = np.arange(len(labels), dtype=np.float64)
    axes.barh(places - 0.2, [row["published [us]"] for row in report.rows], 0.38, label="Bio IK, published", color="C1")
    axes.barh(places + 0.2, [row["mean [us]"] for row in report.rows], 0.38, label="memetik", color="C0")
    for place, row in zip(places, report.rows, strict=True):
        axes.text(row["published [us]"], place - 0.2, f" {row['published solved [%]']:.2f} %", va="center", fontsize=8)
        axes.text(row["mean [us]"], place + 0.2, f" {row['solved [%]']:.2f} %", va="center", fontsize=8)
    axes.set_yticks(places, labels)
    axes.invert_yaxis()
    axes.set(xscale="log", xlabel="mean time of a solve [µs]; beside the bars: solved within 10 ms")
    axes.set_xlim(right=15_000.0)
    axes.legend(fontsize=8)
    figure.tight_layout()
    return figure

"""Where an arm's inverse kinematics works and where it fails: Fig. 5.8 of the thesis, the right arm of the PR2.

The figure shows two clouds of pose goals, one in the shape of a box and one sampled at random, solved ones in green and
failed ones in red. Not every pose of a box can be reached, so a failure means little there by itself: here every pose
that all methods miss is tried again with twenty times the time, and only those that are solved then count as failures.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import memetik as mk
from memetik.types import Array
from memetik_lab.contest import race
from memetik_lab.harness import Report, Row, progress, solved, spread, subplots
from memetik_lab.judge import right
from memetik_lab.queries import Query, Task, ask, pose_of

Flags = NDArray[np.bool_]

BASE, TIP = "torso_lift_link", "r_wrist_roll_link"
TASK = Task(position=1e-5, orientation=1e-5, seconds=0.005)
PATIENCE = mk.Budget(evaluations=1_000_000, seconds=20.0 * TASK.seconds)
LOWER, UPPER = np.array([0.3, -0.65, -0.5]), np.array([0.75, 0.15, 0.35])  # m, the box, seen from the torso
BOX, RANDOM = "box", "random"

# One of the many methods that follow the gradient once and give up, as KDL does, shows what the others are for.
METHODS: dict[str, mk.solvers.Solver] = {
    "memetic": mk.solvers.Memetic(),
    "bioik": mk.solvers.BioIK(),
    "dls, one try": mk.solvers.DampedLeastSquares(restarts=False),
}


class Cloud(NamedTuple):
    """Goals for the wrist, and where each solve starts."""

    label: str
    targets: Array  # (goals, 4, 4)
    starts: Array  # (goals, joints)


class Outcome(NamedTuple):
    """What became of a cloud: for each method the goals it solved and the time of each [s]; which can be solved at all."""

    solved: dict[str, Flags]
    seconds: dict[str, Array]
    reachable: Flags


def run(folder: Path, *, quick: bool = False, count: int | None = None, across: int | None = None) -> Report:
    """Measure, print, save and plot. `across`: goals along each edge of the box."""
    count, across = count or (300 if quick else 4_000), across or (6 if quick else 14)
    body = mk.load("pr2").chain(BASE, TIP)
    report = Report(
        "workspace",
        f"Right arm of the PR2, 7 joints. Box: {across}x{across}x{across} places from {_place(LOWER)} to {_place(UPPER)} m, "
        "seen from the torso, with the gripper straight ahead. Random: the poses of "
        f"{count} postures drawn uniformly within the limits. Starts drawn the same way. {TASK.position:g} m and "
        f"{TASK.orientation:g} rad, {TASK.seconds * 1e3:g} ms a solve. Solved: forward kinematics finds the answer within "
        "tolerance and limits. Reachable: so drawn, or solved by any of the methods, or by memetic in "
        f"{PATIENCE.seconds * 1e3:g} ms. Shares and times are over the reachable goals.",
        remarks=[
            "Published (Fig. 5.8) without numbers; Table 5.3 says of the same arm, limit and tolerance: Bio IK 100 % in "
            "0.45 ms, TRAC-IK 99.91 % in 0.77 ms, KDL 53.10 % in 4.68 ms."
        ],
    )
    clouds = [_box(body, across), _random(body, count)]
    outcomes = [_measure(body, cloud) for cloud in clouds]
    for cloud, outcome in zip(clouds, outcomes, strict=True):
        report.rows += _rows(cloud, outcome)
    out = int(np.sum(~outcomes[0].reachable))
    report.remarks.append(
        f"Of the box {out} of {across**3} goals were never solved: out of reach as far as is known, which is no proof."
    )
    return report.publish(folder, lambda: _plot(clouds, outcomes))


def _box(body: mk.Body, across: int) -> Cloud:
    rng = np.random.default_rng(1)
    places = np.stack(np.meshgrid(*np.linspace(LOWER, UPPER, across).T, indexing="ij"), axis=-1).reshape(-1, 3)
    targets = np.tile(np.eye(4), (len(places), 1, 1))
    targets[:, :3, 3] = places
    return Cloud(BOX, targets, np.array([body.sample(rng) for _ in places]))


def _random(body: mk.Body, count: int) -> Cloud:
    rng = np.random.default_rng(2)
    targets = np.array([body.forward(body.sample(rng))[TIP] for _ in range(count)])
    return Cloud(RANDOM, targets, np.array([body.sample(rng) for _ in range(count)]))


def _measure(body: mk.Body, cloud: Cloud) -> Outcome:
    """All methods at every goal, one after the other, and a patient one at what all of them missed."""
    pose = pose_of(TIP, TASK)
    problem, judge = mk.Problem(body, pose), right(body, [pose], TASK)
    queries = [Query([target], start) for target, start in zip(cloud.targets, cloud.starts, strict=True)]
    ways = [ask(problem, solver, mk.Budget(seconds=TASK.seconds)) for solver in METHODS.values()]
    tallies = dict(zip(METHODS, race(ways, queries, cloud.label, turn=1, judge=judge), strict=True))
    hits = {name: np.array(tally.verdicts) for name, tally in tallies.items()}
    reachable = np.any([*hits.values()], axis=0) | (cloud.label == RANDOM)
    patient = ask(problem, mk.solvers.Memetic(), PATIENCE)
    for k in progress(np.flatnonzero(~reachable), int((~reachable).sum()), f"{cloud.label}, missed"):
        reachable[k] = judge(patient(queries[k]), queries[k])
    return Outcome(hits, {name: np.array(tally.seconds) for name, tally in tallies.items()}, reachable)


def _rows(cloud: Cloud, outcome: Outcome) -> list[Row]:
    reachable = int(outcome.reachable.sum())
    return [
        {
            "goals": cloud.label,
            "method": name,
            "reachable": reachable,
            **solved(int((hits & outcome.reachable).sum()), reachable),
            **spread(outcome.seconds[name][outcome.reachable]),
        }
        for name, hits in outcome.solved.items()
    ]


def _plot(clouds: Sequence[Cloud], outcomes: Sequence[Outcome]) -> Any:
    """Both clouds as seen from behind the robot: of the box how much is solved in depth, of the others each goal."""
    figure, axes = subplots(2, len(METHODS), figsize=(9.5, 6.2), sharex="row", sharey="row", layout="constrained")
    for row, cloud, outcome in zip(axes, clouds, outcomes, strict=True):
        for axis, (name, hits) in zip(row, outcome.solved.items(), strict=True):
            share = (hits & outcome.reachable).sum() / outcome.reachable.sum()
            axis.set_title(f"{cloud.label}, {name}: {100 * share:.2f} %", fontsize=9)
            axis.set(xlabel="y, to the left [m]", aspect="equal")
        row[0].set_ylabel("z, up [m]")
    for axis, hits in zip(axes[0], outcomes[0].solved.values(), strict=True):
        shades = _depths(axis, clouds[0], outcomes[0], hits)
    figure.colorbar(shades, ax=axes[0], label="solved along the depth x", shrink=0.9)
    _, y, z = clouds[1].targets[:, :3, 3].T
    for axis, hits in zip(axes[1], outcomes[1].solved.values(), strict=True):
        axis.scatter(y[hits], z[hits], s=3, color="C0", lw=0.0, alpha=0.5, label="solved")
        axis.scatter(y[~hits], z[~hits], s=14, color="C1", marker="x", lw=0.8, label="missed")
    axes[1, -1].legend(fontsize=7, loc="upper right", markerscale=1.5)
    return figure


def _depths(axis: Any, cloud: Cloud, outcome: Outcome, hits: Flags) -> Any:
    """A map of the share of reachable goals that are solved at each y and z; blank where none is reachable."""
    across = round(len(hits) ** (1 / 3))
    edges = [_edges(np.unique(cloud.targets[:, k, 3])) for k in (1, 2)]
    found, all_of = ((flags & outcome.reachable).reshape(across, across, across).sum(axis=0) for flags in (hits, True))
    share = np.divide(found, all_of, out=np.full(found.shape, np.nan), where=all_of > 0)
    return axis.pcolormesh(*edges, share.T, cmap="viridis", vmin=0.0, vmax=1.0)


def _edges(centers: Array) -> Array:
    step = centers[1] - centers[0]
    return np.append(centers - 0.5 * step, centers[-1] + 0.5 * step)


def _place(point: Array) -> str:
    return f"({', '.join(f'{value:g}' for value in point)})"

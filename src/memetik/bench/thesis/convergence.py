"""Generations and time until Bio IK converges: Fig. 5.6 of the thesis, and Fig. 3 of the OFKT paper.

Both are about the same solves, random poses of one tip on bodies of 6 to 10 joints. The first asks how many are solved after
so many generations, the second how much of the time the OFKT saves. The solves run three times: gradients by differences
with the whole body placed anew for each joint, the same through the OFKT, and gradients by the chain rule, which is the
default and needs no OFKT.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from memetik.bench.harness import Report, progress, pyplot
from memetik.bench.judge import Judge
from memetik.bench.own import pose_of
from memetik.bench.peers import Task
from memetik.bench.thesis.arms import ARMS
from memetik.body import Body
from memetik.problem import Problem
from memetik.read.chains import snake
from memetik.read.load import load
from memetik.solvers import Budget
from memetik.solvers.bio_ik import BioIK
from memetik.types import Array

TASK = Task(position=1e-4, orientation=1e-3, seconds=np.inf)
BUDGET = Budget(evaluations=10_000_000)  # a hundred times what the longest solves take
MARKS = (1, 2, 3, 5, 10, 20, 50, 100)  # generations after which the share solved is told
TURN = 20

DIFFERENCES, TREE, CHAIN_RULE = "plain", "OFKT", "chain rule"
VARIANTS = {
    DIFFERENCES: BioIK(gradient="differences"),
    TREE: BioIK(gradient="ofkt", ofkt=True),
    CHAIN_RULE: BioIK(),
}


class Robot(NamedTuple):
    """A body of one tip."""

    label: str
    body: Body
    tip: str


@dataclass
class Entrant:
    """A variant of Bio IK, and what it did."""

    solver: BioIK
    seconds: list[float] = field(default_factory=list)
    generations: list[int] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)


def robots() -> list[Robot]:
    """The six arms of Fig. 5.5, chains of eight and nine joints, and Valkyrie from the torso to the wrist."""
    arms = [arm for arm in ARMS if arm.body in ("ur5", "kr120", "m10ia", "iiwa14", "pr2", "baxter")]
    chains = [Robot(f"chain of {n}", snake(n), "tip") for n in (8, 9)]
    valkyrie = Robot("valkyrie wrist", load("valkyrie").chain("pelvis", "rightPalm"), "rightPalm")
    found = [Robot(arm.label, load(arm.body).chain(arm.base, arm.tip), arm.tip) for arm in arms]
    return sorted([*found, *chains, valkyrie], key=lambda robot: robot.body.dof)


def run(folder: Path, *, quick: bool = False, count: int | None = None, only: Sequence[Robot] | None = None) -> Report:
    """Measure, print, save and plot."""
    count = count or (60 if quick else 2_000)
    report = Report(
        "convergence",
        f"{count} targets a robot: poses of postures drawn uniformly within the limits; starts drawn the same way, apart from "
        f"the targets. {TASK.position:g} m and {TASK.orientation:g} rad; no time limit, {BUDGET.evaluations:g} evaluations. "
        f"Bio IK with default parameters; the three ways to a gradient take turns of {TURN} with the same targets and starts. "
        "A generation breeds all offspring and lets L-BFGS-B run to a minimum from each elite. Within g: share solved, by "
        "forward kinematics, after at most g generations. Times: of the processor, over all solves.",
    )
    curves: dict[str, Array] = {}
    for robot in only or robots():
        entrants = _measure(robot, count)
        report.rows += [_row(robot, name, entrant, entrants) for name, entrant in entrants.items()]
        curves[robot.label] = np.sort(np.array(entrants[CHAIN_RULE].generations)[entrants[CHAIN_RULE].right])
    report.remarks += verdict(report.rows)
    return report.publish(folder, lambda: _plot(report, curves, count))


def _measure(robot: Robot, count: int) -> dict[str, Entrant]:
    pose = pose_of(robot.tip, TASK)
    problem, judge = Problem(robot.body, pose), Judge(robot.body, robot.tip, TASK)
    rng = np.random.default_rng(1)
    queries = [(robot.body.forward(robot.body.sample(rng))[robot.tip], robot.body.sample(rng)) for _ in range(count)]
    entrants = {name: Entrant(solver) for name, solver in VARIANTS.items()}
    for entrant in entrants.values():
        entrant.solver.solve(problem)  # compiles
    turns = [(begin, entrant) for begin in range(0, count, TURN) for entrant in entrants.values()]
    for begin, entrant in progress(turns, len(turns), robot.label):
        for target, start in queries[begin : begin + TURN]:
            started = time.process_time()
            pose.target = target
            solution = entrant.solver.solve(problem, start, BUDGET)
            entrant.seconds.append(time.process_time() - started)
            entrant.generations.append(solution.attempts)
            entrant.right.append(judge.right(solution.q, target))
    return entrants


def _row(robot: Robot, name: str, entrant: Entrant, entrants: dict[str, Entrant]) -> dict[str, Any]:
    generations, right = np.array(entrant.generations), np.array(entrant.right)
    return {
        "robot": robot.label,
        "DoF": robot.body.dof,
        "gradient": name,
        "solved [%]": 100.0 * float(right.mean()),
        "mean generations": float(generations.mean()),
        "most": int(generations.max()),
        **{f"within {g} [%]": 100.0 * float(np.mean(right & (generations <= g))) for g in MARKS},
        "mean [ms]": 1e3 * float(np.mean(entrant.seconds)),
        "time / plain": float(np.sum(entrant.seconds) / np.sum(entrants[DIFFERENCES].seconds)),
    }


def verdict(rows: Sequence[dict[str, Any]]) -> list[str]:
    """How many generations it takes, and what the OFKT and the chain rule save."""
    own = [row for row in rows if row["gradient"] == CHAIN_RULE]
    means, most = [row["mean generations"] for row in own], [row["most"] for row in own]
    remarks = [
        f"Generations: {min(means):.3g} to {max(means):.3g} on average, at most {max(most)} for any query. Published "
        "(Fig. 5.6): about 10 on average, about 100 for all."
    ]
    for name in (TREE, CHAIN_RULE):
        shares = [row["time / plain"] for row in rows if row["gradient"] == name]
        remarks.append(f"{name}: {min(shares):.2f} to {max(shares):.2f} of the time of plain.")
    remarks.append("Published (Fig. 3 of the OFKT paper): about one third with the OFKT on robots of 6 to 10 joints.")
    return remarks


def _plot(report: Report, curves: dict[str, Array], count: int) -> Any:
    plt = pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2))
    for k, (label, generations) in enumerate(curves.items()):
        steps = np.arange(1, generations[-1] + 1)
        shares = 100.0 * np.searchsorted(generations, steps, side="right") / count
        left.step(steps, shares, where="post", ls="-" if k < 7 else "--", label=label)
    left.set(xscale="log", xlabel="generations", ylabel="solved [%]", ylim=(None, 101.0))
    left.legend(fontsize=7, loc="lower right")
    labels = list(dict.fromkeys(f"{row['robot']} ({row['DoF']})" for row in report.rows))
    places = np.arange(len(labels), dtype=np.float64)
    for k, name in enumerate(VARIANTS):
        rows = [row for row in report.rows if row["gradient"] == name]
        right.barh(
            places + 0.27 * (k - 1), [row["mean [ms]"] for row in rows], 0.25, label=name, color=f"C{(1, 0, 2)[k]}"
        )
        if name != DIFFERENCES:
            for place, row in zip(places, rows, strict=True):
                right.text(
                    row["mean [ms]"], place + 0.27 * (k - 1), f" {row['time / plain']:.2f}", va="center", fontsize=7
                )
    right.set_yticks(places, labels)
    right.invert_yaxis()
    right.set(xlabel="mean time to converge [ms]; beside the bars: share of plain")
    right.legend(fontsize=8)
    figure.tight_layout()
    return figure

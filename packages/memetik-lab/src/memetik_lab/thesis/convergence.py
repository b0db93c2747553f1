"""Generations and time until Bio IK converges: Fig. 5.6 of the thesis, and Fig. 3 of the OFKT paper.

Both are about the same solves, random poses of one tip on bodies of 6 to 10 joints. The first asks how many are solved after
so many generations, the second how much of the time the OFKT saves. The solves run three times: gradients by differences
with the whole body placed again for each joint, the same through the OFKT, and gradients by the chain rule, which is the
default and needs no OFKT.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik.types import Array
from memetik_lab.contest import Tally, race
from memetik_lab.harness import Report, Row, bars, beside, column, percent, select, subplots
from memetik_lab.judge import right
from memetik_lab.queries import Task, ask, draw_many, pose_of
from memetik_lab.thesis.arms import ARMS

TASK = Task(position=1e-4, orientation=1e-3, seconds=np.inf)
BUDGET = mk.Budget(evaluations=10_000_000)  # a hundred times what the longest solves take
MARKS = (1, 2, 3, 5, 10, 20, 50, 100)  # generations after which the share solved is told
TURN = 20

DIFFERENCES, TREE, CHAIN_RULE = "plain", "OFKT", "chain rule"
VARIANTS = {
    DIFFERENCES: mk.solvers.BioIK(gradient="differences"),
    TREE: mk.solvers.BioIK(gradient="ofkt", ofkt=True),
    CHAIN_RULE: mk.solvers.BioIK(),
}


class Robot(NamedTuple):
    """A body of one tip."""

    label: str
    body: mk.Body
    tip: str


def robots() -> list[Robot]:
    """The six arms of Fig. 5.5, chains of eight and nine joints, and Valkyrie from the torso to the wrist."""
    arms = [arm for arm in ARMS if arm.name in ("ur5", "kr120", "m10ia", "iiwa14", "pr2", "baxter")]
    chains = [Robot(f"chain of {n}", mk.build.snake(n), "tip") for n in (8, 9)]
    valkyrie = Robot("valkyrie wrist", mk.load("valkyrie").chain("pelvis", "rightPalm"), "rightPalm")
    found = [Robot(arm.label, arm.body(), arm.tip) for arm in arms]
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
        tallies = _measure(robot, count)
        report.rows += [_row(robot, name, tally, tallies[DIFFERENCES]) for name, tally in tallies.items()]
        own = tallies[CHAIN_RULE]
        curves[robot.label] = np.sort(np.array(own.each("attempts"))[own.verdicts])
    report.remarks += verdict(report.rows)
    return report.publish(folder, lambda: _plot(report, curves, count))


def _measure(robot: Robot, count: int) -> dict[str, Tally]:
    pose = pose_of(robot.tip, TASK)
    problem = mk.Problem(robot.body, pose)
    tallies = race(
        [ask(problem, solver, BUDGET) for solver in VARIANTS.values()], draw_many(robot.body, [pose], count), robot.label,
        turn=TURN, judge=right(robot.body, [pose], TASK), clock=time.process_time,
    )  # fmt: skip
    return dict(zip(VARIANTS, tallies, strict=True))


def _row(robot: Robot, name: str, tally: Tally, plain: Tally) -> Row:
    generations, right = np.array(tally.each("attempts")), np.array(tally.verdicts)
    return {
        "robot": robot.label,
        "DoF": robot.body.dof,
        "gradient": name,
        "solved [%]": percent(right),
        "mean generations": float(generations.mean()),
        "most": int(generations.max()),
        **{f"within {g} [%]": percent(right & (generations <= g)) for g in MARKS},
        "mean [ms]": tally.milliseconds(),
        "time / plain": float(np.sum(tally.seconds) / np.sum(plain.seconds)),
    }


def verdict(rows: Sequence[Row]) -> list[str]:
    """How many generations it takes, and what the OFKT and the chain rule save."""
    own = select(rows, gradient=CHAIN_RULE)
    means, most = column(own, "mean generations"), column(own, "most")
    remarks = [
        f"Generations: {min(means):.3g} to {max(means):.3g} on average, at most {max(most)} for any query. Published "
        "(Fig. 5.6): about 10 on average, about 100 for all."
    ]
    for name in (TREE, CHAIN_RULE):
        shares = column(select(rows, gradient=name), "time / plain")
        remarks.append(f"{name}: {min(shares):.2f} to {max(shares):.2f} of the time of plain.")
    remarks.append("Published (Fig. 3 of the OFKT paper): about one third with the OFKT on robots of 6 to 10 joints.")
    return remarks


def _plot(report: Report, curves: dict[str, Array], count: int) -> Any:
    figure, (left, right) = subplots(1, 2, figsize=(10.5, 4.2))
    for k, (label, generations) in enumerate(curves.items()):
        steps = np.arange(1, generations[-1] + 1)
        shares = 100.0 * np.searchsorted(generations, steps, side="right") / count
        left.step(steps, shares, where="post", ls="-" if k < 7 else "--", label=label)
    left.set(xscale="log", xlabel="generations", ylabel="solved [%]", ylim=(None, 101.0))
    left.legend(fontsize=7, loc="lower right")
    labels = list(dict.fromkeys(f"{row['robot']} ({row['DoF']})" for row in report.rows))
    means = {name: column(select(report.rows, gradient=name), "mean [ms]") for name in VARIANTS}
    places = bars(right, labels, means, 0.27, color=["C1", "C0", "C2"])
    for name, at in list(zip(VARIANTS, places, strict=True))[1:]:
        ratios = column(select(report.rows, gradient=name), "time / plain")
        beside(right, means[name], at, [f"{ratio:.2f}" for ratio in ratios], 7)
    right.set(xlabel="mean time to converge [ms]; beside the bars: share of plain")
    right.legend(fontsize=8)
    return figure

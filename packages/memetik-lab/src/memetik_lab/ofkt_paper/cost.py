"""What a generation costs with and without the OFKT, during one query and by joints: Fig. 2 of the OFKT paper.

The paper finds a factor of about 8 at 30 joints. Most placements of a memetic evolution change one gene: those of a local
search or a gradient by differences. There the OFKT needs 5 transformations instead of 2n + 1. All others, offspring and
the steps of the local search, change every gene and cost 2n + 1 with it and without. So the factor in transformations
follows from how many placements are of the first kind, and stands beside the factor in time.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import memetik as mk
from memetik.types import Array
from memetik_lab.contest import race
from memetik_lab.harness import Report, Row, column, select, subplots
from memetik_lab.queries import Query, Task, aim, draw_many, pose_of, search

JOINTS = (5, 10, 15, 20, 25, 30, 40, 60)
QUICK_JOINTS = (5, 30)
TASK = Task(position=1e-4, orientation=1e-3, seconds=np.inf)
BUDGET = mk.Budget(evaluations=10**7)
FIGURE_JOINTS = 10  # of the chain whose query Fig. 2 follows
STEPS = 3  # of L-BFGS-B for an elite in a generation of that query: else two or three generations would do
LENGTH = 60  # generations that this query should take, about
LOOKS = 24  # places at which the query is stopped to see what it took until there

HGSA_SHARE = 4 * 2 * 30 / (4 * 2 * 30 + 8)  # of the placements of a generation of HGSA, 30 joints, that change one gene

PLAIN, TREE, CHAIN_RULE = "plain", "OFKT", "chain rule"
SWITCHES: dict[str, dict[str, Any]] = {
    PLAIN: {"gradient": "differences"},
    TREE: {"gradient": "ofkt", "ofkt": True},
    CHAIN_RULE: {},
}


def run(folder: Path, *, quick: bool = False, count: int | None = None, joints: Sequence[int] | None = None) -> Report:
    """Measure, print, save and plot."""
    count = count or (20 if quick else 300)
    joints = joints or (QUICK_JOINTS if quick else JOINTS)
    report = Report(
        "cost",
        f"Chains of one metre, axes y and z by turns, limits ±90 degrees. {count} targets a chain: poses of postures drawn "
        f"uniformly; starts drawn the same way. {TASK.position:g} m and {TASK.orientation:g} rad. Bio IK with default "
        "parameters; gradients by differences, one gene at a time: plain places the whole body for each, OFKT predicts the "
        "tip and keeps what did not change. All in a generation: time of the processor, and transformations as the paper "
        "counts them, 2n + 1 for a placement of the whole chain and 5 for a prediction. The variants take turns query by query.",
    )
    report.rows += [_measure(number, count) for number in joints]
    curves = _one_query(repeats=3 if quick else 9)
    report.remarks += [*verdict(report.rows), *_told(curves)]
    return report.publish(folder, lambda: _plot(report, curves))


def _measure(joints: int, count: int) -> Row:
    """Averages over generations. The chain rule places the body as often, without the single genes."""
    body, pose = mk.build.snake(joints), pose_of("tip", TASK)
    problem, queries = mk.Problem(body, pose), draw_many(body, [pose], count)
    ways = [search(problem, mk.solvers.BioIK(**switches), BUDGET) for switches in SWITCHES.values()]
    tallies = race(ways, queries, f"{joints} joints", turn=1, clock=time.process_time, aimed=problem)
    spent = dict(zip(SWITCHES, tallies, strict=True))
    placements = {name: tally.mean("evaluations") / tally.mean("attempts") for name, tally in spent.items()}
    times = {name: 1e3 * tally.milliseconds() / tally.mean("attempts") for name, tally in spent.items()}
    whole, single = placements[CHAIN_RULE], placements[PLAIN] - placements[CHAIN_RULE]
    standard, tree = placements[PLAIN] * (2 * joints + 1), whole * (2 * joints + 1) + 5.0 * single
    return {
        "joints": joints,
        "placements": placements[PLAIN],
        "of one gene [%]": 100.0 * single / placements[PLAIN],
        "plain": standard,
        "OFKT": tree,
        "fewer": standard / tree,
        "plain [us]": times[PLAIN],
        "OFKT [us]": times[TREE],
        "faster": times[PLAIN] / times[TREE],
        "chain rule [us]": times[CHAIN_RULE],
        "faster by the chain rule": times[PLAIN] / times[CHAIN_RULE],
    }


def _one_query(repeats: int) -> dict[str, Array]:
    """Generations and seconds until each look, (looks, 2), of one query.

    The same search, stopped later and later: it is the same bit for bit, so differences are what the generations between
    two stops cost.
    """
    body, pose = mk.build.snake(FIGURE_JOINTS), pose_of("tip", TASK)
    problem = mk.Problem(body, pose)
    queries = draw_many(body, [pose], 20, seed=2)
    solvers = {name: mk.solvers.BioIK(steps=STEPS, **SWITCHES[name]) for name in (PLAIN, TREE)}

    def ask(solver: mk.solvers.BioIK, query: Query, evaluations: int) -> tuple[int, int, float]:
        aim(problem, query)
        begin = time.process_time()
        solution = solver.solve(problem, query.start, mk.Budget(evaluations=evaluations))
        return solution.attempts, solution.evaluations, time.process_time() - begin

    chosen = min(queries, key=lambda query: abs(ask(solvers[PLAIN], query, 100_000)[0] - LENGTH))
    curves = {}
    for name, solver in solvers.items():
        total = ask(solver, chosen, 10**6)[1]
        stops = np.unique(np.linspace(total / LOOKS, total, LOOKS).astype(int))
        curves[name] = np.array(
            [min((ask(solver, chosen, int(stop)) for _ in range(repeats)), key=lambda r: r[2])[::2] for stop in stops]
        )
        # A later stop cannot have taken less, so what an earlier one took beyond it was the machine.
        curves[name][:, 1] = np.minimum.accumulate(curves[name][::-1, 1])[::-1]
    return curves


def verdict(rows: Sequence[Row]) -> list[str]:
    """The factor at 30 joints and what makes it."""
    remarks = []
    for row in select(rows, joints=30):
        remarks.append(
            f"30 joints: {row['fewer']:.3g} times fewer transformations and {row['faster']:.3g} times less time a generation "
            f"with the OFKT; published about 8. Here {row['of one gene [%]']:.1f} % of the placements change one gene, for 8 "
            f"times fewer it takes {100.0 * _share_for(8.0, 30):.0f} %. The paper measured HGSA, which tries two values of "
            f"every gene for each elite: with 4 elites of 12 that is {100.0 * HGSA_SHARE:.0f} %, and "
            f"{_fewer(HGSA_SHARE, 30):.2g} times fewer."
        )
        remarks.append(
            "Time gains less than transformations, since the losses of a placement, random numbers and L-BFGS-B itself cost "
            f"the same with the OFKT. The chain rule does without it and is {row['faster by the chain rule']:.3g} times faster "
            "than plain."
        )
    return remarks


def _fewer(single: float, joints: int) -> float:
    """How many times fewer transformations the OFKT needs if this share of the placements changes one gene."""
    return 1.0 / (1.0 - single + single * 5.0 / (2 * joints + 1))


def _share_for(factor: float, joints: int) -> float:
    """The share of placements of one gene that makes so many times fewer."""
    return (1.0 - 1.0 / factor) / (1.0 - 5.0 / (2 * joints + 1))


def _told(curves: dict[str, Array]) -> list[str]:
    parts = []
    for name, curve in curves.items():
        half = len(curve) // 2
        early = 1e6 * curve[half, 1] / max(curve[half, 0], 1.0)
        late = 1e6 * (curve[-1, 1] - curve[half, 1]) / max(curve[-1, 0] - curve[half, 0], 1.0)
        parts.append(f"{name} {early:.4g} us a generation in the first half, {late:.4g} us in the second")
    return [f"One query of {FIGURE_JOINTS} joints, {curves[PLAIN][-1, 0]:.0f} generations: {'; '.join(parts)}."]


def _plot(report: Report, curves: dict[str, Array]) -> Any:
    figure, (left, right) = subplots(1, 2, figsize=(10, 4.2))
    for name, color in ((PLAIN, "C1"), (TREE, "C0")):
        left.plot(curves[name][:, 0], 1e6 * curves[name][:, 1], ".-", color=color, label=name)
    left.set(xlabel="generations", ylabel="time until then [µs]")
    left.set_title(f"One query, {FIGURE_JOINTS} joints: the slope is the cost", fontsize=10)
    left.legend(fontsize=8)
    for key, style, color, label in (
        ("fewer", "x--", "C0", "OFKT, transformations"),
        ("faster", "o-", "C0", "OFKT, time"),
        ("faster by the chain rule", "s-", "C2", "chain rule, time"),
    ):
        right.plot(column(report.rows, "joints"), column(report.rows, key), style, color=color, label=label)
    right.plot([30], [8], "*", color="C1", ms=12, label="published, 30 joints")
    right.axhline(1.0, color="black", lw=0.8)
    right.set(xlabel="degrees of freedom", ylabel="plain / OFKT, a generation")
    right.set_title("By degrees of freedom", fontsize=10)
    right.legend(fontsize=8)
    return figure

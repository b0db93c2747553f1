"""FABRIK against CCD, DLS and SDLS on chains of 2 to 100 joints: the question that the paper on the NAO's arm left open.

Its arm has two joints by its own count, and it compares FABRIK with the Jacobian transpose and pseudoinverse alone; these
three methods and longer chains it names as open (section 8.1). Here each method reaches for points with chains of one
metre: planar ones whose joints turn freely, which is what FABRIK was made for, and ones in space with limits, as robots
have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import memetik as mk
from memetik_lab.contest import Tally, race
from memetik_lab.harness import BLOCK, Report, Row, column, distinct, percent, select, spread, subplots
from memetik_lab.judge import right
from memetik_lab.queries import Task, ask, draw_many

METHODS = ("fabrik", "ccd", "dls", "sdls")
JOINTS = (2, 3, 5, 10, 20, 50, 100)
QUICK_JOINTS = (2, 5, 20, 100)
TASK = Task(position=1e-4, orientation=np.inf, seconds=1.0)
PLANAR, SPATIAL = "planar, free", "in space, limits"
ENOUGH = 99.0  # [%] of the targets that a method has to solve to be called the fastest


def run(
    folder: Path,
    *,
    quick: bool = False,
    count: int | None = None,
    joints: Sequence[int] | None = None,
    methods: Sequence[str] = METHODS,
) -> Report:
    """Measure, print, save and plot."""
    count = count or (100 if quick else 1_000)
    joints = joints or (QUICK_JOINTS if quick else JOINTS)
    report = Report(
        "chains",
        f"Chains of one metre. Planar: axes z, no limits. In space: axes y and z by turns, limits ±90 degrees. {count} targets "
        "a chain: where the tip is in a posture drawn uniformly; starts drawn the same way; position only. "
        f"{TASK.position:g} m, {mk.Budget().evaluations} iterations or {TASK.seconds:g} s a solve. An iteration is a sweep of "
        "FABRIK (forward and backward) or CCD, or a step of DLS or SDLS. First try: the share solved without restarts, and "
        "the medians of its iterations and of what one takes; all else with restarts, which is what solve() does. Solved: "
        "forward kinematics finds the answer within tolerance and limits. Times as a Python user sees them, over all "
        f"solves, in blocks of {BLOCK}.",
    )
    for kind in (PLANAR, SPATIAL):
        for number in joints:
            report.rows += _measure(kind, number, count, methods)
    report.remarks += verdict(report.rows)
    return report.publish(folder, lambda: _plot(report))


def _measure(kind: str, joints: int, count: int, names: Sequence[str]) -> list[Row]:
    body = mk.build.planar_chain(joints, limits=None) if kind == PLANAR else mk.build.snake(joints)
    point = mk.Position("tip", (0.0, 0.0, 0.0), tolerance=TASK.position)
    problem, budget = mk.Problem(body, point), mk.Budget(seconds=TASK.seconds)
    solvers = [mk.solver(name, restarts=restarts) for name in names for restarts in (False, True)]
    queries = draw_many(body, [point], BLOCK + count)
    tallies = race(
        [ask(problem, solver, budget) for solver in solvers], queries[BLOCK:], f"{kind}, {joints} joints",
        judge=right(body, [point], TASK), warm_up=queries[:BLOCK],
    )  # fmt: skip
    pairs = zip(names, tallies[::2], tallies[1::2], strict=True)
    return [_row(kind, joints, name, first, again) for name, first, again in pairs]


def _row(kind: str, joints: int, method: str, first: Tally, again: Tally) -> Row:
    iterations = first.each("evaluations")
    claimed = zip(again.each("success"), again.verdicts, strict=True)
    return {
        "chain": kind,
        "joints": joints,
        "method": method,
        "first try [%]": percent(first.verdicts),
        "iterations": float(np.median(iterations)),
        "us / iteration": float(np.median(np.array(first.seconds) / iterations)) * 1e6,
        "solved [%]": percent(again.verdicts),
        "wrong [%]": percent([success and not good for success, good in claimed]),
        **spread(again.seconds),
    }


def verdict(rows: Sequence[Row]) -> list[str]:
    """Two sentences: who is fastest on which chains, and how far each is from that on all of them."""
    names = distinct(rows, "method")
    able = [row for row in rows if row["solved [%]"] >= ENOUGH]
    best = {
        chain: min((r for r in able if _chain(r) == chain), key=_median, default=None) for chain in map(_chain, rows)
    }
    wins = []
    for kind in (PLANAR, SPATIAL):
        sizes = {name: [c[1] for c, r in best.items() if c[0] == kind and r and r["method"] == name] for name in names}
        wins.append(f"{kind}: {', '.join(f'{name} at {_listed(at)} joints' for name, at in sizes.items() if at)}")
    spreads = []
    for name in names:
        mine = select(rows, method=name)
        ratios = [_median(row) / _median(least) for row in mine if row in able and (least := best[_chain(row)])]
        tries, steps = (column(mine, key) for key in ("first try [%]", "iterations"))
        if ratios:
            first = f"{min(tries):.0f} to {max(tries):.0f} %, {min(steps):.3g} to {max(steps):.3g} iterations"
            spreads.append(f"{name} {min(ratios):.2g} to {max(ratios):.2g} times ({first})")
    return [
        f"Least median time among methods that solve at least {ENOUGH:g} % of the targets: {'; '.join(wins)}.",
        "Over all chains they take, of this least time (in brackets the share solved at the first try, and its median "
        f"iterations): {', '.join(spreads)}.",
    ]


def _chain(row: Row) -> tuple[str, int]:
    return row["chain"], row["joints"]


def _median(row: Row) -> float:
    return float(row["median [us]"])


def _listed(numbers: Sequence[int]) -> str:
    """2, 3 and 5."""
    *most, last = map(str, numbers)
    return f"{', '.join(most)} and {last}" if most else last


def _plot(report: Report) -> Any:
    figure, axes = subplots(3, 2, figsize=(9, 9), sharex=True, sharey="row")
    columns = (
        ("median [us]", "median time of a solve [µs]", "log"),
        ("iterations", "median iterations, first try", "linear"),
        ("first try [%]", "solved at the first try [%]", "linear"),
    )
    for line, (key, label, scale) in zip(axes, columns, strict=True):
        for axis, kind in zip(line, (PLANAR, SPATIAL), strict=True):
            for name in distinct(report.rows, "method"):
                mine = select(report.rows, chain=kind, method=name)
                axis.plot(column(mine, "joints"), column(mine, key), marker="o", ms=3, label=name)
            axis.set(xscale="log", yscale=scale)
        line[0].set_ylabel(label)
    for axis, kind in zip(axes[0], (PLANAR, SPATIAL), strict=True):
        axis.set_title(kind)
    sizes = distinct(report.rows, "joints")
    for axis in axes[-1]:
        axis.set_xlabel("joints of the chain")
        axis.set_xticks(sizes, map(str, sizes), minor=False)
        axis.minorticks_off()
    axes[0, 0].legend(fontsize=8)
    return figure

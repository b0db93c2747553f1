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

from memetik.bench.contest import Tally, contest
from memetik.bench.harness import BLOCK, Report, pyplot
from memetik.bench.peers import Task
from memetik.body import Body
from memetik.errors import UnknownNameError
from memetik.objectives import Position
from memetik.problem import Problem
from memetik.read.chains import planar_chain, snake
from memetik.solvers import Budget, Solver
from memetik.solvers import methods as known_methods
from memetik.types import Array

METHODS = ("fabrik", "ccd", "dls", "sdls")
JOINTS = (2, 3, 5, 10, 20, 50, 100)
QUICK_JOINTS = (2, 5, 20, 100)
TASK = Task(position=1e-4, orientation=np.inf, seconds=1.0)
PLANAR, SPATIAL = "planar, free", "in space, limits"
ENOUGH = 99.0  # [%] of the targets that a method has to solve to be called the fastest


class Entrant:
    """One method with its default parameters, with or without restarts, that brings the tip to a point."""

    whole_turns = False

    def __init__(self, body: Body, method: str, restarts: bool) -> None:
        self.name, self.restarts = method, restarts
        self.iterations: list[int] = []
        self._place = Position("tip", (0.0, 0.0, 0.0), tolerance=TASK.position)
        self._problem = Problem(body, self._place)
        self._solver = _solver(method, restarts)
        self._budget = Budget(seconds=TASK.seconds)

    def solve(self, target: Array, start: Array) -> Array | None:
        """The joint vector, if the solution says that it is within tolerance."""
        self._place.target = target[:3, 3]
        solution = self._solver.solve(self._problem, start, self._budget)
        self.iterations.append(solution.evaluations)
        return solution.q if solution.success else None


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
        f"{TASK.position:g} m, {Budget().evaluations} iterations or {TASK.seconds:g} s a solve. An iteration is a sweep of "
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


def _solver(method: str, restarts: bool) -> Solver:
    for row in known_methods():
        if row.name == method:
            made: Solver = row.solver(restarts=restarts)
            return made
    raise UnknownNameError("method", method, [row.name for row in known_methods()])


def _measure(kind: str, joints: int, count: int, names: Sequence[str]) -> list[dict[str, Any]]:
    body = planar_chain(joints, limits=None) if kind == PLANAR else snake(joints)
    entrants = [Entrant(body, name, restarts) for name in names for restarts in (False, True)]
    tallies = contest(body, "tip", TASK, entrants, count, f"{kind}, {joints} joints")
    pairs = zip(entrants[::2], tallies[::2], tallies[1::2], strict=True)
    return [_row(kind, joints, entrant, first, again) for entrant, first, again in pairs]


def _row(kind: str, joints: int, entrant: Entrant, first: Tally, again: Tally) -> dict[str, Any]:
    count = len(first.seconds)
    iterations = entrant.iterations[-count:]  # those before were for warming up
    columns = again.columns(TASK)
    return {
        "chain": kind,
        "joints": joints,
        "method": entrant.name,
        "first try [%]": first.columns(TASK)["solved [%]"],
        "iterations": float(np.median(iterations)),
        "us / iteration": float(np.median(np.array(first.seconds) / iterations)) * 1e6,
        **{key: value for key, value in columns.items() if key not in ("late [%]", "95 % interval", "cold [us]")},
    }


def verdict(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Two sentences: who is fastest on which chains, and how far each is from that on all of them."""
    names = dict.fromkeys(row["method"] for row in rows)
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
        mine = [row for row in rows if row["method"] == name]
        ratios = [_median(row) / _median(least) for row in mine if row in able and (least := best[_chain(row)])]
        tries, steps = ([row[column] for row in mine] for column in ("first try [%]", "iterations"))
        if ratios:
            first = f"{min(tries):.0f} to {max(tries):.0f} %, {min(steps):.3g} to {max(steps):.3g} iterations"
            spreads.append(f"{name} {min(ratios):.2g} to {max(ratios):.2g} times ({first})")
    return [
        f"Least median time among methods that solve at least {ENOUGH:g} % of the targets: {'; '.join(wins)}.",
        "Over all chains they take, of this least time (in brackets the share solved at the first try, and its median "
        f"iterations): {', '.join(spreads)}.",
    ]


def _chain(row: dict[str, Any]) -> tuple[str, int]:
    return row["chain"], row["joints"]


def _median(row: dict[str, Any]) -> float:
    return float(row["median [us]"])


def _listed(numbers: Sequence[int]) -> str:
    """2, 3 and 5."""
    *most, last = map(str, numbers)
    return f"{', '.join(most)} and {last}" if most else last


def _plot(report: Report) -> Any:
    plt = pyplot()
    figure, axes = plt.subplots(3, 2, figsize=(9, 9), sharex=True, sharey="row")
    columns = (
        ("median [us]", "median time of a solve [µs]", "log"),
        ("iterations", "median iterations, first try", "linear"),
        ("first try [%]", "solved at the first try [%]", "linear"),
    )
    for row, (column, label, scale) in zip(axes, columns, strict=True):
        for axis, kind in zip(row, (PLANAR, SPATIAL), strict=True):
            for name in dict.fromkeys(entry["method"] for entry in report.rows):
                mine = [entry for entry in report.rows if entry["chain"] == kind and entry["method"] == name]
                axis.plot([m["joints"] for m in mine], [m[column] for m in mine], marker="o", ms=3, label=name)
            axis.set(xscale="log", yscale=scale)
        row[0].set_ylabel(label)
    for axis, kind in zip(axes[0], (PLANAR, SPATIAL), strict=True):
        axis.set_title(kind)
    sizes = list(dict.fromkeys(entry["joints"] for entry in report.rows))
    for axis in axes[-1]:
        axis.set_xlabel("joints of the chain")
        axis.set_xticks(sizes, map(str, sizes), minor=False)
        axis.minorticks_off()
    axes[0, 0].legend(fontsize=8)
    figure.tight_layout()
    return figure

"""One pose on six arms by seven methods: Table 5.2 of the thesis, each method beside the figures that it has there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik_lab.contest import Tally, race
from memetik_lab.harness import (
    UNLIMITED,
    Report,
    Row,
    column,
    distinct,
    fewer_than_published,
    label_edges,
    select,
    subplots,
)
from memetik_lab.judge import right
from memetik_lab.queries import Task, ask, draw_many, pose_of
from memetik_lab.thesis.arms import ARMS

Figures = tuple[float, float]  # mean time [ms], share solved [%]

TASK = Task(position=1e-4, orientation=1e-3, seconds=1.0)
SHORT = 0.01  # s; the other time limit of the table
TURNS = 10  # in which the queries of a method are solved, by turns with the other methods


class Column(NamedTuple):
    """A column of ours: a method, with restarts or for one try, and how slow it is."""

    method: str
    tries: str  # "one", "restarts"
    slow: int  # it gets one in so many of the queries
    published: str  # the column of the table beside it; the others than Bio IK have one time limit only

    @property
    def name(self) -> str:
        """As the rows and the picture call it."""
        return f"{self.method}, one try" if self.tries == "one" else self.method

    def solver(self) -> mk.solvers.Solver:
        """The method with its default parameters."""
        return mk.solver(self.method, **({"restarts": False} if self.tries == "one" else {}))


COLUMNS = (
    Column("memetic", "restarts", 1, "Bio IK"),
    Column("bioik", "restarts", 1, "Bio IK"),
    Column("dls", "one", 1, "Jacobian DLS"),
    Column("dls", "restarts", 1, "Jacobian DLS"),
    Column("lbfgsb", "one", 1, "L-BFGS-B"),
    Column("lbfgsb", "restarts", 1, "L-BFGS-B"),
    Column("transpose", "one", 5, "Jacobian transpose"),
    Column("transpose", "restarts", 20, "Jacobian transpose"),
    Column("de", "restarts", 10, "DE"),
    Column("ga", "restarts", 50, "GA"),
)

# Table 5.2, by arm (bench/thesis/arms.py) and column; Bio IK within 10 ms and within 1 s.
_TABLE: Mapping[str, Mapping[str, Figures]] = {
    "pr2 right arm": {
        "Jacobian transpose": (4.06, 25.27), "Jacobian DLS": (0.34, 28.61), "L-BFGS-B": (0.36, 37.68),
        "GA": (334.53, 36.24), "DE": (197.65, 66.89), "Bio IK": (1.02, 100.0), "Bio IK, 10 ms": (0.91, 99.47),
    },
    "baxter left arm": {
        "Jacobian transpose": (8.73, 36.92), "Jacobian DLS": (0.59, 9.78), "L-BFGS-B": (0.44, 43.19),
        "GA": (362.18, 39.22), "DE": (171.39, 56.84), "Bio IK": (1.34, 100.0), "Bio IK, 10 ms": (1.12, 99.16),
    },
    "iiwa14": {
        "Jacobian transpose": (5.27, 88.71), "Jacobian DLS": (0.49, 68.64), "L-BFGS-B": (0.41, 74.33),
        "GA": (297.87, 61.14), "DE": (129.42, 87.39), "Bio IK": (0.85, 100.0), "Bio IK, 10 ms": (0.74, 99.93),
    },
    "kr120": {
        "Jacobian transpose": (3.05, 58.77), "Jacobian DLS": (0.36, 59.62), "L-BFGS-B": (0.39, 67.74),
        "GA": (398.49, 52.21), "DE": (231.87, 77.17), "Bio IK": (1.33, 100.0), "Bio IK, 10 ms": (1.09, 99.21),
    },
    "ur5": {
        "Jacobian transpose": (7.39, 88.14), "Jacobian DLS": (0.79, 77.81), "L-BFGS-B": (0.36, 86.97),
        "GA": (323.84, 68.53), "DE": (159.11, 89.75), "Bio IK": (0.94, 100.0), "Bio IK, 10 ms": (0.91, 99.38),
    },
    "m10ia": {
        "Jacobian transpose": (6.92, 45.78), "Jacobian DLS": (1.34, 55.83), "L-BFGS-B": (0.35, 49.66),
        "GA": (416.81, 42.67), "DE": (203.64, 76.91), "Bio IK": (1.26, 100.0), "Bio IK, 10 ms": (1.07, 98.96),
    },
}  # fmt: skip


def run(
    folder: Path,
    *,
    quick: bool = False,
    count: int | None = None,
    arms: Sequence[str] = tuple(_TABLE),
    columns: Sequence[Column] = COLUMNS,
) -> Report:
    """Measure, print, save and plot."""
    count = count or (100 if quick else 10_000)
    report = Report(
        "serial",
        f"{count} targets an arm, for slow methods fewer, as the rows say: poses of postures drawn uniformly within the "
        f"limits; starts drawn the same way, apart from the targets. {TASK.position:g} m and {TASK.orientation:g} rad, "
        f"{TASK.seconds:g} s a solve. All methods in one process, by turns, with the same targets and starts. One try: the "
        "method from the given start alone, which is what the table has for the Jacobian methods and L-BFGS-B (there a "
        "try that leaves the limits ends; here the limits hold at every step). Solved: forward kinematics finds the "
        f"answer within tolerance and limits. Within {SHORT * 1e3:g} ms: what was solved by then, and the mean time with "
        "longer ones cut off there; a search knows nothing of its limit until it ends. Times as a Python user sees them, "
        "setting the target included, over all solves, and over those that were solved. Published: Table 5.2, in C# on a "
        "notebook with 2.6 GHz; its means of GA and DE are below what its misses alone would take at 1 s each, so they can "
        "only be those of the solved, and are compared with these; all others with the mean over all solves.",
    )
    for arm in arms:
        report.rows += _measure(arm, count, columns)
    report.remarks += verdict(report.rows)
    return report.publish(folder, lambda: _plot(report))


def _measure(label: str, count: int, columns: Sequence[Column]) -> list[Row]:
    arm = next(arm for arm in ARMS if arm.label == label)
    body, pose = arm.body(), pose_of(arm.tip, TASK)
    problem, budget = mk.Problem(body, pose), mk.Budget(evaluations=UNLIMITED, seconds=TASK.seconds)
    tallies = race(
        [ask(problem, column.solver(), budget) for column in columns], draw_many(body, [pose], count), label,
        judge=right(body, [pose], TASK), slow=[column.slow for column in columns], turn=-(-count // TURNS),
    )  # fmt: skip
    return [_row(label, body, column, tally) for column, tally in zip(columns, tallies, strict=True)]


def _row(label: str, body: mk.Body, column: Column, tally: Tally) -> Row:
    seconds, right = np.array(tally.seconds), np.array(tally.verdicts)
    figures = _TABLE[label]
    short = figures.get(f"{column.published}, 10 ms")
    milliseconds, share = figures[column.published]
    return {
        "arm": label,
        "joints": body.dof,
        "method": column.name,
        "queries": len(right),
        **tally.solved(),
        "mean [ms]": 1e3 * float(seconds.mean()),
        "mean of solved [ms]": 1e3 * float(seconds[right].mean()) if right.any() else float("nan"),
        "published": column.published,
        "published solved [%]": share,
        "published mean [ms]": milliseconds,
        "solved in 10 ms [%]": 100.0 * float(np.mean(right & (seconds <= SHORT))),
        "mean to 10 ms [ms]": 1e3 * float(np.minimum(seconds, SHORT).mean()),
        "published solved in 10 ms [%]": short[1] if short else "",
        "published mean to 10 ms [ms]": short[0] if short else "",
    }


def verdict(rows: Sequence[Row]) -> list[str]:
    """For each method, on how many arms it is at least as good as published, and where it is not."""
    remarks = []
    for method in distinct(rows, "method"):
        mine = select(rows, method=method)
        fewer = [row["arm"] for row in mine if fewer_than_published(row)]
        times = [row["published mean [ms]"] / row[_comparable(row)] for row in mine]
        slower = [row["arm"] for row, ratio in zip(mine, times, strict=True) if not ratio >= 1.0]
        remarks.append(
            f"{method}: solves no fewer than published on {len(mine) - len(fewer)} of {len(mine)} arms"
            f"{_but(fewer)}, faster on {len(mine) - len(slower)}{_but(slower)}; published time / ours "
            f"{min(times):.3g} to {max(times):.3g}."
        )
    return remarks


def _comparable(row: Row) -> str:
    """The column that the published time is comparable with."""
    return "mean of solved [ms]" if row["published"] in ("GA", "DE") else "mean [ms]"


def _but(arms: Sequence[str]) -> str:
    return f" (not {', '.join(arms)})" if arms else ""


def _plot(report: Report) -> Any:
    families = list(dict.fromkeys(name.split(",")[0] for name in column(report.rows, "method")))
    arms = distinct(report.rows, "arm")
    figure, grid = subplots(2, -(-len(arms) // 2), figsize=(9.5, 6.5), sharex=True, sharey=True, squeeze=False)
    for axes, arm in zip(grid.flat, arms, strict=False):
        for row in select(report.rows, arm=arm):
            color = f"C{families.index(row['method'].split(',')[0])}"
            face = "none" if "one try" in row["method"] else color
            axes.plot(
                [row["published mean [ms]"], row["mean [ms]"]], [row["published solved [%]"], row["solved [%]"]],
                "-", color=color, lw=0.7, alpha=0.6,
            )  # fmt: skip
            axes.plot(row["published mean [ms]"], row["published solved [%]"], "x", color=color, ms=5)
            axes.plot(
                row["mean [ms]"], row["solved [%]"], "o", color=color, markerfacecolor=face, ms=5, label=row["method"]
            )
        axes.set_title(arm, fontsize=9)
        axes.set(xscale="log", ylim=(0.0, 104.0))
    label_edges(grid, "mean time of a solve [ms]", "solved within 1 s [%]")
    grid.flat[0].plot([], [], "x", color="black", label="published")
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, ncols=6, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure

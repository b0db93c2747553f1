"""Table 5.4 of the thesis with its own algorithm: Bio IK on Valkyrie, root mean square against mean of the losses."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from memetik.bench.harness import Report, progress, pyplot, solved, wilson
from memetik.bench.thesis.valkyrie import (
    BUDGET,
    ORIENTATION,
    POSITION,
    SETUPS,
    Query,
    Setup,
    body_of,
    draw,
    objectives_of,
    right,
)
from memetik.problem import Problem
from memetik.solvers.bio_ik import BioIK

TURN = 20  # queries that one loss solves in a row before the other gets the same ones
LABELS = {"rmse": "root mean square", "mean": "mean"}


class Published(NamedTuple):
    """What Table 5.4 says of a set-up: the parameters, and the mean time [ms] and share solved [%] of each loss."""

    individuals: int
    elites: int
    mean: tuple[float, float]
    rmse: tuple[float, float]


PUBLISHED = (
    Published(90, 2, (1.79, 90.23), (0.87, 99.96)),
    Published(75, 2, (1.48, 93.36), (0.63, 99.98)),
    Published(100, 3, (5.97, 24.72), (2.07, 98.31)),
    Published(110, 3, (5.31, 18.11), (2.23, 98.82)),
    Published(130, 3, (6.53, 7.94), (2.67, 97.98)),
    Published(150, 3, (6.22, 11.61), (3.24, 97.69)),
    Published(160, 4, (8.43, 1.27), (5.64, 95.29)),
    Published(180, 4, (9.13, 0.48), (6.22, 94.56)),
)


def run(folder: Path, *, quick: bool = False, count: int | None = None, setups: Sequence[Setup] = SETUPS) -> Report:
    """Measure, print, save and plot."""
    count = count or (40 if quick else 2_000)
    report = Report(
        "losses",
        f"Bio IK with the individuals and elites of Table 5.4. {count} targets a set-up, from postures drawn uniformly within "
        f"the limits; starts drawn the same way, apart from the targets. {POSITION:g} m and {ORIENTATION:g} rad, "
        f"{BUDGET.seconds * 1e3:g} ms a solve. Both losses take turns of {TURN} with the same targets and starts. Solved: "
        "forward kinematics finds every objective within tolerance and every joint within its limits. Times as a Python user "
        "sees them, setting the targets included, over all solves. Published: the same table, in C# with threads on its "
        "author's notebook; its objectives count a pose twice.",
    )
    for setup in setups:
        report.rows += _measure(setup, PUBLISHED[SETUPS.index(setup)], count)
    report.remarks += verdict(report.rows)
    return report.publish(folder, lambda: _plot(report))


def _measure(setup: Setup, published: Published, count: int) -> list[dict[str, Any]]:
    body, objectives = body_of(setup), objectives_of(setup)
    problem = Problem(body, objectives)
    solvers = [BioIK(population=published.individuals, elites=published.elites, loss=loss) for loss in LABELS]
    rng = np.random.default_rng(1)
    queries = [draw(body, objectives, rng) for _ in range(count)]
    for solver in solvers:
        solver.solve(problem)  # compiles
    seconds: list[list[float]] = [[] for _ in solvers]
    hits = [0] * len(solvers)
    turns = [(begin, k) for begin in range(0, count, TURN) for k in range(len(solvers))]
    for begin, k in progress(turns, len(turns), setup.label):
        for query in queries[begin : begin + TURN]:
            started = time.perf_counter()
            _aim(objectives, query)
            solution = solvers[k].solve(problem, query[1], BUDGET)
            seconds[k].append(time.perf_counter() - started)
            hits[k] += right(body, objectives, query, solution.q)
    return [
        {
            "objectives": setup.label,
            "DoF": len(problem.compiled.active),
            "individuals": published.individuals,
            "elites": published.elites,
            "loss": label,
            "queries": count,
            **solved(hits[k], count),
            "mean [ms]": 1e3 * float(np.mean(seconds[k])),
            "median [ms]": 1e3 * float(np.median(seconds[k])),
            "published solved [%]": getattr(published, loss)[1],
            "published mean [ms]": getattr(published, loss)[0],
        }
        for k, (loss, label) in enumerate(LABELS.items())
    ]


def _aim(objectives: Sequence[Any], query: Query) -> None:
    for objective, target in zip(objectives, query[0], strict=True):
        objective.target = target


def verdict(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Where the root mean square is behind its published figures, and what the mean costs."""
    squares = [row for row in rows if row["loss"] == LABELS["rmse"]]
    means = [row for row in rows if row["loss"] == LABELS["mean"]]
    fewer = [row["objectives"] for row in squares if _upper(row) < row["published solved [%]"]]
    slower = [row["objectives"] for row in squares if row["mean [ms]"] > row["published mean [ms]"]]
    longer = [b["mean [ms]"] / a["mean [ms]"] for a, b in zip(squares, means, strict=True)]
    lost = [a["solved [%]"] - b["solved [%]"] for a, b in zip(squares, means, strict=True)]
    return [
        f"Root mean square: fewer solved than published in {_listed(fewer)}, slower than published in {_listed(slower)}.",
        f"The mean takes {min(longer):.2g} to {max(longer):.2g} times as long and solves {min(lost):.2g} to {max(lost):.2g} "
        "percentage points fewer.",
    ]


def _upper(row: dict[str, Any]) -> float:
    """The upper end of the interval of the share solved [%]."""
    return 100.0 * wilson(round(row["solved [%]"] * row["queries"] / 100.0), row["queries"])[1]


def _listed(labels: Sequence[str]) -> str:
    return ", ".join(repr(label) for label in labels) if labels else "none"


def _plot(report: Report) -> Any:
    plt = pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharey=True)
    setups = list(dict.fromkeys(row["objectives"] for row in report.rows))
    places = np.arange(len(setups), dtype=np.float64)
    bars = [(loss, published) for loss in LABELS.values() for published in (True, False)]
    for k, (loss, published) in enumerate(bars):
        rows = [row for row in report.rows if row["loss"] == loss]
        at, color = places + 0.2 * (k - 1.5), f"C{0 if loss == LABELS['rmse'] else 1}"
        for axis, column in zip(axes, ("solved [%]", "mean [ms]"), strict=True):
            values = [row[f"published {column}" if published else column] for row in rows]
            label = f"{loss}, {'published' if published else 'memetik'}"
            axis.barh(at, values, 0.18, color=color, alpha=0.4 if published else 1.0, label=label)
    axes[0].set_yticks(places, setups)
    axes[0].invert_yaxis()
    axes[0].set(xlabel="solved within 10 ms [%]", xlim=(0.0, 100.0))
    axes[1].set(xlabel="mean time of a solve [ms]")
    figure.legend(
        *axes[0].get_legend_handles_labels(), fontsize=8, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0)
    )
    figure.tight_layout()
    return figure

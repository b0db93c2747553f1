"""Table 5.4 of the thesis with its own algorithm: Bio IK on Valkyrie, root mean square against mean of the losses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik_lab.contest import race
from memetik_lab.harness import Report, Row, bars, column, distinct, fewer_than_published, select, subplots
from memetik_lab.judge import right
from memetik_lab.queries import ask, draw_many
from memetik_lab.thesis.valkyrie import SETUPS, TASK, Setup, body_of, objectives_of

BUDGET = mk.Budget(
    evaluations=10_000_000, seconds=TASK.seconds
)  # time ends a solve: differences for a gradient are evaluations, too
TURN = 20  # queries that one loss solves in a row before the other gets the same ones
LABELS = {"rmse": "root mean square", "mean": "mean"}
DEFAULT, AS_PUBLISHED = "default", "as published"


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
        f"the limits; starts drawn the same way, apart from the targets. {TASK.position:g} m and {TASK.orientation:g} rad, "
        f"{BUDGET.seconds * 1e3:g} ms a solve. Variant: the default, and mk.solvers.BioIK.as_published. "
        f"All take turns of {TURN} with the same targets and starts. Solved: "
        "forward kinematics finds every objective within tolerance and every joint within its limits. Times as a Python user "
        "sees them, setting the targets included, over all solves. Published: the same table, in C# with threads on its "
        "author's notebook; its objectives count a pose twice.",
    )
    for setup in setups:
        report.rows += _measure(setup, PUBLISHED[SETUPS.index(setup)], count)
    report.remarks += verdict(report.rows)
    return report.publish(folder, lambda: _plot(report))


def _measure(setup: Setup, published: Published, count: int) -> list[Row]:
    body, objectives = body_of(setup), objectives_of(setup)
    problem = mk.Problem(body, objectives)
    sizes: dict[str, Any] = {"population": published.individuals, "elites": published.elites}
    variants = [(variant, loss) for variant in (DEFAULT, AS_PUBLISHED) for loss in LABELS]
    solvers = [
        mk.solvers.BioIK(loss=loss, **sizes)
        if variant == DEFAULT
        else mk.solvers.BioIK.as_published(problem, loss=loss, **sizes)
        for variant, loss in variants
    ]
    tallies = race(
        [ask(problem, solver, BUDGET) for solver in solvers], draw_many(body, objectives, count), setup.label,
        turn=TURN, judge=right(body, objectives, TASK),
    )  # fmt: skip
    return [
        {
            "objectives": setup.label,
            "DoF": len(problem.compiled.active),
            "individuals": published.individuals,
            "elites": published.elites,
            "variant": variant,
            "loss": LABELS[loss],
            "queries": count,
            **tally.solved(),
            "mean [ms]": tally.milliseconds(),
            "median [ms]": 1e3 * float(np.median(tally.seconds)),
            "published solved [%]": getattr(published, loss)[1],
            "published mean [ms]": getattr(published, loss)[0],
        }
        for (variant, loss), tally in zip(variants, tallies, strict=True)
    ]


def verdict(rows: Sequence[Row]) -> list[str]:
    """Where the root mean square is behind its published figures, and what the mean costs."""
    squares, means = (select(rows, variant=DEFAULT, loss=label) for label in LABELS.values())
    theirs = select(rows, variant=AS_PUBLISHED, loss=LABELS["rmse"])
    costs = [b["mean [ms]"] / a["mean [ms]"] for a, b in zip(squares, theirs, strict=True)]
    less = [a["solved [%]"] - b["solved [%]"] for a, b in zip(squares, theirs, strict=True)]
    fewer = [row["objectives"] for row in squares if fewer_than_published(row)]
    slower = [row["objectives"] for row in squares if row["mean [ms]"] > row["published mean [ms]"]]
    longer = [b["mean [ms]"] / a["mean [ms]"] for a, b in zip(squares, means, strict=True)]
    lost = [a["solved [%]"] - b["solved [%]"] for a, b in zip(squares, means, strict=True)]
    return [
        f"Root mean square: fewer solved than published in {_listed(fewer)}, slower than published in {_listed(slower)}.",
        f"The mean takes {min(longer):.2g} to {max(longer):.2g} times as long and solves {min(lost):.2g} to {max(lost):.2g} "
        "percentage points fewer.",
        f"As published, with the root mean square: {min(costs):.2g} to {max(costs):.2g} times as long as the default, "
        f"{min(less):.2g} to {max(less):.2g} percentage points fewer.",
    ]


def _listed(labels: Sequence[str]) -> str:
    return ", ".join(repr(label) for label in labels) if labels else "none"


def _plot(report: Report) -> Any:
    figure, axes = subplots(1, 2, figsize=(10, 4.6), sharey=True)
    setups = distinct(report.rows, "objectives")
    for axis, key in zip(axes, ("solved [%]", "mean [ms]"), strict=True):
        groups = {}
        for loss in LABELS.values():
            rows = select(report.rows, variant=DEFAULT, loss=loss)
            groups[f"{loss}, published"] = column(rows, f"published {key}")
            groups[f"{loss}, memetik"] = column(rows, key)
        bars(axis, setups, groups, 0.2, color=["C0", "C0", "C1", "C1"], alpha=[0.4, 1.0, 0.4, 1.0])
    axes[0].set(xlabel="solved within 10 ms [%]", xlim=(0.0, 100.0))
    axes[1].set(xlabel="mean time of a solve [ms]")
    figure.legend(
        *axes[0].get_legend_handles_labels(), fontsize=8, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0)
    )
    return figure

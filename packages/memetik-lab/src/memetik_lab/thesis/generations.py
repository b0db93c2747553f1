"""What elites cost on one thread and on two: Fig. 5.4 (right) of the thesis. Its left half is the experiment `cost`.

The figure says that, with a thread for each elite, the cost of more elites nearly vanishes. There, though, exploitation lasts as
long as breeding does; here an elite is exploited until it gains nothing, so a generation is as long as its slowest elite.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import memetik as mk
from memetik_lab.contest import race
from memetik_lab.harness import Report, Row, column, subplots
from memetik_lab.queries import ask, draw_many
from memetik_lab.thesis.valkyrie import SETUPS, body_of, objectives_of

ELITES = (1, 2, 3, 4, 5, 6)
QUICK_ELITES = (1, 4)
POPULATION = 75  # as published
BUDGET = mk.Budget(evaluations=10_000)


def run(folder: Path, *, quick: bool = False, count: int | None = None, elites: Sequence[int] | None = None) -> Report:
    """Measure, print, save and plot."""
    count = count or (20 if quick else 1000)
    elites = elites or (QUICK_ELITES if quick else ELITES)
    cores = os.cpu_count() or 1
    threads = max(2, min(cores, max(elites)))
    report = Report(
        "generations",
        f"Wrists, feet and gaze of Valkyrie, {POPULATION} individuals. {count} targets from postures drawn uniformly within the "
        f"limits, starts drawn the same way, {BUDGET.evaluations} evaluations a solve. One thread and {threads} of "
        f"{cores} cores take turns query by query, and answer the same bit for bit. Wall clock time for a generation, that "
        "of all queries together over all their generations; and the median over queries of one time over the other.",
    )
    report.rows += [_measure(number, threads, count) for number in elites]
    report.remarks += verdict(report.rows)
    return report.publish(folder, lambda: _plot(report))


def _measure(elites: int, threads: int, count: int) -> Row:
    body, objectives = body_of(SETUPS[-1]), objectives_of(SETUPS[-1])
    problem = mk.Problem(body, objectives)
    solvers = [mk.solvers.BioIK(population=POPULATION, elites=elites, threads=n) for n in (1, threads)]
    ways = [ask(problem, solver, BUDGET) for solver in solvers]
    one, more = race(ways, draw_many(body, objectives, count), f"{elites} elites", turn=1)
    if any(a.q.tobytes() != b.q.tobytes() for a, b in zip(one.answers, more.answers, strict=True)):
        raise AssertionError("threads changed the answer")
    seconds, generations = np.array([one.seconds, more.seconds]).T, np.maximum(one.each("attempts"), 1)
    alone, together = 1e3 * seconds.sum(axis=0) / generations.sum()
    return {
        "elites": elites,
        "threads": min(threads, elites),
        "DoF": len(problem.compiled.active),
        "generations": float(generations.mean()),
        "one thread [ms]": alone,
        "threads [ms]": together,
        "faster": alone / together,
        "faster, median": float(np.median(seconds[:, 0] / seconds[:, 1])),
    }


def verdict(rows: Sequence[Row]) -> list[str]:
    """What threads gain, and where they lose."""
    best = max(rows, key=lambda row: row["faster"])
    remarks = [f"Threads gain most with {best['elites']} elites: a generation is {best['faster']:.3g} times faster."]
    slower = [str(row["elites"]) for row in rows if row["faster"] < 0.97]
    if slower:
        remarks.append(
            f"Slower by more than 3 % with threads: {', '.join(slower)} elites. Other work on the cores shows here."
        )
    return remarks


def _plot(report: Report) -> Any:
    figure, plot = subplots(figsize=(7, 4))
    elites = column(report.rows, "elites")
    for key, label in (("one thread [ms]", "one thread"), ("threads [ms]", f"{report.rows[-1]['threads']} threads")):
        plot.plot(elites, column(report.rows, key), "o-", label=label)
    plot.set(xlabel="elites", ylabel="a generation [ms]", ylim=(0.0, None), xticks=elites)
    plot.legend()
    return figure

"""What elites cost on one thread and on two: Fig. 5.4 (right) of the thesis. Its left half is the experiment `cost`.

The figure says that, with a thread for each elite, the cost of more elites nearly vanishes. There, though, exploitation lasts as
long as breeding does; here an elite is exploited until it gains nothing, so a generation is as long as its slowest elite.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memetik.bench.harness import Report, progress, pyplot
from memetik.bench.thesis.valkyrie import SETUPS, body_of, draw, objectives_of
from memetik.problem import Problem
from memetik.solvers import Budget
from memetik.solvers.bio_ik import BioIK

ELITES = (1, 2, 3, 4, 5, 6)
QUICK_ELITES = (1, 4)
POPULATION = 75  # as published
BUDGET = Budget(evaluations=10_000)


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
    for number in elites:
        report.rows.append(_measure(number, threads, count))
    report.remarks += verdict(report.rows)
    return report.publish(folder, lambda: _plot(report))


def _measure(elites: int, threads: int, count: int) -> dict[str, Any]:
    body, objectives = body_of(SETUPS[-1]), objectives_of(SETUPS[-1])
    problem = Problem(body, objectives)
    solvers = [BioIK(population=POPULATION, elites=elites, threads=n) for n in (1, threads)]
    for solver in solvers:
        solver.solve(problem, budget=BUDGET)  # compiles
    rng = np.random.default_rng(1)
    seconds, generations = np.zeros((count, 2)), np.zeros(count)
    for k in progress(range(count), count, f"{elites} elites"):
        targets, start = draw(body, objectives, rng)
        for objective, target in zip(objectives, targets, strict=True):
            objective.target = target
        answers = {}
        for way in (0, 1) if k % 2 else (1, 0):
            begin = time.perf_counter()
            answers[way] = solvers[way].solve(problem, start, BUDGET)
            seconds[k, way] = time.perf_counter() - begin
        generations[k] = max(answers[0].attempts, 1)
        if answers[0].q.tobytes() != answers[1].q.tobytes():
            raise AssertionError("threads changed the answer")
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


def verdict(rows: Sequence[dict[str, Any]]) -> list[str]:
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
    plt = pyplot()
    figure, plot = plt.subplots(figsize=(7, 4))
    elites = [row["elites"] for row in report.rows]
    for key, label in (("one thread [ms]", "one thread"), ("threads [ms]", f"{report.rows[-1]['threads']} threads")):
        plot.plot(elites, [row[key] for row in report.rows], "o-", label=label)
    plot.set(xlabel="elites", ylabel="a generation [ms]", ylim=(0.0, None), xticks=elites)
    plot.legend()
    figure.tight_layout()
    return figure

"""How many individuals and elites: Fig. 5.1 and 5.2 of the thesis, the efficiency of Bio IK over both, by joints."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik.problem import fitness
from memetik_lab.contest import race
from memetik_lab.harness import UNLIMITED, Report, Row, column, distinct, select, solved, subplots
from memetik_lab.judge import right
from memetik_lab.queries import Task, draw_many, pose_of, search

TASK = Task(position=1e-4, orientation=1e-3, seconds=0.01)
FIGURE = 15  # joints of the chain of Fig. 5.1
NEAR = 0.8  # of the best efficiency: a choice that does similarly well


class Grid(NamedTuple):
    """What is tried."""

    joints: tuple[int, ...]
    individuals: tuple[int, ...]
    elites: tuple[int, ...]


FULL = Grid((6, 10, FIGURE, 20, 30), (10, 25, 50, 75, 100, 150, 200), (1, 2, 3, 4, 5, 8))
QUICK = Grid((6, FIGURE), (10, 50, 150), (1, 2, 5))


def run(folder: Path, *, quick: bool = False, count: int | None = None, grid: Grid | None = None) -> Report:
    """Measure, print, save and plot."""
    count = count or (25 if quick else 300)
    grid = grid or (QUICK if quick else FULL)
    report = Report(
        "population",
        f"Chains of one metre, axes y and z by turns, limits ±90 degrees. {count} targets a chain, the same for every choice: "
        "poses of postures drawn uniformly within the limits; starts drawn the same way, apart from the targets. "
        f"{TASK.position:g} m and {TASK.orientation:g} rad, {TASK.seconds * 1e3:g} ms a solve. Solved: forward kinematics "
        "finds the answer within tolerance and limits. Efficiency: eq. 5.1, the mean of 1 / (fitness * seconds), over the "
        "largest of the chain. A search stops as soon as it is within tolerance, so how far within is chance and a few lucky "
        "answers carry this mean; time to solve is without it: the processor time of all solves over the number solved, over "
        "the least of the chain.",
    )
    for joints in grid.joints:
        report.rows += _measure(joints, grid, count)
    report.remarks += verdict(report.rows)
    return report.publish(folder, lambda: _plot(report, grid))


def _measure(joints: int, grid: Grid, count: int) -> list[Row]:
    body, pose = mk.build.snake(joints), pose_of("tip", TASK)
    problem, judge = mk.Problem(body, pose), right(body, [pose], TASK)
    budget = mk.Budget(evaluations=UNLIMITED, seconds=TASK.seconds)
    cells = [(psi, kappa) for psi in grid.individuals for kappa in grid.elites if kappa < psi]
    tallies = race(  # all choices by turns, so that the machine treats them alike
        [search(problem, mk.solvers.BioIK(population=psi, elites=kappa), budget) for psi, kappa in cells],
        draw_many(body, [pose], count), f"{joints} joints", turn=1, clock=time.process_time, aimed=problem,
        judge=lambda solution, query: (fitness(problem, solution.q)[0], judge(solution, query)),
    )  # fmt: skip
    seconds = np.array([tally.seconds for tally in tallies])
    losses, hits = np.array([tally.verdicts for tally in tallies]).transpose(2, 0, 1)
    products, hits = seconds * losses, hits.sum(axis=1)
    efficiency = (1.0 / products).mean(axis=1)
    cost = seconds.sum(axis=1) / np.maximum(hits, 1)
    return [
        {
            "joints": joints,
            "individuals": psi,
            "elites": kappa,
            **solved(int(hits[k]), count),
            "mean [ms]": 1e3 * float(seconds[k].mean()),
            "efficiency": float(efficiency[k] / efficiency.max()),
            "time to solve": float(cost[k] / cost.min()),
        }
        for k, (psi, kappa) in enumerate(cells)
    ]


def verdict(rows: Sequence[Row]) -> list[str]:
    """The best choice for each chain, and how many others are about as good."""
    remarks = []
    for joints in distinct(rows, "joints"):
        mine = select(rows, joints=joints)
        best = min(mine, key=lambda row: float(row["time to solve"]))
        near = [row for row in mine if row["time to solve"] <= 1.0 / NEAR]
        lone = column(select(mine, elites=1), "time to solve")
        alone = f"; with one elite {min(lone):.3g} to {max(lone):.3g} times the least" if lone else ""
        remarks.append(
            f"{joints} joints: least time to solve with {best['individuals']} individuals and {best['elites']} elites; "
            f"{len(near)} of {len(mine)} choices are within {100 / NEAR - 100:.0f} % of it{alone}."
        )
    remarks.append(
        "Published (Fig. 5.1, 5.2, without numbers): a wide range does similarly well; at least two elites; 50 to 150 "
        "individuals and 2 to 5 elites; more individuals matter more with few joints."
    )
    return remarks


def _plot(report: Report, grid: Grid) -> Any:
    figure, panels = subplots(
        2, len(grid.joints), figsize=(2.2 * len(grid.joints) + 1.0, 6.0), sharex=True, sharey=True, squeeze=False,
        layout="constrained",
    )  # fmt: skip
    measures = (("efficiency", "efficiency, eq. 5.1"), ("time to solve", "least time to solve / time"))
    for line, (key, label) in zip(panels, measures, strict=True):
        for axes, joints in zip(line, grid.joints, strict=True):
            table = np.full((len(grid.individuals), len(grid.elites)), np.nan)
            for row in select(report.rows, joints=joints):
                at = grid.individuals.index(row["individuals"]), grid.elites.index(row["elites"])
                table[at] = row[key] if key == "efficiency" else 1.0 / row[key]
            image = axes.imshow(table, origin="lower", aspect="auto", vmin=0.0, vmax=1.0, cmap="viridis")
            axes.grid(visible=False)
            axes.set_xticks(range(len(grid.elites)), map(str, grid.elites))
            axes.set_yticks(range(len(grid.individuals)), map(str, grid.individuals))
        line[0].set_ylabel("individuals")
        figure.colorbar(image, ax=line, label=label)
    for axes, joints in zip(panels[0], grid.joints, strict=True):
        axes.set_title(f"{joints} joints", fontsize=10)
    for axes in panels[-1]:
        axes.set_xlabel("elites")
    return figure

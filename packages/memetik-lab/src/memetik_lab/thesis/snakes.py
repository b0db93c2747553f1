"""Hyper-redundant chains: Fig. 5.7 of the thesis up to 120 joints, and on to a thousand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import memetik as mk
from memetik.types import Array
from memetik_lab.contest import contest
from memetik_lab.harness import BLOCK, Report, Row, column, subplots
from memetik_lab.queries import Memetik, Task

JOINTS = (*range(10, 121, 10), 250, 500, 1000)
QUICK_JOINTS = (10, 30, 60, 120, 250)
TASK = Task(position=1e-4, orientation=1e-3, seconds=1.0)
FIGURE_ENDS = 120  # where Fig. 5.7 ends


def run(folder: Path, *, quick: bool = False, count: int | None = None, joints: Sequence[int] | None = None) -> Report:
    """Measure, print, save and plot."""
    count = count or (100 if quick else 1_000)
    joints = joints or (QUICK_JOINTS if quick else JOINTS)
    report = Report(
        "snakes",
        f"Chains of one metre, axes y and z by turns, limits ±90 degrees. {count} targets a chain, beyond "
        f"{FIGURE_ENDS} joints fewer in proportion: the full pose of the tip in a posture drawn uniformly; starts "
        f"drawn the same way. {TASK.position:g} m and {TASK.orientation:g} rad, {TASK.seconds:g} s a solve. Solved: "
        "forward kinematics finds the answer within tolerance and limits. Wrong: an answer was given and is not. "
        f"Late: took longer than allowed. Times as a Python user sees them, over all solves, in blocks of {BLOCK}; "
        "cold: the first of each block.",
    )
    report.rows += [_measure(number, max(1, min(count, count * FIGURE_ENDS // number))) for number in joints]
    for ends in (FIGURE_ENDS, max(joints)):
        if growth := _growth(report, ends):
            law = f"{growth[1]:.3g} us * joints^{growth[0]:.2f}"
            report.remarks.append(f"Up to {ends} joints, least squares on the logarithms: median = {law}.")
    report.remarks.append("Published (Fig. 5.7): slightly sublinear up to 120 joints; the figure gives no numbers.")
    return report.publish(folder, lambda: _plot(report))


def _measure(joints: int, count: int) -> Row:
    body = mk.build.snake(joints)
    tally = contest(body, "tip", TASK, [Memetik(body, "tip", TASK)], count, f"{joints} joints")[0]
    return {"joints": joints, "targets": count, **tally.columns(TASK)}


def _growth(report: Report, ends: int) -> tuple[float, float] | None:
    """Exponent and factor [us] of the power law through the medians up to `ends` joints."""
    rows = [row for row in report.rows if row["joints"] <= ends]
    if len(rows) < 2:
        return None
    logs: Array = np.log([[row["joints"], row["median [us]"]] for row in rows])
    exponent, intercept = np.polyfit(logs[:, 0], logs[:, 1], 1)
    return float(exponent), float(np.exp(intercept))


def _plot(report: Report) -> Any:
    figure, axes = subplots(figsize=(7, 4.2))
    joints = np.array(column(report.rows, "joints"), dtype=np.float64)
    for key, style in (("p99 [us]", ":"), ("mean [us]", "--"), ("median [us]", "-")):
        axes.plot(joints, column(report.rows, key), style, marker="o", ms=3, color="C0", label=key[:-5])
    first = report.rows[0]["median [us]"]
    axes.plot(joints, first * joints / joints[0], color="C1", lw=0.8, label="linear growth from the first")
    axes.axvspan(joints[0], FIGURE_ENDS, color="C2", alpha=0.08, label="range of Fig. 5.7")
    axes.set(xscale="log", yscale="log", xlabel="joints of the chain", ylabel="time of a solve [µs]")
    axes.legend(fontsize=8)
    return figure

"""One pose, one arm, from anywhere: Table 5.3 of the thesis, on more arms and beside other solvers of today."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from memetik.bench.contest import contest
from memetik.bench.harness import BLOCK, Report, pyplot, save_figure
from memetik.bench.own import Memetik
from memetik.bench.peers import PEERS, Peers, Task, find, serial_chain
from memetik.read.load import load

TASK = Task(position=1e-5, orientation=1e-5, seconds=0.005)


class Arm(NamedTuple):
    """A chain of a bundled body, and what Table 5.3 says of Bio IK on it, if it does: mean time, share solved."""

    label: str
    body: str
    base: str
    tip: str
    published: str = ""


ARMS = (
    Arm("ur5", "ur5", "base_link", "tool0", "0.50 ms (99.93 %)"),
    Arm("panda", "panda", "panda_link0", "panda_link8"),
    Arm("iiwa14", "iiwa14", "base_link", "tool0", "0.47 ms (99.93 %)"),
    Arm("kr120", "kr120", "base_link", "tool0"),
    Arm("m10ia", "m10ia", "base_link", "tool0"),
    Arm("pr2 right arm", "pr2", "torso_lift_link", "r_wrist_roll_link", "0.45 ms (100 %)"),
    Arm("baxter left arm", "baxter", "torso", "left_gripper"),
    Arm("valkyrie arm", "valkyrie", "torso", "rightPalm", "0.51 ms (99.93 %)"),
    Arm("valkyrie leg", "valkyrie", "pelvis", "rightFoot", "0.28 ms (100 %)"),
)


def run(folder: Path, *, quick: bool = False, count: int | None = None, peers: Sequence[str] = tuple(PEERS)) -> Report:
    """Measure, print, save and plot."""
    count = count or (500 if quick else 10_000)
    found = find(peers)
    report = Report(
        "arms",
        f"{count} targets an arm: poses of postures drawn uniformly within the limits; starts drawn the same way, "
        f"apart from the targets. {TASK.position:g} m and {TASK.orientation:g} rad, {TASK.seconds * 1e3:g} ms a "
        f"solve. All solvers in one process take turns of {BLOCK} solves in changing order, with the same targets "
        "and starts. Solved: one forward kinematics, the same for all, finds the answer within tolerance and "
        "limits. Wrong: an answer was given and is not. Late: took longer than allowed. Times as a Python user sees "
        "them, setting the target included, over all solves. Cold: mean of the first solves of the turns, when the "
        "others have emptied the caches. Published: Bio IK in Table 5.3, a C++ plugin on its author's machine.",
        remarks=[*found.remarks],
    )
    if "roboticstoolbox" in found.adapters:
        report.remarks.append("roboticstoolbox cannot be given a time limit; it has its default number of searches.")
    for arm in ARMS:
        report.rows.extend(_measure(arm, found, count, report.remarks))
    print(report)
    report.save(folder)
    print("saved", *save_figure(_plot(report), folder, "arms"))
    return report


def _measure(arm: Arm, found: Peers, count: int, remarks: list[str]) -> list[dict[str, Any]]:
    body = load(arm.body).chain(arm.base, arm.tip)
    solvers = [Memetik(body, arm.tip, TASK), *found.build(serial_chain(body), TASK)]
    tallies = contest(body, arm.tip, TASK, solvers, count, arm.label)
    if missed := tallies[0].missed:
        patient = Memetik(body, arm.tip, TASK._replace(seconds=math.inf))
        solved = sum(patient.solve(target, start) is not None for target, start in missed)
        remarks.append(f"{arm.label}: memetik missed {len(missed)}; without a time limit it solves {solved} of them.")
    own = sum(tallies[0].seconds)
    return [
        {
            "arm": arm.label,
            "joints": body.dof,
            "solver": tally.solver.name,
            **tally.columns(TASK),
            "mean / memetik": sum(tally.seconds) / own,
            "published": arm.published if tally is tallies[0] else "",
        }
        for tally in tallies
    ]


def _plot(report: Report) -> Any:
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(9, 8))
    solvers = list(dict.fromkeys(row["solver"] for row in report.rows))
    arms = list(dict.fromkeys(row["arm"] for row in report.rows))
    height = 0.8 / len(solvers)
    for k, solver in enumerate(solvers):
        rows = [row for row in report.rows if row["solver"] == solver]
        places = np.array([arms.index(row["arm"]) for row in rows]) + height * (k - 0.5 * (len(solvers) - 1))
        axes.barh(places, [row["mean [us]"] for row in rows], height, label=solver)
        for place, row in zip(places, rows, strict=True):
            axes.text(row["mean [us]"], place, f" {row['solved [%]']:.2f} %", va="center", fontsize=6)
    axes.set_yticks(np.arange(len(arms)), arms)
    axes.invert_yaxis()
    axes.set(xscale="log", xlabel="mean time of a solve [µs]; beside the bars: solved within 5 ms, 1e-5 m and 1e-5 rad")
    axes.legend(fontsize=8, ncols=len(solvers), loc="lower center", bbox_to_anchor=(0.5, 1.0))
    figure.tight_layout()
    return figure

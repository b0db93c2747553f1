"""One pose, one arm, from anywhere: Table 5.3 of the thesis, on more arms and beside other solvers of today."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik_lab.contest import contest
from memetik_lab.harness import BLOCK, Report, Row, distinct, label_edges, select, subplots
from memetik_lab.peers import LOCAL, PEERS, Peers, find, serial_chain
from memetik_lab.queries import Bound, Memetik, Task

TASK = Task(position=1e-5, orientation=1e-5, seconds=0.005)


class Arm(NamedTuple):
    """A chain of a bundled body, and what Table 5.3 says of Bio IK on it, if it does: mean time, share solved."""

    label: str
    name: str
    base: str
    tip: str
    published: str = ""

    def body(self) -> mk.Body:
        """The chain."""
        return mk.load(self.name).chain(self.base, self.tip)


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
        f"{count} targets an arm, of which slow solvers get the share in the column targets: poses of postures "
        "drawn uniformly within the limits; starts drawn the same way, "
        f"apart from the targets. {TASK.position:g} m and {TASK.orientation:g} rad, {TASK.seconds * 1e3:g} ms a "
        f"solve. All solvers in one process take turns of {BLOCK} solves in changing order, with the same targets "
        "and starts. Solved: one forward kinematics, the same for all, finds the answer within tolerance and "
        "limits. Wrong: an answer was given and is not. Late: took longer than allowed. Times as a Python user sees "
        "them, setting the target included, over all solves; bound: by `mk.bind`, the form for loops. Cold: mean of the "
        "first solves of the turns, when the others have emptied the caches. Published: Bio IK in Table 5.3, a C++ plugin on "
        "its author's machine.",
        remarks=[*found.remarks],
    )
    if local := [name for name in found.adapters if name in LOCAL]:
        report.remarks.append(
            f"Local solvers ({', '.join(local)}) with the loop around them that users write: whole steps where they step, "
            "again from random postures within the limits until time is up."
        )
    if "roboticstoolbox" in found.adapters:
        report.remarks.append("roboticstoolbox cannot be given a time limit; it has its default number of searches.")
    for arm in ARMS:
        report.rows.extend(_measure(arm, found, count, report.remarks))
    return report.publish(folder, lambda: _plot(report))


def _measure(arm: Arm, found: Peers, count: int, remarks: list[str]) -> list[Row]:
    body = arm.body()
    solvers = [Memetik(body, arm.tip, TASK), Bound(body, arm.tip, TASK), *found.build(serial_chain(body), TASK)]
    tallies = contest(body, arm.tip, TASK, solvers, count, arm.label)
    if missed := tallies[0].missed:
        patient = Memetik(body, arm.tip, TASK._replace(seconds=math.inf))
        solved = sum(patient.solve(query.targets[0], query.start) is not None for query in missed)  # type: ignore[arg-type]
        remarks.append(f"{arm.label}: memetik missed {len(missed)}; without a time limit it solves {solved} of them.")
    own = np.array(tallies[0].seconds)
    return [
        {
            "arm": arm.label,
            "joints": body.dof,
            "solver": solver.name,
            "targets": len(tally.seconds),
            **tally.columns(TASK),
            "mean / memetik": float(np.mean(tally.seconds) / own.mean()),
            "published": arm.published if tally is tallies[0] else "",
        }
        for solver, tally in zip(solvers, tallies, strict=True)
    ]


def _plot(report: Report) -> Any:
    """A panel for each arm: the best place is the upper left corner."""
    solvers = distinct(report.rows, "solver")
    figure, axes = subplots(3, 3, figsize=(10, 9), sharex=True, sharey=True, layout="constrained")
    looks = [(f"C{k % 7}", marker) for marker in "o^sD" for k in range(7)]
    for axis, arm in zip(axes.flat, distinct(report.rows, "arm"), strict=True):
        for row in select(report.rows, arm=arm):
            color, marker = looks[solvers.index(row["solver"])]
            low, high = (float(end) for end in row["95 % interval"].split(" to "))
            share = row["solved [%]"]
            axis.errorbar(
                row["mean [us]"], share, [[share - low], [high - share]],
                fmt=marker, color=color, ms=7 if row["solver"] == "memetik" else 5, lw=0.8, label=row["solver"],
            )  # fmt: skip
        axis.axvline(TASK.seconds * 1e6, color="C6", lw=0.8, ls=":")
        axis.set_title(arm, fontsize=10)
        axis.set(xscale="log", ylim=(-4.0, 104.0))
    label_edges(axes, "mean time of a solve [µs]", "solved [%]")
    known = {
        label: handle for axis in axes.flat for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    figure.legend([known[name] for name in solvers], solvers, fontsize=8, ncols=5, loc="outside lower center")
    return figure

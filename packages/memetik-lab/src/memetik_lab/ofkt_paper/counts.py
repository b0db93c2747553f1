"""How many transformations the OFKT saves, and how much time: Table 1 of the OFKT paper, counted and measured.

The paper counts a local transform (from one joint to the next), a product in the root frame and the step to the world as
one transformation each. Forward kinematics of a chain of n joints is then 2n + 1. Here the numbers of its table stand
beside what the mk.body.OFKT of this library really did, and beside the time of the same work in compiled loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import memetik as mk
from memetik.body import replay
from memetik_lab.harness import Report, Row, best_seconds, column, select, subplots

Edits = NDArray[np.int64]  # (queries, joints) which joints change, -1 for none

JOINTS = (5, 7, 10, 20, 30, 60, 120)
FINGERS, FINGER_JOINTS, ARM_JOINTS = 5, 4, 7  # the hand of scenario 4
SOME, ONE, EACH, TIPS = "some joints change", "one joint, tip predicted", "every joint in turn", "five finger tips"


class Scenario(NamedTuple):
    """Work for forward kinematics: what changes between queries, and what the paper says it takes."""

    name: str
    body: mk.Body
    tips: tuple[str, ...]
    edits: Edits
    standard: float
    ofkt: float
    predicted: bool = False  # only where the tip would be is asked for


def run(folder: Path, *, quick: bool = False, joints: Sequence[int] | None = None) -> Report:
    """Count, measure, print, save and plot."""
    joints = joints or (JOINTS[::2] if quick else JOINTS)
    repeats = 3 if quick else 15
    report = Report(
        "counts",
        "Transformations for one query of forward kinematics: local, products in the root frame, steps to the world. "
        f"Counted: by the OFKT of this library while it works through the queries; standard: by an empty one for each query "
        "and tip. Chains of n joints. Some joints change: from one to all, drawn at random, the mean over 200 queries; the "
        "formula takes the first changed joint i, from zero, and the number j of changed ones. Every joint in turn: n queries "
        f"as one. Five finger tips: a hand with {FINGERS} fingers of {FINGER_JOINTS} joints on an arm of {ARM_JOINTS}. "
        f"Times: the same queries in a compiled loop, best of {repeats}; standard is forward kinematics without any cache, "
        "once for each tip.",
    )
    scenarios = [s for n in joints for s in (_some(n), _one(n), _each(n))]
    report.rows += [_row(scenario, repeats) for scenario in [*scenarios, _tips()]]
    report.remarks += verdict(report.rows)
    return report.publish(folder, lambda: _plot(report))


def _some(n: int) -> Scenario:
    """Scenario 1: n - i + j + 1 against 2n + 1."""
    rng = np.random.default_rng(1)
    edits = np.full((200, n), -1)
    costs = []
    for line in edits:
        j = int(rng.integers(1, n + 1))
        line[:j] = np.sort(rng.choice(n, j, replace=False))
        costs.append(n - line[0] + j + 1)
    return Scenario(SOME, mk.build.snake(n), ("tip",), edits, 2 * n + 1, float(np.mean(costs)))


def _one(n: int) -> Scenario:
    """Scenario 2: five against 2n + 1. The first joint has nothing before it and takes one product less."""
    return Scenario(ONE, mk.build.snake(n), ("tip",), np.arange(1, n)[:, None], 2 * n + 1, 5, predicted=True)


def _each(n: int) -> Scenario:
    """Scenario 3, of which the table has the sum over n queries: n² / 2 + 5n / 2 against 2n² + n."""
    return Scenario(EACH, mk.build.snake(n), ("tip",), np.arange(n)[:, None], 2 * n**2 + n, n**2 / 2 + 5 * n / 2)


def _tips() -> Scenario:
    """Scenario 4: k (2n + 1) - 2 (k - 1) s against k (2n + 1), with k tips of n joints that share s."""
    body = mk.build.hand(FINGERS, FINGER_JOINTS, arm_joints=ARM_JOINTS)
    tips = tuple(link for link in body.links if link not in {joint.parent for joint in body.joints.values()})
    n = ARM_JOINTS + FINGER_JOINTS
    alone, all_edits = FINGERS * (2 * n + 1), np.arange(body.dof)[None, :].repeat(2, axis=0)
    return Scenario(TIPS, body, tips, all_edits, alone, alone - 2 * (FINGERS - 1) * ARM_JOINTS)


def _row(scenario: Scenario, repeats: int) -> Row:
    standard, counted = _count(scenario, standard=True), _count(scenario, standard=False)
    plain, cached = _microseconds(scenario, repeats)
    return {
        "scenario": scenario.name,
        "joints": scenario.body.dof,
        "published standard": float(scenario.standard),
        "standard": standard,
        "published OFKT": float(scenario.ofkt),
        "OFKT": counted,
        "fewer": standard / counted,
        "standard [us]": plain,
        "OFKT [us]": cached,
        "faster": plain / cached,
    }


def _per_row(scenario: Scenario) -> int:
    """How many queries the figures of a row are for."""
    return 1 if scenario.name == EACH else len(scenario.edits)


def _count(scenario: Scenario, *, standard: bool) -> float:
    """Transformations of a query."""
    q = scenario.body.home.copy()
    tree = mk.body.OFKT(scenario.body, scenario.tips, world_from_root=np.eye(4), count_transforms=True)
    tree.update(q)
    total, before = 0, _total(tree)
    for line in scenario.edits:
        changed = line[line >= 0]
        q[changed] += 1e-6
        if standard:
            for tip in scenario.tips:
                fresh = mk.body.OFKT(scenario.body, [tip], world_from_root=np.eye(4), count_transforms=True)
                fresh.update(q)
                total += _total(fresh)
        elif scenario.predicted:
            tree.predict(scenario.body.joint_names[changed[0]], float(q[changed[0]]))
        else:
            tree.update(q)
    return (total if standard else _total(tree) - before) / _per_row(scenario)


def _total(tree: mk.body.OFKT) -> int:
    return int(tree.counts.sum()) if tree.counts is not None else 0


def _microseconds(scenario: Scenario, repeats: int) -> tuple[float, float]:
    """Of a query, by the plain kernels and by the OFKT [us]."""
    body, edits = scenario.body, scenario.edits
    rounds = max(1, 20_000 // (len(edits) * body.dof))
    count, rows = rounds * len(edits), rounds * _per_row(scenario)
    alone = [replay(body, edits, count, "plain", [tip]) for tip in scenario.tips]
    cached = replay(body, edits, count, "predicted" if scenario.predicted else "ofkt", scenario.tips)
    plain = sum(best_seconds(each, repeats=repeats) for each in alone)
    return plain / rows * 1e6, best_seconds(cached, repeats=repeats) / rows * 1e6


def verdict(rows: Sequence[Row]) -> list[str]:
    """Whether the counts are those of the table, and what they are worth in time."""
    wrong = [
        f"{row['scenario']} of {row['joints']} joints"
        for row in rows
        if abs(row["standard"] - row["published standard"]) > 1e-9 or abs(row["OFKT"] - row["published OFKT"]) > 1e-9
    ]
    agree = f"Counts differ from the table: {', '.join(wrong)}." if wrong else "All counts are those of the table."
    return [agree] + [
        f"30 joints, {row['scenario']}: {row['fewer']:.3g} times fewer transformations, {row['faster']:.3g} times faster."
        for row in select(rows, joints=30)
    ]


def _plot(report: Report) -> Any:
    figure, axes = subplots(figsize=(7, 4.2))
    for k, name in enumerate((SOME, ONE, EACH, TIPS)):
        rows = select(report.rows, scenario=name)
        joints = column(rows, "joints")
        axes.plot(joints, column(rows, "fewer"), "x--", color=f"C{k}", label=f"{name}: transformations")
        axes.plot(joints, column(rows, "faster"), "o-", ms=4, color=f"C{k}", label=f"{name}: time")
    axes.axhline(1.0, color="black", lw=0.8)
    axes.set(xscale="log", yscale="log", xlabel="degrees of freedom", ylabel="standard / OFKT")
    axes.legend(fontsize=7)
    return figure

"""Cost of one evaluation of forward kinematics, plain against OFKT: Fig. 2 of the OFKT paper without the evolution.

Chains of 5 to 120 joints and bodies with many tips; 1, 10 % and 100 % of the joints change between evaluations.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import memetik as mk
from memetik.body import replay
from memetik_lab.harness import Report, Row, bars, best_seconds, column, distinct, select, subplots

CHAIN_JOINTS = (5, 7, 10, 20, 30, 40, 60, 80, 100, 120)
SHARES = ("1 joint", "10 %", "100 %")


def run(folder: Path, *, quick: bool = False) -> Report:
    """Measure, print, save and plot."""
    evaluations = 2_000 if quick else 20_000
    report = Report(
        "ofkt",
        f"Mean cost of one evaluation over {evaluations} successive postures, best of 15 runs, inside a compiled loop. "
        "The joints to change are drawn at random for each posture. plain: every motion; OFKT: what changed.",
    )
    chains = [(f"chain of {n}", mk.build.snake(n), 1) for n in (CHAIN_JOINTS[::3] if quick else CHAIN_JOINTS)]
    for name, body, tips in [*chains, *_many_tips()]:
        report.rows.extend(_measure(name, body, tips, evaluations))
    arm = mk.load("panda")
    posture = arm.home
    python = best_seconds(lambda: [arm.forward(posture) for _ in range(1_000)]) / 1_000
    report.remarks.append(f"body.forward(q) of the panda from Python: {python * 1e6:.2f} us")
    return report.publish(folder, lambda: _plot(report))


def _many_tips() -> list[tuple[str, mk.Body, int]]:
    bodies = [("arm and hand, 27 DoF", mk.build.hand(5, 4, arm_joints=7))]
    bodies += [(name, mk.load(name)) for name in ("shadow_hand", "valkyrie", "wolf", "kyle")]
    return [(name, body, len(_leaves(body))) for name, body in bodies]


def _leaves(body: mk.Body) -> set[str]:
    return set(body.links) - {joint.parent for joint in body.joints.values()}


def _measure(name: str, body: mk.Body, tips: int, evaluations: int) -> list[Row]:
    rows = []
    rng = np.random.default_rng(1)
    for share, changed in zip(SHARES, (1, max(1, body.dof // 10), body.dof), strict=True):
        edits = np.argsort(rng.random((256, body.dof)), axis=1)[:, :changed].copy()
        plain, cached = (best_seconds(replay(body, edits, evaluations, way)) for way in ("plain", "ofkt"))
        rows.append(
            {
                "body": name,
                "DoF": body.dof,
                "tips": tips,
                "changed": share,
                "plain [us]": plain / evaluations * 1e6,
                "OFKT [us]": cached / evaluations * 1e6,
                "plain / OFKT": plain / cached,
            }
        )
    return rows


def _plot(report: Report) -> Any:
    figure, (left, right) = subplots(1, 2, figsize=(11, 4.2), gridspec_kw={"width_ratios": (3, 2)})
    chains = [row for row in report.rows if row["body"].startswith("chain")]
    others = [row for row in report.rows if row not in chains]
    for share, style in zip(SHARES, ("-", "--", ":"), strict=True):
        rows = select(chains, changed=share)
        dof = column(rows, "DoF")
        left.plot(dof, column(rows, "OFKT [us]"), style, marker="o", ms=3, color="C0", label=f"OFKT, {share}")
        left.plot(dof, column(rows, "plain [us]"), style, color="C1", label=f"plain, {share}")
    left.set(xlabel="degrees of freedom of a serial chain", ylabel="cost of one evaluation [µs]")
    left.set_title("Chains: cost by degrees of freedom")
    left.legend(fontsize=8)
    gains = {share: column(select(others, changed=share), "plain / OFKT") for share in SHARES}
    bars(right, distinct(others, "body"), gains, 0.27)
    right.axvline(1.0, color="black", lw=0.8)
    right.set(xlabel="plain / OFKT (above 1: OFKT is faster)")
    right.set_title("Many tips: gain by share of joints changed")
    right.legend(fontsize=8, loc="lower right")
    return figure

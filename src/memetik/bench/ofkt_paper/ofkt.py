"""Cost of one evaluation of forward kinematics, plain against OFKT: Fig. 2 of the OFKT paper without the evolution.

Chains of 5 to 120 joints and bodies with many tips; 1, 10 % and 100 % of the joints change between evaluations.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from memetik.bench.harness import Report, best_seconds, pyplot
from memetik.body import Body
from memetik.kernels.body.forward import forward
from memetik.kernels.body.ofkt import WIDTH, clear, update
from memetik.kernels.compiler.jit import jit_allocating
from memetik.read.chains import snake
from memetik.read.hands import hand
from memetik.read.load import load
from memetik.types import Array

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
    chains = [(f"chain of {n}", snake(n), 1) for n in (CHAIN_JOINTS[::3] if quick else CHAIN_JOINTS)]
    for name, body, tips in [*chains, *_many_tips()]:
        report.rows.extend(_measure(name, body, tips, evaluations))
    arm = load("panda")
    posture = arm.home
    python = best_seconds(lambda: [arm.forward(posture) for _ in range(1_000)]) / 1_000
    report.remarks.append(f"body.forward(q) of the panda from Python: {python * 1e6:.2f} us")
    return report.publish(folder, lambda: _plot(report))


def _many_tips() -> list[tuple[str, Body, int]]:
    bodies = [("arm and hand, 27 DoF", hand(5, 4, arm_joints=7))]
    bodies += [(name, load(name)) for name in ("shadow_hand", "valkyrie", "wolf", "kyle")]
    return [(name, body, len(_leaves(body))) for name, body in bodies]


def _leaves(body: Body) -> set[str]:
    return set(body.links) - {joint.parent for joint in body.joints.values()}


def _measure(name: str, body: Body, tips: int, evaluations: int) -> list[dict[str, Any]]:
    rows = []
    rng = np.random.default_rng(1)
    nodes = body.flatten()[0].nodes
    for share, changed in zip(SHARES, (1, max(1, body.dof // 10), body.dof), strict=True):
        edits = np.argsort(rng.random((256, body.dof)), axis=1)[:, :changed].copy()
        plain = best_seconds(lambda e=edits: _plain_loop(nodes, body.home.copy(), e, evaluations))  # type: ignore[misc]
        cached = best_seconds(lambda e=edits: _cached_loop(nodes, body.home.copy(), e, evaluations))  # type: ignore[misc]
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


@jit_allocating
def _plain_loop(nodes, q, edits, evaluations):  # type: ignore[no-untyped-def]
    poses = np.empty((nodes.size, 7))
    for k in range(evaluations):
        for joint in edits[k % edits.shape[0]]:
            q[joint] += 1e-6
        forward(nodes, q, poses)
    return poses[-1, 4]


@jit_allocating
def _cached_loop(nodes, q, edits, evaluations):  # type: ignore[no-untyped-def]
    cache = np.empty((nodes.size, WIDTH))
    clear(cache)
    for k in range(evaluations):
        for joint in edits[k % edits.shape[0]]:
            q[joint] += 1e-6
        update(nodes, q, cache, None)
    return cache[-1, 8]


def _plot(report: Report) -> Any:
    plt = pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), gridspec_kw={"width_ratios": (3, 2)})
    chains = [row for row in report.rows if row["body"].startswith("chain")]
    for share, style in zip(SHARES, ("-", "--", ":"), strict=True):
        rows = [row for row in chains if row["changed"] == share]
        dof = [row["DoF"] for row in rows]
        left.plot(dof, [row["OFKT [us]"] for row in rows], style, marker="o", ms=3, color="C0", label=f"OFKT, {share}")
        left.plot(dof, [row["plain [us]"] for row in rows], style, color="C1", label=f"plain, {share}")
    left.set(xlabel="degrees of freedom of a serial chain", ylabel="cost of one evaluation [µs]")
    left.set_title("Chains: cost by degrees of freedom")
    left.legend(fontsize=8)
    bodies = list(dict.fromkeys(row["body"] for row in report.rows if not row["body"].startswith("chain")))
    places: Array = np.arange(len(bodies), dtype=np.float64)
    for k, share in enumerate(SHARES):
        gains = [r["plain / OFKT"] for r in report.rows if r["changed"] == share and r["body"] in bodies]
        right.barh(places + 0.27 * (1 - k), gains, 0.25, label=share)
    right.axvline(1.0, color="black", lw=0.8)
    right.set_yticks(places, bodies)
    right.set(xlabel="plain / OFKT (above 1: OFKT is faster)")
    right.set_title("Many tips: gain by share of joints changed")
    right.legend(fontsize=8, loc="lower right")
    figure.tight_layout()
    return figure

"""How exactly five fingertips are placed: Fig. 5.13 of the thesis, on the Shadow hand.

The 444 human grasps of the thesis are not public. In their place stand as many grasps drawn by rule, whose fingertip poses
can be reached, and the fingertip positions of hands with other finger lengths, of which some cannot; recordings can be
given as a file (bench/thesis/grasps.py says how).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik.geometry import pose_distance
from memetik.types import Array
from memetik_lab.contest import race
from memetik_lab.harness import Report, Row, solved, subplots
from memetik_lab.judge import within
from memetik_lab.queries import Query, Task, ask, wish
from memetik_lab.thesis.grasps import FINGERS, TIPS, Grasps, foreign_grasps, own_grasps, recorded_grasps, shadow_hand

METHODS = ("memetic", "bioik")
TASK = Task(position=1e-4, orientation=1e-3, seconds=0.01)  # when a grasp counts as solved
BUDGET = mk.Budget(evaluations=1_000_000, seconds=TASK.seconds)
EXACT = 1e-12  # never enough, so that the whole time is spent on getting closer
PUBLISHED = "1e-5 to 1e-4"  # m and rad, Fig. 5.13


class Outcome(NamedTuple):
    """What one method made of some grasps."""

    errors: Array  # (grasps, fingers, 2): m and rad, after the whole time
    seconds: Array  # until within the tolerances of the task, or until the time was over
    solved: int


def run(folder: Path, *, quick: bool = False, count: int | None = None, data: Path | None = None) -> Report:
    """Measure, print, save and plot. `data`: a file of recorded grasps."""
    count = count or (60 if quick else 444)
    body = shadow_hand()
    sets = [own_grasps(body, count), foreign_grasps(body, count)]
    sets += [recorded_grasps(body, data)] if data is not None else []
    report = Report(
        "hand",
        f"Shadow hand, {body.dof} joints, all five fingertips at once, {count} grasps, every solve from the posture at rest. "
        "Own: the tip poses of postures that close the fingers to the same degree, give or take a fifth. Other fingers: tip "
        "positions of the same hand with each finger longer or shorter by up to a tenth. "
        f"Solved: forward kinematics finds all tips within {TASK.position:g} m and {TASK.orientation:g} rad and all joints "
        f"within limits, in {TASK.seconds * 1e3:g} ms; mean time until then, misses included. Errors: what is left of each tip "
        f"after a fixed {TASK.seconds * 1e3:g} ms without a tolerance to stop at.",
        remarks=[
            f"Published (Fig. 5.13): {PUBLISHED} m and rad over 444 human grasps after 10 ms, thumb and little finger a "
            "little better than the others; all solved in 2.1 ms on average (section 5.6). Other targets than here: the "
            "recordings are not public."
        ],
    )
    outcomes = {}
    for grasps in sets:
        outcomes[grasps.label] = _measure(body, grasps)
        for method, outcome in outcomes[grasps.label].items():
            report.rows += _rows(grasps, method, outcome)
        report.remarks += _remarks(grasps, outcomes[grasps.label])
    return report.publish(folder, lambda: _plot(sets, outcomes))


def _measure(body: mk.Body, grasps: Grasps) -> dict[str, Outcome]:
    """What each method makes of the grasps, quickly and then as exactly as it can."""
    kind, exact = "pose" if grasps.oriented else "position", Task(EXACT, EXACT, TASK.seconds)
    first, second = (mk.Problem(body, [wish(kind, tip, task) for tip in TIPS]) for task in (TASK, exact))
    parts = [poses if grasps.oriented else poses[:, :3, 3] for poses in grasps.poses]
    queries = [Query(targets, None) for targets in parts]
    quick, thorough = (
        race([ask(problem, method, BUDGET) for method in METHODS], queries, grasps.label, turn=1)
        for problem in (first, second)
    )
    outcomes = {}
    for method, soon, late in zip(METHODS, quick, thorough, strict=True):
        near, errors = (
            np.array([_errors(body, grasps, *pair) for pair in zip(tally.each("q"), grasps.poses, strict=True)])
            for tally in (soon, late)
        )
        hits = int((near <= TASK[:2]).all(axis=(1, 2)).sum())
        outcomes[method] = Outcome(errors, np.array(soon.seconds), hits)
    return outcomes


def _errors(body: mk.Body, grasps: Grasps, q: Array, poses: Array) -> Array:
    """Position [m] and orientation [rad] error of each finger by forward kinematics; infinite for broken limits."""
    if not within(body, q):
        return np.full((len(TIPS), 2), np.inf)
    reached = body.forward(q)
    errors = np.array([pose_distance(reached[tip], pose) for tip, pose in zip(TIPS, poses, strict=True)])
    return errors if grasps.oriented else errors * (1.0, 0.0)


def _rows(grasps: Grasps, method: str, outcome: Outcome) -> list[Row]:
    return [
        {
            "grasps": grasps.label,
            "method": method,
            **solved(outcome.solved, len(outcome.seconds)),
            "mean [ms]": float(outcome.seconds.mean()) * 1e3,
            "finger": finger,
            "median [m]": float(np.median(outcome.errors[:, k, 0])),
            "p95 [m]": float(np.percentile(outcome.errors[:, k, 0], 95.0)),
            "median [rad]": float(np.median(outcome.errors[:, k, 1])) if grasps.oriented else None,
            "p95 [rad]": float(np.percentile(outcome.errors[:, k, 1], 95.0)) if grasps.oriented else None,
            "published": PUBLISHED,
        }
        for k, finger in enumerate(FINGERS)
    ]


def _remarks(grasps: Grasps, outcomes: dict[str, Outcome]) -> list[str]:
    """Which grasps of a foreign hand nobody places; whether they can be placed at all is not known."""
    if grasps.reachable:
        return []
    least = np.min([outcome.errors[..., 0].max(axis=1) for outcome in outcomes.values()], axis=0)
    out = least > TASK.position
    if not out.any():
        return [f"{grasps.label}: every grasp is placed within {TASK.position:g} m by at least one method."]
    return [
        f"{grasps.label}: {int(out.sum())} of {len(out)} grasps are placed within {TASK.position:g} m by no method; their worst "
        f"finger is {np.median(least[out]) * 1e3:.2g} mm off (median), {least.max() * 1e3:.2g} mm at most."
    ]


def _plot(sets: Sequence[Grasps], outcomes: dict[str, dict[str, Outcome]]) -> Any:
    panels = [(grasps, part) for grasps in sets for part in (range(2) if grasps.oriented else range(1))]
    figure, axes = subplots(1, len(panels), figsize=(3.6 * len(panels), 4.2), sharey=True)
    for axis, (grasps, part) in zip(axes, panels, strict=True):
        for shift, (method, outcome) in zip((-0.2, 0.2), outcomes[grasps.label].items(), strict=True):
            color = f"C{METHODS.index(method)}"
            boxes = axis.boxplot(
                np.maximum(outcome.errors[..., part], 1e-17),
                positions=np.arange(len(FINGERS)) + shift,
                widths=0.34,
                whis=(5, 95),
                showfliers=False,
                patch_artist=True,
                boxprops={"facecolor": color, "alpha": 0.6},
                medianprops={"color": "black"},
            )
            boxes["boxes"][0].set_label(method)
        if grasps.oriented:
            axis.axhspan(1e-5, 1e-4, color="C2", alpha=0.25, lw=0.0, label="Bio IK, published (other grasps)")
        axis.set_xticks(np.arange(len(FINGERS)), FINGERS, rotation=30)
        name, unit = (("position", "m"), ("orientation", "rad"))[part]
        axis.set(yscale="log", title=grasps.label, ylabel=f"{name} error [{unit}]")
        axis.title.set_fontsize(9)
    figure.suptitle(f"left after {TASK.seconds * 1e3:g} ms: median, quartiles, 5 to 95 %", fontsize=10)
    figure.legend(
        *axes[0].get_legend_handles_labels(), fontsize=8, ncols=3, loc="upper center", bbox_to_anchor=(0.5, 0.0)
    )
    return figure

"""The arm of the NAO: FABRIK and a network beside Jacobian methods (tables 1 and 2, Fig. 3 of Poddighe 2013).

The arm has two links and four joints that move its hand; targets are positions of the hand. The paper gives its lengths and
errors in centimetres and its tolerance, 0.1, without a unit: it is taken as 0.1 cm. It says nothing of the start, taken as
the ready posture here, nor of limits: its Algorithm 1 knows none, and of the Jacobian methods it says that limits are hard to
apply. So table 1 is measured in three settings: as the textbooks have it, the same within the limits of the joints, and as
this library has it, which adds restarts and lets FABRIK look further ahead.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik.types import Array
from memetik_lab.contest import Tally, race
from memetik_lab.harness import BLOCK, Report, Row, column, distinct, percent, select, subplots
from memetik_lab.nao_paper.nao_networks import HIDDEN, measure_networks, network_row, plot_networks
from memetik_lab.queries import Query, ask

ELBOW_TO_HAND = 0.1137  # m; with the upper arm of 0.105 m it is the 21.87 cm of the paper
TOLERANCE = 1e-3  # m
TOLERANCES = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 0.0)  # m
MOST = mk.Budget(evaluations=2_000)


class Contestant(NamedTuple):
    """A method by its name in the library, what makes it the textbook's, and what table 1 says of it."""

    method: str
    textbook: dict[str, Any]
    milliseconds: float | None = None
    iterations: float | None = None
    deviation: float | None = None


CONTESTANTS = (
    Contestant("fabrik", {"restarts": False, "ahead": 0.0}, 0.78, 7.26, 7.38),
    Contestant("pseudoinverse", {"restarts": False}, 2.21, 9.99, 10.02),
    Contestant("dls", {"restarts": False}),
    Contestant("transpose", {"restarts": False, "lag": False}, 27.65, 141.8, 176.4),
    Contestant("memetic", {}),
)
# Whether the limits hold, and whether methods are as the textbooks have them.
SETTINGS = {"textbook": (False, True), "textbook, limits": (True, True), "library": (True, False)}


def arm(limits: bool = True) -> tuple[mk.Body, mk.Frame]:
    """The left arm of the NAO and its hand, within the limits of its joints or with joints that turn freely."""
    body = mk.load("nao").chain("torso", "LForeArm")
    if not limits:
        free = {"kind": "continuous", "lower": (), "upper": ()}
        joints = [dataclasses.replace(j, **free) if j.kind == "revolute" else j for j in body.joints.values()]  # type: ignore[arg-type]
        home = dict(zip(body.joint_names, body.home.tolist(), strict=True))
        body = mk.Body(body.name, body.links.values(), joints, home=home)
    return body, body.frame("LForeArm", (ELBOW_TO_HAND, 0.0, 0.0))


def targets(count: int, seed: int = 1) -> Array:
    """Positions of the hand in postures drawn uniformly within the limits."""
    body, hand = arm()
    rng = np.random.default_rng(seed)
    return np.array([(body.forward(body.sample(rng))[hand.link] @ hand.link_from_frame)[:3, 3] for _ in range(count)])


def run(folder: Path, *, quick: bool = False, count: int | None = None, hidden: Sequence[int] | None = None) -> Report:
    """Measure, print, save and plot."""
    count = count or (500 if quick else 10_000)
    hidden = hidden or (HIDDEN[::4] if quick else HIDDEN)
    epochs = 300 if quick else 3_000
    networks, network = measure_networks(_problem(), hidden, count, epochs)
    report = _table(targets(count))
    report.rows.append(network_row(network, _problem(), targets(count), TOLERANCE, report.rows[0]))
    report.remarks += _order(report)
    by_tolerance = _by_tolerance(targets(max(count // 10, 50), seed=2))
    by_tolerance.publish(folder)
    networks.publish(folder)
    return report.publish(folder, lambda: _plot(by_tolerance, networks))


def _problem(limits: bool = True, tolerance: float = TOLERANCE) -> tuple[mk.Problem, mk.Position]:
    body, hand = arm(limits)
    reach = mk.Position(hand, (0.0, 0.0, 0.0), tolerance=tolerance)
    return mk.Problem(body, reach), reach


def _table(points: Array) -> Report:
    report = Report(
        "nao",
        f"{len(points)} positions of the hand of the left arm of the NAO, of postures drawn uniformly within the limits, from "
        f"the ready posture, to {TOLERANCE:g} m, at most {MOST.evaluations} evaluations. textbook: no limits, no restarts, "
        "FABRIK looking at the next joint only, the transpose as long as is best for each step; library: within the limits, "
        "with the defaults of each method. Iterations: "
        "evaluations less the first, of the solved ones. Error: mean distance of the hand. Times as a Python user sees them, "
        f"methods taking turns of {BLOCK}. Published: table 1, tolerance 0.1 (taken as cm), C++ on the author's machine; "
        "time of the network: of one answer in a batch.",
    )
    for setting, (limits, textbook) in SETTINGS.items():
        tallies = _contest(textbook, limits, TOLERANCE, points, setting)
        report.rows += [_row(each, setting, tally) for each, tally in zip(CONTESTANTS, tallies, strict=True)]
    return report


def _contest(textbook: bool, limits: bool, tolerance: float, points: Array, label: str) -> list[Tally]:
    """Let all methods take turns of BLOCK solves at the same targets, from the ready posture."""
    problem, _ = _problem(limits, tolerance)
    solvers = [mk.solver(each.method, **(each.textbook if textbook else {})) for each in CONTESTANTS]
    return race([ask(problem, solver, MOST) for solver in solvers], [Query([point], None) for point in points], label)


def _row(contestant: Contestant, setting: str, tally: Tally) -> Row:
    iterations = np.array([answer.evaluations - 1.0 for answer in tally.answers if answer.success] or [np.nan])
    return {
        "method": contestant.method,
        "setting": setting,
        "solved [%]": percent(tally.each("success")),
        "mean [us]": float(np.mean(tally.seconds)) * 1e6,
        "median [us]": float(np.median(tally.seconds)) * 1e6,
        "iterations": float(iterations.mean()),
        "deviation": float(iterations.std()),
        "error [mm]": float(np.mean(_errors(tally))) * 1e3,
        "published [us]": None if contestant.milliseconds is None else contestant.milliseconds * 1e3,
        "published iterations": contestant.iterations,
        "published deviation": contestant.deviation,
    }


def _errors(tally: Tally) -> list[float]:
    """How far the hand is off in each answer [m]."""
    return [float(errors[0]) for errors in tally.each("term_errors")]


def _order(report: Report) -> list[str]:
    """Whether the methods of table 1 come in the published order of iterations, for each setting."""
    remarks = []
    for setting in SETTINGS:
        rows = [row for row in select(report.rows, setting=setting) if row["published iterations"] is not None]
        ours = [row["method"] for row in sorted(rows, key=lambda row: row["iterations"])]
        theirs = [row["method"] for row in sorted(rows, key=lambda row: row["published iterations"])]
        verdict = "as published" if ours == theirs else f"published: {' < '.join(theirs)}"
        remarks.append(f"{setting}: fewest iterations first, {' < '.join(ours)} ({verdict}).")
    return remarks


def _by_tolerance(points: Array) -> Report:
    report = Report(
        "nao_tolerance",
        f"As table 1, textbook setting, {len(points)} targets for each tolerance. Published (Fig. 3, no numbers in the text): "
        "the transpose gets far slower as the tolerance falls, the pseudoinverse slightly, FABRIK not at all, and FABRIK alone "
        "ends at tolerance zero. Solved at zero: the hand, by forward kinematics from the angles, is off by exactly zero, "
        "where the last bit is luck; FABRIK as published asks it of its points, before they become angles. Left: median of the "
        "error of what was returned.",
    )
    for tolerance in TOLERANCES:
        tallies = _contest(True, False, tolerance, points, f"tolerance {tolerance:g}")
        for each, tally in zip(CONTESTANTS, tallies, strict=True):
            row = _row(each, "textbook", tally)
            kept = ("method", "solved [%]", "mean [us]", "median [us]", "iterations")
            left = float(np.median(_errors(tally)))
            report.rows.append({"tolerance [m]": tolerance, **{key: row[key] for key in kept}, "left [m]": left})
    return report


def _plot(by_tolerance: Report, networks: Report) -> Any:
    figure, (left, right) = subplots(1, 2, figsize=(11, 4.2))
    smallest = min(t for t in TOLERANCES if t > 0.0) / 10.0  # where zero stands on the logarithmic axis
    for method in distinct(by_tolerance.rows, "method"):
        rows = select(by_tolerance.rows, method=method)
        places = [max(tolerance, smallest) * 1e3 for tolerance in column(rows, "tolerance [m]")]
        left.plot(places, column(rows, "median [us]"), marker="o", ms=4, label=method)
    left.axvline(smallest * 1e3, color="black", lw=0.6, ls=":")
    left.set(xscale="log", yscale="log", ylabel="median time of a solve [µs]")
    left.set(xlabel="tolerance [mm], zero at the dotted line")
    left.invert_xaxis()
    left.legend(fontsize=8)
    plot_networks(networks, right)
    return figure

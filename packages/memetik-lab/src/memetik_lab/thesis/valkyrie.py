"""Table 5.4 of the thesis: eight sets of objectives on NASA's Valkyrie, from one wrist to the whole body."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import memetik as mk
from memetik_lab.contest import race
from memetik_lab.harness import BLOCK, Report, Row, bars, beside, column, spread, subplots
from memetik_lab.judge import right
from memetik_lab.queries import Task, Wanted, ask, draw_many, wish

TASK = Task(position=1e-4, orientation=1e-3, seconds=0.01)
BUDGET = mk.Budget(seconds=TASK.seconds)
RIGHT, LEFT = ("pose", "rightPalm"), ("pose", "leftPalm")
FEET = (("pose", "rightFoot"), ("pose", "leftFoot"))
ELBOW, HEAD = ("position", "rightElbowPitchLink"), ("look", "head")
FINGERS = [("position", f"right{name}Pitch3Link") for name in ("Thumb", "IndexFinger", "MiddleFinger", "Pinky")]


class Setup(NamedTuple):
    """A row of the table: what is wanted of which links, and the published time and success of the RMSE loss."""

    label: str
    base: str  # "fixed", or "xyz" for a pelvis that moves by up to a metre
    wanted: tuple[tuple[str, str], ...]
    published_ms: float
    published_solved: float  # %


SETUPS = (
    Setup("right wrist", "fixed", (RIGHT,), 0.87, 99.96),
    Setup("right leg", "fixed", FEET[:1], 0.63, 99.98),
    Setup("both wrists", "fixed", (RIGHT, LEFT), 2.07, 98.31),
    Setup("right wrist, elbow, head", "fixed", (RIGHT, ELBOW, HEAD), 2.23, 98.82),
    Setup("both wrists, head", "fixed", (RIGHT, LEFT, HEAD), 2.67, 97.98),
    Setup("right wrist turned, four fingers", "fixed", (("orientation", "rightPalm"), *FINGERS), 3.24, 97.69),
    Setup("wrists, feet", "xyz", (RIGHT, LEFT, *FEET), 5.64, 95.29),
    Setup("wrists, feet, head", "xyz", (RIGHT, LEFT, *FEET, HEAD), 6.22, 94.56),
)


def run(folder: Path, *, quick: bool = False, count: int | None = None) -> Report:
    """Measure, print, save and plot."""
    count = count or (300 if quick else 10_000)
    report = Report(
        "valkyrie",
        f"{count} targets a set-up, from postures drawn uniformly within the limits; starts drawn the same way, "
        f"apart from the targets. {TASK.position:g} m and {TASK.orientation:g} rad, {BUDGET.seconds * 1e3:g} ms a solve. "
        "Solved: forward kinematics finds every objective within tolerance and every joint within its limits. Times "
        f"as a Python user sees them, setting the targets included, over all solves, in blocks of {BLOCK}. "
        "Published: Table 5.4, RMSE loss, on its author's machine; a pose counts as two objectives there.",
    )
    report.rows += [_measure(setup, count, report.remarks) for setup in SETUPS]
    return report.publish(folder, lambda: _plot(report))


def _measure(setup: Setup, count: int, remarks: list[str]) -> Row:
    body, objectives = body_of(setup), objectives_of(setup)
    problem, judge = mk.Problem(body, objectives), right(body, objectives, TASK)
    queries = draw_many(body, objectives, BLOCK + count)
    (tally,) = race(
        [ask(problem, "memetic", BUDGET)], queries[BLOCK:], setup.label, judge=judge, warm_up=queries[:BLOCK]
    )
    if missed := tally.missed:
        patient = ask(problem, "memetic", mk.Budget())
        late = sum(judge(patient(query), query) for query in missed)
        remarks.append(f"{setup.label}: missed {len(missed)}; without a time limit it solves {late} of them.")
    times = spread(tally.seconds)
    return {
        "objectives": setup.label,
        "DoF": len(problem.compiled.active),
        **tally.solved(),
        **times,
        "published [us]": setup.published_ms * 1e3,
        "published solved [%]": setup.published_solved,
        "published / memetik": setup.published_ms * 1e3 / times["mean [us]"],
    }


def body_of(setup: Setup) -> mk.Body:
    """The robot, with a pelvis that moves where the set-up has one."""
    body = mk.load("valkyrie")
    return body if setup.base == "fixed" else body.with_base(setup.base, lower=-1.0, upper=1.0)


def objectives_of(setup: Setup) -> list[Wanted]:
    """What a set-up wants, without the targets."""
    return [wish(kind, link, TASK) for kind, link in setup.wanted]


def _plot(report: Report) -> Any:
    figure, axes = subplots(figsize=(9, 4))
    labels = [f"{row['objectives']} ({row['DoF']} DoF)" for row in report.rows]
    published, own = column(report.rows, "published [us]"), column(report.rows, "mean [us]")
    places = bars(axes, labels, {"Bio IK, published": published, "memetik": own}, 0.4, color=["C1", "C0"])
    for values, at, key in zip((published, own), places, ("published solved [%]", "solved [%]"), strict=True):
        beside(axes, values, at, [f"{share:.2f} %" for share in column(report.rows, key)])
    axes.set(xscale="log", xlabel="mean time of a solve [µs]; beside the bars: solved within 10 ms")
    axes.set_xlim(right=15_000.0)
    axes.legend(fontsize=8)
    return figure

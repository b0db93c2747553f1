"""What each phase of Bio IK is worth: Fig. 5.3 of the thesis, which leaves out one at a time.

The figure has bars without numbers; its text says that exploitation contributes most. Here exploitation runs until an elite
gains nothing, so that on the bodies of the figure little is left for the others to do. The same is measured with exploitation
cut to a few iterations, and on two arms. Last, each thing that the default does differently from the thesis is undone in turn,
and all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik_lab.contest import race
from memetik_lab.harness import Report, Row, distinct, select, subplots
from memetik_lab.judge import right
from memetik_lab.queries import Wanted, ask, draw_many, wish
from memetik_lab.thesis.grasps import TIPS, shadow_hand
from memetik_lab.thesis.valkyrie import SETUPS, TASK, body_of, objectives_of

PHASES = ("exploitation", "adoption", "wipe_out", "weight_interpolation")
SHORT = 10  # iterations
# What the default does differently, and what undoes it.
DEVIATIONS: dict[str, dict[str, Any]] = {
    "strides": {"strides": False},
    "whole turns": {"whole_turns": False},
    "early stop": {"early_stop": False},
    "patience": {"patience": 0},
    "yielding": {"yielding": False},
    "exact gradient": {"gradient": "ofkt", "ofkt": True},
}
STEPS, ALL, UNDONE = "exploitation to the end", "all: as published", "undone"
EVALUATIONS = 10_000
ARM_TIMES = 10


class Case(NamedTuple):
    """A body and what is wanted of it."""

    label: str
    body: mk.Body
    objectives: list[Wanted]
    times: int = 1  # as many queries as the others get


def cases() -> list[Case]:
    """The hand and the humanoid of the figure, and two arms, which are quick to solve but have minima to be caught in."""
    return [
        Case("Shadow hand", shadow_hand(), [wish("position", tip, TASK) for tip in TIPS]),
        Case("Valkyrie", body_of(SETUPS[-1]), objectives_of(SETUPS[-1])),
        *(
            Case(label, mk.load(label.lower()), [wish("pose", tip, TASK)], times=ARM_TIMES)
            for label, tip in (("Panda", "panda_hand"), ("KR120", "tool0"))
        ),
    ]


def run(folder: Path, *, quick: bool = False, count: int | None = None, only: Sequence[Case] | None = None) -> Report:
    """Measure, print, save and plot."""
    count = count or (15 if quick else 300)
    report = Report(
        "ablation",
        "Five fingertips of the Shadow hand by position; wrists, feet and gaze of Valkyrie as in Table 5.4; the pose of the hand "
        f"of two arms. {count} targets each, {ARM_TIMES} times as many for the arms, from postures drawn uniformly within the "
        f"limits, starts drawn the same way. {TASK.position:g} m and {TASK.orientation:g} rad, {EVALUATIONS} "
        f"evaluations a solve. Default parameters, and again with {SHORT} iterations of exploitation at most "
        "in a generation; one phase left out at a time. Every variant gets the same queries. Solved: forward kinematics finds "
        "every objective within tolerance and every joint within its limits. Evaluations: the mean over all queries, those "
        "unsolved with all they were given. Contribution: by how many evaluations more it takes without the phase, as a "
        "share of the sum over all phases; none where it takes fewer. Undone: the default with one of its deviations from the "
        "thesis undone, and with all (BioIK.as_published). An evaluation is a placement of the body, whole or in part, so "
        "a gradient by differences takes one for each joint.",
    )
    for case in only or cases():
        for steps in (mk.solvers.BioIK.steps, SHORT):
            report.rows += _measure(case, steps, count * case.times)
        report.rows += _undo(case, count * case.times)
    report.remarks += verdict(report.rows)
    return report.publish(folder, lambda: _plot(report))


def _measure(case: Case, steps: int, count: int) -> list[Row]:
    off: list[dict[str, Any]] = [{}, *({phase: False} for phase in PHASES)]
    solvers = [mk.solvers.BioIK(steps=steps, **switches) for switches in off]
    return _compare(case, steps, dict(zip(("nothing", *PHASES), solvers, strict=True)), count)


def _undo(case: Case, count: int) -> list[Row]:
    published = mk.solvers.BioIK.as_published(mk.Problem(case.body, case.objectives))
    solvers = {
        "nothing": mk.solvers.BioIK(), **{name: mk.solvers.BioIK(**switches) for name, switches in DEVIATIONS.items()},
        STEPS: mk.solvers.BioIK(steps=published.steps), ALL: published,
    }  # fmt: skip
    return _compare(case, UNDONE, solvers, count)


def _compare(case: Case, steps: int | str, solvers: dict[str, mk.solvers.BioIK], count: int) -> list[Row]:
    """A row for each; the first has everything."""
    problem = mk.Problem(case.body, case.objectives)
    budget = mk.Budget(evaluations=EVALUATIONS)
    tallies = race(
        [ask(problem, solver, budget) for solver in solvers.values()],
        draw_many(case.body, case.objectives, count), f"{case.label}, {steps} steps",
        turn=1, judge=right(case.body, case.objectives, TASK),
    )  # fmt: skip
    spent = [np.where(tally.verdicts, tally.each("evaluations"), EVALUATIONS).mean() for tally in tallies]
    more = [max(evaluations - spent[0], 0.0) for evaluations in spent]
    return [
        {
            "body": case.label,
            "DoF": len(problem.compiled.active),
            "steps": steps,
            "without": name,
            **tally.solved(),
            "mean [us]": 1e6 * float(np.mean(tally.seconds)),
            "evaluations": float(spent[k]),
            "times as many": float(spent[k] / spent[0]),
            "contribution [%]": 100.0 * float(more[k]) / sum(more) if sum(more) > 0.0 else 0.0,
        }
        for k, (name, tally) in enumerate(zip(solvers, tallies, strict=True))
    ]


def verdict(rows: Sequence[Row]) -> list[str]:
    """Which phase contributes most, and which contribute nothing."""
    remarks = []
    for body, steps in _groups(rows):
        _, *mine = select(rows, body=body, steps=steps)
        most = max(mine, key=lambda row: row["times as many"])
        idle = [row["without"] for row in mine if row["times as many"] <= 1.0]
        remarks.append(
            f"{body}, {steps} iterations: most by {most['without']}, {most['times as many']:.3g} times the evaluations "
            f"without it; published: exploitation. {'Nothing is gained here by ' + ', '.join(idle) + '.' if idle else ''}".strip()
        )
    for body in distinct(rows, "body"):
        told = [f"{row['without']} {row['times as many']:.3g}" for row in select(rows, body=body, steps=UNDONE)[1:]]
        if told:
            remarks.append(f"{body}, times the evaluations with a deviation from the thesis undone: {', '.join(told)}.")
    return remarks


def _groups(rows: Sequence[Row]) -> list[tuple[str, int]]:
    """Bodies and lengths of the exploitation that phases were left out with."""
    return list(dict.fromkeys((row["body"], row["steps"]) for row in rows if row["steps"] != UNDONE))


def _plot(report: Report) -> Any:
    """Exploitation apart from the others, whose shares would be lost beside it; pale where it is cut."""
    groups = _groups(report.rows)
    bodies = distinct(report.rows, "body")
    ratios = {(row["body"], row["steps"], row["without"]): row["times as many"] for row in report.rows}
    figure, panels = subplots(1, 2, figsize=(9, 4), width_ratios=(1, 2.4))
    width = 0.8 / len(groups)
    for plot, phases in zip(panels, (PHASES[:1], PHASES[1:]), strict=True):
        for number, (body, steps) in enumerate(groups):
            found = np.array([ratios[body, steps, phase] for phase in phases])
            plot.bar(
                np.arange(len(phases)) + (number - 0.5 * (len(groups) - 1)) * width,
                found if plot is panels[0] else 100.0 * (found - 1.0), width,
                color=f"C{bodies.index(body)}", alpha=1.0 if steps > SHORT else 0.45, label=f"{body}, {steps} iterations",
            )  # fmt: skip
        plot.set_xticks(range(len(phases)), [f"without\n{phase.replace('_', ' ')}" for phase in phases])
        plot.grid(visible=False, axis="x")
    panels[0].set(ylabel="evaluations / with all phases", yscale="log", ylim=(1.0, None))
    panels[1].set(ylabel="evaluations more than with all phases [%]")
    panels[1].axhline(0.0, color="black", lw=0.8)
    panels[1].legend(fontsize=8)
    return figure

"""Does a learned guess pay? memetic from a start that knows nothing, from home, and from the guess of a network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

import memetik as mk
from memetik_lab.contest import Way, race
from memetik_lab.harness import BLOCK, Report, Row, percent
from memetik_lab.queries import Task, ask, draw_many, pose_of

ARMS = {"iiwa14": "tool0", "panda": "panda_link8", "ur5": "tool0"}
TASK = Task(position=1e-5, orientation=1e-5, seconds=np.inf)


def run(
    folder: Path,
    *,
    quick: bool = False,
    count: int | None = None,
    arms: Sequence[str] | None = None,
    epochs: int = 1_000,
) -> Report:
    """Measure, print and save."""
    count = count or (500 if quick else 5_000)
    arms = arms or (("iiwa14",) if quick else tuple(ARMS))
    report = Report(
        "learned",
        f"{count} full poses an arm, of postures drawn uniformly within the limits, to {TASK.position:g} m and "
        f"{TASK.orientation:g} rad. Starts: a posture drawn the same way, the body's home, the guess of a network of 40 hidden "
        f"units that learned 10,000 postures drawn (network) or solved by memetic from home (taught), {epochs} epochs at most. "
        "First: share of the poses solved in the first attempt. Error: mean squared error of the network's outputs, which lie "
        f"between 0 and 1, on postures it did not learn. Times as a Python user sees them, starts taking turns of {BLOCK}.",
    )
    for arm in arms:
        report.rows += _measure(arm, count, epochs)
    return report.publish(folder)


def _measure(arm: str, count: int, epochs: int) -> list[Row]:
    body = mk.load(arm)
    tip = ARMS[arm]
    pose = pose_of(tip, TASK)
    problem = mk.Problem(body, pose)
    drawn = mk.learn.FeedForward.train(problem, epochs=epochs)
    taught = mk.learn.FeedForward.train(problem, epochs=epochs, teacher=mk.solvers.Memetic())
    search, guessed, guided = (
        mk.solvers.Memetic(),
        mk.solvers.Learned(network=drawn),
        mk.solvers.Learned(network=taught),
    )
    ways: dict[str, tuple[mk.solvers.Solver, bool, mk.learn.FeedForward | None]] = {
        "drawn": (search, True, None),
        "home": (search, False, None),
        "network": (guessed, False, drawn),
        "taught": (guided, False, taught),
    }
    asked = [_ask(problem, solver, from_start) for solver, from_start, _ in ways.values()]
    tallies = race(asked, draw_many(body, [pose], count), arm)
    return [
        {
            "arm": arm,
            "start": way,
            "solved [%]": percent(tally.each("success")),
            "attempts": tally.mean("attempts"),
            "first [%]": percent(np.array(tally.each("attempts")) == 1),
            "evaluations": tally.mean("evaluations"),
            "median [us]": float(np.median(tally.seconds)) * 1e6,
            "mean [us]": float(np.mean(tally.seconds)) * 1e6,
            "error [%]": None if network is None else 100.0 * network.lesson.validation_error,
        }
        for (way, (_, _, network)), tally in zip(ways.items(), tallies, strict=True)
    ]


def _ask(problem: mk.Problem, solver: mk.solvers.Solver, from_start: bool) -> Way:
    answer = ask(problem, solver, mk.Budget())
    return answer if from_start else lambda query: answer(query._replace(start=None))

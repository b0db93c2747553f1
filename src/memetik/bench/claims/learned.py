"""Does a learned guess pay? memetic from a start that knows nothing, from home, and from the guess of a network."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memetik.bench.harness import BLOCK, Report, progress
from memetik.bench.own import pose_of
from memetik.bench.peers import Task
from memetik.learn import FeedForward
from memetik.problem import Problem
from memetik.read.load import load
from memetik.solution import Solution
from memetik.solvers import Memetic
from memetik.solvers.learned import Learned
from memetik.types import Array

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


def _measure(arm: str, count: int, epochs: int) -> list[dict[str, Any]]:
    body = load(arm)
    tip = ARMS[arm]
    pose = pose_of(tip, TASK)
    problem = Problem(body, pose)
    drawn = FeedForward.train(problem, epochs=epochs)
    taught = FeedForward.train(problem, epochs=epochs, teacher=Memetic())
    search, guessed, guided = Memetic(), Learned(network=drawn), Learned(network=taught)
    ways: dict[str, tuple[Callable[[Array], Solution], FeedForward | None]] = {
        "drawn": (lambda start: search.solve(problem, start), None),
        "home": (lambda start: search.solve(problem), None),
        "network": (lambda start: guessed.solve(problem), drawn),
        "taught": (lambda start: guided.solve(problem), taught),
    }
    rng = np.random.default_rng(1)
    queries = [(body.forward(body.sample(rng))[tip], body.sample(rng)) for _ in range(count)]
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    found: dict[str, list[Solution]] = {way: [] for way in ways}
    for solve, _ in ways.values():
        solve(queries[0][1])  # compiles
    for first in progress(range(0, count, BLOCK), -(-count // BLOCK), arm):
        for way, (solve, _) in ways.items():
            for target, start in queries[first : first + BLOCK]:
                begin = time.perf_counter()
                pose.target = target
                solution = solve(start)
                seconds[way].append(time.perf_counter() - begin)
                found[way].append(solution)
    return [
        {
            "arm": arm,
            "start": way,
            "solved [%]": 100.0 * float(np.mean([solution.success for solution in found[way]])),
            "attempts": float(np.mean([solution.attempts for solution in found[way]])),
            "first [%]": 100.0 * float(np.mean([solution.attempts == 1 for solution in found[way]])),
            "evaluations": float(np.mean([solution.evaluations for solution in found[way]])),
            "median [us]": float(np.median(seconds[way])) * 1e6,
            "mean [us]": float(np.mean(seconds[way])) * 1e6,
            "error [%]": None if network is None else 100.0 * network.lesson.validation_error,
        }
        for way, (_, network) in ways.items()
    ]

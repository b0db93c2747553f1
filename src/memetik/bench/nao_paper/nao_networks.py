"""What networks learn of the NAO's arm: the error by hidden units (table 2 of Poddighe 2013), and where the hand ends up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memetik.bench.harness import Report, best_seconds, progress
from memetik.errors import MissingExtraError
from memetik.learn import Elman, FeedForward, Lesson, SupportVectors
from memetik.learn.samples import draw_paths, inputs_of
from memetik.objectives import Objective, Position
from memetik.problem import Problem
from memetik.solvers import Memetic
from memetik.types import Array

# Hidden units: published errors in training and validation [%].
PUBLISHED = {
    5: (2.70, 2.73),
    10: (2.70, 2.71),
    15: (2.37, 2.41),
    20: (2.37, 2.40),
    30: (2.37, 2.40),
    40: (2.35, 2.38),
    50: (2.35, 2.38),
    75: (2.35, 2.38),
    100: (2.35, 2.38),
}
HIDDEN = tuple(PUBLISHED)
CHOSEN = 40
STEPS = 25  # of a path


def measure_networks(
    asked: tuple[Problem, Position], hidden: Sequence[int], count: int, epochs: int
) -> tuple[Report, FeedForward]:
    """Train networks of all sizes, one with a teacher, one with a memory, and support vectors; the report, and the chosen."""
    problem, reach = asked
    report = Report(
        "nao_networks",
        f"{count} postures drawn uniformly within the limits to train, as many to validate, all numbers scaled to 0 ... 1, "
        f"RPROP for at most {epochs} epochs, until the validation error stays. Error: mean squared error of the outputs [%]. "
        "Hand: distance of the hand from the target when the arm takes the posture answered, mean over the validation set. "
        "Published: table 2, whose error is taken for the same measure because its tool reports it by default; the paper "
        "reads it as a share of the arm's length, 5.2 mm. Taught: postures by memetic from the ready posture. Paths: of "
        f"{STEPS} steps between postures drawn the same way.",
    )
    networks = {
        units: FeedForward.train(problem, hidden=units, samples=count, epochs=epochs)
        for units in progress(hidden, len(hidden), "networks")
    }
    for units, network in networks.items():
        report.rows.append(_row("feed-forward", units, network.lesson, _hand(network, problem, reach, count), units))
    chosen = networks.get(CHOSEN) or next(reversed(networks.values()))
    taught = FeedForward.train(problem, hidden=CHOSEN, samples=count, epochs=epochs, teacher=Memetic())
    report.rows.append(_row("feed-forward, taught", CHOSEN, taught.lesson, _hand(taught, problem, reach, count)))
    try:
        vectors = SupportVectors.train(problem, samples=min(count, 2_000))
        report.rows.append(
            _row("support vectors", len(vectors.vectors), vectors.lesson, _hand(vectors, problem, reach, count))
        )
    except MissingExtraError as error:
        report.remarks.append(f"Support vectors were not measured: {error}")
    report.rows += _paths(problem, reach, chosen, max(count // STEPS, 4), epochs // 2)
    return report, chosen


def network_row(
    network: FeedForward, asked: tuple[Problem, Position], points: Array, tolerance: float, published: float | None
) -> dict[str, Any]:
    """The network's row in table 1: the time of one answer in a large batch, and what the answers are worth."""
    problem, reach = asked
    many = np.tile(points, (max(1, 100_000 // len(points)), 1))
    each = best_seconds(lambda: network.predict_batch(problem, {reach: many}), repeats=5) / len(many)
    errors = _miss(problem, network.predict_batch(problem, {reach: points}), points)
    return {
        "method": "network",
        "setting": "library",
        "solved [%]": 100.0 * float(np.mean(errors <= tolerance)),
        "mean [us]": each * 1e6,
        "median [us]": None,
        "iterations": None,
        "deviation": None,
        "error [mm]": float(errors.mean()) * 1e3,
        "published [us]": None if published is None else published * 1e3,
        "published iterations": None,
        "published deviation": None,
    }


def _paths(problem: Problem, reach: Position, plain: FeedForward, count: int, epochs: int) -> list[dict[str, Any]]:
    """A network with memory against one without, on paths that neither has seen."""
    memory = Elman.train(problem, hidden=CHOSEN, paths=count, steps=STEPS, epochs=epochs)
    drawn = draw_paths(problem, count, STEPS, np.random.default_rng(1))
    rows = []
    for name, network in (("elman, paths", memory), ("feed-forward, the same paths", plain)):
        errors, misses = [], []
        for inputs, outputs in zip(drawn.check_inputs, drawn.check_outputs, strict=True):
            points = inputs / drawn.domain.gain + drawn.domain.low
            asked: dict[Objective, Array] = {reach: points}
            vectors = memory.predict_path(problem, asked) if network is memory else plain.predict_batch(problem, asked)
            postures = vectors[:, problem.compiled.active]
            errors.append(np.mean(((postures - drawn.domain.lower) / drawn.domain.span - outputs) ** 2))
            misses.append(_miss(problem, vectors, points).mean())
        lesson = Lesson(network.lesson.training_error, float(np.mean(errors)), network.lesson.epochs)
        rows.append(_row(name, CHOSEN, lesson, float(np.mean(misses))))
    return rows


def _hand(network: FeedForward | SupportVectors, problem: Problem, reach: Position, count: int) -> float:
    """How far the hand is from targets that were not trained with, in the mean [m]."""
    c = problem.compiled
    postures = np.random.default_rng(3).uniform(
        c.variables["sample_lower"], c.variables["sample_upper"], (count, c.active.size)
    )
    points = inputs_of(problem, postures)
    return float(_miss(problem, network.predict_batch(problem, {reach: points}), points).mean())


def _miss(problem: Problem, vectors: Array, points: Array) -> Array:
    """The distance of the hand from each point [m]."""
    shown = inputs_of(problem, np.ascontiguousarray(vectors[:, problem.compiled.active]))
    return np.asarray(np.linalg.norm(shown - points, axis=1))


def _row(kind: str, units: int, lesson: Lesson, hand: float, published: int | None = None) -> dict[str, Any]:
    training, validation = PUBLISHED.get(published, (None, None)) if published else (None, None)
    return {
        "network": kind,
        "units": units,
        "epochs": lesson.epochs,
        "training [%]": lesson.training_error * 100.0,
        "validation [%]": lesson.validation_error * 100.0,
        "hand [mm]": hand * 1e3,
        "published training [%]": training,
        "published validation [%]": validation,
    }


def plot_networks(report: Report, axes: Any) -> None:
    """The validation error by hidden units, ours and the published one."""
    rows = [row for row in report.rows if row["network"] == "feed-forward"]
    units = [row["units"] for row in rows]
    axes.plot(units, [row["validation [%]"] for row in rows], marker="o", ms=4, label="memetik")
    axes.plot(units, [row["published validation [%]"] for row in rows], marker="s", ms=4, ls="--", label="published")
    axes.set(xlabel="hidden units", ylabel="mean squared error of the outputs [%]")
    axes.legend(fontsize=8)

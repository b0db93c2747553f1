"""What networks learn of the NAO's arm: the error by hidden units (table 2 of Poddighe 2013), and where the hand ends up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

import memetik as mk
from memetik.learn import Lesson, draw_paths, inputs_of
from memetik.types import Array
from memetik_lab.harness import Report, Row, best_seconds, column, percent, progress, select

# Hidden units: published errors in training and validation [%].
PUBLISHED = {
    5: (2.70, 2.73), 10: (2.70, 2.71), 15: (2.37, 2.41), 20: (2.37, 2.40), 30: (2.37, 2.40), 40: (2.35, 2.38),
    50: (2.35, 2.38), 75: (2.35, 2.38), 100: (2.35, 2.38),
}  # fmt: skip
PUBLISHED_TIME = 2.771  # us, of one answer
HIDDEN = tuple(PUBLISHED)
CHOSEN = 40
STEPS = 25  # of a path
NEAR = 0.1  # of the range of each joint: how far the posture that a network hears is from the answer
CELLS = 3  # along each axis
GENETIC = 10  # hidden units of a network whose weights a genetic algorithm finds


def measure_networks(
    asked: tuple[mk.Problem, mk.Position], hidden: Sequence[int], count: int, epochs: int
) -> tuple[Report, mk.learn.FeedForward]:
    """Train networks of all sizes, one with a teacher, one with a memory, and support vectors; the report, and the chosen."""
    problem, reach = asked
    report = Report(
        "nao_networks",
        f"{count} postures drawn uniformly within the limits to train, as many to validate, all numbers scaled to 0 ... 1, "
        f"RPROP for at most {epochs} epochs, until the validation error stays. Error: mean squared error of the outputs [%]. "
        "Hand: distance of the hand from the target when the arm takes the posture answered, mean over the validation set. "
        "Published: table 2, whose error is taken for the same measure because its tool reports it by default; the paper "
        "reads it as a share of the arm's length, 5.2 mm. Taught: postures by memetic from the ready posture. Paths: of "
        f"{STEPS} steps between postures drawn the same way. Hears the posture: the answer to the step before, at first the one "
        f"that the path begins with; in training one within {NEAR:.0%} of each joint's range. By a genetic algorithm: {GENETIC} "
        "hidden units, as many generations as the other has epochs.",
    )
    networks = {
        units: mk.learn.FeedForward.train(problem, hidden=units, samples=count, epochs=epochs)
        for units in progress(hidden, len(hidden), "networks")
    }
    for units, network in networks.items():
        report.rows.append(_row("feed-forward", units, network.lesson, _hand(network, problem, reach, count), units))
    chosen = networks.get(CHOSEN) or next(reversed(networks.values()))
    taught = mk.learn.FeedForward.train(
        problem, hidden=CHOSEN, samples=count, epochs=epochs, teacher=mk.solvers.Memetic()
    )
    report.rows.append(_row("feed-forward, taught", CHOSEN, taught.lesson, _hand(taught, problem, reach, count)))
    extreme = mk.learn.ExtremeLearning.train(problem, hidden=max(count // 10, 10), samples=count)
    report.rows.append(
        _row("extreme learning", len(extreme.hidden), extreme.lesson, _hand(extreme, problem, reach, count))
    )
    try:
        for name, cells, many in (("support vectors", 1, 2_000), (f"support vectors, {CELLS**3} cells", CELLS, 10_000)):
            if min(count, many) < 10 * cells**3:
                continue  # too few for most cells
            vectors = mk.learn.SupportVectors.train(problem, samples=min(count, many), cells=cells)
            report.rows.append(
                _row(name, len(vectors.vectors), vectors.lesson, _hand(vectors, problem, reach, count))
            )  # fmt: skip
    except mk.errors.MissingExtraError as error:
        report.remarks.append(f"Support vectors were not measured: {error}")
    report.rows += _paths(problem, reach, chosen, max(count // STEPS, 4), epochs // 2)
    return report, chosen


def network_row(
    network: mk.learn.FeedForward,
    asked: tuple[mk.Problem, mk.Position],
    points: Array,
    tolerance: float,
    columns: Iterable[str],
) -> Row:
    """The network's row in table 1: the time of one answer in a large batch, and what the answers are worth."""
    problem, reach = asked
    many = np.tile(points, (max(1, 100_000 // len(points)), 1))
    each = best_seconds(lambda: network.predict_batch(problem, {reach: many}), repeats=5) / len(many)
    errors = _miss(problem, network.predict_batch(problem, {reach: points}), points)
    known = {
        "method": "network",
        "setting": "library",
        "solved [%]": percent(errors <= tolerance),
        "mean [us]": each * 1e6,
        "error [mm]": float(errors.mean()) * 1e3,
        "published [us]": PUBLISHED_TIME,
    }
    return {key: known.get(key) for key in columns}


def _paths(problem: mk.Problem, reach: mk.Position, plain: mk.learn.FeedForward, count: int, epochs: int) -> list[Row]:
    """Networks that know what came before against one that does not, on paths that none has seen."""
    drawn = draw_paths(problem, count, STEPS, np.random.default_rng(1))
    memory = mk.learn.Elman.train(problem, hidden=CHOSEN, paths=count, steps=STEPS, epochs=epochs)
    bred = mk.learn.Elman.train(
        problem, hidden=GENETIC, paths=max(count // 4, 4), steps=STEPS, epochs=epochs, patience=epochs + 1, by="genetic"
    )
    near = mk.learn.FeedForward.train(
        problem, hidden=CHOSEN, samples=count * STEPS, epochs=2 * epochs, posture_spread=NEAR
    )
    rows = []
    for name, network in (
        ("elman, paths", memory),
        ("elman by a genetic algorithm, the same paths", bred),
        ("feed-forward that hears the posture, the same paths", near),
        ("feed-forward, the same paths", plain),
    ):
        errors, misses = [], []
        for inputs, outputs in zip(drawn.check_inputs, drawn.check_outputs, strict=True):
            points = inputs / drawn.domain.gain + drawn.domain.low
            asked: dict[mk.Objective, Array] = {reach: points}
            start = problem.body.home.copy()
            start[problem.compiled.active] = drawn.domain.lower + drawn.domain.span * outputs[0]
            vectors = (
                plain.predict_batch(problem, asked) if network is plain else network.predict_path(problem, asked, start)
            )
            postures = vectors[:, problem.compiled.active]
            errors.append(np.mean(((postures - drawn.domain.lower) / drawn.domain.span - outputs) ** 2))
            misses.append(_miss(problem, vectors, points).mean())
        units = network.hidden if isinstance(network, mk.learn.Elman) else CHOSEN
        lesson = Lesson(network.lesson.training_error, float(np.mean(errors)), network.lesson.epochs)
        rows.append(_row(name, units, lesson, float(np.mean(misses))))
    return rows


def _hand(
    network: mk.learn.FeedForward | mk.learn.SupportVectors | mk.learn.ExtremeLearning,
    problem: mk.Problem,
    reach: mk.Position,
    count: int,
) -> float:
    """How far the hand is from targets that were not trained with, in the mean [m]."""
    c = problem.compiled
    postures = np.random.default_rng(3).uniform(
        c.variables["sample_lower"], c.variables["sample_upper"], (count, c.active.size)
    )
    points = inputs_of(problem, postures)
    return float(_miss(problem, network.predict_batch(problem, {reach: points}), points).mean())


def _miss(problem: mk.Problem, vectors: Array, points: Array) -> Array:
    """The distance of the hand from each point [m]."""
    shown = inputs_of(problem, np.ascontiguousarray(vectors[:, problem.compiled.active]))
    return np.asarray(np.linalg.norm(shown - points, axis=1))


def _row(kind: str, units: int, lesson: Lesson, hand: float, published: int | None = None) -> Row:
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
    rows = select(report.rows, network="feed-forward")
    units = column(rows, "units")
    axes.plot(units, column(rows, "validation [%]"), marker="o", ms=4, label="memetik")
    axes.plot(units, column(rows, "published validation [%]"), marker="s", ms=4, ls="--", label="published")
    axes.set(xlabel="hidden units", ylabel="mean squared error of the outputs [%]")
    axes.legend(fontsize=8)

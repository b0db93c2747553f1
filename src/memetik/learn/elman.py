"""Elman: a network with a memory of one step, for targets that follow one another.

The hidden units hear, besides the target, what they said one step ago (kernels/elman.py). A single target may have many
postures; on a path, the ones before it tell which of them is meant. It is trained by RPROP on smooth motions of the joints.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.errors import ProblemError
from memetik.kernels.elman import respond_in_turn
from memetik.kernels.encoding import write_wanted
from memetik.learn.domain import Domain, target_rows
from memetik.learn.files import load_weights, save_weights
from memetik.learn.paths import draw_paths
from memetik.learn.through_time import ElmanError, first_weights, weight_count
from memetik.learn.training import Lesson, train
from memetik.objectives import Objective
from memetik.problem import Problem
from memetik.problem.seed import checked_seed

Array = NDArray[np.float64]

KIND = "elman"


class Elman:
    """A trained recurrent network: `predict_path` answers a row of targets with a row of postures."""

    def __init__(self, domain: Domain, hidden: int, weights: Array, lesson: Lesson) -> None:
        self.domain, self.hidden, self.weights, self.lesson = domain, hidden, weights, lesson
        if weights.shape != (weight_count(domain.low.size, hidden, domain.lower.size),):
            raise ProblemError(f"{weights.size} weights do not make an Elman network of {hidden} hidden units.")

    @classmethod
    def train(
        cls,
        problem: Problem,
        *,
        hidden: int = 40,
        paths: int = 400,
        steps: int = 25,
        epochs: int = 1_000,
        patience: int = 200,
        seed: int = 0,
    ) -> Elman:
        """Learn from `paths` motions of so many `steps`, and judge by as many others; the rest as FeedForward.train."""
        if hidden < 1 or epochs < 0 or patience < 1:
            raise ProblemError(f"hidden {hidden}, patience {patience} and epochs {epochs} must be at least 1, 1 and 0.")
        rng = np.random.default_rng(checked_seed(seed))
        drawn = draw_paths(problem, paths, steps, rng)
        weights = first_weights(drawn.inputs.shape[2], hidden, drawn.outputs.shape[2], rng)
        learn = ElmanError(hidden, drawn.inputs, drawn.outputs)
        judge = ElmanError(hidden, drawn.check_inputs, drawn.check_outputs)
        label = f"learning paths of {problem.body.name}"
        lesson = train(weights, learn.slope, judge.value, epochs=epochs, patience=patience, label=label)
        return cls(drawn.domain, hidden, weights, lesson)

    def predict_path(
        self, problem: Problem, targets: Mapping[Objective, ArrayLike], start: ArrayLike | None = None
    ) -> Array:
        """A joint vector, as a row, for every step of a path: {objective: array with one target a step}."""
        c = self.domain.check(problem)
        places, rows = target_rows(problem, targets)
        data, inputs = c.data.copy(), np.empty((len(rows), self.domain.low.size))
        for row, numbers in zip(inputs, rows, strict=True):
            data[places] = numbers
            write_wanted(c.terms, data, row)
        inputs = (inputs - self.domain.low) * self.domain.gain
        hidden, outputs = np.empty((len(rows), self.hidden)), np.empty((len(rows), c.active.size))
        respond_in_turn(self.weights, inputs, hidden, outputs)
        vectors = np.tile(problem.start(start), (len(rows), 1))
        vectors[:, c.active] = self.domain.lower + self.domain.span * outputs
        return vectors

    def save(self, path: str | Path) -> Path:
        """Write the weights to an .npz file, and return its path."""
        arrays = {"hidden": np.array(self.hidden), "weights": self.weights, "lesson": np.array(self.lesson)}
        return save_weights(path, KIND, self.domain, arrays)

    @classmethod
    def load(cls, path: str | Path) -> Elman:
        """Read what `save` wrote."""
        domain, arrays = load_weights(path, KIND, ("hidden", "weights", "lesson"))
        training, validation, epochs = arrays["lesson"].tolist()
        weights = np.array(arrays["weights"], dtype=np.float64)
        return cls(domain, int(arrays["hidden"]), weights, Lesson(training, validation, int(epochs)))

    def __repr__(self) -> str:
        return f"<Elman, {self.hidden} hidden units, for {self.domain.body}: error {self.lesson.validation_error:.2%}>"

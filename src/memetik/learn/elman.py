"""Elman: a network with a memory of one step, for targets that follow one another.

The hidden units hear, besides the target, what they said one step ago (kernels/learned/elman.py). A single target may have many
postures; on a path, the ones before it tell which of them is meant. It is trained by RPROP on smooth motions of the joints.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from memetik.kernels.learned.elman import respond_in_turn
from memetik.learn.checks import epochs_of, numbers_of, require_fits, require_learned, samples_of, units_of
from memetik.learn.domain import Domain, input_count, require_targets, wanted_inputs
from memetik.learn.files import load_weights, save_weights
from memetik.learn.paths import draw_paths
from memetik.learn.through_time import ElmanError, first_weights, weight_count
from memetik.learn.training import Lesson, train
from memetik.objectives import Objective
from memetik.problem import Problem
from memetik.problem.seed import checked_seed
from memetik.types import Array

KIND = "elman"
WHO = "Elman"


class Elman:
    """A trained recurrent network: `predict_path` answers a row of targets with a row of postures."""

    def __init__(self, domain: Domain, hidden: int, weights: Array, lesson: Lesson) -> None:
        require_learned(domain, lesson, WHO)
        self.domain, self.lesson, self.hidden = domain, lesson, units_of(hidden, WHO)
        count = weight_count(domain.low.size, self.hidden, domain.lower.size)
        self.weights = numbers_of(weights, (count,), WHO, "weights")

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
        epochs, patience = epochs_of(epochs, patience, WHO)
        hidden, paths, steps = (
            units_of(hidden, WHO),
            samples_of(paths, WHO, "paths"),
            samples_of(steps, WHO, "steps", 2),
        )
        require_targets(problem)
        inputs, joints = input_count(problem.compiled), problem.compiled.active.size
        require_fits(weight_count(inputs, hidden, joints), paths * steps * (inputs + hidden + joints), WHO)
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
        inputs = (wanted_inputs(problem, targets) - self.domain.low) * self.domain.gain
        hidden, outputs = np.empty((len(inputs), self.hidden)), np.empty((len(inputs), c.active.size))
        respond_in_turn(self.weights, inputs, hidden, outputs)
        vectors = np.tile(problem.start(start), (len(inputs), 1))
        vectors[:, c.active] = self.domain.lower + self.domain.span * outputs
        return vectors

    def save(self, path: str | Path) -> Path:
        """Write the weights to an .npz file, and return its path."""
        arrays = {"hidden": np.array(self.hidden), "weights": self.weights}
        return save_weights(path, KIND, self.domain, self.lesson, arrays)

    @classmethod
    def load(cls, path: str | Path) -> Elman:
        """Read what `save` wrote."""
        domain, lesson, arrays = load_weights(path, KIND, ("hidden", "weights"))
        return cls(domain, arrays["hidden"].tolist(), arrays["weights"], lesson)

    def __repr__(self) -> str:
        return f"<Elman, {self.hidden} hidden units, for {self.domain.body}: error {self.lesson.validation_error:.2%}>"

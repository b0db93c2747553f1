"""Elman: a network with a memory of one step, for targets that follow one another.

The hidden units hear, besides the target, what they said one step ago (kernels/learned/elman.py). A single target may have many
postures; on a path, the ones before it tell which of them is meant. It is trained on smooth motions of the joints, by RPROP or by
a genetic algorithm.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from memetik.errors import ProblemError, shown
from memetik.kernels.learned.elman import respond_in_turn
from memetik.learn.domain import Domain, input_count, require_targets, wanted_inputs
from memetik.learn.genetic import POPULATION, train_by_genes
from memetik.learn.learner import Learner, counts_of, numbers_of, require_fits
from memetik.learn.samples import draw_paths
from memetik.learn.training import (
    ElmanError,
    Lesson,
    elman_units,
    elman_weight_count,
    first_elman_weights,
    train,
)
from memetik.objectives import Objective
from memetik.problem import Problem
from memetik.problem.seed import checked_seed
from memetik.types import Array

WHO = "Elman"
TRAINERS = ("rprop", "genetic")


class Elman(Learner):
    """A trained recurrent network: `predict_path` answers a row of targets with a row of postures."""

    kind, saved = "elman", ("hidden", "weights")

    def __init__(self, domain: Domain, hidden: int, weights: Array, lesson: Lesson) -> None:
        super().__init__(domain, lesson)
        (self.hidden,) = counts_of(WHO, hidden=hidden)
        count = elman_weight_count(domain.low.size, self.hidden, domain.lower.size)
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
        by: str = "rprop",
    ) -> Elman:
        """Learn from `paths` motions of so many `steps`, and judge by as many others; the rest as FeedForward.train.

        by: "rprop", which follows derivatives, or "genetic", a genetic algorithm that has none, and for which `epochs` and
        `patience` count generations. It needs far longer for the same error, and is for small networks.
        """
        if not isinstance(by, str) or by not in TRAINERS:
            raise ProblemError(f"{WHO}: by is {shown(by)}; give one of {', '.join(map(repr, TRAINERS))}.")
        epochs, patience, hidden, paths, steps = counts_of(
            WHO, epochs=epochs, patience=patience, hidden=hidden, paths=paths, steps=steps
        )
        require_targets(problem)
        inputs, joints = input_count(problem.compiled), problem.compiled.active.size
        weights_at_once = elman_weight_count(inputs, hidden, joints) * (POPULATION if by == "genetic" else 1)
        require_fits(weights_at_once, paths * steps * (inputs + hidden + joints), WHO)
        rng = np.random.default_rng(checked_seed(seed))
        drawn = draw_paths(problem, paths, steps, rng)
        learn = ElmanError(hidden, drawn.inputs, drawn.outputs)
        judge = ElmanError(hidden, drawn.check_inputs, drawn.check_outputs)
        label = f"learning paths of {problem.body.name}"
        if by == "genetic":
            population = np.array([first_elman_weights(inputs, hidden, joints, rng) for _ in range(POPULATION)])
            weights, lesson = train_by_genes(
                population, elman_units(inputs, hidden, joints), learn.value, judge.value,
                generations=epochs, patience=patience, label=label, rng=rng,
            )  # fmt: skip
        else:
            weights = first_elman_weights(inputs, hidden, joints, rng)
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
        return self._vectors(problem, start, self.domain.lower + self.domain.span * outputs)

    def __repr__(self) -> str:
        return f"<Elman, {self.hidden} hidden units, for {self.domain.body}: error {self.lesson.validation_error:.2%}>"

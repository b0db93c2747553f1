"""SupportVectors: support vector regression, one machine for each joint, trained by scikit-learn.

    y = b + sum_i c_i exp(-gamma |u - u_i|^2)

over those samples u_i of the training set that are off by more than epsilon; the others do not count. The machines are kept
as these numbers, so that only training needs scikit-learn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from memetik.errors import MissingExtraError, ProblemError
from memetik.geometry.checks import real_number, whole_number
from memetik.kernels.learned.encoding import write_wanted
from memetik.kernels.problem.limits import wrap_towards
from memetik.learn.domain import Domain, wanted_inputs
from memetik.learn.learner import Learner, numbers_of
from memetik.learn.samples import Teacher, draw_samples
from memetik.learn.training import Lesson
from memetik.objectives import Objective
from memetik.problem import Problem
from memetik.problem.seed import checked_seed
from memetik.types import Array

WHO = "SupportVectors"
MOST_SAMPLES = 100_000  # training takes time in proportion to their square
MOST_PENALTY = 1e4  # training takes time in proportion: 200 samples of noise 3 s with 1e4, over 15 s with 1e5
BLOCK = 1_000  # targets answered at once, to keep the matrix of distances small


class SupportVectors(Learner):
    """Trained machines. They are slower than a network by the number of support vectors, and need fewer samples."""

    kind, saved = "support vectors", ("vectors", "weights", "offsets", "gamma")

    def __init__(
        self, domain: Domain, vectors: Array, weights: Array, offsets: Array, gamma: float, lesson: Lesson
    ) -> None:
        """vectors (m, inputs), weights (m, joints) with zeros where a vector supports another joint, offsets (joints,)."""
        super().__init__(domain, lesson)
        joints = domain.lower.size
        self.vectors = numbers_of(vectors, (-1, domain.low.size), WHO, "vectors")
        self.weights = numbers_of(weights, (len(self.vectors), joints), WHO, "weights")
        self.offsets = numbers_of(offsets, (joints,), WHO, "offsets")
        self.gamma = real_number(gamma, ProblemError, f"{WHO}: gamma")
        if not 0.0 < self.gamma < math.inf:
            raise ProblemError(f"{WHO}: gamma is {self.gamma:g}; it must be a finite number above zero.")

    @classmethod
    def train(
        cls,
        problem: Problem,
        *,
        samples: int = 2_000,
        penalty: float = 1.0,
        epsilon: float = 0.05,
        seed: int = 0,
        teacher: Teacher | None = None,
    ) -> SupportVectors:
        """Learn to answer the targets of a problem; samples and teacher as for FeedForward.train.

        penalty: how much a sample off by more than epsilon costs (C), at most 10,000.
        epsilon: half the width of the tube of outputs, which lie between 0 and 1, within which a sample costs nothing.
        """
        try:
            from sklearn.svm import SVR
        except ImportError:
            raise MissingExtraError("scikit-learn", "support vector regression", "learn") from None
        samples = whole_number(samples, ProblemError, f"{WHO}: samples", least=1, most=MOST_SAMPLES)
        penalty, epsilon = (
            real_number(value, ProblemError, f"{WHO}: {name}")
            for value, name in ((penalty, "penalty"), (epsilon, "epsilon"))
        )
        if not (0.0 < penalty <= MOST_PENALTY and 0.0 <= epsilon < math.inf):
            raise ProblemError(
                f"{WHO}: penalty is {penalty:g} and epsilon {epsilon:g}; they must be above zero and at most {MOST_PENALTY:g}, "
                "and at least zero."
            )
        drawn = draw_samples(problem, samples, np.random.default_rng(checked_seed(seed)), teacher)
        gamma = 1.0 / (drawn.inputs.shape[1] * max(float(drawn.inputs.var()), 1e-12))
        weights, offsets = np.zeros(drawn.outputs.shape), np.zeros(drawn.outputs.shape[1])
        for k, wanted in enumerate(drawn.outputs.T):
            machine = SVR(C=penalty, epsilon=epsilon, gamma=gamma).fit(drawn.inputs, wanted)
            weights[machine.support_, k] = machine.dual_coef_[0]
            offsets[k] = machine.intercept_[0]
        used = weights.any(axis=1)
        made = cls(drawn.domain, drawn.inputs[used], weights[used], offsets, gamma, Lesson(0.0, 0.0, 0))
        training = float(np.mean((made._respond(drawn.inputs) - drawn.outputs) ** 2))
        validation = float(np.mean((made._respond(drawn.check_inputs) - drawn.check_outputs) ** 2))
        made.lesson = Lesson(training, validation, 0)
        return made

    def predict(self, problem: Problem, start: ArrayLike | None = None) -> Array:
        """A joint vector for the targets of the problem as they are now, as FeedForward.predict."""
        c = self.domain.check(problem)
        q = problem.start(start)
        inputs = np.empty(self.domain.low.size)
        write_wanted(c.terms, c.data, inputs)
        x = self._postures(inputs[np.newaxis])[0]
        wrap_towards(x, q[c.active], c.variables)
        q[c.active] = x
        return q

    def predict_batch(
        self, problem: Problem, targets: Mapping[Objective, ArrayLike], start: ArrayLike | None = None
    ) -> Array:
        """A joint vector, as a row, for each of many targets: {objective: array with one target a row}."""
        self.domain.check(problem)
        return self._vectors(problem, start, self._postures(wanted_inputs(problem, targets)))

    def __repr__(self) -> str:
        return f"<SupportVectors, {len(self.vectors)} for {self.domain.body}: error {self.lesson.validation_error:.2%}>"

    def _postures(self, inputs: Array) -> Array:
        """Joint values, a row for each row of inputs that are not scaled yet."""
        outputs = self._respond((inputs - self.domain.low) * self.domain.gain)
        return self.domain.lower + self.domain.span * np.clip(outputs, 0.0, 1.0)

    def _respond(self, inputs: Array) -> Array:
        answers = np.empty((len(inputs), self.offsets.size))
        squares = np.einsum("ij,ij->i", self.vectors, self.vectors)
        for first in range(0, len(inputs), BLOCK):
            u = inputs[first : first + BLOCK]
            # |u - v|^2 = |u|^2 - 2 u·v + |v|^2
            distances = np.einsum("ij,ij->i", u, u)[:, np.newaxis] - 2.0 * (u @ self.vectors.T) + squares
            answers[first : first + BLOCK] = np.exp(-self.gamma * distances) @ self.weights + self.offsets
        return answers

"""What learned solvers share that answer by a formula over the scaled numbers of a target, many at once in NumPy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from memetik.kernels.learned.encoding import write_wanted
from memetik.kernels.problem.limits import wrap_towards
from memetik.learn.domain import wanted_inputs
from memetik.learn.learner import Learner
from memetik.learn.samples import Samples
from memetik.learn.training import Lesson
from memetik.objectives import Objective
from memetik.problem import Problem
from memetik.types import Array


class Regressor(Learner):
    """A learned solver whose subclasses say what the outputs for scaled inputs are."""

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

    def _postures(self, inputs: Array) -> Array:
        """Joint values, a row for each row of inputs that are not scaled yet."""
        outputs = self._respond((inputs - self.domain.low) * self.domain.gain)
        return self.domain.lower + self.domain.span * np.clip(outputs, 0.0, 1.0)

    def _examined(self, drawn: Samples) -> Lesson:
        """What the outputs are worth on the samples for training and on those for validation."""
        training = float(np.mean((self._respond(drawn.inputs) - drawn.outputs) ** 2))
        return Lesson(training, float(np.mean((self._respond(drawn.check_inputs) - drawn.check_outputs) ** 2)), 0)

    def _respond(self, inputs: Array) -> Array:
        """The outputs, a row for each row of scaled inputs."""
        raise NotImplementedError

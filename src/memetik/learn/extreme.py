"""ExtremeLearning: a network whose hidden units are drawn and never trained, and whose outputs are the best for them.

    y = B [s(W u + b), 1]        B minimises |H B^T - Y|^2 + ridge |B|^2        (Huang, Zhu and Siew 2006)

over the hidden units' answers H to all samples and the wanted outputs Y. That is one linear system instead of many epochs: a
thousand units learn in the time that RPROP takes for a few looks at the samples. It has the flaw of all that learn from
postures just drawn: where a target has several, it answers their mean.
"""

from __future__ import annotations

import math

import numpy as np

from memetik.errors import ProblemError
from memetik.geometry.checks import real_number
from memetik.learn.domain import Domain, input_count, require_targets
from memetik.learn.learner import counts_of, numbers_of, require_fits
from memetik.learn.regressor import Regressor
from memetik.learn.samples import Teacher, draw_samples
from memetik.learn.training import Lesson, first_weights, layer_views, sigmoid
from memetik.problem import Problem
from memetik.problem.seed import checked_seed
from memetik.types import Array

WHO = "ExtremeLearning"
BLOCK = 10_000  # samples at once, to keep the answers of the hidden units small


class ExtremeLearning(Regressor):
    """An extreme learning machine. `ExtremeLearning.train(problem)` makes one, `save` and `load` keep it."""

    kind, saved = "extreme learning", ("hidden", "outer")

    def __init__(self, domain: Domain, hidden: Array, outer: Array, lesson: Lesson) -> None:
        """hidden (units, inputs + 1): weights of the hidden units and their bias; outer (joints, units + 1): of the outputs."""
        super().__init__(domain, lesson)
        self.hidden = numbers_of(hidden, (-1, domain.low.size + 1), WHO, "weights of hidden units")
        self.outer = numbers_of(outer, (domain.lower.size, len(self.hidden) + 1), WHO, "weights of outputs")

    @classmethod
    def train(
        cls,
        problem: Problem,
        *,
        hidden: int = 1_000,
        samples: int = 10_000,
        ridge: float = 1e-6,
        seed: int = 0,
        teacher: Teacher | None = None,
    ) -> ExtremeLearning:
        """Learn to answer the targets of a problem; samples and teacher as for FeedForward.train.

        hidden: units, which are drawn. ridge: what large weights cost, as a share of what the units say; above zero.
        """
        hidden, samples = counts_of(WHO, hidden=hidden, samples=samples)
        ridge = real_number(ridge, ProblemError, f"{WHO}: ridge")
        if not 0.0 < ridge < math.inf:
            raise ProblemError(f"{WHO}: ridge is {ridge:g}; it must be a finite number above zero.")
        require_targets(problem)
        inputs = input_count(problem.compiled)
        require_fits(max(hidden * (inputs + 1), (hidden + 1) ** 2), samples * inputs, WHO)
        rng = np.random.default_rng(checked_seed(seed))
        drawn = draw_samples(problem, samples, rng, teacher)
        sizes = [drawn.inputs.shape[1], hidden]
        inner = layer_views(first_weights(sizes, rng), sizes)[0]
        normal, right = np.zeros((hidden + 1, hidden + 1)), np.zeros((hidden + 1, drawn.outputs.shape[1]))
        for first in range(0, samples, BLOCK):
            heard = _heard(inner, drawn.inputs[first : first + BLOCK])
            normal += heard.T @ heard
            right += heard.T @ drawn.outputs[first : first + BLOCK]
        normal[np.diag_indices_from(normal)] += ridge * np.trace(normal) / len(normal)
        outer: Array = np.asarray(np.linalg.solve(normal, right).T, dtype=np.float64)
        made = cls(drawn.domain, inner, outer, Lesson(0.0, 0.0, 0))
        made.lesson = made._examined(drawn)
        return made

    def __repr__(self) -> str:
        return f"<ExtremeLearning, {len(self.hidden)} units for {self.domain.body}: error {self.lesson.validation_error:.2%}>"

    def _respond(self, inputs: Array) -> Array:
        answers = np.empty((len(inputs), len(self.outer)))
        for first in range(0, len(inputs), BLOCK):
            answers[first : first + BLOCK] = _heard(self.hidden, inputs[first : first + BLOCK]) @ self.outer.T
        return answers


def _heard(inner: Array, inputs: Array) -> Array:
    """What the hidden units say to each row of inputs, and a 1 for the bias of the outputs."""
    heard = np.ones((len(inputs), len(inner) + 1))
    heard[:, :-1] = sigmoid(inputs @ inner[:, :-1].T + inner[:, -1])
    return heard

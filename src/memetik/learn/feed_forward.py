"""FeedForward: a network of sigmoid units that answers a target with a posture, in about a microsecond.

One layer of 40 hidden units between the numbers of the target and one output for each joint, all scaled to 0 ... 1, trained
by RPROP on postures drawn within the limits. What it answers is the mean of all postures that answer a target alike, weighted
as they were drawn, and that mean need not answer it: where a target has several postures, the network is far from
all of them. A teacher, who gives one posture for each target, mends much of this.

It may hear the posture at hand besides the target (as Almusawi, Dülger and Kapucu 2016 have it), and learns to answer with
the posture near to it: then a target that moves is followed, `predict_path`, and there is no mean of several.

It shines as a first guess for a search, and where a rough answer in no time is enough. It fails to be exact: no network
is, and more units do not help against the mean.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memetik.errors import ProblemError, shown
from memetik.geometry.checks import real_number, several
from memetik.kernels.learned.encoding import Scales
from memetik.kernels.learned.network import Network, infer, infer_batch
from memetik.kernels.runtime.record import allocate, table_of
from memetik.learn.domain import Domain, input_count, require_targets
from memetik.learn.learner import Learner, counts_of, numbers_of, require_fits
from memetik.learn.samples import Teacher, draw_samples
from memetik.learn.training import FeedForwardError, Lesson, first_weights, train, weight_count
from memetik.objectives import Objective
from memetik.problem import Problem, require_problem
from memetik.problem.columns import target_columns
from memetik.problem.compile import Compiled
from memetik.problem.seed import checked_seed
from memetik.types import Array

WHO = "FeedForward"


class FeedForward(Learner):
    """A trained network. `FeedForward.train(problem)` makes one, `save` and `load` keep it.

    It belongs to a body, its limits, and the frames and kinds of the targets; the targets themselves may change.
    """

    kind, saved = "feed-forward", ("sizes", "weights")

    def __init__(self, domain: Domain, sizes: Sequence[int], weights: Array, lesson: Lesson) -> None:
        super().__init__(domain, lesson)
        layers = _layers(several(sizes, ProblemError, f"{WHO}: sizes", "[3, 40, 6]"))
        if len(layers) < 2 or (layers[0], layers[-1]) != (domain.low.size, domain.lower.size):
            raise ProblemError(
                f"{WHO}: layers of {shown(layers)} units do not lead from {domain.low.size} inputs to "
                f"{domain.lower.size} joints."
            )
        self.sizes = np.array(layers, dtype=np.int64)
        self.weights = numbers_of(weights, (weight_count(layers),), WHO, "weights")
        self._scales = Scales(domain.low, domain.gain, domain.lower, domain.span)
        self._units = int(self.sizes.sum())
        self._bound: tuple[weakref.ref[Compiled], tuple[Any, ...], Any] | None = None

    @classmethod
    def train(
        cls,
        problem: Problem,
        *,
        hidden: int | Sequence[int] = 40,
        samples: int = 10_000,
        epochs: int = 2_000,
        patience: int = 200,
        seed: int = 0,
        teacher: Teacher | None = None,
        posture_spread: float | None = None,
    ) -> FeedForward:
        """Learn to answer the positions, orientations and poses of a problem; a bar on the terminal shows how far it is.

        hidden: units of the hidden layer, or of each of several.
        samples: postures to learn from; as many more judge what was learned.
        epochs, patience: training ends after so many looks at all samples, or where so many brought no gain.
        teacher: a solver, mk.solvers.Memetic() say, whose answers from the body's home are learned instead of the postures drawn.
        posture_spread: hear the posture at hand as well, which in training is drawn within this share of the range of each joint
        around the answer, 0.1 say. What it answers then depends on the start.
        """
        epochs, patience = counts_of(WHO, epochs=epochs, patience=patience)
        layers = _layers(hidden if isinstance(hidden, (list, tuple)) and hidden else (hidden,))
        (samples,) = counts_of(WHO, samples=samples)
        require_targets(problem)
        share = _share(posture_spread, teacher)
        joints = problem.compiled.active.size
        sizes = [input_count(problem.compiled) + (joints if share else 0), *layers, joints]
        require_fits(weight_count(sizes), samples * sum(sizes), WHO)
        rng = np.random.default_rng(checked_seed(seed))
        drawn = draw_samples(problem, samples, rng, teacher, share)
        weights = first_weights(sizes, rng)
        learn = FeedForwardError(sizes, drawn.inputs, drawn.outputs)
        judge = FeedForwardError(sizes, drawn.check_inputs, drawn.check_outputs)
        label = f"learning {problem.body.name}"
        lesson = train(weights, learn.slope, judge.value, epochs=epochs, patience=patience, label=label)
        return cls(drawn.domain, sizes, weights, lesson)

    def predict(self, problem: Problem, start: ArrayLike | None = None) -> Array:
        """A joint vector for the targets of the problem as they are now, always within the limits.

        Joints that the targets do not concern stay as in `start` (the body's home unless given), and angles that may turn
        freely come near to it by whole turns.
        """
        require_problem(problem, WHO)
        bound = self._bound
        if bound is None or bound[0]() is not problem.compiled:
            bound = self._bound = self._bind(problem)
        q = problem.start(start)
        infer(bound[2], q)
        return q

    def predict_batch(
        self, problem: Problem, targets: Mapping[Objective, ArrayLike], start: ArrayLike | None = None
    ) -> Array:
        """A joint vector, as a row, for each of many targets: {objective: array with one target a row}."""
        c = self.domain.check(problem)
        places, rows, _ = target_columns(problem, targets, WHO)
        postures, network = np.empty((len(rows), c.variables.size)), self._network(c, c.data.copy())
        infer_batch(table_of(network), places, rows, problem.start(start)[c.active], False, postures)
        return self._vectors(problem, start, postures)

    def predict_path(
        self, problem: Problem, targets: Mapping[Objective, ArrayLike], start: ArrayLike | None = None
    ) -> Array:
        """A joint vector, as a row, for every step of a path, each answered from the posture before: {objective: array with
        one target a step}. Only a network that was trained with `posture` hears it."""
        c = self.domain.check(problem)
        if self.domain.low.size == input_count(c):
            raise ProblemError(
                f"{WHO}: this network does not hear the posture at hand, so that a path is many targets to it: use "
                "predict_batch, or train another with posture_spread=0.1."
            )
        places, rows, _ = target_columns(problem, targets, WHO)
        postures, network = np.empty((len(rows), c.variables.size)), self._network(c, c.data.copy())
        infer_batch(table_of(network), places, rows, problem.start(start)[c.active], True, postures)
        return self._vectors(problem, start, postures)

    def _bind(self, problem: Problem) -> tuple[weakref.ref[Compiled], tuple[Any, ...], Any]:
        """The arrays of a problem and of this network, and the table by which they cross into the kernel as one."""
        c = self.domain.check(problem)
        network = self._network(c, c.data)
        return weakref.ref(c), network, table_of(network)

    def _network(self, c: Compiled, data: Array) -> Network:
        return allocate(
            Network, {**c.sizes, "units": self._units}, scales=self._scales, terms=c.terms, variables=c.variables, data=data,
            sizes=self.sizes, weights=self.weights,
        )  # fmt: skip

    def __repr__(self) -> str:
        layers = "-".join(map(str, self.sizes))
        return f"<FeedForward {layers} for {self.domain.body}: error {self.lesson.validation_error:.2%}>"


def _share(posture: object, teacher: object) -> float:
    """How far the posture that a network hears is from the answer, as a share of the range of a joint; 0 if it hears none."""
    if posture is None:
        return 0.0
    share = real_number(posture, ProblemError, f"{WHO}: posture_spread")
    if not 0.0 < share <= 1.0:
        raise ProblemError(
            f"{WHO}: posture_spread is {share:g}; give a share of the range of a joint, above 0 and at most 1."
        )
    if teacher is not None:
        raise ProblemError(
            f"{WHO}: a teacher and a posture to hear are two ways to choose one answer. Give one of them."
        )
    return share


def _layers(sizes: Sequence[Any]) -> list[int]:
    """The units of each layer."""
    return [counts_of(WHO, hidden=units)[0] for units in sizes]

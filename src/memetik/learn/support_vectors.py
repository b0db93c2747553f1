"""SupportVectors: support vector regression, one machine for each joint, trained by scikit-learn.

    y = b + sum_i c_i exp(-gamma |u - u_i|^2)

over those samples u_i of the training set that are off by more than epsilon; the others do not count. The machines are kept
as these numbers, so that only training needs scikit-learn.

The space of the targets may be divided into cells with machines of their own (as Morell, Tarokh and Acosta 2013 do): each
learns less, from the samples in its cell and a little around it, and an answer takes the vectors of one cell alone.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.errors import MissingExtraError, ProblemError
from memetik.geometry.checks import real_number, whole_number
from memetik.kernels.learned.encoding import POSITION_INPUTS
from memetik.kernels.terms.records import POINT
from memetik.learn.domain import INPUTS, Domain, require_targets
from memetik.learn.learner import numbers_of
from memetik.learn.regressor import Regressor
from memetik.learn.samples import Teacher, draw_samples
from memetik.learn.training import Lesson
from memetik.problem import Problem
from memetik.problem.seed import checked_seed
from memetik.types import Array

WHO = "SupportVectors"
MOST_SAMPLES = 100_000  # training takes time in proportion to their square
MOST_PENALTY = 1e4  # training takes time in proportion: 200 samples of noise 3 s with 1e4, over 15 s with 1e5
FEW = 10  # samples that a machine is worth training for
MOST_CELLS = 32  # along an axis
OVERLAP = 0.25  # of the width of a cell, from where around it samples are learned as well
BLOCK = 1_000  # targets answered at once, to keep the matrix of distances small


class SupportVectors(Regressor):
    """Trained machines. They are slower than a network by the number of support vectors, and need fewer samples."""

    kind, saved = "support vectors", ("vectors", "weights", "owners", "offsets", "gammas", "served", "axis")

    def __init__(
        self,
        domain: Domain,
        vectors: Array,
        weights: Array,
        owners: NDArray[np.int64],
        offsets: Array,
        gammas: Array,
        served: NDArray[np.int64],
        axis: int,
        lesson: Lesson,
    ) -> None:
        """One row for each support vector, then one for each machine, then one for each cell.

        vectors (m, inputs), weights (m, joints) with zeros where a vector supports another joint, owners (m,) the machine of
        each; offsets (machines, joints), gammas (machines,); served (cells,) by which machine. axis: the first of the three
        inputs that say in which cell a target lies.
        """
        super().__init__(domain, lesson)
        joints = domain.lower.size
        self.vectors = numbers_of(vectors, (-1, domain.low.size), WHO, "vectors")
        self.weights = numbers_of(weights, (len(self.vectors), joints), WHO, "weights")
        self.offsets = numbers_of(offsets, (-1, joints), WHO, "offsets")
        self.gammas = numbers_of(gammas, (len(self.offsets),), WHO, "gammas")
        self.owners, self.served = (
            numbers_of(numbers, (size,), WHO, what).astype(np.int64)
            for numbers, size, what in ((owners, len(self.vectors), "owners"), (served, -1, "served"))
        )
        self.axis = whole_number(axis, ProblemError, f"{WHO}: axis", least=0, most=domain.low.size)
        self.cells = round(len(self.served) ** (1.0 / 3.0))
        known = range(len(self.offsets))
        if not (
            (self.gammas > 0.0).all() and set(self.owners) | set(self.served) <= set(known)
            and self.cells**3 == len(self.served) and (self.cells == 1 or self.axis + POSITION_INPUTS <= domain.low.size)
        ):  # fmt: skip
            raise ProblemError(
                f"{WHO}: gammas must be above zero, owners and served numbers of machines below {len(known)}, and the cells "
                "as many along each of three axes."
            )

    @classmethod
    def train(
        cls,
        problem: Problem,
        *,
        samples: int = 2_000,
        penalty: float = 1.0,
        epsilon: float = 0.05,
        cells: int = 1,
        seed: int = 0,
        teacher: Teacher | None = None,
    ) -> SupportVectors:
        """Learn to answer the targets of a problem; samples and teacher as for FeedForward.train.

        penalty: how much a sample off by more than epsilon costs (C), at most 10,000.
        epsilon: half the width of the tube of outputs, which lie between 0 and 1, within which a sample costs nothing.
        cells: along each axis of the first position that is asked for; 3 makes 27 cells with machines of their own. A cell that
        hardly any sample lies in is served by the nearest one.
        """
        try:
            from sklearn.svm import SVR
        except ImportError:
            raise MissingExtraError("scikit-learn", "support vector regression", "learn") from None
        samples = whole_number(samples, ProblemError, f"{WHO}: samples", least=1, most=MOST_SAMPLES)
        cells = whole_number(cells, ProblemError, f"{WHO}: cells", least=1, most=MOST_CELLS)
        penalty, epsilon = (
            real_number(value, ProblemError, f"{WHO}: {name}")
            for value, name in ((penalty, "penalty"), (epsilon, "epsilon"))
        )
        if not (0.0 < penalty <= MOST_PENALTY and 0.0 <= epsilon < math.inf):
            raise ProblemError(
                f"{WHO}: penalty is {penalty:g} and epsilon {epsilon:g}; they must be above zero and at most {MOST_PENALTY:g}, "
                "and at least zero."
            )
        axis = _first_position(problem, cells)
        drawn = draw_samples(problem, samples, np.random.default_rng(checked_seed(seed)), teacher)
        places, machines, homes = drawn.inputs[:, axis : axis + POSITION_INPUTS], [], []
        every = np.array(list(np.ndindex((cells,) * POSITION_INPUTS)))
        for cell in every:
            inside = np.ones(samples, dtype=bool)
            if cells > 1:
                low, margin = cell / cells, OVERLAP / cells
                inside = ((places >= low - margin) & (places <= low + 1.0 / cells + margin)).all(axis=1)
            if inside.sum() >= min(FEW, samples):
                machines.append(_fitted(SVR, drawn.inputs[inside], drawn.outputs[inside], penalty, epsilon))
                homes.append(cell)
        if not machines:
            raise ProblemError(
                f"{WHO}: {samples} samples in {cells**3} cells leave fewer than {FEW} to each. Give more samples or fewer cells."
            )
        served = np.linalg.norm(every[:, np.newaxis] - np.array(homes), axis=2).argmin(axis=1)
        vectors, weights, offsets = (np.concatenate(parts) for parts in list(zip(*machines, strict=True))[:3])
        owners = np.repeat(np.arange(len(machines)), [len(machine.vectors) for machine in machines])
        gammas = np.array([machine.gamma for machine in machines])
        made = cls(drawn.domain, vectors, weights, owners, offsets, gammas, served, axis, Lesson(0.0, 0.0, 0))
        made.lesson = made._examined(drawn)
        return made

    def __repr__(self) -> str:
        many = f"{len(self.vectors)} in {len(self.served)} cells" if self.cells > 1 else str(len(self.vectors))
        return f"<SupportVectors, {many} for {self.domain.body}: error {self.lesson.validation_error:.2%}>"

    def _respond(self, inputs: Array) -> Array:
        answers, machines = np.empty((len(inputs), self.offsets.shape[1])), self._machines(inputs)
        for machine in np.unique(machines):
            mine, known = np.flatnonzero(machines == machine), self.owners == machine
            vectors, weights = self.vectors[known], self.weights[known]
            squares = np.einsum("ij,ij->i", vectors, vectors)
            for first in range(0, len(mine), BLOCK):
                rows = mine[first : first + BLOCK]
                u = inputs[rows]
                # |u - v|^2 = |u|^2 - 2 u·v + |v|^2
                distances = np.einsum("ij,ij->i", u, u)[:, np.newaxis] - 2.0 * (u @ vectors.T) + squares
                answers[rows] = np.exp(-self.gammas[machine] * distances) @ weights + self.offsets[machine]
        return answers

    def _machines(self, inputs: Array) -> NDArray[np.int64]:
        """The machine for each row: that of the cell which the target lies in, or of the nearest."""
        if self.cells == 1:
            return np.full(len(inputs), self.served[0])
        places = inputs[:, self.axis : self.axis + POSITION_INPUTS]
        along = np.clip((places * self.cells).astype(np.int64), 0, self.cells - 1)
        return np.asarray(self.served[(along[:, 0] * self.cells + along[:, 1]) * self.cells + along[:, 2]])


class Machine(NamedTuple):
    """What one cell learned."""

    vectors: Array  # (m, inputs)
    weights: Array  # (m, joints)
    offsets: Array  # (1, joints)
    gamma: float


def _fitted(svr: Any, inputs: Array, outputs: Array, penalty: float, epsilon: float) -> Machine:
    """The machine for some samples: scikit-learn fits one joint at a time, and the joints share their vectors here."""
    gamma = 1.0 / (inputs.shape[1] * max(float(inputs.var()), 1e-12))
    weights, offsets = np.zeros(outputs.shape), np.zeros((1, outputs.shape[1]))
    for k, wanted in enumerate(outputs.T):
        fitted = svr(C=penalty, epsilon=epsilon, gamma=gamma).fit(inputs, wanted)
        weights[fitted.support_, k] = fitted.dual_coef_[0]
        offsets[0, k] = fitted.intercept_[0]
    used = weights.any(axis=1)
    return Machine(inputs[used], weights[used], offsets, gamma)


def _first_position(problem: Problem, cells: int) -> int:
    """Where the first position stands among the inputs; 0 where there is one cell only."""
    require_targets(problem)
    at = 0
    for goal in problem.compiled.terms["goal"]:
        if goal == POINT:
            return at
        at += INPUTS.get(int(goal), 0)
    if cells > 1:
        raise ProblemError(f"{WHO}: cells divide the space of positions, and the problem asks for none. Give cells=1.")
    return 0

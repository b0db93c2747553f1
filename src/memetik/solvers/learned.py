"""Learned: a network guesses, the flagship search finishes.

The guess is rough, but it lies in the right part of the space more often than a start that knows nothing of the target.
`memetik bench learned` on random full poses of the iiwa14: 91 % are solved in the first attempt instead of 78 % from home, with
7.7 evaluations instead of 9.6. A network learns this only from a teacher that gives one posture for each target; of
postures just drawn it learns their mean, which is worth no more than home.

It saves attempts, not time: the guess takes some 5 us by way of Python, where a whole solve from home takes 8. So it pays
where evaluations are dear, and method 'memetic' from the last solution remains the best for targets that move.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.learn import FeedForward
from memetik.problem import Problem
from memetik.solution import Solution
from memetik.solvers.budget import DEFAULT, Budget
from memetik.solvers.memetic import Memetic
from memetik.solvers.seeded import Seeded

Array = NDArray[np.float64]

EPOCHS = 1_000  # of a network that is trained at need


class Predictor(Protocol):
    """What guesses: mk.FeedForward or mk.SupportVectors."""

    def predict(self, problem: Problem, start: ArrayLike | None = None) -> Array:
        """A joint vector for the targets of the problem."""


@dataclass(frozen=True)
class Learned(Seeded):
    """A guess by a network, then memetic from there.

    Takes what memetic takes, if there is a position, orientation or pose among it and nothing that is about the start. The
    start matters for joints that no target concerns, and for whole turns.

    network: what guesses. Without one, a network of 40 hidden units is trained at the first solve of a problem, taught by
    memetic, which takes some ten seconds, and kept as long as the problem.
    """

    seed: int = 0
    network: Predictor | None = None

    def solve(self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT) -> Solution:
        """The solution nearest to hand from the network's guess."""
        network = self.network or self._trained(problem)
        begin = time.perf_counter()
        solution = Memetic(self.seed).solve(problem, network.predict(problem, start), budget)
        solution.method, solution.seconds = "learned", time.perf_counter() - begin
        return solution

    def _trained(self, problem: Problem) -> Predictor:
        known = _networks.setdefault(problem, {})
        if self.seed not in known:
            teacher = Memetic(self.seed)
            known[self.seed] = FeedForward.train(problem, epochs=EPOCHS, seed=self.seed, teacher=teacher)
        return known[self.seed]


_networks: WeakKeyDictionary[Problem, dict[int, FeedForward]] = WeakKeyDictionary()

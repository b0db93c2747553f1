"""Learned: a network guesses, the flagship search finishes.

The guess is rough, but it lies in the right part of the space more often than a start that knows nothing of the target.
`memetik bench learned` on random full poses of the iiwa14: 91 % are solved in the first attempt instead of 78 % from home, with
7.7 evaluations instead of 9.6. A network learns this only from a teacher that gives one posture for each target; of
postures just drawn it learns their mean, which is worth no more than home.

It saves attempts, not time: the guess takes some 5 us by way of Python, where a whole solve from home takes 8. So it pays
where evaluations are dear, and method 'memetic' from the last solution remains the best for targets that move.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Protocol
from weakref import WeakKeyDictionary

from numpy.typing import ArrayLike

from memetik.errors import ProblemError, shown, warn
from memetik.kernels.compiler.compile_time import split_time
from memetik.learn import FeedForward
from memetik.learn.domain import require_targets
from memetik.problem import Problem, require_problem
from memetik.progress import announce
from memetik.solution import Solution
from memetik.solvers.budget import DEFAULT, Budget, require_task
from memetik.solvers.memetic import Memetic
from memetik.solvers.seeded import Seeded
from memetik.types import Array

EPOCHS = 1_000  # of a network that is trained at need
UNTRAINED = "learned (untrained: memetic)"


class Predictor(Protocol):
    """What guesses: mk.learn.FeedForward, mk.learn.ExtremeLearning or mk.learn.SupportVectors."""

    def predict(self, problem: Problem, start: ArrayLike | None = None) -> Array:
        """A joint vector for the targets of the problem."""


@dataclass(frozen=True)
class Learned(Seeded):
    """A guess by a network, then memetic from there.

    Takes what memetic takes, if there is a position, orientation or pose among it and nothing that is about the start. The
    start matters for joints that no target concerns, and for whole turns.

    network: what guesses. Without one, a network of 40 hidden units is trained for each problem, taught by memetic, and
    kept as long as the problem. That takes some ten seconds and happens in `train`, or in the first solve whose budget
    has no limit of seconds. A solve within seconds does not train: without a network it is memetic from the start, and
    `solution.method` says so.
    """

    seed: int = 0
    network: Predictor | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        unable = isinstance(self.network, type) or not callable(getattr(self.network, "predict", None))
        if self.network is not None and unable:
            raise ProblemError(
                f"learned: network is {shown(self.network)}. Give what mk.learn.FeedForward.train(problem) returns, or None."
            )

    def solve(self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT) -> Solution:
        """The solution nearest to hand from the network's guess."""
        require_task(problem, budget, "learned")
        network = self._known(problem)
        if network is None and budget.seconds < math.inf:
            require_targets(problem)  # what could never be learned is refused in any case
            warn(
                f"method 'learned' has no network for this problem and does not train within {budget.seconds:g} s: it "
                f"solves as 'memetic'. Call mk.solvers.Learned(seed={self.seed}).train(problem) first, or give no seconds."
            )
            solution = Memetic(self.seed).solve(problem, start, budget)
            solution.method = UNTRAINED
            return solution
        if network is None:
            network = self.train(problem)
        begin = time.perf_counter()
        solution = Memetic(self.seed).solve(problem, network.predict(problem, start), budget)
        solution.method = "learned"
        solution.seconds, solution.compile_seconds = split_time(begin)
        return solution

    def train(self, problem: Problem) -> Predictor:
        """The network for a problem, trained now unless there is one; solves of the problem with this seed use it."""
        require_problem(problem, "learned")
        network = self._known(problem)
        if network is not None:
            return network
        require_targets(problem)
        announce(f"training a network for body {problem.body.name!r} (some ten seconds, once for this problem) ...")
        begin = time.perf_counter()
        trained = FeedForward.train(problem, epochs=EPOCHS, seed=self.seed, teacher=Memetic(self.seed))
        announce(f"trained in {time.perf_counter() - begin:.1f} s")
        _networks.setdefault(problem, {})[self.seed] = trained
        return trained

    def _known(self, problem: Problem) -> Predictor | None:
        """The network that was given, or trained for this problem before."""
        return self.network if self.network is not None else _networks.get(problem, {}).get(self.seed)


_networks: WeakKeyDictionary[Problem, dict[int, FeedForward]] = WeakKeyDictionary()

"""L-BFGS-B: the standard of numerical optimisation for smooth functions within bounds, on the residuals of a problem.

It minimises f(x) = 1/2 |r(x)|^2, all residuals scaled, over the joint limits, from gradients J^T r alone. Curvature comes
from the last few steps s and the changes y of the gradient along them: x moves towards the minimum, within the limits, of

    f + g.d + d.B.d / 2,    B = theta I - W M W^T,    W = [Y S]

(kernels/lbfgsb/minimiser.py), as in Byrd, Lu, Nocedal and Zhu (1995), and stops where a line search finds enough decrease.

It shines where limits are many and touched (they are part of every step, not a clamp behind it), where the problem is not
close to a sum of squares that can vanish, such as targets out of reach or many guides in balance, and where variables are
many: an iteration costs time in proportion to them, not to their cube. It fails where Gauss-Newton wins: near a solution
that satisfies everything, damped least squares squares the error with each step, while this one takes tens of
evaluations more. Like every descent it ends in local minima; drawn restarts make up for them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from memetik.errors import ProblemError
from memetik.kernels.lbfgsb.function_pointers import minimum_address
from memetik.kernels.lbfgsb.minimiser import places_size
from memetik.kernels.lbfgsb.scratch import MINIMUM
from memetik.kernels.lbfgsb.search import room_for_search, search
from memetik.problem import Problem
from memetik.solution import Solution
from memetik.solvers.budget import DEFAULT, Budget, require_task
from memetik.solvers.method import run
from memetik.solvers.seeded import Seeded

MOST_MEMORY = 10


@dataclass(frozen=True)
class LBFGSB(Seeded):
    """Descents by limited-memory quasi-Newton steps within the limits, from the start and then from random postures.

    Takes every objective, any number of tips, any joint. The same seed gives the same answer. memory: how many steps the
    curvature is learnt from, 1 to 10. restarts=False: the one descent from the start, to its minimum.
    """

    seed: int = 0
    memory: int = 7
    restarts: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.memory <= MOST_MEMORY:
            raise ProblemError(f"LBFGSB: memory is {self.memory}; it must be from 1 to {MOST_MEMORY}.")

    def solve(self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT) -> Solution:
        """The first posture found that satisfies all objectives, else the closest."""
        require_task(problem, budget, "lbfgsb")
        begin = time.perf_counter()
        n = problem.compiled.active.size
        places = np.zeros(places_size(n, self.memory), dtype=np.int64)
        places[MINIMUM] = minimum_address()
        return run(
            problem, start, budget, "lbfgsb", search, seed=self.seed, parameters=(self.memory, self.restarts),
            places=places, room=room_for_search(n, self.memory), begin=begin,
        )  # fmt: skip

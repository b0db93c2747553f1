"""The flagship: see kernels/memetic.py for the method."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from memetik.kernels import memetic as kernel
from memetik.kernels.budget import ATTEMPTS, EVALUATIONS, MOVED, OUTCOME, TIMED_OUT
from memetik.kernels.descent import attempt_softly
from memetik.kernels.finish import CLOSEST, REACHED, judge
from memetik.kernels.late import ATTEMPT, address
from memetik.kernels.polish import FAINT, STEPS, polish
from memetik.kernels.pose_search import solve_pose_at
from memetik.objectives.objective import Array
from memetik.problem import Problem
from memetik.problem.compile import Compiled
from memetik.solution import Solution
from memetik.solvers.budget import DEFAULT, Budget

YIELDING = 0.1  # what is left of the pull of an objective that is satisfied with room to spare


@dataclass(frozen=True)
class Memetic:
    """A population of postures, the most promising exploited by damped Gauss-Newton steps within the limits.

    Takes every objective, any number of tips, any joint. The same seed gives the same answer, bit for bit. When nothing
    satisfies all objectives, the answer is a minimum of their errors, nearest to satisfying them of all that were seen.
    """

    seed: int = 0

    def solve(self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT) -> Solution:
        """The solution nearest to hand from `start` (the body's home unless given)."""
        begin = time.perf_counter()
        c = problem.compiled
        q = problem.start(start)
        most = budget.evaluations
        seconds = budget.seconds if budget.seconds < math.inf else 0.0
        first = most if c.roomy is None else most - most // 4
        search = first - min(STEPS, first // 2)  # the rest brings what was missed to a minimum
        if c.one_pose:
            outcome = np.empty(c.outcome.size)
            status = solve_pose_at(c.pose_table, q, outcome, self.seed, search, seconds)
            if status == REACHED:  # most solves end here
                return Solution(problem, q, status, outcome, time.perf_counter() - begin, "memetic")
            c.outcome[:] = outcome
        else:
            status = kernel.solve(*c.record, *c.fate, q, c.attempt, self.seed, 0, search, seconds, *c.scratch)
        unsettled = status == CLOSEST or (c.only_guides and status == REACHED)
        if unsettled and not c.outcome[TIMED_OUT] and c.outcome[EVALUATIONS] < first:
            softness = 1.0 if c.only_guides else FAINT
            status = polish(*c.record, q, softness, first, _left(seconds, begin), *c.scratch)
        if status == CLOSEST and not c.outcome[TIMED_OUT] and c.roomy is not None:
            status = self._yield(c, q, most - int(c.outcome[EVALUATIONS]), _left(seconds, begin))
        problem.raise_faults()
        return Solution(problem, q, status, c.outcome.copy(), time.perf_counter() - begin, "memetic")

    def _yield(self, c: Compiled, q: Array, most: int, seconds: float) -> int:
        """Let objectives that are satisfied with room to spare pull less, if that satisfies the others.

        All objectives are minimised together, so one with a wide tolerance can hold another back for no good. Used where
        the plain search failed: those within a wide tolerance become guides, and the answer counts if they still are.
        """
        terms, reported, data = c.terms, c.outcome.copy(), c.data.copy()
        roomy = c.roomy & (c.outcome[OUTCOME + terms.size :] != 0.0)
        if most < 1 or not roomy.any():
            return CLOSEST
        eased, trial = terms.copy(), q.copy()
        eased["soft"][roomy] = 1
        eased["scale"][roomy] *= YIELDING
        record = (*c.record[:2], eased, *c.record[3:])
        eased_search = address(attempt_softly, ATTEMPT)
        kernel.solve(*record, *c.fate, trial, eased_search, self.seed, 0, most, seconds, *c.scratch)
        np.copyto(c.data, data)  # what follows the start is about the start of the whole solve
        c.outcome[[EVALUATIONS, ATTEMPTS, MOVED]] += reported[[EVALUATIONS, ATTEMPTS, MOVED]]
        if judge(*c.record, trial, *c.scratch) == REACHED:
            np.copyto(q, trial)
            return REACHED
        c.outcome[OUTCOME:] = reported[OUTCOME:]  # no better: what was found before stands
        return CLOSEST


def _left(seconds: float, begin: float) -> float:
    """What is left of the seconds; never zero, which means no deadline, unless there was none."""
    return max(seconds - (time.perf_counter() - begin), 1e-9) if seconds else 0.0

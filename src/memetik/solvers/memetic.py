"""The flagship: see kernels/search/search.py for the method."""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import perf_counter

from numpy import empty
from numpy.typing import ArrayLike

from memetik.kernels.compiler.compile_time import split_time
from memetik.kernels.problem.verify import CLOSEST, ENDED, INVALID, REACHED
from memetik.kernels.search.entry import UNUSUAL
from memetik.kernels.search.search import UNFINISHED
from memetik.kernels.search.stages import run_stages
from memetik.problem import Problem
from memetik.solution import Solution
from memetik.solvers.budget import DEFAULT, Budget, require_task
from memetik.solvers.memetic_plan import NEVER, MemeticScratch, memetic_plan
from memetik.solvers.seeded import Seeded
from memetik.types import Array


@dataclass(frozen=True)
class Memetic(Seeded):
    """A population of postures, the most promising exploited by damped Gauss-Newton steps within the limits.

    Takes every objective, any number of tips, any joint. An arm of six joints with a closed form (see Analytic) answers a single
    Pose, or Position and Orientation of one frame, by it, also where Displacements guide: with the nearest solution (see
    mk.solve_all). Where it has none within the limits, the search goes on. The same seed gives the same answer, bit for bit.
    When nothing satisfies all objectives, the answer is a minimum of their errors, nearest to satisfying them of all that were
    seen.
    """

    seed: int = 0

    def solve(self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT) -> Solution:
        """The solution nearest to hand from `start` (the body's home unless given)."""
        begin = perf_counter()
        require_task(problem, budget, "memetic")
        c, q = problem.compiled, problem.start(start)
        scratch = memetic_plan(c).lease(budget.token)
        if scratch.budget is not budget:
            scratch.take_budget(budget)
        # Nothing to lock or to cancel, and after a search that reached all nothing to raise or to balance: most are like this.
        scratch.again = budget if budget.token is None and c.ends_reached and not problem.lock else NEVER
        outcome = empty(scratch.numbers)
        status = scratch.search_from(scratch.call, q, outcome, self.seed, math.inf)
        return finish_solve(self, problem, start, budget, scratch, q, outcome, status, begin)


def finish_solve(
    memetic: Memetic, problem: Problem, start: ArrayLike | None, budget: Budget, scratch: MemeticScratch, q: Array,
    outcome: Array, status: int, begin: float,
) -> Solution:  # fmt: skip
    """What follows the first search of a solve, whatever came of it."""
    plan = scratch.plan
    if status == UNFINISHED:  # after a first attempt, in the first search of a process that needs a second one
        plan.complete()
        q = problem.start(start)
        status = scratch.search_from(scratch.call, q, outcome, memetic.seed, math.inf)
    status = later_stages(scratch, q, outcome, status, memetic.seed, begin)
    problem.raise_faults(scratch.clock)
    plan.give_back(scratch)
    if status == UNUSUAL:
        return memetic.solve(problem, problem.start(q).tolist(), budget)
    took, compiling = split_time(begin)
    return Solution(problem, q, status, outcome, took, "memetic", compiling)


def later_stages(scratch: MemeticScratch, q: Array, outcome: Array, status: int, seed: int, begin: float) -> int:
    """The stages after the search, if what it found calls for them; the status of what is in q then.

    begin: when the solve began, on the clock of time.perf_counter [s].
    """
    if status == ENDED:  # by a signal or another thread
        return INVALID
    if not (status == CLOSEST or (scratch.compiled.only_guides and status == REACHED)):
        return status
    stages, seconds = scratch.plan.stages, scratch.seconds  # compiled now, which is not in the time of the solve
    left = max(seconds - split_time(begin)[0], 1e-9) if seconds else 0.0
    return int(run_stages(stages, scratch.table, q, outcome, status, seed, scratch.shares, left, scratch.clock))

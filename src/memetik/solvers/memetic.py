"""The flagship: see kernels/memetic/search.py for the method."""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy import empty
from numpy.typing import ArrayLike

from memetik.kernels.compiler.compile_time import compile_times, split_time
from memetik.kernels.memetic.entry import UNUSUAL
from memetik.kernels.memetic.search import UNFINISHED
from memetik.kernels.memetic.stages import run_stages
from memetik.kernels.problem.verify import CLOSEST, ENDED, INVALID, REACHED
from memetik.problem import Problem
from memetik.solution import Solution
from memetik.solution.solution import reached_solution
from memetik.solvers.budget import DEFAULT, Budget, require_task
from memetik.solvers.memetic_plan import MemeticPlan, MemeticScratch, memetic_plan
from memetik.solvers.seeded import Seeded
from memetik.types import Array

_ARRAY, _FLOAT = np.ndarray, np.dtype(np.float64)


@dataclass(frozen=True)
class Memetic(Seeded):
    """A population of postures, the most promising exploited by damped Gauss-Newton steps within the limits.

    Takes every objective, any number of tips, any joint. An arm of six joints with a closed form (see Analytic) answers a single
    Pose by it, with the solution nearest to the start by the joint that moves most, unless the start is next to the target;
    where it has none within the limits, the search goes on. The same seed gives the same answer, bit for bit. When nothing
    satisfies all objectives, the answer is a minimum of their errors, nearest to satisfying them of all that were seen.
    """

    seed: int = 0

    def solve(self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT) -> Solution:
        """The solution nearest to hand from `start` (the body's home unless given)."""
        begin = perf_counter()
        if type(problem) is not Problem or type(budget) is not Budget:
            require_task(problem, budget, "memetic")
        c = problem.compiled
        if type(start) is _ARRAY and start.dtype is _FLOAT and start.ndim == 1 and not problem.lock:
            q, usual = start.copy(), problem.usual_size  # most starts are like this, and the kernel looks at them
        else:
            q, usual = problem.start(start), math.inf
        plan = c.plans.get(MemeticPlan) or memetic_plan(c)
        is_quick = budget.token is None and c.ends_reached  # most are: nothing to cancel, to raise or to balance
        try:
            scratch = plan.free.pop() if is_quick else plan.lease(budget.token)
        except IndexError:  # all are in use
            scratch = plan.lease()
        if scratch.budget is not budget:
            scratch.take_budget(budget)
        outcome = empty(scratch.numbers)
        status = scratch.search_from(scratch.call, q, outcome, self.seed, usual)
        if is_quick and status == REACHED and compile_times.latest < begin:
            plan.free.append(scratch)
            return reached_solution(problem, q, outcome, perf_counter() - begin, "memetic")
        if status == UNFINISHED:  # after a first attempt, in the first search of a process that needs a second one
            plan.complete()
            q = problem.start(start)
            status = scratch.search_from(scratch.call, q, outcome, self.seed, math.inf)
        status = later_stages(scratch, q, outcome, status, self.seed, begin)
        problem.raise_faults(scratch.clock)
        plan.give_back(scratch)
        if status == UNUSUAL:
            return self.solve(problem, problem.start(q).tolist(), budget)
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

"""The flagship: see kernels/memetic/search.py for the method."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from memetik.kernels.compiler.compile_time import compile_times, split_time
from memetik.kernels.memetic.pose_search import solve_pose
from memetik.kernels.memetic.refine import STEPS
from memetik.kernels.memetic.stages import run_stages, search_stage
from memetik.kernels.problem.verify import CLOSEST, REACHED
from memetik.problem import Problem
from memetik.problem.compile import Compiled
from memetik.solution import Solution
from memetik.solvers.budget import DEFAULT, Budget, require_task
from memetik.solvers.memetic_plan import MemeticPlan, memetic_plan
from memetik.solvers.seeded import Seeded


@dataclass(frozen=True)
class Memetic(Seeded):
    """A population of postures, the most promising exploited by damped Gauss-Newton steps within the limits.

    Takes every objective, any number of tips, any joint. The same seed gives the same answer, bit for bit. When nothing
    satisfies all objectives, the answer is a minimum of their errors, nearest to satisfying them of all that were seen.
    """

    seed: int = 0

    def solve(self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT) -> Solution:
        """The solution nearest to hand from `start` (the body's home unless given)."""
        begin = time.perf_counter()
        if type(problem) is not Problem or type(budget) is not Budget:
            require_task(problem, budget, "memetic")
        c = problem.compiled
        q = problem.start(start)
        plan = c.plans.get(MemeticPlan) or memetic_plan(c)
        scratch = plan.lease(budget.token)
        limits = shares(c, budget.evaluations)
        seconds = budget.seconds if budget.seconds < math.inf else 0.0
        outcome = np.empty(scratch.outcome.size)
        first = solve_pose if c.one_pose else search_stage
        status = first(scratch.table, q, outcome, self.seed, limits.search, seconds)
        if c.one_pose and status == REACHED and compile_times.latest < begin:  # most solves end here
            plan.give_back(scratch)
            return Solution(problem, q, status, outcome, time.perf_counter() - begin, "memetic")
        if status == CLOSEST or (c.only_guides and status == REACHED):
            left = max(seconds - split_time(begin)[0], 1e-9) if seconds else 0.0
            status = run_stages(
                plan.stages[1:],
                scratch.table,
                q,
                outcome,
                status,
                self.seed,
                limits.first,
                limits.most,
                left,
                scratch.clock,
            )
        problem.raise_faults(scratch.clock)
        plan.give_back(scratch)
        took, compiling = split_time(begin)
        return Solution(problem, q, status, outcome, took, "memetic", compiling)


class Shares(NamedTuple):
    """The evaluations that may be spent after the search, before tolerances yield, and in all (kernels/memetic/stages.py)."""

    search: int
    first: int
    most: int


def shares(c: Compiled, most: int) -> Shares:
    """Keep back a quarter where tolerances are wide enough to yield, and what it takes to settle what was missed."""
    first = most if c.roomy is None else most - most // 4
    return Shares(first - min(STEPS, first // 2), first, most)

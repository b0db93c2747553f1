"""solve_all: distinct solutions of one problem, nearest to the start first."""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import ArrayLike

from memetik.errors import ProblemError
from memetik.kernels.budget import OUTCOME
from memetik.kernels.compile_time import split_time
from memetik.kernels.finish import REACHED
from memetik.kernels.gather import gather
from memetik.problem import Problem
from memetik.problem.seed import checked_seed
from memetik.solution import Solution
from memetik.solvers.budget import Budget, checked_budget

ENOUGH = Budget(evaluations=200_000)
CROWD = 64  # how many solutions are gathered before the nearest are picked


def solve_all(
    problem: Problem,
    start: ArrayLike | None = None,
    *,
    count: int = 8,
    distinct: float = 0.05,
    patience: int = 300,
    budget: Budget = ENOUGH,
    seed: int = 0,
) -> list[Solution]:
    """Up to `count` distinct solutions, nearest to the start first; an empty list if none was found.

    distinct: two solutions differ if some joint differs by more than this [rad or m], whole turns apart.
    patience: give up after so many attempts in a row that bring nothing new. A redundant body has endlessly many
    solutions; its nearest ones are those of the first 64, or of `count` if that is more.
    """
    if count < 1 or patience < 1 or not distinct > 0.0:
        raise ProblemError("solve_all: count and patience must be at least 1 and distinct above 0.")
    seed, budget = checked_seed(seed), checked_budget(budget)
    begin = time.perf_counter()
    c = problem.compiled
    q = problem.start(start)
    most = max(count, CROWD)
    found = np.empty((most, c.active.size))
    found_errors = np.empty((most, c.terms.size))
    seconds = budget.seconds if budget.seconds < math.inf else 0.0
    number = gather(
        *c.record, c.population, q, c.attempt, seed, budget.evaluations, seconds, patience, distinct, found, found_errors,
        *c.scratch,
    )  # fmt: skip
    problem.raise_faults()
    took, compiling = split_time(begin)
    origin = q[c.active]
    order = np.argsort([np.abs(row - origin).max() for row in found[:number]], kind="stable")[:count]
    solutions = []
    for row in order:
        vector = q.copy()
        vector[c.active] = found[row]
        numbers = c.outcome.copy()
        numbers[OUTCOME : OUTCOME + c.terms.size] = found_errors[row]
        solutions.append(Solution(problem, vector, REACHED, numbers, took, "memetic", compiling))
    return solutions

"""Rows of targets solved by any method, one after another."""

from __future__ import annotations

import numpy as np

from memetik.batch.answers import Answers, Tell
from memetik.errors import ProblemError
from memetik.problem import Problem
from memetik.problem.columns import Columns
from memetik.solvers import Budget, Solver
from memetik.solvers.registry import answer_of
from memetik.types import Array


def require_one_thread(device: str, threads: int | None) -> None:
    """Raise where a method other than memetic was asked to run where it cannot."""
    if device == "cuda":
        raise ProblemError("batch: only method 'memetic' runs on a graphics card. Leave out device, or the method.")
    if threads is not None and threads > 1:
        raise ProblemError("batch: only method 'memetic' runs on several threads. Leave out threads, or the method.")


def solve_one_by_one(
    solver: Solver, problem: Problem, columns: Columns, starts: Array, budget: Budget, tell: Tell
) -> Answers:
    """Solve all rows in this thread. The answers are written over `starts`."""
    count = len(starts)
    status, seconds = np.empty(count, dtype=np.int8), np.empty(count)
    numbers = np.empty((count, problem.compiled.outcome_size))
    method = type(solver).__name__
    for k, row in enumerate(columns.problems(problem)):
        solution = answer_of(solver, row, starts[k], budget)
        starts[k], status[k], numbers[k] = solution.q, int(solution.status), solution.numbers
        seconds[k], method = solution.seconds, solution.method
        tell(k + 1)
    return Answers(starts, status, numbers, seconds, "1 thread", method)

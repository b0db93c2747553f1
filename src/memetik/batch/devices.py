"""Who solves a batch: the threads of this machine, or a graphics card."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from memetik.batch.answers import Answers, Tell
from memetik.batch.cuda import CHUNK, CudaResult, require_cuda, solve_on_cuda
from memetik.batch.threads import solve_on_threads
from memetik.errors import MemetikError, ProblemError, shown
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, MOVED, OUTCOME, TIMED_OUT
from memetik.kernels.problem.solve import judge
from memetik.kernels.problem.verify import REACHED
from memetik.kernels.terms.records import ORIENTATION, POSITION
from memetik.problem import Problem
from memetik.problem.columns import Columns
from memetik.problem.scratch import Scratch
from memetik.solvers import Budget
from memetik.types import Array

DEVICES = ("cpu", "cuda", "auto")

Solver = Callable[[Problem, Columns, Array, int, Budget, int | None, Tell], Answers]


def solver_for(device: str, problem: Problem, budget: Budget) -> Solver:
    """What solves rows on a device; "auto" is a card, if there is one that can take the problem."""
    if not isinstance(device, str) or device not in DEVICES:
        raise ProblemError(f"batch: unknown device {shown(device)}. There are: {', '.join(DEVICES)}.")
    if device == "auto":
        device = "cuda" if _can_use_cuda(problem, budget) else "cpu"
    return _on_cuda if device == "cuda" else _on_cpu


def _can_use_cuda(problem: Problem, budget: Budget) -> bool:
    try:
        require_cuda()
    except MemetikError:
        return False
    return not (problem.has_functions or np.isfinite(budget.seconds))


def _on_cpu(
    problem: Problem, columns: Columns, starts: Array, seed: int, budget: Budget, threads: int | None, tell: Tell
) -> Answers:
    return solve_on_threads(problem, columns.rows, columns.places, starts, seed, budget, threads, tell)


def _on_cuda(
    problem: Problem, columns: Columns, starts: Array, seed: int, budget: Budget, threads: int | None, tell: Tell
) -> Answers:
    """Rows go to the card in portions, so that somebody can be told how far it is."""
    if np.isfinite(budget.seconds):
        raise ProblemError(
            "batch: there is no clock on a graphics card. Give a budget of evaluations, or device='cpu'."
        )
    count, c = len(starts), problem.compiled
    numbers, status, seconds = np.empty((count, c.outcome_size)), np.empty(count, dtype=np.int8), np.empty(count)
    require_cuda()
    for first in range(0, count, CHUNK):
        part = slice(first, min(first + CHUNK, count))
        rows = columns.rows[part]
        result = solve_on_cuda(problem, rows, columns.places, starts[part], seed, budget.evaluations)
        numbers[part] = _numbers(problem, columns, rows, starts[part], result)
        starts[part], status[part] = result.q, result.statuses
        seconds[part] = result.kernel_seconds / len(rows)
        tell(part.stop)
    return Answers(starts, status, numbers, seconds, "a graphics card")


def _numbers(problem: Problem, columns: Columns, rows: Array, starts: Array, result: CudaResult) -> Array:
    """What a card reports, as the processor would write it (kernels/problem/budget.py)."""
    c = problem.compiled
    terms, count = c.terms, len(rows)
    numbers = np.zeros((count, c.outcome_size))
    numbers[:, EVALUATIONS], numbers[:, ATTEMPTS] = result.evaluations, result.attempts
    numbers[:, MOVED] = ((starts < c.limits["lower"]) | (starts > c.limits["upper"])).any(axis=1)
    numbers[:, TIMED_OUT] = 0.0
    errors, satisfied = numbers[:, OUTCOME : OUTCOME + terms.size], numbers[:, OUTCOME + terms.size :]
    errors[:] = result.errors
    satisfied[:] = (result.errors <= terms["tolerance"]) | (terms["soft"] != 0)
    satisfied[result.statuses == REACHED] = 1.0
    if (np.isin(terms["kind"], (POSITION, ORIENTATION)) & (terms["count"] > 0)).any():
        # Tolerances of single axes cannot be told from the length of an error: look again.
        own = Scratch(c)
        for k in np.flatnonzero(result.statuses != REACHED):
            own.arrays.problem.data[columns.places] = rows[k]
            judge(own.table, result.q[k], own.outcome)
            satisfied[k] = own.outcome[OUTCOME + terms.size :]
    return numbers

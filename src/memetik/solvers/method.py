"""What every method of the field is on the Python side: a kernel, its numbers, and the problems it can take."""

from __future__ import annotations

import functools
import math
import time
from typing import Any

from numpy.typing import ArrayLike

from memetik.kernels.compiler.compile_time import split_time
from memetik.kernels.compiler.function_pointers import lasting_address
from memetik.kernels.compiler.second_compiler import compile_ahead
from memetik.kernels.problem.function_pointers import SEARCH
from memetik.kernels.problem.solve import SOLVE_BY, solve_by
from memetik.problem import Problem
from memetik.problem.scratch import Scratch
from memetik.solution import Solution
from memetik.solvers.budget import Budget


@functools.cache
def ask_for(search: Any, *others: tuple[Any, Any]) -> None:
    """The machine code of a method will be needed: others that it calls, with their signatures, and its search kernel."""
    compile_ahead([*others, (search, SEARCH), (solve_by, SOLVE_BY)])


def run_in(
    scratch: Scratch, problem: Problem, start: ArrayLike | None, budget: Budget, method: str, search: Any, own: Any, *,
    seed: int = 0, begin: float | None = None,
) -> Solution:  # fmt: skip
    """Solve by a search kernel (kernels/problem/solve.py).

    own: the table of its settings and scratch.
    begin: when the solve began, on the clock of time.perf_counter [s], for a method that prepared something before.
    """
    begin = time.perf_counter() if begin is None else begin
    ask_for(search)
    q = problem.start(start)
    seconds = budget.seconds if budget.seconds < math.inf else 0.0
    status = solve_by(
        lasting_address(search, SEARCH), own, scratch.table, q, scratch.outcome, seed, budget.evaluations, seconds
    )
    problem.raise_faults(scratch.clock)
    took, compiling = split_time(begin)
    return Solution(problem, q, status, scratch.outcome.copy(), took, method, compiling)

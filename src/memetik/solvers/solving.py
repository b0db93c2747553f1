"""The one function that most users call."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter

import numpy as np
from numpy import empty
from numpy.typing import ArrayLike

from memetik.kernels.problem.verify import REACHED
from memetik.objectives import Objective
from memetik.problem import Problem, require_problem
from memetik.solution import Solution
from memetik.solvers.budget import DEFAULT, Budget, checked_budget
from memetik.solvers.memetic import Memetic, finish_solve
from memetik.solvers.registry import Solver, answer_of, chosen
from memetik.types import Array

_new, _ARRAY, _FLOAT = object.__new__, np.ndarray, np.dtype(np.float64)
_FLAGSHIP, _MEMETIC, _ZERO = Memetic(), "memetic", 0  # Python has one object for each name and each small number


def _diagnose(problem: Problem, start: Array, evaluations: int) -> Solution:
    """Solve a part of a problem again, for an explanation."""
    return _FLAGSHIP.solve(problem, start, Budget(evaluations=evaluations))


Solution.diagnose = staticmethod(_diagnose)


def solve(
    problem: Problem,
    start: ArrayLike | None = None,
    *,
    method: str | Solver = _MEMETIC,
    budget: Budget = DEFAULT,
    seed: int = 0,
    prefer: bool | Objective | Iterable[Objective] = False,
) -> Solution:
    """Find a posture that satisfies the objectives, from `start` (the body's home unless given).

    method: a name from mk.methods(), or a solver with parameters of your own, such as mk.solvers.BioIK(elites=3).
    prefer: take the best of several solutions, found within the budget, instead of the nearest: by the guides of the problem
    (True), or by objectives given here, which need not be in the problem. A guide alone shapes the solution that the start leads
    to; this lets it choose between distinct ones, such as an elbow that is up or down.
    The same call gives the same answer, unless the budget's seconds ended it, which the solution says.
    """
    if method is not _MEMETIC or seed is not _ZERO or prefer is not False:
        return _by_choice(problem, start, method, budget, seed, prefer)
    begin = perf_counter()
    if not (type(problem) is Problem and type(start) is _ARRAY and start.dtype is _FLOAT and start.ndim == 1):
        return _FLAGSHIP.solve(problem, start, budget)
    # Most calls come to here, and most are not the first with their problem and budget. For these all is written out: every
    # call of a function would count beside a search of a microsecond.
    ready = problem.compiled.ready
    try:
        scratch = ready.pop()
    except IndexError:  # this is the first, or others are under way
        return _FLAGSHIP.solve(problem, start, budget)
    if scratch.again is not budget:
        ready.append(scratch)
        return _FLAGSHIP.solve(problem, start, budget)
    q, outcome = start.copy(), empty(scratch.numbers)  # the kernel looks at the start
    status = scratch.search_from(scratch.call, q, outcome, 0, problem.usual_size)
    if status != REACHED:
        return finish_solve(_FLAGSHIP, problem, start, budget, scratch, q, outcome, status, begin)
    ready.append(scratch)
    made: Solution = _new(Solution)  # as its __init__ does
    made.problem, made.q, made._status, made.success = problem, q, REACHED, True
    made._numbers, made.method, made.compile_seconds = outcome, _MEMETIC, 0.0
    made.seconds = perf_counter() - begin
    return made


def _by_choice(
    problem: Problem, start: ArrayLike | None, method: str | Solver, budget: Budget, seed: int,
    prefer: bool | Objective | Iterable[Objective],
) -> Solution:  # fmt: skip
    """By another method than the flagship's, with a seed, or the best of several."""
    checked_budget(budget, generations=True)
    if prefer is not False:
        from memetik.solvers.prefer import preferred  # which asks for solutions by this file

        return preferred(problem, start, method, budget, seed, prefer)
    require_problem(problem, "solve")
    return answer_of(chosen(method, seed, "solve"), problem, start, budget)

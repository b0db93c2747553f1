"""solve_all: distinct solutions of one problem, nearest to the start first."""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memetik.errors import ProblemError
from memetik.geometry.checks import flag, real_number, whole_number
from memetik.kernels.closed_form.arm_record import ROWS
from memetik.kernels.compiler.compile_time import split_time
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, EVALUATIONS, OUTCOME
from memetik.kernels.problem.verify import REACHED, verify
from memetik.kernels.runtime.record import allocate
from memetik.kernels.search.all_solutions import Found, apart, find_all
from memetik.kernels.search.closed_form_attempt import POLISHES
from memetik.kernels.terms.springs import displacement, rest_at_start
from memetik.problem import Problem, require_problem
from memetik.problem.compile import Compiled
from memetik.problem.scratch import scratch_pool
from memetik.problem.seed import checked_seed
from memetik.solution import Solution
from memetik.solvers.analytic import Analytic
from memetik.solvers.budget import DEFAULT, Budget, checked_budget, refuse_generations
from memetik.solvers.memetic import Memetic
from memetik.solvers.memetic_plan import memetic_plan
from memetik.solvers.registry import Solver, answer_of, chosen
from memetik.types import Array

TURN = 2.0 * math.pi  # rad
ENOUGH = Budget(evaluations=200_000)
MOST = 1_000_000  # solutions that can be asked for
# Evaluations that the closed form of six joints may take; some 16 are the rule.
IN_CLOSED_FORM = ROWS * (POLISHES + 1)
GATHERED = 64  # how many solutions are gathered before the nearest are picked


def solve_all(
    problem: Problem,
    start: ArrayLike | None = None,
    *,
    method: str | Solver = "memetic",
    budget: Budget = ENOUGH,
    seed: int = 0,
    count: int = 8,
    distinct: float = 0.05,
    patience: int = 300,
    turns: bool = False,
) -> list[Solution]:
    """Up to `count` distinct solutions, nearest to the start first; an empty list if none was found. With guides, "memetic" gives
    those that no small change makes better by the guides.

    The distance of a solution q is sqrt(sum_i (q_i - start_i)^2). Where Displacement objectives guide, it is what they minimise:
    each joint counts by its weight there, from the reference if one was given. Where whole turns of a joint change nothing, the
    turn that is nearest within the limits is taken. Of the same solutions, `solve` takes the first.

    Of a single Pose of an arm of six joints with a closed form (see Analytic) these are all there are, whole turns apart, by
    construction. Where the target leaves an angle open there are endlessly many; that angle then stays as in the start.

    method: as for `solve`. "memetic" uses the closed form where there is one, and otherwise looks all over its population; one
    that has a `solve_all` of its own (such as "analytic", also for arms with fewer joints) is asked for it; any other one
    solves again and again, from the start and then from random postures, each time with the next seed.
    budget: for all together; the evaluations, attempts and seconds that a solution tells are those of all, too.
    distinct: two solutions differ if some joint differs by more than this [rad or m], whole turns apart.
    patience: give up after so many attempts in a row that bring nothing new. A redundant body has endlessly many
    solutions; its nearest ones are those of the first 64, or of `count` if that is more.
    turns: give each of them with all whole turns that its joints may be turned within their limits, nearest first. Joints
    without limits stay at the turn that is nearest to the start.
    """
    require_problem(problem, "solve_all")
    count = whole_number(count, ProblemError, "solve_all: count", least=1, most=MOST)
    patience = whole_number(patience, ProblemError, "solve_all: patience", least=1)
    distinct = real_number(distinct, ProblemError, "solve_all: distinct")
    if not distinct > 0.0:
        raise ProblemError(f"solve_all: distinct is {distinct}; it must be above zero [rad or m].")
    seed, budget = checked_seed(seed), checked_budget(budget, "solve_all", generations=True)
    solver = chosen(method, seed, "solve_all")
    turns = flag(turns, ProblemError, "solve_all: turns")
    begin = time.perf_counter()
    origin = problem.start(start)
    solutions = _solutions(problem, origin, solver, budget, count, distinct, patience, begin)
    return _turned(problem, origin, solutions) if turns else solutions


def _solutions(
    problem: Problem,
    origin: Array,
    solver: Solver,
    budget: Budget,
    count: int,
    distinct: float,
    patience: int,
    begin: float,
) -> list[Solution]:
    """Distinct solutions, whole turns apart, nearest first."""
    if isinstance(solver, Memetic):
        refuse_generations(budget, "memetic")
        found = _Distinct(problem, distinct, _in_closed_form(problem, origin, budget))
        if not found.solutions:
            return _gathered(problem, origin, solver.seed, budget, count, distinct, patience, begin)
    elif callable(every := getattr(solver, "solve_all", None)):
        found = _Distinct(problem, distinct, every(problem, origin, budget))
    else:
        found = _repeated(solver, problem, origin, budget, max(count, GATHERED), distinct, patience)
    return found.nearest(origin, count)


class _Distinct:
    """Solutions that differ from each other by more than `distance` in some joint [rad or m], whole turns apart."""

    def __init__(self, problem: Problem, distance: float, solutions: Iterable[Solution] = ()) -> None:
        self.solutions: list[Solution] = []
        self._compiled, self._distance = problem.compiled, distance
        self._rows: list[Array] = []
        for solution in solutions:
            self.add(solution)

    def add(self, solution: Solution) -> bool:
        """Take it in if it differs from all before it; whether it does."""
        c = self._compiled
        x = solution.q[c.active]
        if any(apart(x, row, c.variables, c.balls) <= self._distance for row in self._rows):
            return False
        self.solutions.append(solution)
        self._rows.append(x)
        return True

    def nearest(self, origin: Array, count: int) -> list[Solution]:
        """The nearest ones, so many."""
        return [self.solutions[k] for k in _by_distance(self._compiled, origin, self._rows)[:count]]


def _by_distance(c: Compiled, origin: Array, rows: Sequence[Array] | Array) -> list[int]:
    """The order of these postures, nearest to the joint vector `origin` first."""
    start, data = origin[c.active], c.data.copy()
    rest_at_start(c.terms, data, start)
    distances = [displacement(c.terms, data, start, row) for row in rows]
    return sorted(range(len(distances)), key=distances.__getitem__)


def _in_closed_form(problem: Problem, origin: Array, budget: Budget) -> list[Solution]:
    """All solutions by the closed form that `memetic` tries first; empty where there is no such form, the budget may not suffice
    for it, or nothing is on target."""
    if budget.evaluations < IN_CLOSED_FORM or not memetic_plan(problem.compiled, searches=False).has_closed_form:
        return []
    solutions = Analytic().solve_all(problem, origin, budget)
    for solution in solutions:
        solution.method = "memetic"
    return solutions


def _gathered(
    problem: Problem, q: Array, seed: int, budget: Budget, count: int, distinct: float, patience: int, begin: float
) -> list[Solution]:
    """Solutions by attempts from all over the population."""
    c = problem.compiled
    most = max(count, GATHERED)
    found = allocate(Found, {**c.sizes, "most": most})
    seconds = budget.seconds if budget.seconds < math.inf else 0.0
    plan = memetic_plan(c)
    scratch = plan.lease(budget.token)
    number = find_all(
        scratch.table, found, plan.attempt_minimum, q, scratch.outcome, seed, budget.evaluations, seconds, patience,
        distinct,
    )  # fmt: skip
    problem.raise_faults(scratch.clock)
    outcome = scratch.outcome.copy()
    plan.give_back(scratch)
    took, compiling = split_time(begin)
    solutions = []
    for row in _by_distance(c, q, found.solutions[:number])[:count]:
        vector = q.copy()
        vector[c.active] = found.solutions[row]
        numbers = outcome.copy()
        numbers[OUTCOME : OUTCOME + c.terms.size] = found.errors[row]
        numbers[ERROR] = found.costs[row]
        solutions.append(Solution(problem, vector, REACHED, numbers, took, "memetic", compiling))
    return solutions


def _repeated(
    solver: Solver, problem: Problem, origin: Array, budget: Budget, most: int, distinct: float, patience: int
) -> _Distinct:
    """Solutions of another method: from the start first, then from postures drawn within the limits."""
    begin = time.perf_counter()
    found = _Distinct(problem, distinct)
    left, attempt, idle, q = budget.evaluations, 0, 0, origin
    while len(found.solutions) < most and idle < patience and left > 0:
        seconds = budget.seconds - split_time(begin)[0]
        if seconds <= 0.0:
            break
        most = left if budget.generations is not None else min(left, DEFAULT.evaluations)
        share = dataclasses.replace(budget, evaluations=most, seconds=seconds)
        solution = _seen_from(origin, answer_of(_with_next_seed(solver, attempt), problem, q, share))
        attempt, idle, left = attempt + 1, idle + 1, left - max(solution.evaluations, 1)
        if solution.success and found.add(solution):
            idle = 0
        q = _drawn(problem, origin, attempt)
    for solution in found.solutions:  # what all of them took together, as memetic tells it
        solution.numbers[EVALUATIONS], solution.numbers[ATTEMPTS] = budget.evaluations - left, attempt
        solution.seconds = time.perf_counter() - begin
    return found


def _turned(problem: Problem, origin: Array, solutions: Sequence[Solution]) -> list[Solution]:
    """Each solution with all whole turns of its joints that limits allow, nearest to the joint vector `origin` first."""
    c = problem.compiled
    variables = c.variables
    lower, upper = variables["lower"], variables["upper"]
    free = (variables["whole_turn"] == 1) & (variables["ball"] == 0) & np.isfinite(lower) & np.isfinite(upper)
    rows, sources = [], []
    for solution in solutions:
        x = solution.q[c.active]
        least = np.where(free, np.ceil((lower - x) / TURN), 0.0)
        most = np.where(free, np.floor((upper - x) / TURN), 0.0)
        for each in itertools.product(*map(np.arange, least, most + 1.0)):
            rows.append(x + TURN * np.array(each))
            sources.append(solution)
    turned = []
    for k in _by_distance(c, origin, rows):
        source, q = sources[k], sources[k].q.copy()
        q[c.active] = rows[k]
        same = bool((q == source.q).all())
        turned.append(source if same else _with_turns(source, origin, q))
    return turned


def _with_turns(source: Solution, origin: Array, q: Array) -> Solution:
    """A joint vector that differs from a solution by whole turns, as it stands; displacements are counted from `origin`."""
    problem = source.problem
    c = problem.compiled
    pool = scratch_pool(c)
    scratch = pool.lease()
    scratch.take_targets()
    numbers, x = source.numbers.copy(), q[c.active]
    rest_at_start(c.terms, scratch.arrays.problem.data, origin[c.active])
    scratch.arrays.work.start[:] = x  # turns are taken off towards it
    status = int(verify(scratch.arrays.problem, x, numbers, scratch.arrays.work))
    problem.raise_faults(scratch.clock)
    pool.give_back(scratch)
    q[c.active] = x
    return Solution(problem, q, status, numbers, source.seconds, source.method)


def _seen_from(origin: Array, solution: Solution) -> Solution:
    """The same vector, whole turns and displacements counted from where all began."""
    return Solution.of(
        solution.problem, solution.q, start=origin, method=solution.method, evaluations=solution.evaluations,
        attempts=solution.attempts, timed_out=solution.timed_out, seconds=solution.seconds,
    )  # fmt: skip


def _with_next_seed(solver: Solver, attempt: int) -> Solver:
    """The solver as attempt k has it, where it has a seed: some find the same again from every start."""
    changed: Any = solver
    seed = getattr(solver, "seed", None)
    if isinstance(seed, int) and dataclasses.is_dataclass(changed):
        changed = dataclasses.replace(changed, seed=seed + attempt)  # type: ignore[type-var]
    made: Solver = changed
    return made


def _drawn(problem: Problem, origin: Array, attempt: int) -> Array:
    """A start: the joints that the objectives read drawn within their limits, the others as they are."""
    c, q = problem.compiled, origin.copy()
    q[c.active] = np.random.default_rng(attempt).uniform(c.variables["sample_lower"], c.variables["sample_upper"])
    return q

"""Family: methods that share a search and differ in one kernel, a record (kernels/runtime/record.py) and parameters."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from numpy.typing import ArrayLike

from memetik.kernels.runtime.record import allocate, fields, table_of
from memetik.problem import Problem
from memetik.problem.compile import Compiled
from memetik.problem.scratch import Pool, Scratch
from memetik.solution import Solution
from memetik.solvers.budget import DEFAULT, Budget, require_task
from memetik.solvers.method import run_in
from memetik.solvers.seeded import Seeded

R = TypeVar("R", bound=tuple[Any, ...])


class Family(Seeded):
    """A method of a family."""

    name: ClassVar[str]
    own: ClassVar[Any]  # the record of the method, if it begins with that of the family
    by_values: ClassVar[bool] = False  # whether it changes the three angles of balls instead of turning them
    by_generations: ClassVar[bool] = False  # whether a budget may count generations
    search: ClassVar[Any]  # the kernel that the family shares (SEARCH in kernels/problem/function_pointers.py)

    def make_record(self, c: Compiled) -> Any:
        """The record of the method for a problem."""
        raise NotImplementedError

    def solve(self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT) -> Solution:
        """The first posture found from `start` (the body's home unless given) that satisfies all, else the nearest to it."""
        require_task(problem, budget, self.name, generations=self.by_generations)
        begin = time.perf_counter()
        c, kind = problem.compiled, type(self)
        pool: Pool[OwnScratch] = c.plans.get(kind) or c.plans.setdefault(
            kind, Pool(lambda: OwnScratch(c, by_values=kind.by_values), calls_python=c.calls_python)
        )
        scratch = pool.lease(budget.token)
        table = scratch.table_for(self)
        if kind.by_generations:
            scratch.own.evolution.most[0] = budget.generations or 0
        solution = run_in(scratch, problem, start, budget, self.name, kind.search, table, seed=self.seed, begin=begin)
        pool.give_back(scratch)
        return solution


class OwnScratch(Scratch):
    """Scratch with the record of a method, kept for the next solver of its class that has the same parameters."""

    solver: Family | None = None

    def table_for(self, solver: Family) -> Any:
        """The table of the solver's record."""
        if self.solver is None or {**vars(self.solver), "seed": solver.seed} != vars(solver):
            self.own = solver.make_record(self.compiled)
            self.own_table = table_of(self.own)
        self.solver = solver
        return self.own_table


def record_of(solver: Seeded, kind: type[R], sizes: Mapping[str, int], **given: Any) -> R:
    """A record with the parameters of the same names as its numbers, None as 0; `given` is what is no parameter."""
    numbers = [name for name, field in fields(kind).items() if field in (int, float, bool) and name not in given]
    return allocate(kind, sizes, **{name: getattr(solver, name) or 0 for name in numbers}, **given)

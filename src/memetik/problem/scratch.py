"""Scratch: the arrays that one call writes, leased for the call and kept for the next one.

A compiled problem is shared by all threads and never written. Each call works on scratch of its own, with a copy of the targets
taken when it begins, so any number of threads can solve the same problem at once, and a target that is set meanwhile counts
for the next call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

from memetik import signals
from memetik.kernels.problem.mounts import place_root
from memetik.kernels.problem.problem_record import Problem as FlatProblem
from memetik.kernels.problem.problem_record import SolveArrays
from memetik.kernels.runtime.cancel import begin_run, new_clock
from memetik.kernels.runtime.record import allocate, table_of
from memetik.problem.cancel import CancelToken
from memetik.problem.compile import Compiled
from memetik.sharing import cached_property
from memetik.types import Array

S = TypeVar("S", bound="Scratch")


class Pool(Generic[S]):
    """Scratch that no call uses at the moment. A call that ends with an exception does not give its scratch back."""

    def __init__(self, make: Callable[[], S], *, calls_python: bool) -> None:
        self._make, self._calls_python = make, calls_python
        self.free: list[S] = []  # to take from a list and to add to it are single steps to all threads

    def lease(self, token: CancelToken | None = None) -> S:
        """Scratch for one call, which the token can cancel."""
        try:
            scratch = self.free.pop()
        except IndexError:
            scratch = self._make()
        if token is not None or self._calls_python:
            scratch.begin(token)
        return scratch

    def give_back(self, scratch: S) -> None:
        """End the call."""
        if scratch.token is not None:
            scratch.token.release(scratch.clock)
            scratch.token = None
        self.free.append(scratch)

    def clear(self) -> None:
        """Let go of all that it holds, which leads back to it; no call may use it any more."""
        parts = list(vars(self).values())
        vars(self).clear()
        for part in parts:
            if isinstance(part, Pool):
                part.clear()


class Scratch:
    """What every solving kernel writes, and the table by which kernels find it.

    source: where each solve takes its targets from, the problem unless given; a thread of a batch has an array of its own.
    by_values: for a method that changes the three angles of balls, instead of turning them.
    """

    def __init__(self, compiled: Compiled, source: Array | None = None, *, by_values: bool = False) -> None:
        c = self.compiled = compiled
        self.token: CancelToken | None = None
        self.calls_python = c.calls_python
        record = c.placed(self.problem)
        if by_values and c.balls.size:
            variables = c.variables.copy()
            variables["ball"] = 0
            record = record._replace(balls=c.balls[:0], variables=variables)
        self.clock, self.outcome = new_clock(), np.zeros(c.outcome_size)
        self.arrays = allocate(
            SolveArrays, c.sizes, problem=record._replace(data=c.data.copy()),
            source=c.data if source is None else source, clock=self.clock,
        )  # fmt: skip

    @property
    def problem(self) -> FlatProblem:
        """The problem as the kernels that use this scratch read it."""
        return self.compiled.record

    @cached_property
    def table(self) -> Any:
        """The arrays as kernels take them; they must stay where they are."""
        return table_of(self.arrays)

    def take_targets(self) -> None:
        """Copy the targets as they are now, and place the root; solving kernels do so themselves."""
        np.copyto(self.arrays.problem.data, self.arrays.source)
        place_root(self.arrays.problem)

    def begin(self, token: CancelToken | None) -> None:
        """A run begins that the token, or a function of the user's that fails, can end."""
        if self.calls_python:
            signals.hold()
            begin_run(self.clock)
        if token is not None:
            self.token = token
            token.watch(self.clock)


def scratch_pool(c: Compiled) -> Pool[Scratch]:
    """The scratch of methods that need no more than every kernel does."""
    pool: Pool[Scratch] | None = c.plans.get(Scratch)
    return pool or c.plans.setdefault(Scratch, Pool(lambda: Scratch(c), calls_python=c.calls_python))


def forget_scratch(c: Compiled) -> None:
    """Free what methods keep for a compiled problem that nobody uses any more.

    It leads back to the problem, so its memory would be in use until garbage is collected.
    """
    plans = list(c.plans.values())
    c.plans.clear()
    c.ready.clear()
    for plan in plans:
        if isinstance(plan, Pool):
            plan.clear()

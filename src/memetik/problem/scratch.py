"""Scratch: the arrays that one call writes, leased for the call and kept for the next one.

A compiled problem is shared by all threads and never written. Each call works on scratch of its own, with a copy of the targets
taken when it begins, so any number of threads can solve the same problem at once, and a target that is set meanwhile counts
for the next call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from memetik.kernels.compiler.cancel import begin_run, new_clock
from memetik.kernels.problem.workspace import size
from memetik.objectives.objective import Array
from memetik.problem.cancel import CancelToken
from memetik.problem.compile import Compiled

S = TypeVar("S", bound="Scratch")


class Pool(Generic[S]):
    """Scratch that no call uses at the moment. A call that ends with an exception does not give its scratch back."""

    def __init__(self, make: Callable[[], S]) -> None:
        self._make = make
        self._free: list[S] = []  # to take from a list and to add to it are single steps to all threads

    def lease(self, token: CancelToken | None = None) -> S:
        """Scratch for one call, which the token can cancel."""
        try:
            scratch = self._free.pop()
        except IndexError:
            scratch = self._make()
        if token is not None or scratch.calls_python:
            scratch.begin(token)
        return scratch

    def give_back(self, scratch: S) -> None:
        """End the call."""
        if scratch.token is not None:
            scratch.token.release(scratch.clock)
            scratch.token = None
        self._free.append(scratch)


class Scratch:
    """What every solving kernel writes; `people` is the size of the population, for methods with one."""

    def __init__(self, compiled: Compiled, people: int = 0) -> None:
        c = self.compiled = compiled
        self.token: CancelToken | None = None
        self.calls_python = c.calls_python
        n, terms = c.active.size, c.terms.size
        self.data = c.data.copy()  # targets, and where springs rest that follow the start
        self.flags = np.zeros(terms + n + people, dtype=np.uint8)
        self.clock, self.state = new_clock(), np.zeros(1, dtype=np.uint64)
        self.buffer = np.zeros(size(c.nodes.size, c.frames.size, n, c.residuals, people))
        self.outcome = np.zeros(c.outcome_size)

    @cached_property
    def record(self) -> Any:
        """The compiled problem as kernels take it, with this scratch's data in place of the shared targets."""
        record = self.compiled.record
        return *record[:3], self.data, *record[4:]

    @cached_property
    def arrays(self) -> tuple[Array, ...]:
        """The arrays in the order of the kernels' arguments."""
        return self.flags, self.clock, self.state, self.buffer, self.outcome  # type: ignore[return-value]

    def begin(self, token: CancelToken | None) -> None:
        """A run begins that the token, or a function of the user's that fails, can end."""
        if self.calls_python:
            begin_run(self.clock)
        if token is not None:
            self.token = token
            token.watch(self.clock)

    def take_targets(self) -> None:
        """Copy the targets as they are now."""
        np.copyto(self.data, self.compiled.data)


def scratch_pool(c: Compiled) -> Pool[Scratch]:
    """The scratch of methods that need no more than every kernel does."""
    pool: Pool[Scratch] | None = c.plans.get(Scratch)
    return pool or c.plans.setdefault(Scratch, Pool(lambda: Scratch(c)))

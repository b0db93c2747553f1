"""Rows of targets solved on the threads of one machine.

The kernels hold no lock of Python, and a thread owns its targets and scratch, so threads do not wait for each other. Each
takes some rows at a time and puts back what it did not come to: a row that cannot be reached takes a thousand times longer
than others. A row does not know who solves it, so the answer is the same for any number of threads. Many rows of one full pose
are solved several at a time (kernels/search/lane_search.py), with the same answers.
"""

from __future__ import annotations

import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from memetik import signals
from memetik.batch.solution import Answers, Tell
from memetik.errors import warn
from memetik.kernels.compiler.lanes import LANES
from memetik.kernels.runtime.cancel import begin_run, cancel
from memetik.kernels.search.batch import Rows, solve_rows
from memetik.kernels.search.lane_search import solve_in_lanes
from memetik.kernels.terms.custom import CUSTOM_COMPILED
from memetik.kernels.terms.records import kind_of
from memetik.parallel import cores
from memetik.problem import Problem
from memetik.problem.columns import Columns
from memetik.solution.words import count
from memetik.solvers import Budget
from memetik.solvers.memetic_plan import MemeticPlan, memetic_plan, shares
from memetik.types import Array

HELPING = 0.02  # s that a thread works before it looks at what is left
FIRST = 8  # rows to begin with, before anything is known of their cost
# Of the last rows of a part some lanes are idle, so a part in lanes has at least so many: two threads solve 5,000 poses of
# a Panda in 18 parts; by the eight they would be 38.
LEAST_IN_LANES = 8 * LANES
FEW = 64  # rows, up to which poses are solved one after another


def solve_on_threads(
    problem: Problem, columns: Columns, starts: Array, seed: int, budget: Budget, threads: int | None, tell: Tell,
    plan: MemeticPlan | None = None,
) -> tuple[Answers, str]:  # fmt: skip
    """Solve all rows; also how many threads did, in words. plan: of a method with the same stages, memetic's unless given."""
    answers = Answers.empty(problem, starts)
    workers = min(_workers(problem, threads), max(len(starts), 1))
    plan = memetic_plan(problem.compiled) if plan is None else plan
    work = _Work(problem, plan, columns, answers, seed, budget, workers, tell)
    if workers == 1:
        work.run()
    else:
        with ThreadPoolExecutor(workers - 1, thread_name_prefix="memetik batch") as pool:
            try:
                others = [pool.submit(work.run) for _ in range(workers - 1)]
                work.run()  # this thread, too
            except BaseException:  # Ctrl-C may come while the others start, and the pool waits for them
                work.stop()
                raise
        for other in others:
            other.result()
    return answers, count(workers, "thread")


class _Work:
    """The rows that are left, and how a thread takes some of them."""

    def __init__(
        self, problem: Problem, plan: MemeticPlan, columns: Columns, answers: Answers, seed: int, budget: Budget,
        workers: int, tell: Tell,
    ) -> None:  # fmt: skip
        self.problem, self.rows, self.places, self.answers = problem, columns.rows, columns.places, answers
        self.seed, self.workers, self.tell = seed, workers, tell
        self.seconds = budget.seconds if budget.seconds < math.inf else 0.0
        self.shares = shares(problem.compiled, budget.evaluations)
        self.plan = plan
        # Lanes look at no time. Few rows are not worth a kernel of their own, which takes seconds to compile.
        self.in_lanes = plan.has_lanes and self.seconds == 0.0 and len(answers.q) > FEW
        self._least = LEAST_IN_LANES if self.in_lanes else 1  # rows that a thread takes, if there are so many
        self.plan.stages  # noqa: B018 - compile them once, before the threads need them
        self._change = threading.Condition()
        self._left = [slice(0, len(answers.q))] if len(answers.q) else []  # the last one is taken from first
        self._done = self._busy = 0
        self._stopped = False
        self._clocks: dict[int, NDArray[np.int64]] = {}  # of the threads' runs

    def run(self) -> None:
        """Take rows and solve them until none are left. An error, here or there, ends it for all threads."""
        plan = self.plan
        own = plan.row_scratch.lease()
        np.copyto(own.arrays.source, plan.compiled.data)  # into which rows write their targets
        clock, only_guides = own.clock, plan.compiled.only_guides
        with self._change:
            self._clocks[id(clock)] = clock
        wanted = FIRST
        try:
            while part := self._take(wanted):
                begin = time.perf_counter()
                if plan.compiled.calls_python:
                    signals.hold()
                    begin_run(clock)
                rows = Rows(self.places, self.rows[part], *(array[part] for array in self.answers))
                if self.in_lanes:
                    solved = solve_in_lanes(
                        rows, plan.stages, own.table, own.lane_table, self.shares, self.seed, HELPING
                    )  # fmt: skip
                else:
                    solved = solve_rows(
                        rows, plan.stages, own.table, self.shares, only_guides, self.seed, self.seconds, HELPING
                    )
                lasted = max(time.perf_counter() - begin, 1e-9)
                wanted = math.ceil(solved * min(HELPING / lasted, 8.0))
                self._report(part, solved, clock)
        except BaseException:
            self.stop()
            raise
        with self._change:
            if not self._stopped:  # else it is cancelled, and of no use to others
                del self._clocks[id(clock)]
                plan.row_scratch.give_back(own)

    def _take(self, wanted: int) -> slice | None:
        """The next rows: at most half of an even share of what is left, so that all threads end together."""
        with self._change:
            # Whoever is busy may put rows back.
            self._change.wait_for(lambda: self._stopped or self._left or not self._busy)
            if self._stopped or not self._left:
                return None
            self._busy += 1
            part = self._left.pop()
            size = part.stop - part.start
            end = part.start + min(max(wanted, self._least), max(size // (2 * self.workers), self._least), size)
            if end < part.stop:
                self._left.append(slice(end, part.stop))
            return slice(part.start, end)

    def _report(self, part: slice, solved: int, clock: NDArray[np.int64]) -> None:
        """Put back the rows that were not come to, and tell how many are done."""
        with self._change:
            self._busy -= 1
            if part.start + solved < part.stop:
                self._left.append(slice(part.start + solved, part.stop))
            self._change.notify_all()
            self.problem.raise_faults(clock)
            self._done += solved
            self.tell(self._done)

    def stop(self) -> None:
        """Let all threads end."""
        with self._change:
            self._stopped = True
            for clock in self._clocks.values():
                cancel(clock)
            self._change.notify_all()


def _workers(problem: Problem, threads: int | None) -> int:
    """How many threads are of use: one, where an objective runs as plain Python."""
    c = problem.compiled
    slow = [
        objective.name
        for objective, owner in zip(problem.objectives, c.owners, strict=True)
        for term in c.terms[owner]
        if kind_of(term).calls_python and c.data[term["numbers"] + CUSTOM_COMPILED] < 0.0
    ]
    if slow:
        warn(
            f"{slow[0]}: Numba could not compile its function, and Python runs one thread at a time, so the batch is solved "
            "on one thread."
        )
        return 1
    return threads or cores()

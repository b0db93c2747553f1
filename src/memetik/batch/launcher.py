"""Rows of a problem on a graphics card, in rounds: all of them at first, then those that are missed in ever more tasks each."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from memetik.batch.device import start
from memetik.batch.device_problem import device_problem
from memetik.batch.transfer import Block, CardMemory, Fields, copied, is_pinned, pinned_empty, send
from memetik.kernels.cuda.launch_record import LANES, SIMULATED, Launch, Results, Round, Tasks
from memetik.kernels.problem.verify import REACHED
from memetik.kernels.runtime.record import words
from memetik.solvers.memetic_plan import memetic_plan
from memetik.types import Array

if TYPE_CHECKING:
    from memetik.problem.compile import Compiled

ANSWERS = Results._fields
CHUNK = 1 << 20  # rows on the device at once
TABLE = 128  # words that a table may have
TABLES = 3  # what the kernels of a round are given
FEW = 64  # rows whose seconds are written out


class Rest(NamedTuple):
    """What rounds leave."""

    missed: int  # rows
    listed: Any  # which
    spare: Any  # for the next list
    left: int  # evaluations for each
    stream: int  # that the next task draws from
    spread: int  # tasks that each had last


class Launcher:
    """Rows of one problem on the device; a kind of problem says how many threads it takes and what its kernel is given."""

    few: int  # evaluations that are spent on a problem at first ...
    later: int  # ... by each task on one that is hard ...
    wider: int  # ... which has so many times as many tasks each time
    spread: int  # tasks of each problem at first
    threads: int  # in a block
    per_block: int  # tasks that a block takes at once
    blocks: int  # on a multiprocessor, at most

    again = True  # whether rows that are missed have more rounds
    mapped = False  # whether the device reads and writes the memory of the processor, with as few rows as there are

    work: Block  # what goes to the device and comes back
    rest: Rest  # what is left when all rounds are over

    def __init__(self, cuda: Any, c: Compiled, count: int, places: Any, seed: int) -> None:
        self.c, self.count, self.places, self.seed, self.plan = c, count, places, seed, memetic_plan(c)
        self.judged = c  # the problem that answers are judged by
        self.kept = device_problem(cuda, c, self.plan)
        self.seconds = 0.0
        self._sent: list[Array] = []  # until the device has them
        self._times: dict[str, float] = {}

    # ---- Memory ----------------------------------------------------------------------------------------------------

    def answer_fields(self, count: int) -> Fields:
        """The results of so many tasks."""
        return {
            "q": ((count, self.plan.sizes["dof"]), np.float64), "statuses": ((count,), np.int8),
            "outcomes": ((count, self.judged.outcome_size), np.float64),
        }  # fmt: skip

    def scratch_fields(self) -> Fields:
        """What stays on the device: lists of rows that are missed, one that is read while the other is written."""
        fields: dict[str, Any] = {"missed": ((self.count,), np.int32), "missed_next": ((self.count,), np.int32)}
        if self.spread > 1:
            many = self.answer_fields(self.count * self.spread)
            fields |= {f"tried_{name}": kind for name, kind in many.items()}
        return fields

    def reopen(self, key: Any) -> Block | None:
        """Memory that was opened with this key before and is free."""
        work = self.kept.find(key)
        if work is not None:
            self._begin(work, ANSWERS[0])
        return work

    def open(self, given: Fields, answers: Fields, scratch: Fields, key: Any = None) -> Block:
        """Memory for what goes to the device with every launch, for answers and, if the batch is small, for all the rest.

        It may be found again by a `key` instead of by its fields.
        """
        together = given if scratch else {}
        work = self.kept.take({
            "data": (self.c.data.shape, np.float64), "columns": ((len(self.places),), np.int64), **together,
            "tables": ((TABLES, TABLE), np.int64), "counter": ((1,), np.int32), "count": ((1,), np.int32), **answers,
            **scratch,
        }, self.mapped, key)  # fmt: skip
        self._begin(work, next(iter(answers), None))
        return work

    def _begin(self, work: Block, end_of_inputs: str | None) -> None:
        self.work, self.stream, here = work, work.stream, work.host
        self._end_of_inputs = end_of_inputs
        here["data"][:], here["columns"][:] = self.c.data, self.places

    def close(self) -> None:
        """The memory is free for others."""
        self.kept.give_back(self.work)

    def send_array(self, array: Array, to: Any) -> None:
        """Copy an array to the device."""
        if SIMULATED:
            np.copyto(to, array)
            return
        if not is_pinned(array):
            array = copied(array, pinned_empty(self.kept.cuda, array.shape, array.dtype))
        send(self.kept.cuda, array.ctypes.data, to.address, array.nbytes, self.stream)
        self._sent.append(array)

    def row_seconds(self) -> Array:
        """The time that the device worked, in equal parts."""
        part = self.seconds / self.count
        return np.broadcast_to(part, (self.count,)) if self.count > FEW else np.full(self.count, part)

    # ---- Rounds ----------------------------------------------------------------------------------------------------

    def run(self, device: dict[str, Any], most: int, fetched: tuple[str, str | None] | None = None) -> None:
        """Every row for a few evaluations; those still missed in eight tasks each, 64 tasks, and so on.

        One attempt after the other would keep the whole device waiting for the hardest problem of all. What a task does depends
        on its number alone, so the answers are the same each time. They stay on the device, but for the fields that are
        `fetched`, from one to before another, with the number of the rows that are missed.
        """
        few = min(most, self.few)
        spread = max(min(self.spread, most // max(few, 1)), 1)
        tried = device if spread == 1 else {name: device[f"tried_{name}"] for name in ANSWERS}
        read, written = device["missed"], device["missed_next"]
        self._fill(device, tried, None, written, Tasks(self.count * spread, spread, 0, self.seed, few), fresh=1)
        self.work.send("data", self._end_of_inputs)
        self._watch("begin")
        self._launch(self.count, listed=fetched is None or spread > 1)
        self._watch("end")
        missed = self._missed(fetched)
        if spread == 1 and fetched is not None:
            missed = self._list_missed()
        self._go_on(device, Rest(missed, written, read, most - few * spread, spread, spread), fetched)

    def take_over(self, device: dict[str, Any], rest: Rest) -> None:
        """Go on with what another search has left."""
        self.work.send("data", self._end_of_inputs)
        self._watch("begin")
        self._go_on(device, rest._replace(spread=1))

    def _go_on(self, device: dict[str, Any], rest: Rest, fetched: tuple[str, str | None] | None = None) -> None:
        """The rounds after the first."""
        missed, written, read, left, stream, spread = rest
        while self.again and left > 0 and missed:
            read, written = written, read
            spread = min(self.wider * spread, 512, left)
            few, portion = min(self.later, left // spread), CHUNK // spread
            memory = CardMemory(self.kept.cuda, self.answer_fields(min(missed, portion) * spread))
            for first in range(0, missed, portion):
                rows = min(portion, missed - first)
                which = _part(read, first, first + rows)
                tasks = Tasks(rows * spread, spread, stream, self.seed, few)
                self._fill(device, memory.device, which, written, tasks, fresh=0)
                self.work.send("tables", self._end_of_inputs if first == 0 else "count")
                self._launch(rows)
                self._watch("end")
                if first + portion < missed:
                    self.stream.synchronize()  # the tables are written again
            missed = self._missed(fetched)
            left -= spread * few
            stream += spread
        self.rest = Rest(missed, written, read, left, stream, spread)
        self.seconds += self._watched()

    def _watch(self, what: str) -> None:
        """Note when the device begins or ends its work; a block that is mapped goes by the clock of the processor."""
        if self.mapped:
            self._times[what] = time.perf_counter()
        else:
            self.work.events[what == "end"].record(self.stream)

    def _watched(self) -> float:
        """How long the device worked [s]."""
        if self.mapped:
            return time.perf_counter() - self._times["begin"]
        begin, end = self.work.events
        return float(begin.elapsed_time(end)) * 1e-3

    def _fill(
        self, device: dict[str, Any], tried: dict[str, Any], which: Any, missed: Any, tasks: Tasks, fresh: int
    ) -> None:
        """Write what the two kernels of a round are given."""
        here, there = self.work.host, self.work.device
        here["counter"][0] = here["count"][0] = 0
        self._number = tasks.number
        self._in_place = bool(fresh) and tasks.spread == 1  # each task writes the result of its row
        key = (type(self), tasks) if fresh and "targets" in there else None  # then all addresses are those of the block
        self._blocks = min(-(-tasks.number // self.per_block), self.blocks * self.kept.multiprocessors)
        if key is not None and self.work.filled == key:
            return
        which = _part(device["missed"], 0, 0) if which is None else which  # all rows
        tasks = tasks._replace(
            columns=there["columns"], targets=device["targets"], starts=device["starts"], which=which
        )
        found, results = (Results(*(place[name] for name in ANSWERS)) for place in (tried, device))
        problem = self.kept.problem_with(there["data"])
        launch = self._given(Launch(problem, self.kept.population, tasks, found, there["counter"]), self._blocks)
        rows, terms = tasks.number // tasks.spread, int(self.judged.terms.size)
        settle = Round(found, results, rows, tasks.spread, terms, fresh, which, missed, there["count"])
        self.work.filled, self.work.records = key, (launch, settle, *self._more(found, fresh))
        if not SIMULATED:
            for table, record in zip(here["tables"], self.work.records, strict=False):
                numbers = np.fromiter(words(record, self.kept.known), dtype=np.int64)
                table[: len(numbers)] = numbers

    def _launch(self, rows: int, *, listed: bool = True) -> None:
        """Search, then keep the best and list what is missed."""
        from memetik.kernels.cuda.rounds import keep_best, list_missed

        cuda, settle = self.kept.cuda, self._table(1)
        start(cuda, self._kernel(), self._blocks, self.threads, self.stream, self._shared(), self._table(0))
        self._look()
        if self._in_place and listed:
            start(cuda, list_missed, -(-rows // 128), 128, self.stream, 0, settle)
        elif not self._in_place:
            start(cuda, keep_best, rows, LANES, self.stream, 0, settle)

    def _table(self, k: int) -> Any:
        """What a kernel of the round is given: the address of a table."""
        return self.work.records[k] if SIMULATED else self.work.device["tables"].address + 8 * TABLE * k

    def _list_missed(self) -> int:
        """Send the list of the rows that are missed, whose statuses were fetched: for few rows that is less than a launch."""
        statuses = self.work.host["statuses"]
        if not statuses.any():  # REACHED is 0
            return 0
        rows = np.flatnonzero(statuses != REACHED)
        self.work.host["missed_next"][: len(rows)] = rows
        self.work.send("missed_next", None)
        return len(rows)

    def _missed(self, fetched: tuple[str, str | None] | None) -> int:
        """How many rows are missed so far."""
        self.work.fetch("count", self._end_of_inputs if fetched is None else fetched[1])
        self.stream.synchronize()
        return int(self.work.host["count"][0])

    def _kernel(self) -> Any:
        raise NotImplementedError

    def _given(self, launch: Launch, blocks: int) -> Any:
        """What the kernel is given."""
        return launch

    def _shared(self) -> int:
        """Bytes of shared memory of a block."""
        return 0

    def _more(self, found: Results, fresh: int) -> tuple[Any, ...]:
        """What a kernel between the two is given, if there is one."""
        return ()

    def _look(self) -> None:
        """Start that kernel."""


def _part(rows: Any, begin: int, end: int) -> Any:
    """Some rows of an array on the device."""
    return rows[begin:end] if SIMULATED else rows.rows(begin, end)

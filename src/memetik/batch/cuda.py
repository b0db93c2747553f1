"""A batch on a graphics card: transfers, launches, and the few hard problems spread over many threads."""

from __future__ import annotations

import ctypes
import importlib
import math
import threading
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numpy.typing import NDArray

from memetik.batch.solution import Answers, Tell
from memetik.batch.transfer import Block, CardArray, CardMemory, Fields, copied, is_pinned, key_of, pinned_empty, send
from memetik.errors import MemetikError, MissingExtraError, ProblemError
from memetik.kernels.compiler.record import fields, words
from memetik.kernels.cuda.record import (
    LANES,
    SIMULATED,
    WORDS,
    Launch,
    Results,
    Round,
    Tasks,
    Tree,
    WarpLaunch,
    WarpScratch,
)
from memetik.kernels.memetic.descent import STEPS
from memetik.kernels.memetic.population_poses import place_population
from memetik.kernels.problem.record import Problem as FlatProblem
from memetik.kernels.problem.verify import REACHED
from memetik.kernels.problem.workspace import workspace_size
from memetik.problem import Problem
from memetik.solvers.memetic_plan import memetic_plan
from memetik.types import Array

if TYPE_CHECKING:
    from memetik.problem.compile import Compiled

ANSWERS = Results._fields
CHUNK = 1 << 20  # rows on the card at once
TABLE = 128  # words that a table may have
SHARED = 48 << 10  # bytes of shared memory that every card gives a block
SMALL = 1 << 20  # bytes of a block that is worth keeping, and whose answers are copied
BLOCKS = 64  # that are kept for a problem
ALONE = 4  # rows that are not worth more than a task each at first
FEW_ROWS = 1 << 15  # tasks that a card has room for at once


def require_cuda() -> Any:
    """numba.cuda, if a card can be used; otherwise an error that says what is missing."""
    try:
        from numba import cuda
    except ImportError as error:
        raise MissingExtraError("numba-cuda", "a batch on a graphics card", "cuda") from error
    if cuda.is_available():
        _load_compiler()
        cuda.current_context()  # of this thread, which may have none yet
    else:
        raise ProblemError(
            "no usable graphics card: an NVIDIA driver and numba-cuda are needed (pip install 'memetik[cuda]'; `nvidia-smi` "
            "must list the card). device='cpu' works everywhere."
        )
    return cuda


def _load_compiler() -> None:
    """Load numba-cuda's compiler, which asks for a name that NumPy has dropped."""
    numpy: Any = np
    if hasattr(numpy, "row_stack") or SIMULATED:
        return
    numpy.row_stack = np.vstack
    try:
        importlib.import_module("numba.cuda.cudaimpl")
    finally:
        del numpy.row_stack


def pinned_rows(shape: tuple[int, ...]) -> Array:
    """Memory for rows that go to a card: pinned where there are many, so that they need not be copied once more."""
    if 8 * math.prod(shape) <= SMALL or SIMULATED:
        return np.empty(shape)
    try:
        return pinned_empty(require_cuda(), shape, np.float64)
    except MemetikError:  # whoever needs the card will say what is missing
        return np.empty(shape)


def solve_on_cuda(
    problem: Problem, rows: Array, places: Any, starts: Array, seed: int, most: int, tell: Tell = lambda done: None
) -> Answers:
    """Solve row after row: `rows` go to the problem's data at `places`, `starts` (rows, dof) are where to set out.

    `most` is the budget of evaluations for each row; there is no clock on the card, and the seconds of a row are its part
    of the time that the card worked. A row that is missed keeps the best posture that was seen. Rows go to the card in
    portions, and `tell` is told how far it is.
    """
    cuda = require_cuda()
    require_no_functions(problem)
    if not len(rows):
        return Answers.empty(problem, starts)
    c, parts = problem.compiled, []
    for first in range(0, len(rows), CHUNK):
        chunk = slice(first, min(first + CHUNK, len(rows)))
        launcher = launcher_for(c)(cuda, c, chunk.stop - first, places, seed)
        parts.append(_solve_chunk(launcher, rows[chunk], starts[chunk], most))
        tell(chunk.stop)
    return parts[0] if len(parts) == 1 else Answers(*map(np.concatenate, zip(*parts, strict=True)))


def require_no_functions(problem: Problem) -> None:
    """Raise if a user's function would have to run on the card."""
    if problem.has_functions:
        raise ProblemError(f"{problem._fallible[0]!r} is a user's function and cannot run on a card. Use device='cpu'.")


def launcher_for(c: Compiled) -> type[Launcher]:
    """What solves a problem on a card."""
    return Poses if c.one_pose else General


def _solve_chunk(launcher: Launcher, rows: Array, starts: Array, most: int) -> Answers:
    """Send rows, solve them and fetch the answers."""
    if starts.strides[0] == 0:
        starts = starts[:1]  # the same memory for all rows
    count, given = len(rows), {"targets": (rows.shape, np.float64), "starts": (starts.shape, np.float64)}
    answers = launcher.answer_fields(count)
    small = count * 8 * (rows.shape[1] + sum(math.prod(shape[1:]) for shape, _ in answers.values())) <= SMALL
    work = launcher.open(given, answers, launcher.scratch_fields() if small else {})
    if small:
        np.copyto(work.host["targets"], rows)
        np.copyto(work.host["starts"], starts)
        launcher.run(work.card, most, ("count", "missed"))
        q, statuses, outcomes = (work.host[name].copy() for name in ANSWERS)
        launcher.close()
        return Answers(q, statuses, outcomes, launcher.row_seconds())
    inputs = CardMemory(launcher.kept.cuda, {**given, **launcher.scratch_fields()})
    for name, array in (("targets", rows), ("starts", starts)):
        launcher.send_array(array, inputs.card[name])
    launcher.run({**work.card, **inputs.card}, most)
    work.fetch("q", None)
    launcher.stream.synchronize()
    q, statuses, outcomes = (work.host[name] for name in ANSWERS)
    return Answers(q, statuses, outcomes, launcher.row_seconds())


class Launcher:
    """Rows of one problem on the card; a kind of problem says how many threads it takes and what its kernel is given."""

    few: int  # evaluations that are spent on a problem at first ...
    later: int  # ... by each task on one that is hard ...
    wider: int  # ... which has so many times as many tasks each time
    spread: int  # tasks of each problem at first
    threads: int  # in a block
    per_block: int  # tasks that a block takes at once
    blocks: int  # on a multiprocessor, at most

    work: Block  # what goes to the card and comes back

    def __init__(self, cuda: Any, c: Compiled, count: int, places: Any, seed: int) -> None:
        self.c, self.count, self.places, self.seed, self.plan = c, count, places, seed, memetic_plan(c)
        if c.mounts.size:  # the root may be elsewhere than last time
            self.kept = Kept(cuda, c, self.plan)
        else:
            self.kept = c.plans.get(Kept) or c.plans.setdefault(Kept, Kept(cuda, c, self.plan))
        self.seconds = 0.0
        self._sent: list[Array] = []  # until the card has them

    # ---- Memory ----------------------------------------------------------------------------------------------------

    def answer_fields(self, count: int) -> Fields:
        """The results of so many tasks."""
        return {
            "q": ((count, self.plan.sizes["dof"]), np.float64), "statuses": ((count,), np.int8),
            "outcomes": ((count, self.c.outcome_size), np.float64),
        }  # fmt: skip

    def scratch_fields(self) -> Fields:
        """What stays on the card: lists of rows that are missed, one that is read while the other is written."""
        fields: dict[str, Any] = {"missed": ((self.count,), np.int32), "missed_next": ((self.count,), np.int32)}
        if self.spread > 1:
            many = self.answer_fields(self.count * self.spread)
            fields |= {f"tried_{name}": kind for name, kind in many.items()}
        return fields

    def open(self, given: Fields, answers: Fields, scratch: Fields) -> Block:
        """Memory for what goes to the card with every launch, for answers and, if the batch is small, for all the rest."""
        together = given if scratch else {}
        self.work = self.kept.take({
            "data": (self.c.data.shape, np.float64), "columns": ((len(self.places),), np.int64), **together,
            "tables": ((2, TABLE), np.int64), "counter": ((1,), np.int32), "count": ((1,), np.int32), **answers, **scratch,
        })  # fmt: skip
        self._end_of_inputs = next(iter(answers), None)
        self.stream, here = self.work.stream, self.work.host
        here["data"][:], here["columns"][:] = self.c.data, self.places
        return self.work

    def close(self) -> None:
        """The memory is free for others."""
        self.kept.give_back(self.work)

    def send_array(self, array: Array, to: Any) -> None:
        """Copy an array to the card."""
        if SIMULATED:
            np.copyto(to, array)
            return
        if not is_pinned(array):
            array = copied(array, pinned_empty(self.kept.cuda, array.shape, array.dtype))
        send(self.kept.cuda, array.ctypes.data, to.address, array.nbytes, self.stream)
        self._sent.append(array)

    def row_seconds(self) -> Array:
        """The time that the card worked, in equal parts."""
        return np.broadcast_to(self.seconds / self.count, (self.count,))

    # ---- Rounds ----------------------------------------------------------------------------------------------------

    def run(self, card: dict[str, Any], most: int, fetched: tuple[str, str | None] | None = None) -> None:
        """Every row for a few evaluations; those still missed in eight tasks each, 64 tasks, and so on.

        One attempt after the other would keep the whole card waiting for the hardest problem of all. What a task does depends
        on its number alone, so the answers are the same each time. They stay on the card, but for the fields that are
        `fetched`, from one to before another, with the number of the rows that are missed.
        """
        begin, end = self.work.events
        few = min(most, self.few)
        spread = max(min(self.spread, most // max(few, 1)), 1)
        tried = card if spread == 1 else {name: card[f"tried_{name}"] for name in ANSWERS}
        read, written = card["missed"], card["missed_next"]
        self._fill(
            card, tried, _part(read, 0, 0), written, Tasks(self.count * spread, spread, 0, self.seed, few), fresh=1
        )
        self.work.send("data", self._end_of_inputs)
        begin.record(self.stream)
        self._launch(self.count, listed=fetched is None or spread > 1)
        end.record(self.stream)
        missed = self._missed(fetched)
        if spread == 1 and fetched is not None:
            missed = self._list_missed()
        left, stream = most - few * spread, spread
        while left > 0 and missed:
            read, written = written, read
            spread = min(self.wider * spread, 512, left)
            few, portion = min(self.later, left // spread), CHUNK // spread
            memory = CardMemory(self.kept.cuda, self.answer_fields(min(missed, portion) * spread))
            for first in range(0, missed, portion):
                rows = min(portion, missed - first)
                which = _part(read, first, first + rows)
                tasks = Tasks(rows * spread, spread, stream, self.seed, few)
                self._fill(card, memory.card, which, written, tasks, fresh=0)
                self.work.send("tables", self._end_of_inputs if first == 0 else "count")
                self._launch(rows)
                end.record(self.stream)
                if first + portion < missed:
                    self.stream.synchronize()  # the tables are written anew
            missed = self._missed(fetched)
            left -= spread * few
            stream += spread
        self.seconds = float(begin.elapsed_time(end)) * 1e-3

    def _fill(
        self, card: dict[str, Any], tried: dict[str, Any], which: Any, missed: Any, tasks: Tasks, fresh: int
    ) -> None:
        """Write what the two kernels of a round are given."""
        here, there = self.work.host, self.work.card
        here["counter"][0] = here["count"][0] = 0
        self._in_place = bool(fresh) and tasks.spread == 1  # each task writes the result of its row
        key = tasks if fresh and "targets" in there else None  # then all addresses are those of the block
        self._blocks = min(-(-tasks.number // self.per_block), self.blocks * self.kept.multiprocessors)
        if key is not None and self.work.filled == key:
            return
        tasks = tasks._replace(columns=there["columns"], targets=card["targets"], starts=card["starts"], which=which)
        found, results = (Results(*(place[name] for name in ANSWERS)) for place in (tried, card))
        problem = self.kept.problem_with(there["data"])
        launch = self._given(Launch(problem, self.kept.population, tasks, found, there["counter"]), self._blocks)
        rows, terms = tasks.number // tasks.spread, int(self.c.terms.size)
        settle = Round(found, results, rows, tasks.spread, terms, fresh, which, missed, there["count"])
        self.work.filled, self.work.records = key, (launch, settle)
        if not SIMULATED:
            for table, record in zip(here["tables"], self.work.records, strict=True):
                numbers = np.fromiter(words(record, self.kept.known), dtype=np.int64)
                table[: len(numbers)] = numbers

    def _launch(self, rows: int, *, listed: bool = True) -> None:
        """Search, then keep the best and list what is missed."""
        from memetik.kernels.cuda.rounds import keep_best, list_missed

        if SIMULATED:
            search, settle = self.work.records
        else:
            search = self.work.card["tables"].address
            settle = search + 8 * TABLE
        cuda = self.kept.cuda
        start(cuda, self._kernel(), self._blocks, self.threads, self.stream, self._shared(), search)
        if self._in_place and listed:
            start(cuda, list_missed, -(-rows // 128), 128, self.stream, 0, settle)
        elif not self._in_place:
            start(cuda, keep_best, rows, LANES, self.stream, 0, settle)

    def _list_missed(self) -> int:
        """Send the list of the rows that are missed, whose statuses were fetched: for few rows that is less than a launch."""
        rows = np.flatnonzero(self.work.host["statuses"] != REACHED)
        if len(rows):
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


def _part(rows: Any, begin: int, end: int) -> Any:
    """Some rows of an array on the card."""
    return rows[begin:end] if SIMULATED else rows.rows(begin, end)


def start(cuda: Any, kernel: Any, blocks: int, threads: int, stream: Any, shared: int, given: Any) -> None:
    """Launch a kernel whose only argument is the address of a table, or in the simulator the record itself."""
    if SIMULATED:
        kernel[blocks, threads, stream, shared](given)
        return
    address = ctypes.c_int64(given)
    place = ctypes.c_void_p(ctypes.addressof(address))
    cuda.driver.driver.cuLaunchKernel(
        _function(kernel), blocks, 1, 1, threads, 1, 1, shared, int(stream.handle), ctypes.addressof(place), 0
    )


@cache
def _function(kernel: Any) -> int:
    """The driver's handle of a compiled kernel: Numba's own way to launch one takes 30 us longer, and warns of small grids."""
    return int(kernel.compile((numba.int64,))._codelibrary.get_cufunc().handle)


class Poses(Launcher):
    """Problems that are one full pose, one a thread."""

    later = 100  # one problem in two hundred needs more
    wider = 8
    threads = per_block = 128
    blocks = 2  # as many as the registers hold
    few_rows = FEW_ROWS  # with so few the card is idle but for the hardest

    @property
    def few(self) -> int:  # type: ignore[override]
        """One attempt where every row has many tasks, which makes for the same answer where one is enough."""
        return STEPS + 1 if self.spread > 1 else 100

    @property
    def spread(self) -> int:  # type: ignore[override]
        """As many tasks as the card has room for at once. One alone is on average as soon done without."""
        if self.count > self.few_rows or self.count <= ALONE:
            return 1
        return min(64, self.few_rows // self.count)

    def _kernel(self) -> Any:
        from memetik.kernels.cuda.pose import pose_kernel

        return pose_kernel(self.c.nodes.size, self.c.variables.size)


class General(Launcher):
    """Problems of any other kind, one a warp."""

    spread = 1
    wider = 8
    threads, per_block, blocks = 2 * LANES, 1, 6

    @property
    def few(self) -> int:  # type: ignore[override]
        """Whole bodies recombine limbs over many attempts, which many short searches cannot do. But a batch of which all have
        a place on the card at once soon waits for its hardest row alone."""
        return 30 if self.count <= 16 * self.kept.multiprocessors else 200

    @property
    def later(self) -> int:  # type: ignore[override]
        """The same for those that are hard."""
        return self.few

    def _kernel(self) -> Any:
        from memetik.kernels.cuda.general import general_kernel, kinds_of

        n, m = self.c.variables.size, self.c.residuals
        return general_kernel(kinds_of(self.c.terms, self.c.kernels), self.plan.local_search, m <= n, min(n, m) < LANES)

    @cached_property
    def _buffer(self) -> int:
        """Numbers that a warp works on."""
        c = self.c
        size: int = workspace_size(c.nodes.size, c.frames.size, c.variables.size, c.residuals)
        return size + int(c.data.size) + int(c.flat.limits.size) + c.outcome_size

    @cached_property
    def _fits(self) -> bool:
        return self._shared_with(self._buffer) <= SHARED

    def _shared_with(self, buffer: int) -> int:
        return 8 * (WORDS + 2 * int(self.c.terms.size) + int(self.c.variables.size) + buffer)

    def _shared(self) -> int:
        return self._shared_with(self._buffer if self._fits else 0)

    def _given(self, launch: Launch, blocks: int) -> Any:
        c = self.c
        lane = 7 * c.frames.size + max(c.residuals, 1)
        sizes = {**self.plan.sizes, "warps": blocks, "buffer": 1 if self._fits else self._buffer, "lane": lane}
        shapes = {
            name: (tuple(sizes.get(size, size) for size in field.shape), field.dtype)
            for name, field in fields(WarpScratch).items()
        }
        self.work.scratch = CardMemory(self.kept.cuda, shapes)  # as long as the tables speak of it
        return WarpLaunch(launch, WarpScratch(**self.work.scratch.card), self.kept.tree, int(self._fits))


class Kept:
    """What stays on the card for the next batch of a problem: all but the targets, and the memory of small batches."""

    def __init__(self, cuda: Any, c: Compiled, plan: Any) -> None:
        self.cuda = cuda
        self._alive: list[Any] = []
        problem, population = c.flat, plan.population
        if c.mounts.size:
            problem = c.placed(problem)._replace(mounts=c.mounts[:0])
            frame_poses, limb_poses = np.empty_like(population.frame_poses), np.empty_like(population.limb_poses)
            population = population._replace(frame_poses=frame_poses, limb_poses=limb_poses)
            place_population(problem.nodes, problem.frames, population, np.empty((c.nodes.size, 7)))
        self.problem, self.population = self._sent(problem), self._sent(population)
        self.tree = self._sent(_tree(problem))
        self.multiprocessors = 1 if SIMULATED else int(cuda.get_current_device().MULTIPROCESSOR_COUNT)
        self._lock = threading.Lock()
        self._free: dict[Any, list[Block]] = {}
        self._problems: dict[int, FlatProblem] = {}  # by the address of their data
        self.known: dict[int, list[int]] = {}  # the words of records that stay, by their id
        if not SIMULATED:
            self.known = {id(record): list(words(record)) for record in (self.population, self.tree)}

    def problem_with(self, data: Any) -> FlatProblem:
        """The problem with its data elsewhere on the card."""
        problem: FlatProblem | None = None if SIMULATED else self._problems.get(data.address)
        if problem is None:
            problem = self.problem._replace(data=data)
        if not SIMULATED and id(problem) not in self.known:
            self.known[id(problem)] = list(words(problem))
            self._problems[data.address] = problem  # kept, so that no other has its id
        return problem

    def _sent(self, record: Any) -> Any:
        """The record with its arrays in the memory of the card."""
        if SIMULATED:
            return record
        return type(record)(*(value if isinstance(value, int) else self._array(value) for value in record))

    def _array(self, array: NDArray[Any]) -> CardArray:
        there = self.cuda.to_device(np.ascontiguousarray(array))
        self._alive.append(there)
        return CardArray(there.device_ctypes_pointer.value or 0, array.shape, array.dtype)

    def take(self, fields: Fields) -> Block:
        """Memory for these fields."""
        with self._lock:
            free = self._free.get(key_of(fields))
            if free:
                return free.pop()
        return Block(self.cuda, fields)

    def give_back(self, block: Block) -> bool:
        """Keep a small block for the next batch."""
        if block.size > SMALL:
            return False
        with self._lock:
            if sum(map(len, self._free.values())) >= BLOCKS:
                self._free.clear()
            self._free.setdefault(block.key, []).append(block)
        return True


def _tree(problem: FlatProblem) -> Tree:
    """The motions of a body as the lanes of a warp share them."""
    nodes, terms = problem.nodes, problem.terms
    depths = np.zeros(len(nodes), dtype=np.int64)
    for k, parent in enumerate(nodes["parent"]):
        depths[k] = depths[parent] + 1 if parent >= 0 else 0
    levels = np.searchsorted(np.sort(depths), np.arange(depths.max(initial=-1) + 2))
    stumps, own = nodes.copy(), np.arange(len(nodes))[:, None]
    stumps["parent"] = -1
    carried = np.broadcast_to(problem.frames, (len(nodes), len(problem.frames))).copy()
    carries = (own <= carried["node"]) & (carried["node"] <= nodes["last"][:, None])
    carried["node"] = np.where(carries, own, -1)
    alone = len(np.unique(nodes["variable"])) == len(nodes)  # or two lanes would add to the same derivative
    few = [int(t) for t in np.argsort(terms["kind"], kind="stable") if terms["rows"][t] > 0]
    if alone and len(few) < LANES:
        moves = problem.affects[:, nodes["variable"]] != 0
        pairs = [(t, int(i)) for t in few for i in np.flatnonzero(moves[t])]
    else:
        pairs = [(t, -1) for t in few]
    found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    couples, shared = _couples(problem)
    springs = int((terms["rows"] == 0).sum())
    return Tree(springs, np.argsort(depths, kind="stable"), levels, found, stumps, carried, couples, shared)


def _couples(problem: FlatProblem) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The lower triangle of J J^T in squares of up to three rows and columns, which have the same term each, and the variables
    that move both; those with the most first, so that lanes end together."""
    sides = [
        (row, min(3, int(term["row"] + term["rows"]) - row), t)
        for t, term in enumerate(problem.terms)
        for row in range(int(term["row"]), int(term["row"] + term["rows"]), 3)
    ]
    if problem.terms["rows"].sum() > problem.variables.size:
        sides = []  # then steps go by the variables
    squares = []
    for row, rows, t in sides:
        for column, columns, other in sides:
            if column <= row:
                both = np.flatnonzero((problem.affects[t] != 0) & (problem.affects[other] != 0))
                squares.append((row, column, rows, columns, both))
    squares.sort(key=lambda square: -len(square[4]))
    ends = np.cumsum([0, *(len(both) for *_, both in squares)])
    couples = [
        (row, column, ends[k], ends[k + 1], rows, columns) for k, (row, column, rows, columns, _) in enumerate(squares)
    ]
    shared = np.concatenate([np.zeros(0, dtype=np.int64), *(both for *_, both in squares)])
    return np.array(couples, dtype=np.int64).reshape(-1, 6), shared

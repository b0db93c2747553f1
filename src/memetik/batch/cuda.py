"""A batch on a graphics card: transfers, launches, and the few hard problems spread over many threads."""

from __future__ import annotations

import importlib
import threading
import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memetik.batch.solution import Answers, Tell
from memetik.batch.transfer import Block, CardArray, CardMemory, Fields, copied, key_of
from memetik.errors import MissingExtraError, ProblemError
from memetik.kernels.compiler.record import fields, words
from memetik.kernels.cuda.record import LANES, SIMULATED, WORDS, Launch, Results, Tasks, Tree, WarpLaunch, WarpScratch
from memetik.kernels.memetic.population_poses import place_population
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, OUTCOME
from memetik.kernels.problem.record import Problem as FlatProblem
from memetik.kernels.problem.verify import REACHED
from memetik.kernels.problem.workspace import workspace_size
from memetik.problem import Problem
from memetik.solvers.memetic_plan import memetic_plan
from memetik.types import Array

if TYPE_CHECKING:
    from memetik.problem.compile import Compiled

Integers = NDArray[np.int32]

CHUNK = 1 << 20  # rows on the card at once
TABLE = 128  # words that a table may have
SHARED = 48 << 10  # bytes of shared memory that every card gives a block
SMALL = 1 << 20  # bytes of a block that is worth keeping, and whose answers are copied
BLOCKS = 64  # that are kept for a problem


def require_cuda() -> Any:
    """numba.cuda, if a card can be used; otherwise an error that says what is missing."""
    try:
        from numba import cuda
    except ImportError as error:
        raise MissingExtraError("numba-cuda", "a batch on a graphics card", "cuda") from error
    if cuda.is_available():
        _load_compiler()
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


def solve_on_cuda(
    problem: Problem, rows: Array, places: Any, starts: Array, seed: int, most: int, tell: Tell = lambda done: None
) -> Answers:
    """Solve row after row: `rows` go to the problem's data at `places`, `starts` (rows, dof) are where to set out.

    `most` is the budget of evaluations for each row; there is no clock on the card, and the seconds of a row are its part
    of the time that the card worked. A row that is missed keeps the best posture that was seen. Rows go to the card in
    portions, and `tell` is told how far it is.
    """
    cuda = require_cuda()
    if problem.has_functions:
        raise ProblemError(f"{problem._fallible[0]!r} is a user's function and cannot run on a card. Use device='cpu'.")
    c, parts = problem.compiled, []
    if not len(rows):
        return Answers.empty(problem, starts)
    for first in range(0, len(rows), CHUNK):
        chunk = slice(first, min(first + CHUNK, len(rows)))
        launcher = (Poses if c.one_pose else General)(cuda, c, rows[chunk], places, starts[chunk], seed)
        parts.append(_solve(launcher, most))
        launcher.close()
        tell(chunk.stop)
    return parts[0] if len(parts) == 1 else Answers(*map(np.concatenate, zip(*parts, strict=True)))


def _solve(launcher: Launcher, most: int) -> Answers:
    """Every problem once for a few evaluations; those still missed eight times each, 64 times, and so on.

    One attempt after the other would keep the whole card waiting for the hardest problem of all. What a task does depends
    on its number alone, so the answers are the same each time.
    """
    few = min(most, launcher.few)
    none = np.zeros(0, dtype=np.int32)
    done = launcher.launch(none, launcher.count, 1, 0, few)
    left, spread, stream = most - few, 1, 1
    while left > 0:
        hard = np.flatnonzero(done.status != REACHED).astype(np.int32)
        if not len(hard):
            break
        spread = min(launcher.wider * spread, 512, left)
        few = min(launcher.later, left // spread)
        for begin in range(0, len(hard), CHUNK // spread):
            which = hard[begin : begin + CHUNK // spread]
            tried = launcher.launch(which, len(which) * spread, spread, stream, few)
            _take_best(done, which, tried, launcher.c.terms.size)
        left -= spread * few
        stream += spread
    return done


def _take_best(done: Answers, which: Integers, tried: Answers, terms: int) -> None:
    """Of the tasks of each problem the first that reached its target, or else the one that came nearest."""
    errors = slice(OUTCOME, OUTCOME + terms)
    reached = tried.status.reshape(len(which), -1) == REACHED
    missing = tried.numbers[:, errors].sum(axis=1)
    choice = np.where(reached.any(axis=1), reached.argmax(axis=1), missing.reshape(reached.shape).argmin(axis=1))
    picked = np.arange(len(which)) * reached.shape[1] + choice
    better = reached.any(axis=1) | (missing[picked] < done.numbers[which, errors].sum(axis=1))
    best, chosen = which[better], picked[better]
    done.q[best], done.status[best] = tried.q[chosen], tried.status[chosen]
    done.numbers[best, errors] = tried.numbers[chosen, errors]
    for column in (EVALUATIONS, ATTEMPTS):
        done.numbers[which, column] += tried.numbers[:, column].reshape(reached.shape).sum(axis=1)
    done.seconds[which] += tried.seconds.reshape(reached.shape).sum(axis=1)


class Launcher:
    """Rows of one problem on the card; a kind of problem says how many threads it takes and what its kernel is given."""

    few: int  # evaluations that are spent on a problem at first ...
    later: int  # ... by each task on one that is hard ...
    wider: int  # ... which has so many times as many tasks each time
    threads: int  # in a block
    per_block: int  # tasks that a block takes at once
    blocks: int  # on a multiprocessor, at most

    def __init__(self, cuda: Any, c: Compiled, rows: Array, places: Any, starts: Array, seed: int) -> None:
        self.c, self.count, self.seed, self.plan = c, len(rows), seed, memetic_plan(c)
        if c.mounts.size:  # the root may be elsewhere than last time
            self.kept = Kept(cuda, c, self.plan)
        else:
            self.kept = c.plans.get(Kept) or c.plans.setdefault(Kept, Kept(cuda, c, self.plan))
        if starts.strides[0] == 0:
            starts = starts[:1]  # the same memory for all rows
        self.inputs = self.kept.take({
            "data": (c.data.shape, np.float64), "columns": ((rows.shape[1],), np.int64),
            "targets": (rows.shape, np.float64), "starts": (starts.shape, np.float64),
        })  # fmt: skip
        self.stream, here = self.inputs.stream, self.inputs.host
        here["data"][:], here["columns"][:] = c.data, places
        copied(rows, here["targets"])
        self.inputs.send("data", "starts", self.stream)
        copied(starts, here["starts"])
        self.inputs.send("starts", None, self.stream)

    def _kernel(self) -> Any:
        raise NotImplementedError

    def _given(self, launch: Launch, blocks: int) -> Any:
        """What the kernel is given."""
        return launch

    def _shared(self) -> int:
        """Bytes of shared memory of a block."""
        return 0

    def launch(self, which: Integers, count: int, spread: int, stream: int, most: int) -> Answers:
        """So many tasks for the rows in `which`, all if it is empty, `spread` for each, that draw from as many streams."""
        dof, outcome = self.inputs.host["starts"].shape[1], self.c.outcome_size
        work = self.kept.take({
            "table": ((TABLE,), np.int64), "counter": ((1,), np.int32), "which": (which.shape, np.int32),
            "q": ((count, dof), np.float64), "outcomes": ((count, outcome), np.float64), "statuses": ((count,), np.int8),
        })  # fmt: skip
        given, there, here = self.inputs.card, work.card, work.host
        here["counter"][0] = 0
        here["which"][:] = which
        blocks = min(-(-count // self.per_block), self.blocks * self.kept.multiprocessors)
        tasks = Tasks(
            count, spread, stream, self.seed, most, given["columns"], given["targets"], given["starts"], there["which"]
        )
        results = Results(there["q"], there["statuses"], there["outcomes"])
        problem = self.kept.problem._replace(data=given["data"])
        record = self._given(Launch(problem, self.kept.population, tasks, results, there["counter"]), blocks)
        if not SIMULATED and work.filled != tasks:
            table = np.fromiter(words(record), dtype=np.int64)
            here["table"][: len(table)], work.filled = table, tasks
        begin, end = work.events
        work.send("table", "q", self.stream)
        begin.record(self.stream)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*under-utilization")  # a small batch leaves most of the card idle
            kernel = self._kernel()[blocks, self.threads, self.stream, self._shared()]
            kernel(record if SIMULATED else there["table"].address)
        end.record(self.stream)
        work.fetch("q", None, self.stream)
        self.stream.synchronize()
        seconds = np.full(count, float(begin.elapsed_time(end)) * 1e-3 / count)
        answers = Answers(here["q"], here["statuses"], here["outcomes"], seconds)
        if self.kept.give_back(work):
            return Answers(answers.q.copy(), answers.status.copy(), answers.numbers.copy(), seconds)
        return answers

    def close(self) -> None:
        """The memory of the rows is free for others."""
        self.kept.give_back(self.inputs)


class Poses(Launcher):
    """Problems that are one full pose, one a thread."""

    few = later = 100  # one problem in two hundred needs more
    wider = 8
    threads = per_block = 128
    blocks = 2  # as many as the registers hold

    def _kernel(self) -> Any:
        from memetik.kernels.cuda.pose import pose_kernel

        return pose_kernel(self.c.nodes.size, self.c.variables.size)


class General(Launcher):
    """Problems of any other kind, one a warp."""

    wider = 8
    threads, per_block, blocks = 2 * LANES, 1, 8

    @property
    def few(self) -> int:  # type: ignore[override]
        """Whole bodies recombine limbs over many attempts, which many short searches cannot do. But a batch of which all have
        a place on the card at once soon waits for its hardest row alone: 1,000 humanoids take 34 ms with 200, 22 with 30."""
        return 30 if self.count <= 2 * self.blocks * self.kept.multiprocessors else 200

    @property
    def later(self) -> int:  # type: ignore[override]
        """The same for those that are hard."""
        return self.few

    def _kernel(self) -> Any:
        from memetik.kernels.cuda.general import general_kernel, kinds_of

        return general_kernel(kinds_of(self.c.terms, self.c.kernels), self.plan.local_search)

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
        self._scratch = CardMemory(self.kept.cuda, shapes)  # until the next launch
        return WarpLaunch(launch, WarpScratch(**self._scratch.card), self.kept.tree, int(self._fits))


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

    def _sent(self, record: Any) -> Any:
        """The record with its arrays in the memory of the card."""
        if SIMULATED:
            return record
        return type(record)(*map(self._array, record))

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
    return Tree(np.argsort(depths, kind="stable"), levels, found, stumps, carried)

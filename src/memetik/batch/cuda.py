"""A batch on a graphics card: transfers, launches, and the few hard problems spread over many threads."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numpy.typing import NDArray

from memetik.batch.solution import Answers, Tell
from memetik.batch.transfer import from_card, to_card
from memetik.errors import MissingExtraError, ProblemError
from memetik.kernels.compiler.record import fields
from memetik.kernels.cuda.record import Results, Tasks, ThreadScratch
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, OUTCOME
from memetik.kernels.problem.verify import REACHED
from memetik.kernels.problem.workspace import workspace_size
from memetik.problem import Problem
from memetik.solvers.memetic_plan import memetic_plan
from memetik.types import Array

if TYPE_CHECKING:
    from memetik.problem.compile import Compiled

Integers = NDArray[np.int32]

CHUNK = 1 << 20  # rows on the card at once
SIMULATED: bool = getattr(numba.config, "ENABLE_CUDASIM", False)  # device code as plain Python


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
        tell(chunk.stop)
    return parts[0] if len(parts) == 1 else Answers(*map(np.concatenate, zip(*parts, strict=True)))


def _solve(launcher: Launcher, most: int) -> Answers:
    """Every problem on one thread for a few evaluations; those still missed on eight threads each, on 64, and so on.

    One thread after the other would keep the whole card waiting for the hardest problem of all. What a thread does depends
    on its number alone, so the answers are the same each time.
    """
    few = min(most, launcher.few)
    done = launcher.launch(np.arange(launcher.count, dtype=np.int32), 1, 0, few)
    left, spread, stream = most - few, 1, 1
    while left > 0:
        hard = np.flatnonzero(done.status != REACHED).astype(np.int32)
        spread = min(8 * spread, 512, left)
        few = min(few, left // spread)
        for begin in range(0, len(hard), CHUNK // spread):
            which = hard[begin : begin + CHUNK // spread]
            _take_best(done, which, launcher.launch(which, spread, stream, few), launcher.c.terms.size)
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
    done.seconds[:] += tried.seconds.sum() / len(done.seconds)


class Launcher:
    """Rows of one problem on the card; a kind of problem says how many threads it takes and what its kernel is given."""

    few: int  # evaluations that one thread spends on a problem
    threads: int  # in a block
    blocks: int  # on a multiprocessor

    def __init__(self, cuda: Any, c: Compiled, rows: Array, places: Any, starts: Array, seed: int) -> None:
        self.cuda, self.c, self.count = cuda, c, len(rows)
        self.plan = memetic_plan(c)
        sent = c.plans.get(Launcher) or (self._sent(c.flat), self._sent(self.plan.population))
        problem, self.population = c.plans.setdefault(Launcher, sent)  # stay on the card, all but the targets
        self.problem = problem._replace(data=to_card(cuda, c.data))
        columns, none = np.asarray(places, dtype=np.int64), np.zeros(0, dtype=np.int32)
        self.tasks = self._sent(Tasks(0, 0, seed, 0, columns, rows, starts, none))

    def _kernel(self) -> Any:
        raise NotImplementedError

    def _scratch(self, threads: int) -> list[Any]:
        return []

    def _sent(self, record: Any) -> Any:
        """The record with its arrays in the memory of the card."""
        return type(record)(
            *(v if isinstance(v, int) else to_card(self.cuda, v) for v in record)
        )  # fmt: skip

    def _allocated(self, kind: Any, sizes: Mapping[str, int]) -> Any:
        """A record of arrays on the card."""
        shapes = (
            (tuple(sizes.get(size, size) for size in field.shape), field.dtype) for field in fields(kind).values()
        )
        return kind(*(self.cuda.device_array(shape, dtype) for shape, dtype in shapes))

    def launch(self, which: Integers, spread: int, stream: int, most: int) -> Answers:
        """Tasks for the rows in `which`, `spread` for each, that draw from as many streams."""
        cuda, c, count = self.cuda, self.c, len(which) * spread
        blocks = min(-(-count // self.threads), self.blocks * _multiprocessors(cuda))
        tasks = self.tasks._replace(spread=spread, stream=stream, most=most, which=to_card(cuda, which))
        written = self._allocated(Results, {**c.sizes, "tasks": count})
        scratch = self._scratch(blocks * self.threads)
        counter = cuda.to_device(np.zeros(1, dtype=np.int32))  # the number of the next task
        grid = blocks, self.threads
        seconds = _timed(cuda, self._kernel(), grid, self.problem, self.population, tasks, written, *scratch, counter)
        q, status, numbers = (from_card(cuda, array) for array in written)
        return Answers(q, status, numbers, np.full(count, seconds / count))


class Poses(Launcher):
    """Problems that are one full pose."""

    few = 100  # one problem in two hundred needs more
    threads, blocks = 128, 2  # as many as the registers hold

    def _kernel(self) -> Any:
        from memetik.kernels.cuda.pose import pose_kernel

        return pose_kernel(self.c.nodes.size, self.c.variables.size)


class General(Launcher):
    """Problems of any other kind."""

    few = 700  # whole bodies recombine limbs over many attempts, which many short searches cannot do
    threads, blocks = 32, 8  # threads of this kernel wait for memory, not for registers

    def _kernel(self) -> Any:
        from memetik.kernels.cuda.general import general_kernel, kinds_of

        return general_kernel(kinds_of(self.c.terms, self.c.kernels), self.plan.local_search)

    def _scratch(self, threads: int) -> list[Any]:
        c = self.c
        size = int(workspace_size(c.nodes.size, c.frames.size, c.variables.size, c.residuals))
        return [self._allocated(ThreadScratch, {**self.plan.sizes, "threads": threads, "workspace": size})]


def _timed(cuda: Any, kernel: Any, grid: tuple[int, int], *arguments: Any) -> float:
    """Launch and wait; the time that the card worked [s]."""
    begin, end = cuda.event(), cuda.event()
    begin.record()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*under-utilization")  # a small batch leaves most of the card idle
        kernel[grid](*arguments)
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) * 1e-3


def _multiprocessors(cuda: Any) -> int:
    """How many the card has; the simulator, which runs device code as plain Python, has one."""
    return 1 if SIMULATED else int(cuda.get_current_device().MULTIPROCESSOR_COUNT)

"""A batch on a graphics card: transfers, launches, and the few hard problems spread over many threads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numpy.typing import NDArray

from memetik.errors import MissingExtraError, ProblemError
from memetik.kernels.compiler.record import fields
from memetik.kernels.cuda.record import Results, Tasks, ThreadScratch
from memetik.kernels.problem.verify import REACHED
from memetik.kernels.problem.workspace import workspace_size
from memetik.problem import Problem
from memetik.solvers.memetic_plan import memetic_plan
from memetik.types import Array

if TYPE_CHECKING:
    from memetik.problem.compile import Compiled

Integers = NDArray[np.int32]

CHUNK = 1 << 20  # rows on the card at once


@dataclass
class CudaResult:
    """What came back, a row for each problem, and how long the card worked."""

    kernel_seconds: float
    q: Array  # (rows, dof)
    statuses: Integers
    errors: Array  # (rows, terms)
    evaluations: Integers
    attempts: Integers

    def arrays(self) -> tuple[Any, ...]:
        """All but the time."""
        return self.q, self.statuses, self.errors, self.evaluations, self.attempts


def require_cuda() -> Any:
    """numba.cuda, if a card can be used; otherwise an error that says what is missing."""
    try:
        from numba import cuda
    except ImportError as error:
        raise MissingExtraError("numba-cuda", "a batch on a graphics card", "cuda") from error
    if not cuda.is_available():
        raise ProblemError(
            "no usable graphics card: an NVIDIA driver and numba-cuda are needed (pip install 'memetik[cuda]'; `nvidia-smi` "
            "must list the card). device='cpu' works everywhere."
        )
    return cuda


def solve_on_cuda(problem: Problem, rows: Array, places: Any, starts: Array, seed: int, most: int) -> CudaResult:
    """Solve row after row: `rows` go to the problem's data at `places`, `starts` (rows, dof) are where to set out.

    `most` is the budget of evaluations for each row; there is no clock on the card. A row that is missed keeps the best
    posture that was seen.
    """
    cuda = require_cuda()
    if problem.has_functions:
        raise ProblemError(f"{problem._fallible[0]!r} is a user's function and cannot run on a card. Use device='cpu'.")
    c = problem.compiled
    parts = []
    for first in range(0, len(rows), CHUNK):
        chunk = slice(first, first + CHUNK)
        launcher = (Poses if c.one_pose else General)(cuda, c, rows[chunk], places, starts[chunk], seed)
        parts.append(_solve(launcher, most))
    if len(parts) == 1:
        return parts[0]
    arrays: list[Any] = [np.concatenate(pieces) for pieces in zip(*(part.arrays() for part in parts), strict=True)]
    return CudaResult(sum(part.kernel_seconds for part in parts), *arrays)


def _solve(launcher: Launcher, most: int) -> CudaResult:
    """Every problem on one thread for a few evaluations; those still missed on eight threads each, on 64, and so on.

    One thread after the other would keep the whole card waiting for the hardest problem of all. What a thread does depends
    on its number alone, so the answers are the same each time.
    """
    few = min(most, launcher.few)
    done = launcher.launch(np.arange(launcher.count, dtype=np.int32), 1, 0, few)
    left, spread, stream = most - few, 1, 1
    while left > 0:
        hard = np.flatnonzero(done.statuses != REACHED).astype(np.int32)
        spread = min(8 * spread, 512, left)
        few = min(few, left // spread)
        for begin in range(0, len(hard), CHUNK // spread):
            which = hard[begin : begin + CHUNK // spread]
            _take_best(done, which, spread, launcher.launch(which, spread, stream, few))
        left -= spread * few
        stream += spread
    return done


def _take_best(done: CudaResult, which: Integers, spread: int, tried: CudaResult) -> None:
    """Of the tasks of each problem the first that reached its target, or else the one that came nearest."""
    shape = (len(which), spread)
    reached = tried.statuses.reshape(shape) == REACHED
    nearest = tried.errors.sum(axis=1).reshape(shape).argmin(axis=1)
    choice = np.where(reached.any(axis=1), reached.argmax(axis=1), nearest)
    picked = np.arange(len(which)) * spread + choice
    better = reached.any(axis=1) | (tried.errors[picked].sum(axis=1) < done.errors[which].sum(axis=1))
    for name in ("q", "statuses", "errors"):
        getattr(done, name)[which[better]] = getattr(tried, name)[picked[better]]
    done.evaluations[which] += tried.evaluations.reshape(shape).sum(axis=1)
    done.attempts[which] += tried.attempts.reshape(shape).sum(axis=1)
    done.kernel_seconds += tried.kernel_seconds


class Launcher:
    """Rows of one problem on the card; a kind of problem says how many threads it takes and what a kernel is given."""

    few: int  # evaluations that one thread spends on a problem
    threads: int  # in a block
    blocks: int  # on a multiprocessor

    def __init__(self, cuda: Any, c: Compiled, rows: Array, places: Any, starts: Array, seed: int) -> None:
        self.cuda, self.c, self.starts, self.count = cuda, c, starts, len(rows)
        self.plan = memetic_plan(c)
        self.problem, self.population = self._sent(self._problem()), self._sent(self.plan.population)
        inputs = np.asarray(places, dtype=np.int64), rows, self._starts(starts)
        self.tasks = self._sent(Tasks(0, 0, seed, 0, *map(np.ascontiguousarray, inputs), np.zeros(0, dtype=np.int32)))

    def _problem(self) -> Any:
        return self.c.record

    def _starts(self, starts: Array) -> Array:
        return starts

    def _scratch(self, threads: int) -> tuple[Any, ...]:
        return ()

    def _kernel(self) -> Any:
        raise NotImplementedError

    def _sent(self, record: Any) -> Any:
        """The record with its arrays in the memory of the card."""
        return type(record)(*(v if isinstance(v, int) else self.cuda.to_device(v) for v in record))

    def _allocated(self, kind: Any, sizes: Mapping[str, int]) -> Any:
        """A record of arrays on the card."""
        shapes = (
            (tuple(sizes.get(size, size) for size in field.shape), field.dtype) for field in fields(kind).values()
        )
        return kind(*(self.cuda.device_array(shape, dtype) for shape, dtype in shapes))

    def launch(self, which: Integers, spread: int, stream: int, most: int) -> CudaResult:
        """Tasks for the rows in `which`, `spread` for each, that draw from as many streams."""
        cuda, count = self.cuda, len(which) * spread
        blocks = min(-(-count // self.threads), self.blocks * _multiprocessors(cuda))
        tasks = self.tasks._replace(spread=spread, stream=stream, most=most, which=cuda.to_device(which))
        results = self._allocated(Results, {"tasks": count, "dof": tasks.starts.shape[1], "terms": self.c.terms.size})
        counter = cuda.to_device(np.zeros(1, dtype=np.int32))
        scratch = self._scratch(blocks * self.threads)
        kernel = self._kernel()[blocks, self.threads]
        seconds = _timed(cuda, kernel, self.problem, self.population, tasks, results, *scratch, counter)
        return CudaResult(seconds, *(array.copy_to_host() for array in results))


class Poses(Launcher):
    """Problems that are one full pose."""

    few = 100  # one problem in two hundred needs more
    threads, blocks = 128, 2  # as many as the registers hold

    def _problem(self) -> Any:
        return self.c.flat

    def _starts(self, starts: Array) -> Array:
        return starts[:, self.c.active]

    def _kernel(self) -> Any:
        from memetik.kernels.cuda.pose import pose_kernel

        return pose_kernel(self.c.nodes.size, self.c.variables.size)

    def launch(self, which: Integers, spread: int, stream: int, most: int) -> CudaResult:
        """The same, with the joints that the pose does not hang on at their starts."""
        c, result = self.c, super().launch(which, spread, stream, most)
        if c.variables.size < self.starts.shape[1]:
            q = np.repeat(np.clip(self.starts[which], c.limits["lower"], c.limits["upper"]), spread, axis=0)
            q[:, c.active] = result.q
            result.q = q
        return result


class General(Launcher):
    """Problems of any other kind."""

    few = 700  # whole bodies recombine limbs over many attempts, which many short searches cannot do
    threads, blocks = 32, 8  # threads of this kernel wait for memory, not for registers

    def _kernel(self) -> Any:
        from memetik.kernels.cuda.general import general_kernel, kinds_of

        return general_kernel(kinds_of(self.c.terms, self.c.kernels), self.plan.local_search)

    def _scratch(self, threads: int) -> tuple[Any, ...]:
        c = self.c
        shape = c.nodes.size, c.frames.size, c.variables.size, c.residuals
        return (self._allocated(
            ThreadScratch, {**self.plan.sizes, "threads": threads, "workspace": int(workspace_size(*shape))}
        ),)  # fmt: skip


def _timed(cuda: Any, launch: Any, *arguments: Any) -> float:
    """Launch and wait; the time that the card worked [s]."""
    begin, end = cuda.event(), cuda.event()
    begin.record()
    launch(*arguments)
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) * 1e-3


def _multiprocessors(cuda: Any) -> int:
    """How many the card has; the simulator, which runs device code as plain Python, has one."""
    simulated: bool = getattr(numba.config, "ENABLE_CUDASIM", False)
    return 1 if simulated else int(cuda.get_current_device().MULTIPROCESSOR_COUNT)

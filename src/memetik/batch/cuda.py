"""A batch on a graphics card: transfers, launches, and the few hard problems spread over many threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numpy.typing import NDArray

from memetik.errors import MissingExtraError, ProblemError
from memetik.kernels.problem.verify import REACHED
from memetik.problem import Problem
from memetik.problem.scratch import Scratch
from memetik.solvers.memetic_plan import memetic_plan

if TYPE_CHECKING:
    from memetik.problem.compile import Compiled

Array = NDArray[np.float64]
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


def _solve(launcher: Poses | General, most: int) -> CudaResult:
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


class Poses:
    """Problems that are one full pose."""

    few = 100  # evaluations that one thread spends on a problem; one in two hundred needs more
    threads, blocks = 128, 2  # in a block; on a multiprocessor: as many as its registers hold

    def __init__(self, cuda: Any, c: Compiled, rows: Array, places: Any, starts: Array, seed: int) -> None:
        from memetik.kernels.cuda.pose import pose_kernel

        self.cuda, self.c, self.starts, self.count, self.seed = cuda, c, starts, len(rows), seed
        self.kernel = pose_kernel(c.nodes.size, c.active.size)
        variables = starts if c.active.size == starts.shape[1] else starts[:, c.active]
        plan = memetic_plan(c)
        arrays = (c.nodes, c.frames, c.terms, c.bounds, plan.population, plan.frame_poses, rows, variables)
        self.inputs = [cuda.to_device(np.ascontiguousarray(array)) for array in arrays]

    def launch(self, which: Integers, spread: int, stream: int, most: int) -> CudaResult:
        """Tasks for the rows in `which`, `spread` for each, that draw from as many streams."""
        c, cuda, tasks = self.c, self.cuda, len(which) * spread
        results = _results(cuda, tasks, c.active.size, 2)
        blocks = min(-(-tasks // self.threads), self.blocks * _multiprocessors(cuda))
        seconds = _timed(
            cuda, self.kernel[blocks, self.threads], *self.inputs, cuda.to_device(which), spread, stream, self.seed,
            most,
            _counter(cuda), *results,
        )  # fmt: skip
        found, *numbers = (array.copy_to_host() for array in results)
        if c.active.size < self.starts.shape[1]:
            q = np.repeat(np.clip(self.starts[which], c.limits[0], c.limits[1]), spread, axis=0)
            q[:, c.active] = found
            found = q
        return CudaResult(seconds, found, *numbers)


class General:
    """Problems of any other kind."""

    few = 700  # whole bodies recombine limbs over many attempts, which many short searches cannot do
    threads, blocks = 32, 8  # threads of this kernel wait for memory, not for registers

    def __init__(self, cuda: Any, c: Compiled, rows: Array, places: Any, starts: Array, seed: int) -> None:
        from memetik.kernels.cuda.general import general_kernel, kinds_of

        self.cuda, self.c, self.count, self.seed = cuda, c, len(rows), seed
        self.dof = starts.shape[1]
        plan = memetic_plan(c)
        self.kernel = general_kernel(kinds_of(c.terms, c.kernels), plan.local_search)
        self.scratch = Scratch(c, len(plan.population))  # of one thread, for the sizes
        arrays = (
            *c.record,
            c.affects,
            plan.population,
            plan.frame_poses,
            np.asarray(places, dtype=np.int64),
            rows,
            starts,
        )
        self.inputs = [cuda.to_device(np.ascontiguousarray(array)) for array in arrays]

    def launch(self, which: Integers, spread: int, stream: int, most: int) -> CudaResult:
        """Tasks for the rows in `which`, `spread` for each, that draw from as many streams."""
        c, cuda, tasks = self.c, self.cuda, len(which) * spread
        blocks = min(-(-tasks // self.threads), self.blocks * _multiprocessors(cuda))
        scratch = [cuda.device_array((blocks * self.threads, a.size), a.dtype) for a in (c.data, *self.scratch.arrays)]
        results = _results(cuda, tasks, self.dof, c.terms.size)
        seconds = _timed(
            cuda, self.kernel[blocks, self.threads], *self.inputs, cuda.to_device(which), spread, stream, self.seed,
            most,
            _counter(cuda), *results, *scratch,
        )  # fmt: skip
        return CudaResult(seconds, *(array.copy_to_host() for array in results))


def _results(cuda: Any, count: int, n: int, terms: int) -> list[Any]:
    shapes = ((count, n), count, (count, terms), count, count)
    kinds = (np.float64, np.int32, np.float64, np.int32, np.int32)
    return [cuda.device_array(shape, kind) for shape, kind in zip(shapes, kinds, strict=True)]


def _counter(cuda: Any) -> Any:
    """The number of the next task, which threads take in turn."""
    return cuda.to_device(np.zeros(1, dtype=np.int32))


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

"""A batch on a graphics card: transfers, launches, and the few hard problems spread over many threads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numpy.typing import NDArray

from memetik.batch.solution import Answers, Tell
from memetik.errors import MissingExtraError, ProblemError
from memetik.kernels.compiler.record import fields
from memetik.kernels.cuda.record import Results, Tasks, ThreadScratch
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, MOVED, OUTCOME
from memetik.kernels.problem.solve import judge
from memetik.kernels.problem.verify import REACHED
from memetik.kernels.problem.workspace import workspace_size
from memetik.kernels.terms.records import POINT, ROTATION
from memetik.problem import Problem
from memetik.problem.scratch import Scratch
from memetik.solvers.memetic_plan import memetic_plan
from memetik.types import Array

if TYPE_CHECKING:
    from memetik.problem.compile import Compiled

Integers = NDArray[np.int32]

CHUNK = 1 << 20  # rows on the card at once


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
    c, answers = problem.compiled, Answers.empty(problem, starts)
    for first in range(0, len(rows), CHUNK):
        chunk = slice(first, min(first + CHUNK, len(rows)))
        launcher = (Poses if c.one_pose else General)(cuda, c, rows[chunk], places, starts[chunk], seed)
        done = _solve(launcher, most)
        _judge_terms(c, rows[chunk], places, done)
        done.numbers[:, MOVED] = ((starts[chunk] < c.limits["lower"]) | (starts[chunk] > c.limits["upper"])).any(axis=1)
        answers.q[chunk], answers.status[chunk], answers.numbers[chunk], answers.seconds[chunk] = done
        tell(chunk.stop)
    return answers


def _judge_terms(c: Compiled, rows: Array, places: Any, done: Answers) -> None:
    """Write which terms are satisfied, as the processor would (kernels/problem/budget.py)."""
    terms, missed = c.terms, done.status != REACHED
    errors, satisfied = done.numbers[:, OUTCOME : OUTCOME + terms.size], done.numbers[:, OUTCOME + terms.size :]
    satisfied[:] = (errors <= terms["tolerance"]) | (terms["soft"] != 0) | ~missed[:, None]
    if (np.isin(terms["goal"], (POINT, ROTATION)) & (terms["count"] > 0)).any():
        # Tolerances of single axes cannot be told from the length of an error: look again.
        own = Scratch(c)
        for k in np.flatnonzero(missed):
            own.arrays.problem.data[places] = rows[k]
            judge(own.table, done.q[k], own.outcome)
            satisfied[k] = own.outcome[OUTCOME + terms.size :]


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
        self.cuda, self.c, self.starts, self.count = cuda, c, starts, len(rows)
        self.plan = memetic_plan(c)
        self.problem, self.population = self._sent(c.flat), self._sent(self.plan.population)
        columns, none = np.asarray(places, dtype=np.int64), np.zeros(0, dtype=np.int32)
        self.tasks = self._sent(Tasks(0, 0, seed, 0, columns, rows, self._starts(), none))

    def _starts(self) -> Array:
        return self.starts

    def _kernel(self) -> Any:
        raise NotImplementedError

    def _scratch(self, threads: int) -> list[Any]:
        return []

    def _sent(self, record: Any) -> Any:
        """The record with its arrays in the memory of the card."""
        return type(record)(
            *(v if isinstance(v, int) else self.cuda.to_device(np.ascontiguousarray(v)) for v in record)
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
        tasks = self.tasks._replace(spread=spread, stream=stream, most=most, which=cuda.to_device(which))
        written = self._allocated(Results, {"tasks": count, "dof": tasks.starts.shape[1], "terms": c.terms.size})
        scratch = self._scratch(blocks * self.threads)
        counter = cuda.to_device(np.zeros(1, dtype=np.int32))  # the number of the next task
        kernel = self._kernel()[blocks, self.threads]
        seconds = _timed(cuda, kernel, self.problem, self.population, tasks, written, *scratch, counter)
        results = Results(*(array.copy_to_host() for array in written))
        numbers = np.zeros((count, c.outcome_size))
        numbers[:, EVALUATIONS], numbers[:, ATTEMPTS] = results.evaluations, results.attempts
        numbers[:, OUTCOME : OUTCOME + c.terms.size] = results.errors
        return Answers(results.q, results.statuses.astype(np.int8), numbers, np.full(count, seconds / count))


class Poses(Launcher):
    """Problems that are one full pose."""

    few = 100  # one problem in two hundred needs more
    threads, blocks = 128, 2  # as many as the registers hold

    def _starts(self) -> Array:
        return self.starts[:, self.c.active]

    def _kernel(self) -> Any:
        from memetik.kernels.cuda.pose import pose_kernel

        return pose_kernel(self.c.nodes.size, self.c.variables.size)

    def launch(self, which: Integers, spread: int, stream: int, most: int) -> Answers:
        """The same, with the joints that the pose does not hang on where they start."""
        c, answers = self.c, super().launch(which, spread, stream, most)
        if c.variables.size == c.limits.size:
            return answers
        q = np.repeat(np.clip(self.starts[which], c.limits["lower"], c.limits["upper"]), spread, axis=0)
        q[:, c.active] = answers.q
        return answers._replace(q=q)


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

"""solve_batch: one problem for many targets and starts at once."""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memetik.batch.cuda import solve_on_cuda
from memetik.batch.device import pinned_rows, require_cuda
from memetik.batch.device_batch import any_on_device, solve_on_device
from memetik.batch.launchers import ClosedForms, has_form_on_device
from memetik.batch.settle import settle_missed
from memetik.batch.solution import Answers, BatchSolution, Tell
from memetik.batch.threads import solve_on_threads
from memetik.errors import MemetikError, ProblemError, shown
from memetik.geometry.checks import real_array, whole_number
from memetik.kernels.compiler.compile_time import split_time
from memetik.kernels.terms.targets import copy_rows, first_not_finite
from memetik.objectives import Objective
from memetik.parallel import empty_rows, in_parts, rows_from
from memetik.problem import Problem, require_problem
from memetik.problem.columns import Columns, target_columns
from memetik.problem.seed import checked_seed
from memetik.progress import Report, teller
from memetik.solvers import Budget, Memetic, Solver
from memetik.solvers.analytic import Analytic, analytic_plan
from memetik.solvers.budget import DEFAULT, checked_budget, refuse_generations
from memetik.solvers.registry import answer_of, chosen
from memetik.types import Array

MOST_THREADS = 4096
DEVICES = ("cpu", "cuda", "auto")
_NO_CLOCK = "batch: there is no clock on a graphics card. Give a budget of evaluations, or device='cpu'."
_PATIENCE = 1.0  # s; shorter batches draw no progress


def solve_batch(
    problem: Problem,
    targets: Mapping[Objective, ArrayLike] | None = None,
    starts: ArrayLike | None = None,
    *,
    method: str | Solver = "memetic",
    budget: Budget = DEFAULT,
    seed: int = 0,
    device: str = "cpu",
    threads: int | None = None,
    progress: Report = None,
) -> BatchSolution:
    """Solve a problem once for every row of targets, on all cores. Row k is, bit for bit, what `solve` gives for it.

    One full pose in more than 64 rows is solved eight rows at a time, which may change last bits on processors other than x86.

    targets: for each objective that differs from row to row an array with one target a row, as its `target` takes them;
    the others keep theirs.
    starts: a joint vector [rad or m] for each row, or one for all; the body's home unless given.
    method: as for `solve`. "memetic" and "analytic" run on several threads and on a graphics card; any other one solves row by
    row.
    budget: for each row.
    Arrays that are on a graphics card already (PyTorch, CuPy, JAX, Numba; float64 or float32) stay there with device="cuda",
    and so do the answers: a DeviceBatchSolution. Poses are then rows x 4 x 4 or rows x 7, x, y, z and a quaternion w, x, y, z.
    device: "cpu", "cuda" for a graphics card, or "auto" for the device if there is one that can take the problem. A device finds
    other solutions than the processor where one thread is not enough, and keeps the best posture it saw where it fails. Rows that
    it misses are solved by the processor where objectives have different priorities, rank by rank, where the problem is one
    pose among solids that keep apart, and where the method is "analytic", which on a device takes arms of six joints. So are
    all rows where no objective has a tolerance, unless the arrays are on the device: there these end in the nearest minimum.
    threads: as many as there are cores unless given. The answer is the same for any number.
    progress: a function that is told (rows done, rows in all); None draws a line on the terminal if it takes long, False
    keeps it silent.
    """
    require_problem(problem, "batch")
    seed, budget = checked_seed(seed), checked_budget(budget, "batch", generations=True)
    if any_on_device(targets, starts):
        return _solve_on_device(problem, targets, starts, method, budget, seed, device, threads, progress)
    chosen_device = device_for(device, problem, budget)
    with rows_from(pinned_rows if chosen_device == "cuda" else np.empty):
        columns = _columns(problem, {} if targets is None else targets, starts)
        vectors = _starts(problem, starts, len(columns.rows))
    solver = chosen(method, seed, "batch")
    threads = threads_of(threads, "batch")
    require_report(progress, "batch")
    in_kernels = isinstance(solver, (Memetic, Analytic))
    if in_kernels:
        refuse_generations(budget, "batch")
    if device == "cuda" and not in_kernels:
        raise ProblemError(
            "batch: only methods 'memetic' and 'analytic' run on a graphics card. Leave out device, or the method."
        )
    if isinstance(solver, Analytic) and chosen_device == "cuda" and not has_form_on_device(analytic_plan(problem)):
        if device == "cuda":
            raise ProblemError(
                "batch: on a graphics card method 'analytic' takes the pose of an arm of six joints, on a root that stays. "
                "Leave out device, or the method."
            )
        chosen_device = "cpu"
    if not in_kernels and threads is not None and threads > 1:
        raise ProblemError(
            "batch: only methods 'memetic' and 'analytic' run on several threads. Leave out threads, or the method."
        )
    if in_kernels and chosen_device == "cuda" and np.isfinite(budget.seconds):
        raise ProblemError(_NO_CLOCK)
    begin = time.perf_counter()
    who, found_by = "a graphics card", "memetic"
    with teller(progress, len(columns.rows), "solving", patience=_PATIENCE) as tell:
        if isinstance(solver, Analytic):
            plan, found_by = analytic_plan(problem), "analytic"
            if chosen_device == "cuda":
                most = budget.evaluations
                answers = solve_on_cuda(
                    problem, columns.rows, columns.places, vectors, solver.seed, most, tell, ClosedForms
                )
                answers, settled = settle_missed(answers, problem, columns, vectors, solver.seed, budget, threads, plan)
                who = f"{who}, {settled} rows on the processor" if settled else who
            else:
                answers, who = solve_on_threads(problem, columns, vectors, solver.seed, budget, threads, tell, plan)
        elif not isinstance(solver, Memetic):
            who, (answers, found_by) = "1 thread", _solve_one_by_one(solver, problem, columns, vectors, budget, tell)
        elif chosen_device == "cuda":
            most = budget.evaluations
            answers = solve_on_cuda(problem, columns.rows, columns.places, vectors, solver.seed, most, tell)
            answers, settled = settle_missed(answers, problem, columns, vectors, solver.seed, budget, threads)
            how = "by priorities " if problem.compiled.has_levels else ""
            who = f"{who}, {settled} rows {how}on the processor" if settled else who
        else:
            answers, who = solve_on_threads(problem, columns, vectors, solver.seed, budget, threads, tell)
    took, compiling = split_time(begin)
    targets_of_rows = tuple((target, columns.rows[:, owned]) for target, owned in columns.targets)
    return BatchSolution(problem, *answers, took, who, targets_of_rows, vectors, found_by, compiling)


def _solve_on_device(
    problem: Problem, targets: Any, starts: Any, method: str | Solver, budget: Budget, seed: int, device: str,
    threads: int | None, progress: Report,
) -> BatchSolution:  # fmt: skip
    """A batch of arrays on the device."""
    threads_of(threads, "batch")
    require_report(progress, "batch")
    solver = chosen(method, seed, "batch")
    if device_for(device, problem, budget) != "cuda":
        raise ProblemError(
            "batch: the arrays are on a graphics card, but the batch is to be solved on the processor. Give device='cuda', or "
            "copy them to NumPy arrays."
        )
    if not isinstance(solver, Memetic):
        raise ProblemError(
            "batch: only method 'memetic' runs on a graphics card. Copy the arrays, or leave out method."
        )
    if np.isfinite(budget.seconds):
        raise ProblemError(_NO_CLOCK)
    found = solve_on_device(problem, {} if targets is None else targets, starts, solver.seed, budget.evaluations)
    if callable(progress):
        progress(len(found), len(found))
    return found


def device_for(device: str, problem: Problem, budget: Budget) -> str:
    """ "cpu" or "cuda"; "auto" is a device, if there is one that can take the problem."""
    if not isinstance(device, str) or device not in DEVICES:
        raise ProblemError(f"batch: unknown device {shown(device)}. There are: {', '.join(DEVICES)}.")
    if device != "auto":
        return device
    try:
        require_cuda()
    except MemetikError:
        return "cpu"
    on_processor = problem.has_functions or problem.compiled.only_guides or np.isfinite(budget.seconds)
    return "cpu" if on_processor else "cuda"


def _solve_one_by_one(
    solver: Solver, problem: Problem, columns: Columns, starts: Array, budget: Budget, tell: Tell
) -> tuple[Answers, str]:
    """Solve the rows by any method, one after another in this thread; also the name of the method."""
    answers, method = Answers.empty(problem, starts), type(solver).__name__
    for k, row in enumerate(columns.problems(problem)):
        solution = answer_of(solver, row, answers.q[k], budget)
        answers.q[k], answers.status[k], answers.numbers[k] = solution.q, int(solution.status), solution.numbers
        answers.seconds[k], method = solution.seconds, solution.method
        tell(k + 1)
    return answers, method


# ---- What was asked ----------------------------------------------------------------------------------------


def _columns(problem: Problem, targets: Mapping[Objective, ArrayLike], starts: ArrayLike | None) -> Columns:
    """The numbers of all targets; without any, as many empty rows as there are starts."""
    if isinstance(targets, Mapping) and not targets:
        vectors = _numbers(starts)
        if vectors.ndim != 2:
            raise ProblemError(
                "batch: nothing differs from row to row. Give targets={objective: array with one target a row}, or an "
                "array of starts."
            )
        return Columns(np.empty(0, dtype=np.int64), np.empty((len(vectors), 0)), ())
    columns = target_columns(problem, targets, "batch")
    bad = _first_not_finite(columns.rows)
    if bad >= 0:  # a distance without an upper bound has an infinite one beside its point
        bounded = np.isfinite(problem.compiled.data[columns.places])
        bad = _first_not_finite(np.ascontiguousarray(columns.rows[:, bounded]))
    if bad >= 0:
        raise ProblemError(f"batch: the target of row {bad} has an entry that is NaN or infinite.")
    return columns


def _first_not_finite(rows: Array) -> int:
    """The first row with an entry that is NaN or infinite, or -1."""
    return _first_bad(in_parts(lambda part: (part.start, int(first_not_finite(rows[part]))), len(rows)))


def _first_bad(found: list[tuple[int, int]]) -> int:
    """The first bad row of all, from the first of each part, which are counted from where it begins."""
    return next((begin + bad for begin, bad in found if bad >= 0), -1)


def _starts(problem: Problem, starts: ArrayLike | None, count: int) -> Array:
    """One joint vector for each row, locked joints at their values; all rows the same memory if there is only one."""
    body, given = problem.body, _numbers(starts)
    if starts is None or given.ndim == 1:
        return np.broadcast_to(problem.start(starts), (count, body.dof))
    if given.shape != (count, body.dof):
        raise ProblemError(
            f"batch: starts have shape {given.shape}, but there are {count} rows and body {body.name!r} has {body.dof} "
            f"free joints: give ({count}, {body.dof}), or one vector of {body.dof} for all."
        )
    given, vectors = np.ascontiguousarray(given), empty_rows(given.shape)
    if _first_bad(in_parts(lambda part: (part.start, int(copy_rows(given[part], vectors[part]))), count)) >= 0:
        bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        more = f", and {bad.size - 1} more" if bad.size > 1 else ""
        raise ProblemError(f"batch: the start of row {bad[0]}{more} has an entry that is NaN or infinite.")
    for joint, value in problem.lock.items():
        vectors[:, body.index(joint)] = value
    return np.asarray(vectors)


def _numbers(starts: ArrayLike | None) -> Array:
    return np.empty(0) if starts is None else real_array(starts, ProblemError, "batch: starts are not joint vectors")


def threads_of(value: Any, where: str) -> int | None:
    """A number of threads; None stands for every core."""
    if value is None:
        return None
    return whole_number(value, ProblemError, f"{where}: threads", least=1, most=MOST_THREADS)


def require_report(value: Any, where: str) -> None:
    """Raise unless a value says whom to tell how much is done."""
    if not (value is None or isinstance(value, bool) or _takes_two(value)):
        raise ProblemError(
            f"{where}: progress is {shown(value)}. Give a function that takes (done, total), None for the terminal, or False."
        )


def _takes_two(function: Any) -> bool:
    """Whether this is a function that can be called with two arguments, as far as it tells."""
    if isinstance(function, type) or not callable(function):
        return False
    try:
        inspect.signature(function).bind(0, 1)
    except TypeError:
        return False
    except ValueError:  # it does not say what it takes
        return True
    return True

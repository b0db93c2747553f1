"""solve_batch: one problem for many targets and starts at once."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from memetik.batch.checks import require_report, threads_of
from memetik.batch.devices import solver_for
from memetik.batch.one_by_one import require_one_thread, solve_one_by_one
from memetik.batch.solution import BatchSolution
from memetik.errors import ProblemError
from memetik.geometry.checks import real_array
from memetik.kernels.compiler.compile_time import split_time
from memetik.objectives import Objective
from memetik.problem import Problem, require_problem
from memetik.problem.columns import Columns, target_columns
from memetik.problem.seed import checked_seed
from memetik.progress import Report, teller
from memetik.solvers import Budget, Memetic, Solver
from memetik.solvers.budget import DEFAULT, checked_budget
from memetik.solvers.registry import chosen
from memetik.types import Array

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

    targets: for each objective that differs from row to row an array with one target a row, as its `target` takes them;
    the others keep theirs.
    starts: a joint vector for each row, or one for all; the body's home unless given.
    method: as for `solve`. Only "memetic" runs on several threads and on a graphics card; any other one solves row by row.
    budget: for each row.
    device: "cpu", "cuda" for a graphics card, or "auto" for the card if there is one that can take the problem. A card finds
    other solutions than the processor where one thread is not enough, and keeps the best posture it saw where it fails.
    threads: as many as there are cores unless given. The answer is the same for any number.
    progress: a function that is told (rows done, rows in all); None draws a line on the terminal if it takes long, False
    keeps it silent.
    """
    require_problem(problem, "batch")
    seed, budget = checked_seed(seed), checked_budget(budget)
    columns = _columns(problem, {} if targets is None else targets, starts)
    vectors = _starts(problem, starts, len(columns.rows))
    solver = chosen(method, seed, "batch")
    threads = threads_of(threads, "batch")
    require_report(progress, "batch")
    on_device = solver_for(device, problem, budget)
    if not isinstance(solver, Memetic):
        require_one_thread(device, threads)
    begin = time.perf_counter()
    with teller(progress, len(columns.rows), "solving", patience=_PATIENCE) as tell:
        if isinstance(solver, Memetic):
            answers = on_device(problem, columns, vectors.copy(), solver.seed, budget, threads, tell)
        else:
            answers = solve_one_by_one(solver, problem, columns, vectors.copy(), budget, tell)
    took, compiling = split_time(begin)
    return BatchSolution(
        problem,
        answers.q,
        answers.status,
        answers.numbers,
        answers.seconds,
        took,
        answers.device,
        tuple((target, columns.rows[:, owned]) for target, owned in columns.targets),
        vectors,
        answers.method,
        compiling,
    )


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
    bad = np.flatnonzero(~np.isfinite(columns.rows).all(axis=1))
    if bad.size:
        raise ProblemError(f"batch: the target of row {bad[0]} has an entry that is NaN or infinite.")
    return columns


def _starts(problem: Problem, starts: ArrayLike | None, count: int) -> Array:
    """One joint vector for each row, locked joints at their values; all rows the same memory if there is only one."""
    body = problem.body
    vectors = np.array(_numbers(starts))
    if starts is None or vectors.ndim == 1:
        return np.broadcast_to(problem.start(starts), (count, body.dof))
    if vectors.shape != (count, body.dof):
        raise ProblemError(
            f"batch: starts have shape {vectors.shape}, but there are {count} rows and body {body.name!r} has {body.dof} "
            f"free joints: give ({count}, {body.dof}), or one vector of {body.dof} for all."
        )
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if bad.size:
        more = f", and {bad.size - 1} more" if bad.size > 1 else ""
        raise ProblemError(f"batch: the start of row {bad[0]}{more} has an entry that is NaN or infinite.")
    for joint, value in problem.lock.items():
        vectors[:, body.index(joint)] = value
    return vectors


def _numbers(starts: ArrayLike | None) -> Array:
    return np.empty(0) if starts is None else real_array(starts, ProblemError, "batch: starts are not joint vectors")

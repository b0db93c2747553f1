"""solve_batch: one problem for many targets and starts at once."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from memetik.batch.answers import Array
from memetik.batch.devices import solver_for
from memetik.batch.solution import BatchSolution
from memetik.errors import ProblemError
from memetik.kernels.compile_time import split_time
from memetik.objectives import Objective
from memetik.problem import Problem
from memetik.problem.columns import Columns, target_columns
from memetik.problem.seed import checked_seed
from memetik.progress import Report, teller
from memetik.solvers import Budget
from memetik.solvers.budget import DEFAULT, checked_budget

_PATIENCE = 1.0  # s; shorter batches draw no progress


def solve_batch(
    problem: Problem,
    targets: Mapping[Objective, ArrayLike] | None = None,
    starts: ArrayLike | None = None,
    *,
    device: str = "cpu",
    seed: int = 0,
    budget: Budget = DEFAULT,
    threads: int | None = None,
    progress: Report = None,
) -> BatchSolution:
    """Solve a problem once for every row of targets, on all cores. Row k is, bit for bit, what `solve` gives for it.

    targets: for each objective that differs from row to row an array with one target a row, as its `target` takes them;
    the others keep theirs.
    starts: a joint vector for each row, or one for all; the body's home unless given.
    device: "cpu", "cuda" for a graphics card, or "auto" for the card if there is one that can take the problem. A card finds
    other solutions than the processor where one thread is not enough, and keeps the best posture it saw where it fails.
    budget: for each row.
    threads: as many as there are cores unless given. The answer is the same for any number.
    progress: a function that is told (rows done, rows in all); None draws a line on the terminal if it takes long, False
    keeps it silent.
    """
    seed, budget = checked_seed(seed), checked_budget(budget)
    columns = _columns(problem, targets or {}, starts)
    vectors = _starts(problem, starts, len(columns.rows))
    solver = solver_for(device, problem, budget)
    begin = time.perf_counter()
    with teller(progress, len(columns.rows), "solving", patience=_PATIENCE) as tell:
        answers = solver(problem, columns, vectors.copy(), seed, budget, threads, tell)
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
        compiling,
    )


# ---- What was asked ----------------------------------------------------------------------------------------


def _columns(problem: Problem, targets: Mapping[Objective, ArrayLike], starts: ArrayLike | None) -> Columns:
    """The numbers of all targets; without any, as many empty rows as there are starts."""
    if not targets:
        if np.ndim(starts) != 2:  # type: ignore[arg-type]
            raise ProblemError(
                "batch: nothing differs from row to row. Give targets={objective: array with one target a row}, or an "
                "array of starts."
            )
        return Columns(np.empty(0, dtype=np.int64), np.empty((len(starts), 0)), ())  # type: ignore[arg-type]
    columns = target_columns(problem, targets, "batch")
    bad = np.flatnonzero(~np.isfinite(columns.rows).all(axis=1))
    if bad.size:
        raise ProblemError(f"batch: the target of row {bad[0]} has an entry that is NaN or infinite.")
    return columns


def _starts(problem: Problem, starts: ArrayLike | None, count: int) -> Array:
    """One joint vector for each row, locked joints at their values; all rows the same memory if there is only one."""
    body = problem.body
    if starts is None or np.ndim(starts) == 1:
        return np.broadcast_to(problem.start(starts), (count, body.dof))
    try:
        vectors = np.array(starts, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ProblemError(f"batch: starts are not joint vectors: {error}.") from error
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

"""solve_batch: one problem for many targets and starts at once."""

from __future__ import annotations

import importlib
import importlib.util
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memetik.batch.answers import Answers, Array, Tell
from memetik.batch.solution import BatchSolution
from memetik.batch.threads import solve_on_threads
from memetik.errors import MissingExtraError, ProblemError
from memetik.objectives import Objective
from memetik.problem import Problem
from memetik.problem.columns import Columns, target_columns
from memetik.progress import Report, teller
from memetik.solvers import Budget
from memetik.solvers.budget import DEFAULT

DEVICES = ("cpu", "cuda", "auto")
_CUDA = "memetik.batch.cuda"
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
    device: "cpu", "cuda" for a GPU, whose answers may differ in the last bits, or "auto" for the GPU if there is one.
    budget: for each row.
    threads: as many as there are cores unless given. The answer is the same for any number.
    progress: a function that is told (rows done, rows in all); None draws a line on the terminal if it takes long, False
    keeps it silent.
    """
    columns = _columns(problem, targets or {}, starts)
    vectors = _starts(problem, starts, len(columns.rows))
    solver = _solver(device)
    begin = time.perf_counter()
    with teller(progress, len(columns.rows), "solving", patience=_PATIENCE) as tell:
        answers = solver(problem, columns, vectors.copy(), seed, budget, threads, tell)
    return BatchSolution(
        problem,
        answers.q,
        answers.status,
        answers.numbers,
        answers.seconds,
        time.perf_counter() - begin,
        answers.device,
        tuple((target, columns.rows[:, owned]) for target, owned in columns.targets),
        vectors,
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


# ---- Who solves it -----------------------------------------------------------------------------------------


def _solver(device: str) -> Callable[..., Answers]:
    if device not in DEVICES:
        raise ProblemError(f"batch: unknown device {device!r}. There are: {', '.join(DEVICES)}.")
    if device == "cuda" or (device == "auto" and _cuda_available()):
        return _on_cuda
    return _on_cpu


def _on_cpu(
    problem: Problem, columns: Columns, starts: Array, seed: int, budget: Budget, threads: int | None, tell: Tell
) -> Answers:
    return solve_on_threads(problem, columns.rows, columns.places, starts, seed, budget, threads, tell)


def _on_cuda(
    problem: Problem, columns: Columns, starts: Array, seed: int, budget: Budget, threads: int | None, tell: Tell
) -> Answers:
    found: Answers = _cuda().solve_on_cuda(problem, columns.rows, columns.places, starts, seed, budget, tell)
    return found


def _cuda() -> Any:
    """The module that solves on a GPU: `solve_on_cuda(problem, rows, places, starts, seed, budget, tell) -> Answers`, and
    `available() -> bool`."""
    if importlib.util.find_spec(_CUDA) is None:
        raise MissingExtraError("numba-cuda", 'solve_batch(device="cuda")', extra="cuda")
    return importlib.import_module(_CUDA)


def _cuda_available() -> bool:
    return importlib.util.find_spec(_CUDA) is not None and bool(_cuda().available())

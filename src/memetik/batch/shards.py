"""One piece of a file of targets: solve it and write its answers, whole or not at all.

A file of answers carries a note of what it is (batch/checksum.py), by which a later run knows it again (batch/manifest.py).
Whoever is stopped in the middle, or does the same piece a second time, leaves nothing wrong behind.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.batch.checksum import KEY, seal, unsealed_note
from memetik.batch.solution import BatchSolution
from memetik.batch.solve import solve_batch
from memetik.batch.source import Piece
from memetik.batch.tables import ID, Layout, Rows, arrow
from memetik.errors import FormatError, ProblemError
from memetik.files import write_whole
from memetik.objectives import Objective
from memetik.problem import Problem
from memetik.progress import Report
from memetik.solution import Status
from memetik.solvers import Budget

ANSWERS, REJECTS = "solutions", "rejects"  # folders of the output
ROW, STATUS, EVALUATIONS, REASON = "row", "status", "evaluations", "reason"
POSITION_ERROR, ORIENTATION_ERROR = "position_error", "orientation_error"
REJECTED = "REJECTED"


class Tally(NamedTuple):
    """How many rows came out how."""

    rows: int = 0
    reached: int = 0
    closest: int = 0
    invalid: int = 0
    rejected: int = 0
    evaluations: int = 0
    minimum: int = 0

    def plus(self, other: Tally) -> Tally:
        """Both together."""
        return Tally(*(a + b for a, b in zip(self, other, strict=True)))


@dataclass(frozen=True)
class Job:
    """What to do with each piece; it travels to the machines of a cluster."""

    problem: Problem
    objective: Objective
    layout: Layout
    out: Path
    seed: int
    budget: Budget
    identity: str  # a digest of all that decides the answers

    def path(self, part: str, piece: Piece) -> Path:
        """Where the ANSWERS of a piece are, or the REJECTS, rows that cannot be solved, if there are any."""
        return self.out / part / f"{piece.shard:06d}.parquet"

    def note(self, piece: Piece, part: str) -> dict[str, Any]:
        """What the file of a piece says of itself, beside its tally; `part` is the folder that it is in."""
        return {"job": self.identity, "part": part, "shard": piece.shard, "first": piece.first, "rows": piece.rows}


def error_columns(problem: Problem, objective: Objective) -> dict[Objective, tuple[str, ...]]:
    """The names of the columns for the errors of each objective; those of the target's own come first."""
    whole = problem.compiled.owners[problem.objectives.index(objective)]
    named = {objective: (POSITION_ERROR, ORIENTATION_ERROR)[: whole.stop - whole.start]}
    used: dict[str, int] = {}
    for other, owner in zip(problem.objectives, problem.compiled.owners, strict=True):
        if other is not objective and owner.stop > owner.start:
            number = used[other.name] = used.get(other.name, 0) + 1
            label = other.name if number == 1 else f"{other.name}_{number}"
            parts = owner.stop - owner.start
            two = np.ndim(other.error(np.zeros(parts))) > 0
            named[other] = (f"{label}_{POSITION_ERROR}", f"{label}_{ORIENTATION_ERROR}") if two else (f"{label}_error",)
    return named


def solve_shard(
    job: Job, piece: Piece, table: Any, threads: int | None, progress: Report = False,
    may_write: Callable[[], None] = lambda: None,
) -> Tally:  # fmt: skip
    """Solve the rows of a piece and write them, unless `may_write` raises; how they came out."""
    rows = job.layout.rows(table)
    batch = solve_batch(
        job.problem,
        {job.objective: rows.targets},
        rows.starts,
        seed=job.seed,
        budget=job.budget,
        threads=threads,
        progress=progress,
    )
    count = {status: int((batch.status == status).sum()) for status in Status}
    tally = Tally(
        len(rows.good), count[Status.REACHED], count[Status.CLOSEST], count[Status.INVALID], len(rows.reasons),
        int(batch.evaluations.sum()), count[Status.MINIMUM],
    )  # fmt: skip
    may_write()
    if rows.reasons:  # first, so that answers that are there mean that all is there
        _write(job, piece, REJECTS, _rejected(job, piece, table, rows), tally)
    _write(job, piece, ANSWERS, _answered(job, piece, table, rows, batch), tally)
    return tally


# ---- Tables ------------------------------------------------------------------------------------------------


def _answered(job: Job, piece: Piece, table: Any, rows: Rows, batch: BatchSolution) -> Any:
    """All rows, with nothing but their numbers and REJECTED where there was nothing to solve."""
    pa, missing = arrow(), ~rows.good

    def spread(values: NDArray[Any], kind: Any) -> Any:
        column = np.zeros(len(missing), dtype=values.dtype)
        column[rows.good] = values
        return pa.array(column, type=kind, mask=missing)

    columns = _labels(piece, table, np.arange(piece.rows), job.layout)
    for k, name in enumerate(job.problem.body.joint_names):
        columns[name] = spread(batch.q[:, k], pa.float64())
    names = np.full(len(missing), len(Status), dtype=np.int8)
    names[rows.good] = batch.status
    labels = pa.array([*(status.name for status in Status), REJECTED])
    columns[STATUS] = pa.DictionaryArray.from_arrays(pa.array(names), labels)
    errors = batch.errors
    for objective, labelled in error_columns(job.problem, job.objective).items():
        for k, name in enumerate(labelled):
            columns[name] = spread(errors[objective].reshape(len(batch), -1)[:, k], pa.float64())
    columns[EVALUATIONS] = spread(batch.evaluations, pa.int64())
    return pa.table(columns)


def _rejected(job: Job, piece: Piece, table: Any, rows: Rows) -> Any:
    """The rejected rows as they were given, with the reason."""
    pa = arrow()
    which = np.flatnonzero(~rows.good)
    columns = _labels(piece, table, which, job.layout)
    columns[REASON] = pa.array(rows.reasons)
    given = table.take(which)
    columns.update({name: given.column(name) for name in job.layout.columns if name != ID})
    return pa.table(columns)


def _labels(piece: Piece, table: Any, which: Any, layout: Layout) -> dict[str, Any]:
    columns = {ROW: arrow().array(piece.first + which)}
    if layout.has_id:
        columns[ID] = table.column(ID).take(which)
    return columns


def _write(job: Job, piece: Piece, part: str, table: Any, tally: Tally) -> None:
    note = unsealed_note({**job.note(piece, part), **tally._asdict()})
    path, file = job.path(part, piece), io.BytesIO()
    try:
        arrow().parquet.write_table(table.replace_schema_metadata({KEY: note}), file, compression="zstd")
    except arrow().ArrowException as error:  # a type of id that Parquet does not have
        raise FormatError(f"{path}: the answers cannot be written: {error}. Leave the column {ID!r} out.") from error
    write_whole(path, seal(file.getvalue()))


def require_other_names(problem: Problem, objective: Objective) -> None:
    """Raise if a joint has the name of another column of the answers."""
    body, errors = problem.body, [name for names in error_columns(problem, objective).values() for name in names]
    for name in (ROW, ID, STATUS, *errors, EVALUATIONS):
        if name in body.joint_names:
            raise ProblemError(
                f"files: joint {name!r} of body {body.name!r} has the name of a column. Rename the joint."
            )

"""solve_files: targets in Parquet files, answers in Parquet files, on this machine or on a cluster."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from memetik.batch.cluster import solve_on_cluster
from memetik.batch.manifest import NAME, describe, read_manifest, require_same
from memetik.batch.shards import (
    ANSWERS,
    REJECTS,
    Job,
    Tally,
    clean,
    columns_of_answers,
    make_folders,
    solve_shard,
    tally_of,
)
from memetik.batch.source import Piece, open_source, read
from memetik.batch.tables import answer_names, layout_of, target_of, unread
from memetik.errors import ProblemError
from memetik.objectives import Objective
from memetik.problem import Problem
from memetik.progress import Report, teller
from memetik.solution.words import duration, listed
from memetik.solvers import Budget
from memetik.solvers.budget import DEFAULT

ROWS_PER_SHARD = 100_000


@dataclass(frozen=True)
class FilesReport:
    """What became of a job: all its rows, and what of it was done by this call."""

    out: Path
    total: Tally  # of all answers that are there now
    solved: Tally  # of those that this call solved
    shards: int
    unread: tuple[str, ...]  # columns that were not read
    seconds: float

    @property
    def rate(self) -> float:
        """Rows a second of this call."""
        return self.solved.rows / self.seconds if self.seconds > 0.0 else 0.0

    def __str__(self) -> str:
        total, before = self.total, self.total.rows - self.solved.rows
        lines = [f"{total.rows:,} rows in {self.shards:,} shards: {self.out / ANSWERS}"]
        for what, number in zip(("REACHED", "CLOSEST", "INVALID", "REJECTED"), total[1:5], strict=True):
            if number or what == "REACHED":
                lines.append(f"  {what:8} {number:>14,} {100.0 * number / max(total.rows, 1):8.3f} %")
        if total.rejected:
            lines.append(f"  why rows were rejected: {self.out / REJECTS}")
        if self.unread:
            lines.append(f"  columns that were not read: {listed(self.unread)}")
        if before:
            lines.append(f"  {before:,} rows were solved before")
        if self.solved.rows:
            lines.append(f"  {self.solved.rows:,} rows in {duration(self.seconds)}, {self.rate:,.0f} a second")
        return "\n".join(lines)


def solve_files(
    problem: Problem,
    source: str | Path,
    out: str | Path,
    *,
    objective: Objective | None = None,
    cluster: str | None = None,
    threads: int | None = None,
    seed: int = 0,
    budget: Budget = DEFAULT,
    rows_per_shard: int = ROWS_PER_SHARD,
    anew: bool = False,
    progress: Report = None,
) -> FilesReport:
    """Solve a problem for every row of a Parquet file and write the answers as Parquet files into a folder.

    source: a file, or a folder of files; batch/tables.py says which columns are read.
    out: a folder. `out/solutions` gets a file for each `rows_per_shard` rows, with a column for each joint, status and
    errors; `out/rejects` the rows that cannot be solved, with the reason. Files that are there are not solved again, so a
    job that was stopped goes on where it was. Answers to another problem are refused, or deleted with `anew`.
    objective: whose target the rows are; the problem's only Pose or Position unless given.
    cluster: the address of a Ray cluster, whose machines must all see the files; this machine alone unless given.
    threads: of this machine; on a cluster every core takes a shard of its own.
    seed, budget: for each row, as in `solve`.
    progress: as in `solve_batch`.
    """
    begin = time.perf_counter()
    if rows_per_shard < 1:
        raise ProblemError(f"files: rows_per_shard is {rows_per_shard}; at least one is needed.")
    wanted, folder = target_of(problem, objective), Path(out).resolve()
    files = open_source(source)
    layout = layout_of(files.schema, problem, wanted, source)
    answer_names(problem.body, columns_of_answers(problem, wanted))
    pieces = files.pieces(rows_per_shard)
    known = {} if anew else read_manifest(folder)
    options = {"seed": seed, "rows_per_shard": rows_per_shard, "budget": budget}
    manifest = describe(problem, wanted, files, known, **options)
    job = Job(problem, wanted, layout, folder, seed, budget)
    make_folders(folder)
    if known:
        require_same(folder, known, manifest)
    elif not anew and any((folder / ANSWERS).glob("*.parquet")):
        raise ProblemError(f"files: {folder} has answers but no {NAME} that says what to. Choose another folder.")
    clean(folder, everything=anew)
    _write_manifest(folder, manifest)
    total, missing = _done(job, pieces)
    solved = Tally()
    with teller(progress, sum(files.rows), "solving") as tell:
        tell(total.rows)
        for tally in _solve(job, missing, cluster, threads, total.rows, tell):
            solved = solved.plus(tally)
            tell(total.rows + solved.rows)
    clean(folder)  # of what a machine that was lost had half written
    columns = tuple(unread(files.schema, layout))
    return FilesReport(folder, total.plus(solved), solved, len(pieces), columns, time.perf_counter() - begin)


def _solve(
    job: Job, pieces: list[Piece], cluster: str | None, threads: int | None, done: int, tell: Callable[[int], None]
) -> Iterator[Tally]:
    """Solve all pieces; on this machine `tell` hears of every row, whoever takes the tallies hears of whole pieces."""
    if cluster is not None:
        yield from solve_on_cluster(job, pieces, cluster)
        return
    for _, together in groupby(pieces, key=lambda piece: piece.path):
        for piece, table in read(list(together), job.layout.columns):
            yield solve_shard(job, piece, table, threads, _after(done, tell))
            done += piece.rows


def _after(before: int, tell: Callable[[int], None]) -> Report:
    return lambda done, _: tell(before + done)


def _done(job: Job, pieces: list[Piece]) -> tuple[Tally, list[Piece]]:
    """What is there already, and what is missing."""
    total, missing = Tally(), []
    for piece in pieces:
        tally = tally_of(job.answers(piece.shard))
        if tally is None:
            missing.append(piece)
        else:
            total = total.plus(tally)
    return total, missing


def _write_manifest(folder: Path, manifest: dict[str, object]) -> None:
    half = folder / f".{NAME}.{os.getpid()}.tmp"
    half.write_text(json.dumps(manifest, indent=1) + "\n")
    half.replace(folder / NAME)

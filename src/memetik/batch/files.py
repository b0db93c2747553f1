"""solve_files: targets in Parquet or CSV files, answers in Parquet files, on this machine or on a cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from memetik.batch.cluster import require_cluster, solve_on_cluster
from memetik.batch.lock import held
from memetik.batch.manifest import Found, clean, describe, read_manifest, require_ours, resume, some
from memetik.batch.shards import ANSWERS, REJECTS, Job, Tally, require_other_names, solve_shard
from memetik.batch.solve import require_report, threads_of
from memetik.batch.source import Piece, open_files, read
from memetik.batch.tables import layout_of, target_of
from memetik.errors import ProblemError, shown
from memetik.files import path_of, writable_folder
from memetik.geometry.checks import whole_number
from memetik.objectives import Objective
from memetik.problem import Problem
from memetik.problem.seed import checked_seed
from memetik.progress import Report, teller
from memetik.solution.words import count, duration, listed
from memetik.solvers import Budget
from memetik.solvers.budget import DEFAULT, checked_budget

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
    distrusted: tuple[str, ...] = ()  # files of an earlier run that did not verify and were solved again, and why
    strays: tuple[str, ...] = ()  # files among the answers that the job did not write, which nobody touched

    @property
    def rate(self) -> float:
        """Rows a second of this call."""
        return self.solved.rows / self.seconds if self.seconds > 0.0 else 0.0

    def __str__(self) -> str:
        total, before = self.total, self.total.rows - self.solved.rows
        lines = [f"{total.rows:,} rows in {self.shards:,} shards: {self.out / ANSWERS}"]
        counts = {
            "REACHED": total.reached, "MINIMUM": total.minimum, "CLOSEST": total.closest, "INVALID": total.invalid,
            "REJECTED": total.rejected,
        }  # fmt: skip
        for what, number in counts.items():
            if number or (what == "REACHED" and not total.minimum):
                lines.append(f"  {what:8} {number:>14,} {100.0 * number / max(total.rows, 1):8.3f} %")
        remarks = (
            total.rejected and f"why rows were rejected: {self.out / REJECTS}",
            self.unread and f"columns that were not read: {listed(self.unread)}",
            before and f"{before:,} rows were solved before",
            self.distrusted and f"{count(len(self.distrusted), 'file')} did not verify; the rows were solved again",
            self.strays and f"not part of the answers: {some(self.strays)}",
            self.solved.rows and f"{self.solved.rows:,} rows in {duration(self.seconds)}, {self.rate:,.0f} a second",
        )
        return "\n".join(lines + [f"  {remark}" for remark in remarks if remark])


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
    overwrite: bool = False,
    progress: Report = None,
) -> FilesReport:
    """Solve a problem for every row of a Parquet or CSV file and write the answers as Parquet files into a folder.

    source: a file, or a folder of files; batch/tables.py says which columns are read.
    out: a folder. `out/solutions` gets a file for each `rows_per_shard` rows, with a column for each joint, status and
    errors; `out/rejects` the rows that cannot be solved, with the reason. Files that are there and verify as those of this job
    are not solved again, so a job that was stopped goes on where it was; a MemetikWarning names the others. Answers to
    another problem are refused, or deleted with `overwrite`. One call at a time works in a folder (batch/lock.py); another is
    refused, on whatever machine.
    objective: whose target the rows are; the problem's only Pose or Position unless given.
    cluster: the address of a Ray cluster, whose machines must all see the files; this machine alone unless given.
    threads: of this machine; on a cluster every core takes a shard of its own.
    seed, budget: for each row, as in `solve`.
    progress: as in `solve_batch`.
    """
    begin = time.perf_counter()
    size = whole_number(rows_per_shard, ProblemError, "files: rows_per_shard", least=1)
    seed, budget, threads = checked_seed(seed, "files"), checked_budget(budget, "files"), threads_of(threads, "files")
    require_report(progress, "files")
    if not isinstance(overwrite, bool):
        raise ProblemError(
            f"files: overwrite is {shown(overwrite)}. Give True to delete the answers that are there, or False."
        )
    wanted, folder = target_of(problem, objective), path_of(out, ProblemError, "files: out").resolve()
    if cluster is not None:
        require_cluster(cluster)
    files = open_files(source)
    layout = layout_of(files.schema, problem, wanted, source)
    require_other_names(problem, wanted)
    for path in files.paths:
        if path.parent in (folder / ANSWERS, folder / REJECTS):
            raise ProblemError(
                f"files: the targets {path} lie where the answers go. Choose another folder for the answers."
            )
    for part in ("", ANSWERS, REJECTS):
        writable_folder(folder / part)
    with held(folder) as still_held:
        found = Found({}, "") if overwrite else read_manifest(folder)
        rows = files.counted(layout.columns)
        manifest = describe(problem, wanted, rows, found.manifest, seed=seed, rows_per_shard=size, budget=budget)
        job = Job(problem, wanted, layout, folder, seed, budget, manifest["job"])
        pieces = rows.pieces(size)
        state = resume(job, pieces, found, manifest, overwrite=overwrite)
        solved = Tally()
        with teller(progress, sum(rows.rows), "solving") as tell:
            tell(state.done.rows)
            for tally in _solve(job, state.missing, cluster, threads, state.done.rows, tell, still_held):
                still_held()
                solved = solved.plus(tally)
                tell(state.done.rows + solved.rows)
        clean(folder)  # of what a machine that was lost had half written
        require_ours(job, pieces)
    return FilesReport(
        folder,
        state.done.plus(solved),
        solved,
        len(pieces),
        tuple(name for name in files.schema.names if name not in layout.columns),
        time.perf_counter() - begin,
        tuple(state.distrusted),
        tuple(state.strays),
    )


def _solve(
    job: Job, pieces: list[Piece], cluster: str | None, threads: int | None, done: int, tell: Callable[[int], None],
    still_held: Callable[[], None],
) -> Iterator[Tally]:  # fmt: skip
    """Solve all pieces. `tell` is called for rows on this machine; on a cluster there is a tally for each shard."""
    if cluster is not None:
        yield from solve_on_cluster(job, pieces, cluster)
        return
    for _, together in groupby(pieces, key=lambda piece: piece.path):
        for piece, table in read(list(together), job.layout.columns):
            yield solve_shard(job, piece, table, threads, _after(done, tell), still_held)
            done += piece.rows


def _after(before: int, tell: Callable[[int], None]) -> Report:
    return lambda done, _: tell(before + done)

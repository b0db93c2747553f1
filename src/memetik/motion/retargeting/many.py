"""Many clips: on all cores, or on a graphics card."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from memetik.errors import MemetikError
from memetik.motion.clips.motion import Motion
from memetik.motion.guided import follow_windows, windows_of
from memetik.parallel import in_order, in_parts
from memetik.problem.columns import Columns, target_columns
from memetik.progress import Report, Tally, teller

if TYPE_CHECKING:
    from memetik.motion.retargeting.job import Job, Retargeted

T = TypeVar("T")

PORTION = 1 << 19  # frames that go to a device together: some 2 GB of targets on this side
WINDOW = 256  # frames of a window on a device; at 120 frames a second, clips are settled after seven rounds, with 64 after 22
PATIENCE = 1.0  # s; what is done sooner draws no progress

Begin = Callable[[Motion], "Job"]


def each(begin: Begin, clips: Iterable[Motion], threads: int | None, report: Report) -> Iterator[Retargeted]:
    """The clips one after another, each on a thread of its own."""

    def whole(numbered: tuple[int, Motion]) -> Retargeted:
        return _named(lambda clip: begin(clip).solved(), *numbered)

    return _told(in_order(whole, enumerate(clips), threads), clips, report)


def each_on_device(begin: Begin, clips: Iterable[Motion], threads: int | None, report: Report) -> Iterator[Retargeted]:
    """The clips one after another; frames are followed on a graphics card, all else is done on threads.

    While the device follows one portion, the targets of the next are made.
    """
    from memetik.batch.device import require_cuda

    require_cuda()

    def prepare(portion: Sequence[tuple[int, Motion]]) -> list[Job]:
        return list(in_order(lambda numbered: _named(begin, *numbered), portion, threads))

    def results() -> Iterator[Retargeted]:
        for jobs in in_order(prepare, _portions(clips), 1):
            began = time.perf_counter()
            _follow_all(jobs, threads)
            each_frame = (time.perf_counter() - began) / sum(len(job.aim.motion) for job in jobs)
            yield from in_order(partial(_result, each_frame), jobs, threads)

    return _told(results(), clips, report)


def _result(each_frame: float, job: Job) -> Retargeted:
    return job.result(each_frame * len(job.aim.motion))


def _portions(clips: Iterable[Motion]) -> Iterator[list[tuple[int, Motion]]]:
    """Clips with their numbers, as many together as a device takes at once."""
    portion: list[tuple[int, Motion]] = []
    frames = 0
    for numbered in enumerate(clips):
        size = len(numbered[1]) if isinstance(numbered[1], Motion) else 0
        if portion and frames + size > PORTION:
            yield portion
            portion, frames = [], 0
        portion.append(numbered)
        frames += size
    if portion:
        yield portion


def _follow_all(jobs: Sequence[Job], threads: int | None) -> None:
    """All passes of these clips, those of the same problem together."""
    left = list(jobs)
    while left:
        groups: dict[int, list[Job]] = {}
        for job in left:
            groups.setdefault(id(job.task), []).append(job)
        left = [job for group in groups.values() for job in _pass(group, threads)]


def _pass(jobs: Sequence[Job], threads: int | None) -> list[Job]:
    """One pass of clips of the same problem. Returns those that need another one."""
    problem, lengths = jobs[0].task.problem, [len(job.aim.motion) for job in jobs]

    def prepared(job: Job) -> tuple[Columns, Any, Any, Any]:
        first = job.first()
        return target_columns(problem, job.rows(), "retarget"), first, job.near(first), job.rest()

    ready = list(in_order(prepared, jobs, threads))
    windows = windows_of(lengths, WINDOW, jobs[0].body.dof)
    starts = np.cumsum([0, *lengths])
    for (_, first, near, _), (start, end) in zip(ready, pairwise(starts), strict=True):
        own = np.flatnonzero((windows.first >= start) & (windows.first < end))
        for back in (0, 1):
            windows.edges[own, back] = near[np.maximum(windows.first[own] - start - 2 + back, 0)]
        windows.edges[own[0]] = first
    columns = ready[0][0]._replace(rows=_joined([rows for (_, rows, _), *_ in ready]))
    guess = None if jobs[0].before is None else _joined([near for _, _, near, _ in ready])
    rest = None if ready[0][3] is None else _joined([each for *_, each in ready])
    steps = None if jobs[0].steps is None else np.concatenate([job.steps for job in jobs])
    del ready
    q = follow_windows(problem, columns, windows, guess, rest, steps, device="cuda")
    parts = [q[start:end] for start, end in pairwise(starts)]
    over = list(in_order(lambda pair: pair[0].take(pair[1]), zip(jobs, parts, strict=True), threads))
    return [job for job, last in zip(jobs, over, strict=True) if not last]


def _joined(parts: Sequence[Any]) -> Any:
    """Rows one after another, in memory that a device reads at full speed."""
    from memetik.batch.device import pinned_rows

    ends = np.cumsum([0, *map(len, parts)])
    rows = pinned_rows((int(ends[-1]), parts[0].shape[1]))

    def copy(some: slice) -> None:
        for part, begin in zip(parts[some], ends[some], strict=True):
            rows[begin : begin + len(part)] = part

    in_parts(copy, len(parts), 1)
    return rows


def _named(work: Callable[[Motion], T], number: int, clip: Motion) -> T:
    """What `work` makes of a clip; an error says which it was."""
    try:
        return work(clip)
    except MemetikError as error:
        name = getattr(clip, "name", "")
        error.args = (f"clip {number}{f' ({name})' if name else ''}: {error}",)
        raise


def _told(done: Iterator[Retargeted], clips: Iterable[Motion], report: Report) -> Iterator[Retargeted]:
    """Pass results on, and tell how many frames are done."""
    frames = 0
    with _teller(clips, report) as tell:
        for found in done:
            frames += len(found)
            tell(frames)
            yield found


def _teller(clips: Iterable[Motion], report: Report) -> AbstractContextManager[Callable[[int], None]]:
    if isinstance(clips, Sized):
        total = sum(len(clip) for clip in clips if isinstance(clip, Motion))
        return teller(report, total, "retargeting", patience=PATIENCE)
    return _tally(report)


@contextmanager
def _tally(report: Report) -> Iterator[Callable[[int], None]]:
    """For an unknown number of frames; a function is told 0 in its place."""
    if callable(report):
        yield lambda done: report(done, 0)
        return
    line = Tally("retargeting")
    try:
        yield (lambda done: None) if report is False else line.show
    finally:
        line.close()

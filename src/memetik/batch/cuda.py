"""A batch of NumPy arrays on a graphics card: to the device, solved there, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from memetik.batch.device import require_cuda
from memetik.batch.launcher import ANSWERS, CHUNK, Launcher
from memetik.batch.launchers import launcher_for
from memetik.batch.solution import Answers, Tell
from memetik.batch.transfer import SMALL, CardMemory
from memetik.errors import ProblemError
from memetik.kernels.terms.distance import FIELD_DISTANCE
from memetik.problem import Problem
from memetik.types import Array


def solve_on_cuda(
    problem: Problem, rows: Array, places: Any, starts: Array, seed: int, most: int, tell: Tell = lambda done: None,
    search: type[Launcher] | None = None,
) -> Answers:  # fmt: skip
    """Solve row after row: `rows` go to the problem's data at `places`, `starts` (rows, dof) are where to set out.

    `most` is the budget of evaluations for each row; there is no clock on the device, and the seconds of a row are its part
    of the time that the device worked. A row that is missed keeps the best posture that was seen. Rows go to the device in
    portions, and `tell` is told how far it is. `search`: the one of memetic for the problem unless given.
    """
    cuda = require_cuda()
    require_no_functions(problem)
    if not len(rows):
        return Answers.empty(problem, starts)
    c, parts = problem.compiled, []
    search = search or launcher_for(c, places)
    if c.one_pose and not len(places):  # the same target for all
        target = int(c.terms[0]["target"])
        rows = np.broadcast_to(c.data[target : target + 7], (len(rows), 7))
    for first in range(0, len(rows), CHUNK):
        chunk = slice(first, min(first + CHUNK, len(rows)))
        launcher = search(cuda, c, chunk.stop - first, places, seed)
        parts.append(_solve_chunk(launcher, rows[chunk], starts[chunk], most))
        tell(chunk.stop)
    return parts[0] if len(parts) == 1 else Answers(*map(np.concatenate, zip(*parts, strict=True)))


def require_no_functions(problem: Problem) -> None:
    """Raise if a user's function would have to run on the device, or samples be read that are not there."""
    if problem.has_functions:
        raise ProblemError(f"{problem._fallible[0]!r} is a user's function and cannot run on a card. Use device='cpu'.")
    if (problem.compiled.terms["kind"] == FIELD_DISTANCE.number).any():
        raise ProblemError(
            "height fields and grids of signed distances are not on the card. Use device='cpu', or keep off hulls instead."
        )


def _solve_chunk(launcher: Launcher, rows: Array, starts: Array, most: int) -> Answers:
    """Send rows, solve them and fetch the answers."""
    if starts.strides[0] == 0:
        starts = starts[:1]  # the same memory for all rows
    if rows.strides[0] == 0:
        rows = rows[:1]
    count, key = launcher.count, (type(launcher), launcher.count, rows.shape, starts.shape)
    work = launcher.reopen(key)
    small = work is not None
    if work is None:
        given = {"targets": (rows.shape, np.float64), "starts": (starts.shape, np.float64)}
        answers = launcher.answer_fields(count)
        small = count * 8 * (rows.shape[1] + sum(math.prod(shape[1:]) for shape, _ in answers.values())) <= SMALL
        work = launcher.open(given, answers, launcher.scratch_fields() if small else {}, key if small else None)
    if small:
        np.copyto(work.host["targets"], rows)
        np.copyto(work.host["starts"], starts)
        launcher.run(work.device, most, ("count", "missed"))
        q, statuses, outcomes = (work.host[name].copy() for name in ANSWERS)
        launcher.close()
        return Answers(q, statuses, outcomes, launcher.row_seconds())
    inputs = CardMemory(launcher.kept.cuda, {**given, **launcher.scratch_fields()})
    for name, array in (("targets", rows), ("starts", starts)):
        launcher.send_array(array, inputs.device[name])
    launcher.run({**work.device, **inputs.device}, most)
    work.fetch("q", None)
    launcher.stream.synchronize()
    q, statuses, outcomes = (work.host[name] for name in ANSWERS)
    return Answers(q, statuses, outcomes, launcher.row_seconds())

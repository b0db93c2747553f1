"""The frames of a motion whose targets all guide, in one kernel that other threads run beside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memetik.kernels.tracking.guided import GuidedPath, Windows, follow_guides
from memetik.problem import Problem
from memetik.problem.columns import Columns
from memetik.problem.compile import Compiled
from memetik.problem.scratch import scratch_pool
from memetik.types import Array

MOST = 2_000  # evaluations that a frame may take on average; 4 to 15 are usual


def follow(
    problem: Problem, columns: Columns, start: Array, guess: Array | None = None, rest: Array | None = None,
    steps: Array | None = None,
) -> Array:  # fmt: skip
    """Joint vectors (frames, dof), each the balance of all objectives near the one before.

    start: a posture that is settled for the first frame.
    guess: a path (frames, dof) near by, such as one for almost the same targets; frames begin where its changes lead to.
    rest: a path (frames, dof); each frame is solved by itself from there, and a Displacement draws to it.
    steps: the time from the frame before to each frame (frames,) [s]; joints then keep their limits of velocity and acceleration,
        but for the turns of balls. The first frame of a clip counts as long standing still, and its own step does not matter.
    """
    windows = windows_of([len(columns.rows)], len(columns.rows), start.size)
    windows.edges[:] = start
    return follow_windows(problem, columns, windows, guess, rest, steps)


def follow_windows(
    problem: Problem, columns: Columns, windows: Windows, guess: Array | None = None, rest: Array | None = None,
    steps: Array | None = None, *, device: str = "cpu",
) -> Array:  # fmt: skip
    """The same for clips one after another in windows, whose edges are given; those of a clip's first window are its start."""
    c = problem.compiled
    count, n, dof = len(columns.rows), c.variables.size, windows.edges.shape[2]
    depth, above = _ancestors(c)
    none = np.empty((0, dof))
    path = GuidedPath(
        windows, columns.places, columns.rows, none if guess is None else np.ascontiguousarray(guess),
        none if rest is None else np.ascontiguousarray(rest), np.empty((count if device == "cpu" else 0, dof)), depth, above,
        np.zeros((n, n)), np.zeros(n), _rates(problem, c), np.empty(0) if steps is None else np.ascontiguousarray(steps),
        c.variables.copy(),
    )  # fmt: skip
    if device == "cuda":
        from memetik.batch.follow import follow_on_device

        return follow_on_device(problem, path, MOST)
    pool = scratch_pool(c)
    scratch = pool.lease()
    follow_guides(scratch.table, path, windows.edges[0, 1].copy(), scratch.outcome, MOST * count)
    problem.raise_faults(scratch.clock)
    pool.give_back(scratch)
    return np.asarray(path.q)


def windows_of(lengths: Sequence[int], size: int, dof: int) -> Windows:
    """Windows of so many frames, of clips of these lengths one after another; their edges are still zero."""
    ends = np.cumsum(lengths)
    rows = [
        (end - length, first, min(first + size, end))
        for length, end in zip(lengths, ends.tolist(), strict=True)
        for first in range(end - length, end, max(size, 2))
    ]
    begin, first, end = np.array(rows, dtype=np.int64).reshape(-1, 3).T.copy()
    return Windows(begin, first, end, np.zeros_like(first), np.ones_like(first), np.zeros((len(first), 2, dof)))


def _rates(problem: Problem, c: Compiled) -> Array:
    """The limits of velocity and acceleration of each variable; none of balls, and zero counts as none given."""
    rates = np.stack((problem.body.variables.velocity[c.active], problem.body.variables.acceleration[c.active]))
    rates[:, c.variables["ball"] != 0] = np.inf
    return np.where(rates > 0.0, rates, np.inf)


def _ancestors(c: Compiled) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each variable those above it in the elimination tree of the normal equations, from the root on, and how many."""
    known: tuple[NDArray[np.int64], NDArray[np.int64]] | None = c.plans.get(_ancestors)
    if known is not None:
        return known
    moves = c.affects[c.terms["rows"] > 0] != 0
    n = moves.shape[1]
    together = np.tril(moves.T.astype(np.int64) @ moves > 0, -1)
    depth, above = np.zeros(n, dtype=np.int64), np.zeros((n, n), dtype=np.int64)
    parent = np.full(n, -1)
    for k in range(n - 1, -1, -1):
        others = np.flatnonzero(together[k])
        if others.size:
            parent[k] = others[-1]
            together[parent[k], others[:-1]] = True
    for k in range(n):
        if parent[k] >= 0:
            up = parent[k]
            depth[k] = depth[up] + 1
            above[k, : depth[up]] = above[up, : depth[up]]
            above[k, depth[up]] = up
    found: tuple[NDArray[np.int64], NDArray[np.int64]] = c.plans.setdefault(_ancestors, (depth, above))
    return found

"""The scratch of L-BFGS-B: one flat array of floats and one of integers, cut into named parts inside the kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memetik.kernels.jit import jit_inline
from memetik.kernels.line_search import STATE

# The integers: what was spent, trials of this line search, pairs in memory, the slot of the next.
ITERATIONS, EVALUATIONS, TRIALS, COUNT, NEXT, COUNTERS = 0, 1, 2, 3, 4, 5
# The numbers behind the state of the line search: the least value seen, theta of the model, the step of the trial.
LEAST, THETA, STEP, SCALARS = STATE, STATE + 1, STATE + 2, STATE + 3
VECTORS, GRIDS, STRIPS = 7, 8, 5  # of n numbers, of m by m, of 2 m


class Room(NamedTuple):
    """Scratch for n variables and a memory of m pairs. The gradient comes first, so that a caller finds it."""

    gradient: np.ndarray  # (n,) at x
    scalars: np.ndarray  # (SCALARS,)
    best: np.ndarray  # (n,) the best x seen
    origin: np.ndarray  # (n,) where the line search started
    before: np.ndarray  # (n,) gradient there
    direction: np.ndarray  # (n,) along which it searches
    target: np.ndarray  # (n,) Cauchy point, then the minimum of the model: origin + direction
    times: np.ndarray  # (n,) when a variable meets its bound, zero for one that is held there
    pairs: np.ndarray  # (2 m, n) W transposed
    older: np.ndarray  # (m, m) L
    newer: np.ndarray  # (m, m) R transposed
    steps: np.ndarray  # (m, m) S^T S
    changes: np.ndarray  # (m, m) Y^T Y
    middle: np.ndarray  # (m, m) Cholesky factor of the middle matrix
    inner: np.ndarray  # (m, m) P of the subspace
    across: np.ndarray  # (m, m) Q
    outer: np.ndarray  # (m, m) N
    first: np.ndarray  # (2 m,) W^T d where the path starts
    path: np.ndarray  # (2 m,) M W^T d along it
    moved: np.ndarray  # (2 m,) M W^T (Cauchy point - x)
    corner: np.ndarray  # (2 m,)
    product: np.ndarray  # (2 m,)


@jit_inline
def room_size(n, memory):
    """How many floats the scratch needs."""
    return SCALARS + (VECTORS + 2 * memory) * n + GRIDS * memory * memory + STRIPS * 2 * memory


@jit_inline
def places_size(n, memory):
    """How many integers the scratch needs."""
    return COUNTERS


@jit_inline
def cut(room, n, memory):
    """The named parts of the floats."""
    vectors = n + SCALARS
    pairs = vectors + (VECTORS - 1) * n
    grids = pairs + 2 * memory * n
    square, wide = memory * memory, 2 * memory
    strips = grids + GRIDS * square
    return Room(
        room[:n],
        room[n:vectors],
        room[vectors : vectors + n],
        room[vectors + n : vectors + 2 * n],
        room[vectors + 2 * n : vectors + 3 * n],
        room[vectors + 3 * n : vectors + 4 * n],
        room[vectors + 4 * n : vectors + 5 * n],
        room[vectors + 5 * n : pairs],
        room[pairs:grids].reshape((wide, n)),
        room[grids : grids + square].reshape((memory, memory)),
        room[grids + square : grids + 2 * square].reshape((memory, memory)),
        room[grids + 2 * square : grids + 3 * square].reshape((memory, memory)),
        room[grids + 3 * square : grids + 4 * square].reshape((memory, memory)),
        room[grids + 4 * square : grids + 5 * square].reshape((memory, memory)),
        room[grids + 5 * square : grids + 6 * square].reshape((memory, memory)),
        room[grids + 6 * square : grids + 7 * square].reshape((memory, memory)),
        room[grids + 7 * square : strips].reshape((memory, memory)),
        room[strips : strips + wide],
        room[strips + wide : strips + 2 * wide],
        room[strips + 2 * wide : strips + 3 * wide],
        room[strips + 3 * wide : strips + 4 * wide],
        room[strips + 4 * wide : strips + 5 * wide],
    )

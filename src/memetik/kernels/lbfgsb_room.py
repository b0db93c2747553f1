"""The scratch of L-BFGS-B: one flat array of floats and one of integers, cut into named parts inside the kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memetik.kernels.jit import jit_inline
from memetik.kernels.line_search import STATE

# The integers: what was spent, trials of this line search, pairs in memory, the slot of the next; then the variables, the
# free ones first.
ITERATIONS, EVALUATIONS, TRIALS, COUNT, NEXT, COUNTERS = 0, 1, 2, 3, 4, 5
# The numbers behind the state of the line search: the least value seen, theta of the model, the step of the trial.
LEAST, THETA, STEP, SCALARS = STATE, STATE + 1, STATE + 2, STATE + 3


class Room(NamedTuple):
    """Scratch for n variables and a memory of m pairs. The gradient comes first, so that a caller finds it."""

    gradient: np.ndarray  # (n,) at x
    scalars: np.ndarray  # (SCALARS,)
    best: np.ndarray  # (n,) the best x seen
    origin: np.ndarray  # (n,) where the line search started
    before: np.ndarray  # (n,) gradient there
    direction: np.ndarray  # (n,) along which it searches
    target: np.ndarray  # (n,) Cauchy point, then the minimum of the model: origin + direction
    pairs: np.ndarray  # (n, 2 m) row k: change of gradient component k in every pair, then of variable k
    older: np.ndarray  # (m, m) L of the model
    newer: np.ndarray  # (m, m) R
    overlap: np.ndarray  # (m, m) S^T S
    middle: np.ndarray  # (m, m) Cholesky factor of the middle matrix
    inner: np.ndarray  # (m, m) the same three for the free variables
    across: np.ndarray  # (m, m)
    outer: np.ndarray  # (m, m)
    path: np.ndarray  # (2 m,) M W^T d along the projected gradient
    moved: np.ndarray  # (2 m,) M W^T (Cauchy point - x)
    product: np.ndarray  # (2 m,)


@jit_inline
def room_size(n, memory):
    """How many floats the scratch needs."""
    return 6 * n + SCALARS + 2 * memory * n + 7 * memory * memory + 6 * memory


@jit_inline
def places_size(n, memory):
    """How many integers the scratch needs."""
    return COUNTERS + n


@jit_inline
def cut(room, n, memory):
    """The named parts of the floats."""
    at = n + SCALARS
    wide, square = 2 * memory, memory * memory
    pairs = at + 5 * n
    grids = pairs + n * wide
    rows = grids + 7 * square
    return Room(
        room[:n],
        room[n:at],
        room[at : at + n],
        room[at + n : at + 2 * n],
        room[at + 2 * n : at + 3 * n],
        room[at + 3 * n : at + 4 * n],
        room[at + 4 * n : pairs],
        room[pairs:grids].reshape((n, wide)),
        room[grids : grids + square].reshape((memory, memory)),
        room[grids + square : grids + 2 * square].reshape((memory, memory)),
        room[grids + 2 * square : grids + 3 * square].reshape((memory, memory)),
        room[grids + 3 * square : grids + 4 * square].reshape((memory, memory)),
        room[grids + 4 * square : grids + 5 * square].reshape((memory, memory)),
        room[grids + 5 * square : grids + 6 * square].reshape((memory, memory)),
        room[grids + 6 * square : rows].reshape((memory, memory)),
        room[rows : rows + wide],
        room[rows + wide : rows + 2 * wide],
        room[rows + 2 * wide : rows + 3 * wide],
    )

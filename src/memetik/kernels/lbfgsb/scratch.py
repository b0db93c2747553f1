"""The scratch of L-BFGS-B: one flat array of floats and one of integers, cut into named parts inside the kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memetik.kernels.compiler.array_views import cut_matrix, cut_vector
from memetik.kernels.compiler.jit import jit
from memetik.kernels.math.line_search import STATE

# The integers: what was spent, trials of this line search, pairs in memory, and the slot of the next. Behind these counters
# stands the address of find_minimum (minimum.py).
ITERATIONS, EVALUATIONS, TRIALS, COUNT, NEXT, COUNTERS = 0, 1, 2, 3, 4, 5
MINIMUM = COUNTERS
# The numbers behind the state of the line search: the least value seen, theta of the model, the step of the trial.
LEAST, THETA, STEP, SCALARS = STATE, STATE + 1, STATE + 2, STATE + 3
VECTORS, GRIDS, STRIPS = 7, 5, 5  # rows of n, grids of m by m, rows of 2 m


class Line(NamedTuple):
    """Where the search is, for n variables. The gradient comes first, so that a caller finds it."""

    gradient: np.ndarray  # (n,) at x
    scalars: np.ndarray  # (SCALARS,)
    best: np.ndarray  # (n,) the best x seen
    origin: np.ndarray  # (n,) where the line search started
    before: np.ndarray  # (n,) gradient there
    direction: np.ndarray  # (n,) along which it searches
    target: np.ndarray  # (n,) Cauchy point, then the minimum of the model: origin + direction
    times: np.ndarray  # (n,) when a variable meets its bound, zero for one that is held there


class Model(NamedTuple):
    """What is known of the curvature, from m pairs, and scratch to use it."""

    pairs: np.ndarray  # (2 m, n) W transposed
    older: np.ndarray  # (m, m) L
    newer: np.ndarray  # (m, m) R transposed
    steps: np.ndarray  # (m, m) S^T S
    changes: np.ndarray  # (m, m) Y^T Y
    middle: np.ndarray  # (m, m) for products with the middle matrix
    system: np.ndarray  # (2 m, 2 m + 1) K of the subspace and the right side
    first: np.ndarray  # (2 m + 1,), here and below the last unused: W^T d where the path starts
    path: np.ndarray  # (2 m + 1,) M W^T d along it
    moved: np.ndarray  # (2 m + 1,) M W^T (Cauchy point - x)
    corner: np.ndarray  # (2 m + 1,)
    product: np.ndarray  # (2 m + 1,)


@jit
def room_size(n, memory):
    """How many floats the scratch needs."""
    return SCALARS + (VECTORS + 2 * memory) * n + GRIDS * memory * memory + (2 * memory + STRIPS) * (2 * memory + 1)


@jit
def places_size(n, memory):
    """How many integers the scratch needs."""
    return COUNTERS + 1


@jit
def cut_line(room, n):
    """The named parts of the floats that a line search needs."""
    at = n + SCALARS
    return Line(
        cut_vector(room, 0, n),
        cut_vector(room, n, SCALARS),
        cut_vector(room, at, n),
        cut_vector(room, at + n, n),
        cut_vector(room, at + 2 * n, n),
        cut_vector(room, at + 3 * n, n),
        cut_vector(room, at + 4 * n, n),
        cut_vector(room, at + 5 * n, n),
    )


@jit
def cut_model(room, n, memory):
    """The named parts behind them."""
    pairs = SCALARS + VECTORS * n
    grids = pairs + 2 * memory * n
    grid, wide = memory * memory, 2 * memory + 1
    system = grids + GRIDS * grid
    strips = system + 2 * memory * wide
    return Model(
        cut_matrix(room, pairs, 2 * memory, n),
        cut_matrix(room, grids, memory, memory),
        cut_matrix(room, grids + grid, memory, memory),
        cut_matrix(room, grids + 2 * grid, memory, memory),
        cut_matrix(room, grids + 3 * grid, memory, memory),
        cut_matrix(room, grids + 4 * grid, memory, memory),
        cut_matrix(room, system, 2 * memory, wide),
        cut_vector(room, strips, wide),
        cut_vector(room, strips + wide, wide),
        cut_vector(room, strips + 2 * wide, wide),
        cut_vector(room, strips + 3 * wide, wide),
        cut_vector(room, strips + 4 * wide, wide),
    )

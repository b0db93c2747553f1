"""The scratch of L-BFGS-B: one flat array of floats and one of integers, cut into named parts inside the kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memetik.kernels.jit import jit_inline
from memetik.kernels.line_search import STATE

# The integers: what was spent, trials of this line search, pairs in memory, the slot of the next, and whether products
# with the middle matrix are prepared.
ITERATIONS, EVALUATIONS, TRIALS, COUNT, NEXT, PREPARED, COUNTERS = 0, 1, 2, 3, 4, 5, 6
# The numbers behind the state of the line search: the least value seen, theta of the model, the step of the trial.
LEAST, THETA, STEP, SCALARS = STATE, STATE + 1, STATE + 2, STATE + 3
VECTORS, GRIDS, STRIPS = 6, 5, 5  # rows of n behind the gradient, grids of m by m, rows of 2 m


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
    middle: np.ndarray  # (m, m) for products with the middle matrix
    system: np.ndarray  # (2 m, 2 m + 1) K of the subspace and the right side
    first: np.ndarray  # (2 m + 1,), the last unused: W^T d where the path starts
    path: np.ndarray  # (2 m + 1,) M W^T d along it
    moved: np.ndarray  # (2 m + 1,) M W^T (Cauchy point - x)
    corner: np.ndarray  # (2 m + 1,)
    product: np.ndarray  # (2 m + 1,)


@jit_inline
def room_size(n, memory):
    """How many floats the scratch needs."""
    return SCALARS + (1 + VECTORS + 2 * memory) * n + GRIDS * memory * memory + (2 * memory + STRIPS) * (2 * memory + 1)


@jit_inline
def places_size(n, memory):
    """How many integers the scratch needs."""
    return COUNTERS


@jit_inline
def cut(room, n, memory):
    """The named parts of the floats. A change of shape costs as much as an iteration's products: there are three."""
    vectors = n + SCALARS
    grids = vectors + (VECTORS + 2 * memory) * n
    wides = grids + GRIDS * memory * memory
    vector = room[vectors:grids].reshape((VECTORS + 2 * memory, n))
    grid = room[grids:wides].reshape((GRIDS * memory, memory))
    wide = room[wides : room_size(n, memory)].reshape((2 * memory + STRIPS, 2 * memory + 1))
    strip = wide[2 * memory :]
    return Room(
        room[:n],
        room[n:vectors],
        vector[0],
        vector[1],
        vector[2],
        vector[3],
        vector[4],
        vector[5],
        vector[VECTORS:],
        grid[:memory],
        grid[memory : 2 * memory],
        grid[2 * memory : 3 * memory],
        grid[3 * memory : 4 * memory],
        grid[4 * memory :],
        wide[: 2 * memory],
        strip[0],
        strip[1],
        strip[2],
        strip[3],
        strip[4],
    )

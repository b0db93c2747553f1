"""Cuts are views: the same numbers as slices, where the kernel writes too."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from memetik.kernels.compiler.array_views import cut_matrix, cut_vector
from memetik.kernels.compiler.jit import jit

pytestmark = pytest.mark.quick


@jit
def fill(whole, at, rows, columns):
    """Number the items of a matrix, and double those of a vector behind it."""
    grid, line = cut_matrix(whole, at, rows, columns), cut_vector(whole, at + rows * columns, 3)
    for i in range(grid.shape[0]):
        for j in range(grid.shape[1]):
            grid[i, j] = 10 * i + j
    row = grid[rows - 1]
    for j in range(line.size):
        line[j] *= 2
    return row.size + line.shape[0] + grid.size


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_cuts_share_the_memory_of_the_whole(dtype):
    whole = np.arange(20, dtype=dtype)
    expected = whole.copy()
    expected[4:12].reshape(2, 4)[:] = [[0, 1, 2, 3], [10, 11, 12, 13]]
    expected[12:15] *= 2
    assert fill(whole, 4, 2, 4) == 4 + 3 + 8
    assert_array_equal(whole, expected)


def test_nothing_can_be_cut():
    whole = np.arange(5.0)
    assert fill(whole, 2, 1, 0) == 0 + 3 + 0
    assert_array_equal(whole, [0, 1, 4, 6, 8])

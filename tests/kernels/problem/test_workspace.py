"""The workspace: named arrays that share one buffer and never a number."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.workspace import DIMENSIONS, Workspace, carve, size
from tests.kernels.flat import workspace

pytestmark = pytest.mark.quick

counts = st.integers(0, 9)


@jit
def number_arrays(buffer, nodes, frames, n, m, population):
    """Write into each number of the buffer which of the arrays it belongs to."""
    w = carve(buffer, nodes, frames, n, m, population)
    for matrix, mark in ((w.poses, 1.0), (w.axes, 2.0), (w.world, 3.0), (w.jacobian, 4.0), (w.system, 5.0)):
        for i in range(matrix.shape[0]):
            for j in range(matrix.shape[1]):
                matrix[i, j] += mark
    for vector, mark in (
        (w.residual, 6.0), (w.right, 7.0), (w.gradient, 8.0), (w.diagonal, 9.0), (w.step, 10.0), (w.free, 11.0),
        (w.trial, 12.0), (w.best, 13.0), (w.x, 14.0), (w.start, 15.0), (w.score, 16.0),
    ):  # fmt: skip
        for i in range(vector.size):
            vector[i] += mark


@given(nodes=counts, frames=counts, n=counts, m=counts, population=counts)
def test_the_arrays_fill_the_buffer_and_do_not_overlap(nodes, frames, n, m, population):
    shape = (nodes, frames, n, m, population)
    cut = workspace(*shape)
    assert sum(array.size for array in cut) == size(*shape)
    for k, array in enumerate(cut):
        array[...] += k + 1.0
    for k, array in enumerate(cut):
        assert_array_equal(array, k + 1.0)


@pytest.mark.parametrize("shape", [(7, 1, 7, 6, 256), (1, 1, 1, 0, 0), (30, 5, 28, 31, 4), (0, 1, 2, 1, 3)])
def test_compiled_kernels_cut_it_the_same_way(shape):
    buffer = np.zeros(size(*shape))
    number_arrays(buffer, *shape)
    expected = np.concatenate([np.full(array.size, k + 1.0) for k, array in enumerate(workspace(*shape))])
    assert_array_equal(buffer, expected)


def test_shapes():
    cut = workspace(4, 3, 5, 6, 7)
    assert cut.poses.shape == (4, 7) and cut.axes.shape == (4, 3) and cut.world.shape == (3, 7)
    assert cut.jacobian.shape == (5, 6) and cut.system.shape == (5, 5)
    assert cut.residual.shape == cut.right.shape == (6,) and cut.score.shape == (7,)
    for name in ("gradient", "diagonal", "step", "free", "trial", "best", "x", "start"):
        assert getattr(cut, name).shape == (5,), name
    assert tuple(array.ndim for array in cut) == DIMENSIONS and len(DIMENSIONS) == len(Workspace._fields)

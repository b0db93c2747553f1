"""The workspace out of one buffer: the arrays of the declaration, which share it and never a number."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.workspace import Workspace, carve_workspace, workspace_size
from memetik.kernels.runtime.record import allocate
from tests.kernels.flat import NO_BLOCKS

pytestmark = pytest.mark.quick

counts = st.integers(0, 9)


def declared(nodes, frames, n, m):
    """A workspace as it is declared."""
    sizes = {"nodes": nodes, "frames": frames, "variables": n, "residuals": m, "system": max(min(n, m), 1)}
    return allocate(Workspace, {**sizes, **NO_BLOCKS})


@jit
def number_arrays(buffer, nodes, frames, n, m):
    """Write into each number of the buffer which of the arrays it belongs to."""
    w = carve_workspace(buffer, nodes, frames, n, m)
    for matrix, mark in ((w.poses, 1.0), (w.axes, 2.0), (w.world, 3.0), (w.jacobian, 4.0), (w.system, 5.0)):
        for i in range(matrix.shape[0]):
            for j in range(matrix.shape[1]):
                matrix[i, j] += mark
    for vector, mark in (
        (w.residual, 6.0), (w.right, 7.0), (w.gradient, 8.0), (w.diagonal, 9.0), (w.step, 10.0), (w.free, 11.0),
        (w.trial, 12.0), (w.best, 13.0), (w.x, 14.0), (w.start, 15.0),
    ):  # fmt: skip
        for i in range(vector.size):
            vector[i] += mark


@given(nodes=counts, frames=counts, n=counts, m=counts)
def test_the_arrays_are_those_of_the_declaration(nodes, frames, n, m):
    shape = (nodes, frames, n, m)
    cut = getattr(carve_workspace, "py_func", carve_workspace)(np.zeros(workspace_size(*shape)), *shape)
    assert [array.shape for array in cut] == [array.shape for array in declared(*shape)]
    assert sum(array.size for array in cut) == workspace_size(*shape)


@pytest.mark.parametrize("shape", [(7, 1, 7, 6), (1, 1, 1, 0), (30, 5, 28, 31), (0, 1, 2, 1)])
def test_compiled_kernels_cut_it_the_same_way(shape):
    buffer = np.zeros(workspace_size(*shape))
    number_arrays(buffer, *shape)
    expected = np.concatenate([np.full(array.size, k + 1.0) for k, array in enumerate(declared(*shape))])
    assert_array_equal(buffer, expected)

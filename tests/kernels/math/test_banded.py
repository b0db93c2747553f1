"""Systems within a band, against NumPy on the whole matrix."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from memetik.kernels.math.banded import solve_banded

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(("size", "wide"), [(1, 1), (5, 1), (6, 3), (20, 7), (9, 9)])
def test_solution(size, wide):
    rng = np.random.default_rng(size)
    lower = np.tril(rng.normal(size=(size, size))) * (np.subtract.outer(np.arange(size), np.arange(size)) < wide)
    matrix = lower @ lower.T + 0.1 * np.eye(size)
    band = np.zeros((size, wide))
    for p in range(size):
        for d in range(min(wide, p + 1)):
            band[p, d] = matrix[p, p - d]
    right = rng.normal(size=size)
    expected = np.linalg.solve(matrix, right)
    solve_banded(band, right)
    assert_allclose(right, expected, rtol=1e-8, atol=1e-10)

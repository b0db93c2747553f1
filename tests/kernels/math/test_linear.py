"""Small dense linear algebra against numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from memetik.kernels.math.linear import factorise, substitute

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 12)


def positive(rng, n):
    """A symmetric matrix with eigenvalues from about 0.1 up."""
    root = rng.normal(size=(n, n))
    return root @ root.T + 0.1 * np.eye(n)


@given(seed=seeds, n=sizes)
def test_factorise(seed, n):
    rng = np.random.default_rng(seed)
    a = positive(rng, n)
    in_place = a.copy()
    in_place[np.triu_indices(n, 1)] = np.nan  # the upper triangle is never read
    factorise(in_place, n)
    L = np.tril(in_place, -1) + np.diag(1.0 / np.diag(in_place))
    assert_allclose(L @ L.T, a, rtol=0.0, atol=1e-12 * np.abs(a).max())
    assert_allclose(L, np.linalg.cholesky(a), rtol=0.0, atol=1e-10 * np.abs(a).max())


@given(seed=seeds, n=sizes)
def test_substitute(seed, n):
    rng = np.random.default_rng(seed)
    a, b = positive(rng, n), rng.normal(size=n)
    factor, solved = a.copy(), b.copy()
    factorise(factor, n)
    substitute(factor, n, solved)
    assert_allclose(a @ solved, b, rtol=0.0, atol=1e-10 * np.abs(solved).max())


def test_factorise_works_on_the_first_rows_of_a_larger_array(rng):
    """Scratch arrays are as large as the largest system."""
    large = np.full((7, 8), np.nan)
    large[:4, :4] = positive(rng, 4)
    small = large[:4, :4].copy()
    factorise(large, 4)
    factorise(small, 4)
    assert_array_equal(np.tril(large[:4, :4]), np.tril(small))
    assert np.isnan(large[4:]).all() and np.isnan(large[:, 4:]).all()


def test_a_lost_pivot_leaves_its_unknown_zero():
    """Rounding can leave nothing of the last pivots of a matrix that is singular but for its damping."""
    singular, b = np.ones((3, 3)), np.ones(3)
    factorise(singular, 3)
    assert_array_equal(np.diag(singular), [1.0, 0.0, 0.0])
    substitute(singular, 3, b)
    assert_array_equal(b, [1.0, 0.0, 0.0])


@pytest.mark.parametrize("scale", [1.0, 603.0, 1e5])
@pytest.mark.parametrize("damping", [1e-12, 1e-9])
def test_a_system_of_lower_rank_has_a_finite_solution(scale, damping):
    """Rows of a least-squares problem that leave some variables open, damped by less than rounding."""
    rng = np.random.default_rng(8)
    for _ in range(200):
        n = int(rng.integers(2, 40))
        rows = scale * rng.normal(size=(rng.integers(1, n), n))
        wanted = scale * rng.normal(size=len(rows))
        a, step = rows.T @ rows + damping * np.eye(n), rows.T @ wanted
        factorise(a, n)
        substitute(a, n, step)
        assert np.linalg.norm(rows @ step - wanted) < 1e-4 * np.linalg.norm(wanted)

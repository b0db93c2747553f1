"""Singular values by one-sided Jacobi rotations, against numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from memetik.kernels.math.svd import decompose

pytestmark = pytest.mark.quick

seeds, counts, lengths = st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 12)


def decomposed(A):
    """The rows of A turned until they are orthogonal: unit vectors of either side and singular values."""
    vectors, turns, sigma = A.copy(), np.full((len(A), len(A)), np.nan), np.full(len(A), np.nan)
    decompose(vectors, turns, sigma)
    return turns, sigma, vectors


def assert_decomposes(A):
    """The singular values are numpy's, the vectors are orthonormal, and together they give A."""
    left, sigma, right = decomposed(A)
    exact = np.zeros(len(A))
    exact[: min(A.shape)] = np.linalg.svd(A, compute_uv=False)
    close = {"rtol": 0.0, "atol": 1e-13 * max(exact[0], 1e-300)}
    assert_allclose(np.sort(sigma)[::-1], exact, **close)
    assert_allclose((left.T * sigma) @ right, A, **close)
    assert_allclose(left @ left.T, np.eye(len(A)), rtol=0.0, atol=1e-13)
    assert (sigma >= 0.0).all()
    felt = sigma > 1e-12 * exact[0]
    assert_allclose(right[felt] @ right[felt].T, np.eye(felt.sum()), rtol=0.0, atol=1e-12)


@given(seed=seeds, count=counts, length=lengths)
def test_any_matrix(seed, count, length):
    assert_decomposes(np.random.default_rng(seed).normal(size=(count, length)))


@given(seed=seeds, count=counts, length=lengths, rank=st.integers(0, 4))
def test_matrices_without_full_rank(seed, count, length, rank):
    rng = np.random.default_rng(seed)
    assert_decomposes(rng.normal(size=(count, rank)) @ rng.normal(size=(rank, length)))


@given(seed=seeds, count=counts, length=lengths)
def test_small_singular_values_are_accurate(seed, count, length):
    """Rows of very different length do not cost digits, which is what one-sided rotations are known for."""
    rng = np.random.default_rng(seed)
    length = max(count, length)
    turned = np.linalg.qr(rng.normal(size=(length, length)))[0][:count]
    sizes = 10.0 ** rng.uniform(-9.0, 3.0, count)
    _, sigma, _ = decomposed(sizes[:, None] * turned)
    assert_allclose(np.sort(sigma), np.sort(sizes), rtol=1e-12)


@pytest.mark.parametrize("size", [1e-70, 1e-8, 1e8, 1e70])
def test_any_size(rng, size):
    """As long as the fourth power of the entries is a number."""
    assert_decomposes(size * rng.normal(size=(4, 6)))


def test_equal_rows():
    assert_decomposes(np.ones((5, 3)))


def test_orthogonal_rows_are_left_as_they_are():
    left, sigma, right = decomposed(np.diag([3.0, 0.0, 2.0]))
    assert_array_equal(left, np.eye(3))
    assert_array_equal(sigma, [3.0, 0.0, 2.0])
    assert_array_equal(right, np.diag([1.0, 0.0, 1.0]))


def test_numbers_that_are_not_finite_come_to_an_end():
    _, sigma, _ = decomposed(np.array([[1.0, np.nan], [np.inf, 1.0]]))
    assert not np.isfinite(sigma).all()

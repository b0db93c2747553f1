"""The linear algebra of one step against numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from memetik.kernels.math.linear import factorise, step_by_residuals, step_by_variables, substitute
from tests.naive.steps import damped_step

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 12)


def positive(rng, n):
    """A symmetric matrix with eigenvalues from about 0.1 up."""
    root = rng.normal(size=(n, n))
    return root @ root.T + 0.1 * np.eye(n)


def system(rng, n, m, held=0.3, springs=0.5):
    """A random step: each variable moves a run of residuals, some are held, some have springs."""
    spans = np.sort(rng.integers(0, m + 1, (n, 2)), axis=1)
    jacobian = np.zeros((n, m))
    for k, (first, end) in enumerate(spans):
        jacobian[k, first:end] = rng.normal(size=end - first)
    with_spring = rng.random(n) < springs
    diagonal = np.where(with_spring, rng.uniform(0.0, 2.0, n), 0.0)
    pull = np.where(with_spring, rng.normal(size=n), 0.0)
    free = (rng.random(n) >= held).astype(float)
    return jacobian, spans, rng.normal(size=m), pull, diagonal, free, 10.0 ** rng.uniform(-3.0, 0.0)


def by_residuals(jacobian, spans, residual, springs, diagonal, free, damping):
    n, m = len(jacobian), len(residual)
    step = np.full(n, np.nan)
    scratch, right = np.full((m, m), np.nan), np.full(m, np.nan)
    step_by_residuals(jacobian, spans, residual, springs, diagonal, free, damping, scratch, right, step)
    return step


def by_variables(jacobian, spans, residual, springs, diagonal, free, damping):
    n = len(jacobian)
    step = np.full(n, np.nan)
    scratch = np.full((n, n), np.nan)
    step_by_variables(jacobian, spans, residual, springs, diagonal, free, damping, scratch, step)
    return step


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


def test_a_lost_pivot_gives_a_finite_factor():
    """Rounding can leave nothing of the last pivot of a matrix that is singular but for its damping."""
    singular = np.ones((3, 3))
    factorise(singular, 3)
    assert np.isfinite(np.tril(singular)).all()
    assert_allclose([singular[1, 1], singular[2, 2]], 1e15)


@given(seed=seeds, n=sizes, m=sizes)
def test_both_ways_give_the_step_of_numpy(seed, n, m):
    rng = np.random.default_rng(seed)
    given_system = system(rng, n, m)
    jacobian, _, residual, springs, diagonal, free, damping = given_system
    expected = damped_step(jacobian[:, :m], residual, springs, diagonal, free, damping)
    close = {"rtol": 0.0, "atol": 1e-9 * max(1.0, np.abs(expected).max())}
    assert_allclose(by_residuals(*given_system), expected, **close)
    assert_allclose(by_variables(*given_system), expected, **close)


@given(seed=seeds, n=sizes)
def test_springs_alone(seed, n):
    """Without residuals every variable goes its own way: -g / (D + damping)."""
    rng = np.random.default_rng(seed)
    jacobian, spans, _, springs, diagonal, free, damping = system(rng, n, 1, springs=1.0)
    spans[:] = 0
    expected = -free * springs / (diagonal + damping)
    step = by_residuals(jacobian[:, :0], spans, np.empty(0), springs, diagonal, free, damping)
    assert_allclose(step, expected, rtol=1e-12)
    assert_allclose(
        by_variables(jacobian[:, :0], spans, np.empty(0), springs, diagonal, free, damping), expected, rtol=1e-12
    )


def test_held_variables_do_not_move_and_do_not_matter(rng):
    n, m = 6, 4
    jacobian, spans, residual, springs, diagonal, free, damping = system(rng, n, m, held=0.0)
    free[[1, 4]] = 0.0
    other = jacobian.copy()
    other[[1, 4], :m] = 7.0 * (np.arange(m) < spans[[1, 4], 1:]) * (np.arange(m) >= spans[[1, 4], :1])
    for solve in (by_residuals, by_variables):
        step = solve(jacobian, spans, residual, springs, diagonal, free, damping)
        assert_array_equal(step[[1, 4]], 0.0)
        assert_array_equal(step, solve(other, spans, residual, springs, diagonal, free, damping))


def test_all_variables_held(rng):
    *numbers, _, damping = system(rng, 5, 3)
    for solve in (by_residuals, by_variables):
        assert_array_equal(solve(*numbers, np.zeros(5), damping), 0.0)


def test_numbers_outside_the_spans_are_not_read(rng):
    jacobian, spans, *rest = system(rng, 8, 6)
    spoiled = jacobian.copy()
    for k, (first, end) in enumerate(spans):
        spoiled[k, :first] = spoiled[k, end:] = np.nan
    for solve in (by_residuals, by_variables):
        assert_array_equal(solve(spoiled, spans, *rest), solve(jacobian, spans, *rest))


def test_little_damping_gives_the_shortest_solution(rng):
    """With more variables than residuals the limit is the pseudo-inverse."""
    n, m = 9, 5
    jacobian, spans = np.zeros((n, m)), np.tile([0, m], (n, 1))
    jacobian[:, :m] = rng.normal(size=(n, m))
    residual, none, every = rng.normal(size=m), np.zeros(n), np.ones(n)
    expected = -np.linalg.pinv(jacobian[:, :m].T) @ residual
    step = by_residuals(jacobian, spans, residual, none, none, every, 1e-12)
    assert_allclose(step, expected, rtol=0.0, atol=1e-9)

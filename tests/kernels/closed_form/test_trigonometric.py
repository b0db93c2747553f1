"""Equations in one angle, against the roots of a polynomial (numpy) and a look everywhere."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from memetik.kernels.closed_form.trigonometric import TOUCHES, linear_roots, quadratic_roots, square, sum_of

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)


def value(f, t):
    return f[0] + f[1] * np.cos(t) + f[2] * np.sin(t) + f[3] * np.cos(2 * t) + f[4] * np.sin(2 * t)


def by_polynomial(f):
    """The roots of f: with z = exp(i t), z^2 f is a polynomial of degree 4, whose roots on the unit circle count."""
    z = np.roots([f[3] - 1j * f[4], f[1] - 1j * f[2], 2.0 * f[0], f[1] + 1j * f[2], f[3] + 1j * f[4]])
    return np.angle(z[np.abs(np.abs(z) - 1.0) < 1e-9])


def found_roots(f):
    roots = np.zeros(4)
    count = quadratic_roots(tuple(map(float, f)), roots, TOUCHES)
    return roots[:count]


def apart(roots, t):
    return min((abs(math.remainder(root - t, 2.0 * math.pi)) for root in roots), default=math.inf)


@given(seed=seeds, zeros=st.sets(st.integers(0, 4), max_size=3))
def test_quadratic_roots(seed, zeros):
    """Coefficients of any size, some of them zero."""
    rng = np.random.default_rng(seed)
    f = rng.normal(size=5) * 10.0 ** rng.uniform(-3.0, 3.0, 5)
    f[list(zeros)] = 0.0
    found, roots = found_roots(f), by_polynomial(f)
    for root in roots:
        assert apart(found, root) < 1e-5
    if roots.size and len(found) > 1:  # others are perhaps no roots, only as near to one as can be
        assert_allclose(value(f, found), 0.0, atol=1e-6 * np.abs(f).max())


@given(seed=seeds, where=st.sampled_from([0.0, math.pi, math.pi / 2.0, -math.pi, None]))
def test_a_root_anywhere_is_found(seed, where):
    rng = np.random.default_rng(seed)
    t = rng.uniform(-math.pi, math.pi) if where is None else where
    f = rng.normal(size=5)
    f[0] -= value(f, t)
    assert apart(found_roots(f), t) < 1e-6


@given(seed=seeds)
def test_double_roots_are_found(seed):
    """The square of a linear form touches zero twice and never passes it."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(-math.pi, math.pi, 2)
    # The form that is zero at both angles.
    form = np.cross((1.0, math.cos(t[0]), math.sin(t[0])), (1.0, math.cos(t[1]), math.sin(t[1])))
    if np.linalg.norm(form) < 0.01:
        return
    found = found_roots(square(tuple(form)))
    for root in t:
        assert apart(found, root) < 1e-4


@given(seed=seeds)
def test_without_a_root_the_nearest_is_given(seed):
    rng = np.random.default_rng(seed)
    f = rng.normal(size=5)
    everywhere = value(f, np.linspace(-math.pi, math.pi, 2_000))
    f[0] += 0.1 - everywhere.min()
    (nearest,) = found_roots(f)
    assert value(f, nearest) == pytest.approx(0.1, abs=1e-4)


def test_nothing_to_solve():
    assert len(found_roots(np.zeros(5))) == 0
    assert len(found_roots([math.nan, 0.0, 0.0, 0.0, 1.0])) == 0


@given(seed=seeds)
def test_square_and_sum(seed):
    rng = np.random.default_rng(seed)
    one, other, k, t = rng.normal(size=3), rng.normal(size=3), rng.normal(), rng.uniform(-3.0, 3.0)
    turns = np.array([1.0, math.cos(t), math.sin(t)])
    both = sum_of(square(tuple(one)), k, square(tuple(other)))
    assert value(both, t) == pytest.approx((one @ turns) ** 2 + k * (other @ turns) ** 2, abs=1e-12)


@pytest.mark.parametrize(("d", "expected"), [(0.0, (math.pi / 2, -math.pi / 2)), (2.0, (0.0, 0.0)), (5.0, (0.0, 0.0))])
def test_linear_roots(d, expected):
    assert_allclose(linear_roots(2.0, 0.0, d, 1.0, 9.0), expected, atol=1e-12)
    assert linear_roots(1e-15, 1e-15, d, 1.0, 9.0) == (9.0, 9.0)

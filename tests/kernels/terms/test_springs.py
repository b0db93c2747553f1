"""Springs on single variables: cost, gradient, error and springs that rest where a solve starts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from memetik.kernels.terms.records import FOLLOWS_START, TERM
from memetik.kernels.terms.springs import (
    SPRING_DATA,
    SPRINGS,
    rest_at_start,
    springs_cost,
    springs_error,
    springs_gradient,
    stretch,
)
from tests.naive import errors as naive

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)
VARIABLES = 6


class Springs:
    """A term of random springs that starts somewhere in the data; several may pull one variable."""

    def __init__(self, rng, count, other=-1, first=3):
        self.variable = rng.integers(0, VARIABLES, count)
        self.stiffness = rng.uniform(0.1, 3.0, count)
        self.low = rng.normal(size=count)
        self.high = self.low + np.where(rng.random(count) < 0.5, 0.0, rng.uniform(0.0, 1.0, count))
        self.data = np.full(first + count * SPRING_DATA + 2, np.nan)
        rows = np.stack([self.variable, self.stiffness, self.low, self.high, np.zeros(count)], axis=1)
        self.data[first : first + rows.size] = rows.ravel()
        terms = np.zeros(1, dtype=TERM)
        terms["kind"], terms["numbers"], terms["count"], terms["other"] = SPRINGS.number, first, count, other
        self.terms, self.term, self.first = terms, terms[0], first

    def pulls(self, x):
        """Stiffness times signed distance from the rest interval."""
        value = x[self.variable]
        return self.stiffness * (value - np.clip(value, self.low, self.high))


@given(seed=seeds, count=st.integers(1, 9))
def test_cost_and_error(seed, count):
    rng = np.random.default_rng(seed)
    springs, x = Springs(rng, count), rng.normal(size=VARIABLES)
    assert springs_cost(springs.term, springs.data, x) == pytest.approx((springs.pulls(x) ** 2).sum(), rel=1e-12)
    expected = naive.stretch(x[None, springs.variable], springs.low, springs.high, springs.stiffness)[0]
    assert springs_error(springs.term, springs.data, x) == pytest.approx(expected, rel=1e-12)


@given(seed=seeds, count=st.integers(1, 9))
def test_gradient_is_half_the_slope_of_the_cost(seed, count):
    rng = np.random.default_rng(seed)
    springs, x, step = Springs(rng, count), rng.normal(size=VARIABLES), 1e-6
    before = rng.normal(size=VARIABLES)
    gradient, diagonal = before.copy(), before.copy()
    springs_gradient(springs.term, springs.data, x, 2.0, False, gradient, diagonal)
    for k, change in enumerate(step * np.eye(VARIABLES)):
        slope = (((springs.pulls(x + change)) ** 2).sum() - (springs.pulls(x - change) ** 2).sum()) / (2 * step)
        assert gradient[k] - before[k] == pytest.approx(2.0**2 * slope / 2.0, abs=1e-6)
        acting = (springs.variable == k) & ((springs.pulls(x) != 0.0) | (springs.low == springs.high))
        assert diagonal[k] - before[k] == pytest.approx(2.0**2 * (springs.stiffness[acting] ** 2).sum())


@pytest.mark.parametrize(("value", "expected"), [(-3.0, -2.0), (-1.0, 0.0), (0.3, 0.0), (0.5, 0.0), (2.0, 1.5)])
def test_stretch_is_the_signed_distance_from_the_interval(value, expected):
    assert stretch(np.array([9.0, 0.0, 1.0, -1.0, 0.5]), 1, np.array([value])) == pytest.approx(expected)


def test_a_spring_inside_its_interval_does_not_hinder(rng):
    springs = Springs(rng, 4)
    springs.data[springs.first + 2 :: SPRING_DATA][:4] = -10.0
    springs.data[springs.first + 3 :: SPRING_DATA][:4] = 10.0
    gradient, diagonal = np.zeros(VARIABLES), np.zeros(VARIABLES)
    springs_gradient(springs.term, springs.data, rng.normal(size=VARIABLES), 1.0, False, gradient, diagonal)
    assert not gradient.any() and not diagonal.any()


def test_only_springs_that_follow_the_start_move(rng):
    follows, stays = Springs(rng, 4, other=FOLLOWS_START), Springs(rng, 4)
    start = rng.normal(size=VARIABLES)
    for springs in (follows, stays):
        before = springs.data.copy()
        rest_at_start(springs.terms, springs.data, start)
        if springs is stays:
            assert_array_equal(springs.data, before)
        else:
            assert springs_cost(springs.term, springs.data, start) == 0.0
            rows = springs.data[springs.first : springs.first + 4 * SPRING_DATA].reshape(4, SPRING_DATA)
            assert_array_equal(rows[:, 2], start[springs.variable])
            assert_array_equal(rows[:, 3], start[springs.variable])
            assert_allclose(rows[:, :2], np.stack([springs.variable, springs.stiffness], axis=1))


def test_other_kinds_are_left_alone(rng):
    springs = Springs(rng, 3, other=FOLLOWS_START)
    springs.terms["rows"] = 3  # springs have none
    before = springs.data.copy()
    rest_at_start(springs.terms, springs.data, rng.normal(size=VARIABLES))
    assert_array_equal(springs.data, before)

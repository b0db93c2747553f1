"""The limits of variables: clamped to, wrapped towards a start, gone round by whole turns."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memetik.kernels.problem.limits import bring_within, move_inside, open_limits, turn_back, turns_freely, wrap_towards
from memetik.kernels.problem.problem_record import LIMIT
from tests.kernels.flat import variables_of

pytestmark = pytest.mark.quick

TURN = 2.0 * math.pi


LOWER, UPPER = [-3.0, -4.0, -4.0, -math.inf, -3.14159265], [3.0, 3.0, 3.0, math.inf, 3.14159265]
VARIABLES = variables_of(LOWER, UPPER, whole_turn=[1, 1, 0, 1, 1])


def test_a_joint_turns_freely_if_its_range_is_a_turn_and_turns_do_not_matter():
    assert [bool(turns_freely(VARIABLES[k])) for k in range(5)] == [False, True, False, True, True]


@given(st.floats(-40.0, 40.0), st.integers(0, 4))
def test_a_value_is_brought_within(value, k):
    """By whole turns where that changes nothing; what is within already stays."""
    found = bring_within(value, VARIABLES[k])
    assert LOWER[k] <= found <= UPPER[k]
    if turns_freely(VARIABLES[k]):
        assert abs(math.remainder(found - value, TURN)) < 1e-6
    if LOWER[k] <= value <= UPPER[k]:
        assert found == value


def test_who_stands_at_a_limit_turns_back():
    x = np.array([3.0, 3.0, 3.0, 3.0, -3.14159265])
    turn_back(x, VARIABLES)
    np.testing.assert_allclose(x, [3.0, 3.0 - TURN, 3.0, 3.0, 3.14159265], atol=1e-8)
    inside = np.array([1.0, -3.9, -4.0, 99.0, 0.0])
    x = inside.copy()
    turn_back(x, VARIABLES)
    np.testing.assert_array_equal(x, inside)


def test_limits_that_limit_nothing_are_open():
    lower, upper = np.empty(5), np.empty(5)
    open_limits(VARIABLES, lower, upper)
    np.testing.assert_array_equal(lower, [-3.0, -math.inf, -4.0, -math.inf, -math.inf])
    np.testing.assert_array_equal(upper, [3.0, math.inf, 3.0, math.inf, math.inf])


def test_move_inside():
    limits = np.array([(-1.0, 1.0), (-np.inf, 2.0), (0.0, 0.0)], dtype=LIMIT)
    q = np.array([-3.0, -50.0, 0.0])
    assert move_inside(q, limits)
    np.testing.assert_array_equal(q, [-1.0, -50.0, 0.0])
    assert not move_inside(q, limits)


def some_variables(rng, n):
    """Limits from less than a turn to many turns wide, or none on either side; whole turns count for some."""
    lower = np.where(rng.random(n) < 0.3, -np.inf, rng.uniform(-20.0, 0.0, n))
    upper = np.where(rng.random(n) < 0.3, np.inf, np.maximum(lower, -20.0) + rng.uniform(0.0, 30.0, n))
    finite_lower = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 25.0, -25.0))
    finite_upper = np.where(np.isfinite(upper), upper, finite_lower + 50.0)
    variables = variables_of(lower, upper, rng.random(n) < 0.7)
    variables["sample_lower"], variables["sample_upper"] = finite_lower, finite_upper
    return variables


@given(st.integers(0, 2**32 - 1))
def test_wrapping_finds_the_copy_nearest_to_the_start(seed):
    """Against all copies within fifty turns."""
    rng = np.random.default_rng(seed)
    variables = some_variables(rng, 8)
    before, start = rng.uniform(variables["sample_lower"], variables["sample_upper"], (2, 8))
    x = before.copy()
    wrap_towards(x, start, variables)
    for k in range(8):
        lower, upper = variables[k].lower, variables[k].upper
        if not variables[k].whole_turn:
            assert x[k] == before[k]
            continue
        copies = before[k] + TURN * np.arange(-50, 51)
        allowed = copies[(copies >= lower) & (copies <= upper)]
        assert lower <= x[k] <= upper
        assert abs(x[k] - start[k]) == pytest.approx(np.abs(allowed - start[k]).min(), abs=1e-12)
        assert np.abs(copies - x[k]).min() < 1e-12


@pytest.mark.parametrize(("before", "start", "lower", "upper", "after"), [
    (3.0, -3.0, -np.inf, np.inf, 3.0 - TURN),  # across pi
    (3.0, -3.0, -math.pi, math.pi, 3.0),  # the nearer copy is out of limits
    (7.0, 0.0, -math.pi, 8.0, 7.0 - TURN),
    (-3.0, 3.0, -4.0, 4.0, TURN - 3.0),
    (0.5, 0.5, 0.0, 1.0, 0.5),
    (100.0, 0.0, -np.inf, np.inf, 100.0 - 16 * TURN),
])  # fmt: skip
def test_wrapping_by_example(before, start, lower, upper, after):
    x = np.array([before])
    wrap_towards(x, np.array([start]), variables_of(lower, upper, 1))
    assert x[0] == pytest.approx(after, abs=1e-12)

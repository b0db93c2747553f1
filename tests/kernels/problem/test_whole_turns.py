"""Joints that can turn by a whole turn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memetik.kernels.problem.whole_turns import bring_within, open_limits, turn_back, turns_freely

pytestmark = pytest.mark.quick

TURN = 2.0 * math.pi


def bounds_of(*joints):
    """Lower and upper limit, and whether whole turns do not matter, of each joint."""
    lower, upper, whole = np.array(joints, dtype=float).T
    return np.array([lower, upper, lower, upper, whole])


BOUNDS = bounds_of(
    (-3.0, 3.0, 1), (-4.0, 3.0, 1), (-4.0, 3.0, 0), (-math.inf, math.inf, 1), (-3.14159265, 3.14159265, 1)
)


def test_a_joint_turns_freely_if_its_range_is_a_turn_and_turns_do_not_matter():
    assert [bool(turns_freely(BOUNDS, k)) for k in range(5)] == [False, True, False, True, True]


@given(st.floats(-40.0, 40.0), st.integers(0, 4))
def test_a_value_is_brought_within(value, k):
    """By whole turns where that changes nothing; what is within already stays."""
    found = bring_within(value, BOUNDS, k)
    assert BOUNDS[0, k] <= found <= BOUNDS[1, k]
    if turns_freely(BOUNDS, k):
        assert abs(math.remainder(found - value, TURN)) < 1e-6
    if BOUNDS[0, k] <= value <= BOUNDS[1, k]:
        assert found == value


def test_who_stands_at_a_limit_turns_back():
    x = np.array([3.0, 3.0, 3.0, 3.0, -3.14159265])
    turn_back(x, BOUNDS)
    np.testing.assert_allclose(x, [3.0, 3.0 - TURN, 3.0, 3.0, 3.14159265], atol=1e-8)
    inside = np.array([1.0, -3.9, -4.0, 99.0, 0.0])
    x = inside.copy()
    turn_back(x, BOUNDS)
    np.testing.assert_array_equal(x, inside)


def test_limits_that_limit_nothing_are_open():
    lower, upper = np.empty(5), np.empty(5)
    open_limits(BOUNDS, lower, upper)
    np.testing.assert_array_equal(lower, [-3.0, -math.inf, -4.0, -math.inf, -math.inf])
    np.testing.assert_array_equal(upper, [3.0, math.inf, 3.0, math.inf, math.inf])

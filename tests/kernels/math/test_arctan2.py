"""The angle of a direction, against the C library."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memetik.kernels.math.arctan2 import arctan2

pytestmark = pytest.mark.quick

numbers = st.floats(-1e100, 1e100, allow_subnormal=False)


@given(y=numbers, x=numbers)
def test_any_direction(y, x):
    assume(y != 0.0 or x != 0.0)
    assert arctan2(y, x) == pytest.approx(math.atan2(y, x), rel=5e-16, abs=1e-300)


@pytest.mark.parametrize("y", [0.0, -0.0, 1.0, -1.0, 1e-300])
@pytest.mark.parametrize("x", [1.0, -1.0, 1e300])
def test_axes_and_diagonals(y, x):
    assert arctan2(y, x) == math.atan2(y, x)


def test_no_direction():
    assert arctan2(0.0, 0.0) == 0.0
    assert math.isnan(arctan2(math.nan, 1.0)) and math.isnan(arctan2(1.0, math.nan))

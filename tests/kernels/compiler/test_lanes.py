"""Lanes against the obvious twin: the same function of numbers, lane after lane."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from memetik.kernels.compiler.jit import jit
from memetik.kernels.compiler.lanes import LANES, bit, bits, fused, put, select, spread, sum_lanes, take
from memetik.kernels.runtime.record import LINE

pytestmark = pytest.mark.quick

numbers = st.lists(
    st.floats(-1e100, 1e100) | st.sampled_from([0.0, 1.0, math.inf, math.nan]), min_size=LANES, max_size=LANES
)


def aligned(*shape):
    """Zeros that begin at a cache line, as those of records do."""
    size = math.prod(shape)
    buffer = np.zeros(size + LINE // 8)
    at = -buffer.ctypes.data % LINE // 8
    return buffer[at : at + size].reshape(shape)


def rows(*values):
    array = aligned(len(values), LANES)
    array[:] = values
    return array


# Every operator stands alone, so that no product is fused with a sum.
@jit
def arithmetic(given, out):
    a, b = take(given, 0), take(given, 1)
    put(out, 0, a + b)
    put(out, 1, a - b)
    put(out, 2, a * b)
    put(out, 3, a / b)
    put(out, 4, -a)
    put(out, 5, abs(a))
    put(out, 6, math.sqrt(abs(a)))
    put(out, 7, math.atan2(a, b))
    put(out, 8, min(a, b))
    put(out, 9, max(a, b))
    put(out, 10, a + 3.0)
    put(out, 11, 3.0 / a)
    put(out, 12, spread(3.0))
    put(out, 13, select((a < b) & (b <= 1.0), a, 7.0))
    put(out, 14, select((a > b) | (b >= 1.0), 7.0, b))


def naive_arithmetic(a, b):
    with np.errstate(all="ignore"):
        return [
            a + b,
            a - b,
            a * b,
            a / b,
            -a,
            np.abs(a),
            np.sqrt(np.abs(a)),
            [math.atan2(*pair) for pair in zip(a, b, strict=True)],
            [min(pair) for pair in zip(a.tolist(), b.tolist(), strict=True)],
            [max(pair) for pair in zip(a.tolist(), b.tolist(), strict=True)],
            a + 3.0,
            3.0 / a,
            np.full(LANES, 3.0),
            np.where((a < b) & (b <= 1.0), a, 7.0),
            np.where((a > b) | (b >= 1.0), 7.0, b),
        ]


@jit
def choose(a, b):
    return select(a < b, a, 7), select(a < b, 1, 0)


@given(st.floats(), st.floats())
def test_select_takes_numbers(a, b):
    """As it does lanes; of a number and an integer comes a number."""
    assert_array_equal(choose(a, b), (a, 1) if a < b else (7.0, 0))


@given(numbers, numbers)
def test_every_operator_works_lane_by_lane(a, b):
    a, b = np.array(a), np.where(np.array(b) == 0.0, 0.5, b)  # plain Python divides by no zero
    a = np.where(a == 0.0, 0.25, a)
    out = aligned(15, LANES)
    arithmetic(rows(a, b), out)
    assert_array_equal(out, naive_arithmetic(a, b))


@jit
def fuse(given, out):
    put(out, 0, fused(take(given, 0), take(given, 1), take(given, 2)))


def test_a_product_in_a_sum():
    a, b, c = np.random.default_rng(2).normal(size=(3, LANES))
    out = aligned(1, LANES)
    fuse(rows(a, b, c), out)
    np.testing.assert_allclose(out[0], a * b + c, rtol=0.0, atol=1e-15)


@jit
def masks(given, out):
    k = take(given, 0)
    put(out, 0, select(bit(k, 0), 1.0, 0.0))
    put(out, 1, select(bit(k, 1), 1.0, 0.0))
    return bits(k > 0.0)


@given(st.lists(st.integers(-1000, 1000), min_size=LANES, max_size=LANES))
def test_bits(whole):
    out = aligned(2, LANES)
    assert masks(rows(whole), out) == sum(1 << lane for lane in range(LANES) if whole[lane] > 0)
    assert_array_equal(out[0], np.array(whole) & 1)
    assert_array_equal(out[1], np.array(whole) >> 1 & 1)


@jit
def copy_row(array, row, to):
    put(to, row, take(array, row))


def test_rows_are_counted_over_all_axes_but_the_last():
    array, to = aligned(3, 7, LANES), aligned(3, 7, LANES)
    array[:] = np.arange(array.size).reshape(array.shape)
    copy_row(array, 7 * 2 + 5, to)
    assert_array_equal(to[2, 5], array[2, 5])
    assert np.count_nonzero(to) == LANES


@jit
def total(given):
    return sum_lanes(take(given, 1))


def test_the_sum_of_all_lanes(rng):
    values = rng.normal(size=(2, LANES))
    assert total(rows(*values)) == pytest.approx(values[1].sum(), rel=1e-12)

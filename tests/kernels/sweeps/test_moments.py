"""Sixteen numbers for any number of points: the same attraction as that of all points one by one."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from memetik.kernels.runtime.record import allocate
from memetik.kernels.sweeps.align import circle
from memetik.kernels.sweeps.moments import add_all, add_point, add_product, attraction, attraction_along, clear
from memetik.kernels.sweeps.sweep_record import Moments
from tests.naive.bodies import random_direction
from tests.naive.pose import random_pose, rotated

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)


def none(nodes):
    """No points at all."""
    return allocate(Moments, {"nodes": nodes})


def assert_same_row(moments, expected, i):
    for rows, others in zip(moments, expected, strict=True):
        assert_allclose(rows[i], others[i], atol=1e-12)


def some_points(rng, count):
    """Weights, points of a shape, and their places."""
    return list(
        zip(rng.uniform(0.1, 2.0, count), rng.normal(size=(count, 3)), rng.normal(size=(count, 3)), strict=True)
    )


def one_by_one(points, spin, o, u):
    """a, b and the pull along u of points r that stand at S r and belong at d + o."""
    a = b = along = 0.0
    for w, r, d in points:
        here, there = rotated(spin, r), d + o
        one, other = circle(here, there, u)
        a, b, along = a + w * one, b + w * other, along + w * u @ (there - here)
    return a, b, along


@given(seed=seeds, count=st.integers(1, 6))
def test_attraction_is_the_sum_over_all_points(seed, count):
    rng = np.random.default_rng(seed)
    points, spin, o, u = some_points(rng, count), random_pose(rng), rng.normal(size=3), random_direction(rng)
    moments = none(2)
    for rows in moments:
        rows[:] = 1.0
    clear(moments)
    for w, r, d in points:
        add_point(moments, 1, w, r, d)
    a, b, size = attraction(moments, 1, spin, o, u)
    along = attraction_along(moments, 1, spin, o, u)
    assert_allclose((a, b, along), one_by_one(points, spin, o, u), atol=1e-10)
    assert math.hypot(a, b) <= 3.0 * size + 1e-12
    assert moments.weight[1] == pytest.approx(sum(w for w, _, _ in points))
    assert not any(rows[0].any() for rows in moments)


@given(seed=seeds)
def test_rows_add_up_from_another_node(seed):
    rng = np.random.default_rng(seed)
    points, spin, t, s = some_points(rng, 4), random_pose(rng), rng.normal(size=3), rng.normal(size=3)
    moments, turned, shifted = none(3), none(3), none(3)
    for w, r, d in points:
        add_point(moments, 0, w, r, d)
        add_point(turned, 1, 0.5 * w, rotated(spin, r) + t, d + s)
        add_point(shifted, 2, 0.5 * w, r + s, d + s)
    add_all(moments, 1, 0, 0.5, spin, t, s)
    add_all(moments, 2, 0, 0.5, None, s, s)
    assert_same_row(moments, turned, 1)
    assert_same_row(moments, shifted, 2)


@given(seed=seeds)
def test_a_direction_matters_to_turns_alone(seed):
    """It is half a point at each end of an arrow: the halves cancel out in all but K."""
    rng = np.random.default_rng(seed)
    arrow, both = none(1), none(1)
    r, d = random_direction(rng), random_direction(rng)
    add_product(arrow, 0, 2.0 * r, d)
    for side in (1.0, -1.0):
        add_point(both, 0, 1.0, side * r, side * d)
    assert arrow.weight[0] == 0.0
    assert_same_row(arrow, both._replace(weight=arrow.weight), 0)

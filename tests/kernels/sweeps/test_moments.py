"""Sixteen numbers for any number of points: the same attraction as that of all points one by one."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from memetik.kernels.sweeps.align import circle
from memetik.kernels.sweeps.moments import (
    MOMENTS,
    add_all,
    add_all_unturned,
    add_point,
    add_product,
    attraction,
    attraction_along,
    clear,
)
from tests.naive.bodies import random_direction
from tests.naive.pose import random_pose, rotated

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)


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
        one, other = circle(*here, *there, *u)
        a, b, along = a + w * one, b + w * other, along + w * u @ (there - here)
    return a, b, along


@given(seed=seeds, count=st.integers(1, 6))
def test_attraction_is_the_sum_over_all_points(seed, count):
    rng = np.random.default_rng(seed)
    points, spin, o, u = some_points(rng, count), random_pose(rng), rng.normal(size=3), random_direction(rng)
    moments = np.ones((2, MOMENTS))
    clear(moments)
    for w, r, d in points:
        add_point(moments, 1, w, *r, *d)
    a, b, size = attraction(moments, 1, spin, *o, *u)
    along = attraction_along(moments, 1, spin, *o, *u)
    assert_allclose((a, b, along), one_by_one(points, spin, o, u), atol=1e-10)
    assert math.hypot(a, b) <= 3.0 * size + 1e-12
    assert moments[1, 0] == pytest.approx(sum(w for w, _, _ in points))
    assert not moments[0].any()


@given(seed=seeds)
def test_rows_add_up_from_another_node(seed):
    rng = np.random.default_rng(seed)
    points, spin, t, s = some_points(rng, 4), random_pose(rng), rng.normal(size=3), rng.normal(size=3)
    moments, expected = np.zeros((2, MOMENTS)), np.zeros((2, MOMENTS))
    for w, r, d in points:
        add_point(moments, 0, w, *r, *d)
        add_point(expected, 0, w, *r, *d)
        add_point(expected, 1, 0.5 * w, *(rotated(spin, r) + t), *(d + s))
    add_all(moments, 1, 0, 0.5, spin, *t, *s)
    assert_allclose(moments[1], expected[1], atol=1e-12)
    moments[1], expected[1] = 0.0, 0.0
    add_all_unturned(moments, 1, 0, 0.5, *s)
    add_all(expected, 1, 0, 0.5, (1.0, 0.0, 0.0, 0.0), *s, *s)
    assert_allclose(moments[1], expected[1], atol=1e-12)


@given(seed=seeds)
def test_a_direction_matters_to_turns_alone(seed):
    """It is half a point at each end of an arrow: the halves cancel out in all but K."""
    rng = np.random.default_rng(seed)
    arrow, both = np.zeros((1, MOMENTS)), np.zeros((1, MOMENTS))
    r, d = random_direction(rng), random_direction(rng)
    add_product(arrow, 0, *(2.0 * r), *d)
    for side in (1.0, -1.0):
        add_point(both, 0, 1.0, *(side * r), *(side * d))
    assert_allclose(arrow[0, 1:], both[0, 1:], atol=1e-12)
    assert arrow[0, 0] == 0.0

"""Which turns take one vector to another, checked by turning it (Rodrigues)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from memetik.kernels.closed_form.subproblems import about, one_turn, two_turns
from tests.naive.kinematics import turn

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)


def unit(rng):
    vector = rng.normal(size=3)
    return vector / np.linalg.norm(vector)


def turned(axis, angle, vector):
    return turn(axis, angle)[:3, :3] @ vector


@given(seed=seeds)
def test_one_turn(seed):
    rng = np.random.default_rng(seed)
    axis, p, angle = unit(rng), rng.normal(size=3), rng.uniform(-math.pi, math.pi)
    found = one_turn(tuple(axis), tuple(p), tuple(turned(axis, angle, p)), 9.0)
    assert math.cos(found - angle) == pytest.approx(1.0, abs=1e-12)


@given(seed=seeds)
def test_one_turn_comes_nearest_where_none_arrives(seed):
    rng = np.random.default_rng(seed)
    axis, p, q = unit(rng), rng.normal(size=3), rng.normal(size=3)
    found = one_turn(tuple(axis), tuple(p), tuple(q), 9.0)
    away = [np.linalg.norm(turned(axis, found + off, p) - q) for off in (0.0, 0.01, -0.01, 2.0, -2.0)]
    assert away[0] == min(away)


@pytest.mark.parametrize("on_axis", [(0.0, 0.0, 3.0), (0.0, 0.0, -3.0), (1e-17, 0.0, 3.0), (0.0, 0.0, 0.0)])
def test_a_vector_on_the_axis_leaves_the_angle_open(on_axis):
    z = (0.0, 0.0, 1.0)
    assert one_turn(z, on_axis, (1.0, 2.0, 3.0), 0.7) == 0.7
    assert one_turn(z, (1.0, 2.0, 3.0), on_axis, 0.7) == 0.7


@given(seed=seeds)
def test_two_turns_both_ways(seed):
    rng = np.random.default_rng(seed)
    a, b, p = unit(rng), unit(rng), rng.normal(size=3)
    alpha, beta = rng.uniform(-math.pi, math.pi, 2)
    q = turned(a, alpha, turned(b, beta, p))
    found = np.reshape(two_turns(tuple(a), tuple(b), tuple(p), tuple(q), 0.0, 0.0), (2, 2))
    for one, two in found:
        assert_allclose(turned(a, one, turned(b, two, p)), q, atol=1e-7 / np.linalg.norm(np.cross(a, b)))
    off = np.abs(np.exp(1j * found) - np.exp(1j * np.array([alpha, beta]))).max(axis=1)
    assert off.min() < 1e-6 / np.linalg.norm(np.cross(a, b))  # the angles that were drawn are among them


def test_two_turns_that_cannot_arrive_point_the_right_way():
    """p turns about z in the plane, so q, which stands above the cone that x leaves it, is met as well as can be."""
    x, z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    alpha, beta, *again = two_turns(x, z, (1.0, 0.0, 0.0), (2.0, 0.0, 0.0), 0.0, 0.0)
    assert again == [alpha, beta]
    assert_allclose(turned(x, alpha, turned(z, beta, (1.0, 0.0, 0.0))), (1.0, 0.0, 0.0), atol=1e-12)


@given(seed=seeds, angle=st.floats(-7.0, 7.0))
def test_about_is_a_turn(seed, angle):
    axis = unit(np.random.default_rng(seed))
    w, x, y, z, *place = about(tuple(axis), angle)
    R = turn(axis, angle)[:3, :3]
    assert_allclose(
        (R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]), 4.0 * w * np.array([x, y, z]), atol=1e-12
    )
    assert np.trace(R) == pytest.approx(4.0 * w * w - 1.0, abs=1e-12)
    assert place == [0.0, 0.0, 0.0]

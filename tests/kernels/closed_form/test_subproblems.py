"""Which turns take one vector to another, checked by turning it (Rodrigues)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from memetik.kernels.closed_form.arm_record import Loop
from memetik.kernels.closed_form.subproblems import (
    about,
    about_line,
    one_turn,
    turn_to_distance,
    turn_to_plane,
    turned,
    turns_to_planes,
    two_turns,
)
from memetik.kernels.runtime.record import allocate
from tests.naive.kinematics import turn

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)


def unit(rng):
    vector = rng.normal(size=3)
    return vector / np.linalg.norm(vector)


def rotated(axis, angle, vector):
    return turn(axis, angle)[:3, :3] @ vector


@given(seed=seeds)
def test_one_turn(seed):
    rng = np.random.default_rng(seed)
    axis, p, angle = unit(rng), rng.normal(size=3), rng.uniform(-math.pi, math.pi)
    found = one_turn(tuple(axis), tuple(p), tuple(rotated(axis, angle, p)), 9.0)
    assert math.cos(found - angle) == pytest.approx(1.0, abs=1e-12)


@given(seed=seeds)
def test_one_turn_comes_nearest_where_none_arrives(seed):
    rng = np.random.default_rng(seed)
    axis, p, q = unit(rng), rng.normal(size=3), rng.normal(size=3)
    found = one_turn(tuple(axis), tuple(p), tuple(q), 9.0)
    away = [np.linalg.norm(rotated(axis, found + off, p) - q) for off in (0.0, 0.01, -0.01, 2.0, -2.0)]
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
    q = rotated(a, alpha, rotated(b, beta, p))
    found = np.reshape(two_turns(tuple(a), tuple(b), tuple(p), tuple(q), 0.0, 0.0), (2, 2))
    for one, two in found:
        assert_allclose(rotated(a, one, rotated(b, two, p)), q, atol=1e-7 / np.linalg.norm(np.cross(a, b)))
    off = np.abs(np.exp(1j * found) - np.exp(1j * np.array([alpha, beta]))).max(axis=1)
    assert off.min() < 1e-6 / np.linalg.norm(np.cross(a, b))  # the angles that were drawn are among them


def test_two_turns_that_cannot_arrive_point_the_right_way():
    """p turns about z in the plane, so q, which stands above the cone that x leaves it, is met as well as can be."""
    x, z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    alpha, beta, *again = two_turns(x, z, (1.0, 0.0, 0.0), (2.0, 0.0, 0.0), 0.0, 0.0)
    assert again == [alpha, beta]
    assert_allclose(rotated(x, alpha, rotated(z, beta, (1.0, 0.0, 0.0))), (1.0, 0.0, 0.0), atol=1e-12)


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


@given(seed=seeds, angle=st.floats(-7.0, 7.0))
def test_turned_is_a_turn(seed, angle):
    rng = np.random.default_rng(seed)
    axis, point, v = unit(rng), rng.normal(size=3), rng.normal(size=3)
    assert_allclose(turned(tuple(axis), angle, tuple(v)), rotated(axis, angle, v), atol=1e-14)
    w, x, y, z, *place = about_line(tuple(axis), tuple(point), angle)
    assert_allclose((w, x, y, z), about(tuple(axis), angle)[:4])
    assert_allclose(place, point - rotated(axis, angle, point), atol=1e-14)


# ---- One turn to a plane or a distance --------------------------------------------------------------------


@given(seed=seeds)
def test_turn_to_plane(seed):
    rng = np.random.default_rng(seed)
    a, p, n, angle = unit(rng), rng.normal(size=3), rng.normal(size=3), rng.uniform(-math.pi, math.pi)
    d = n @ rotated(a, angle, p)
    found = turn_to_plane(tuple(a), tuple(p), tuple(n), d, 9.0)
    for each in found:
        assert n @ rotated(a, each, p) == pytest.approx(d, abs=1e-13)
    assert min(abs(math.remainder(each - angle, 2.0 * math.pi)) for each in found) < 1e-6


@given(seed=seeds)
def test_turn_to_distance(seed):
    rng = np.random.default_rng(seed)
    a, p, q, angle = unit(rng), rng.normal(size=3), rng.normal(size=3), rng.uniform(-math.pi, math.pi)
    d = np.linalg.norm(rotated(a, angle, p) - q)
    found = turn_to_distance(tuple(a), tuple(p), tuple(q), d, 9.0)
    for each in found:
        assert np.linalg.norm(rotated(a, each, p) - q) ** 2 == pytest.approx(d * d, abs=1e-12)
    assert min(abs(math.remainder(each - angle, 2.0 * math.pi)) for each in found) < 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_what_no_turn_reaches_is_approached(seed):
    """Against a look at twenty thousand angles."""
    rng = np.random.default_rng(seed)
    a, p, q = unit(rng), rng.normal(size=3), rng.normal(size=3)
    angles = np.linspace(-math.pi, math.pi, 20_000)
    turns = turn(a, angles)[:, :3, :3] @ p
    for d in (-9.0, 9.0):
        one, other = turn_to_plane(tuple(a), tuple(p), tuple(q), d, 9.0)
        assert one == pytest.approx(other) or abs(one - other) == pytest.approx(2.0 * math.pi)
        assert abs(q @ rotated(a, one, p) - d) == pytest.approx(np.abs(turns @ q - d).min(), abs=1e-6)
    one, _ = turn_to_distance(tuple(a), tuple(p), tuple(q), 9.0, 9.0)
    assert np.linalg.norm(rotated(a, one, p) - q) == pytest.approx(np.linalg.norm(turns - q, axis=1).max(), abs=1e-6)


def test_a_plane_across_the_axis_leaves_the_angle_open():
    z = (0.0, 0.0, 1.0)
    assert turn_to_plane(z, (1.0, 0.0, 0.5), z, 0.5, 0.7) == (0.7, 0.7)
    assert turn_to_plane(z, (0.0, 0.0, 0.5), (1.0, 0.0, 0.0), 0.0, 0.7) == (0.7, 0.7)


# ---- Two equations in two angles --------------------------------------------------------------------------


def all_pairs(one, other, depth, count=4_000):
    """The angles s at which some t satisfies both equations, by a change of sign: a slow twin of subproblem 6.

    At each s the equations say cosine and sine of t, whose squares must add up to 1.
    """
    A, B = np.reshape(one, (2, 2)), np.reshape(other, (2, 2))
    s = np.linspace(-math.pi, math.pi, count)
    values = np.linalg.solve(B, A @ [np.cos(s), np.sin(s)] - np.reshape(depth, (2, 1)))
    f = (values**2).sum(axis=0) - 1.0
    return s[:-1][np.sign(f[:-1]) != np.sign(f[1:])]


@given(seed=seeds, flat=st.sampled_from(["", "one", "other"]))
def test_turns_to_planes(seed, flat):
    """The drawn pair is among those found, all of which satisfy the equations; also where one side is flat."""
    rng = np.random.default_rng(seed)
    one, other, (s, t) = rng.normal(size=4), rng.normal(size=4), rng.uniform(-math.pi, math.pi, 2)
    for side, name in ((one, "one"), (other, "other")):
        if flat == name:
            side[2:] = rng.choice([0.0, 0.7]) * side[:2]

    def left(s, t):
        return np.array(
            [
                one[0] * math.cos(s) + one[1] * math.sin(s) - other[0] * math.cos(t) - other[1] * math.sin(t),
                one[2] * math.cos(s) + one[3] * math.sin(s) - other[2] * math.cos(t) - other[3] * math.sin(t),
            ]
        )

    depth = left(s, t)
    scratch = allocate(Loop, {"variables": 6})
    count = turns_to_planes(tuple(one), tuple(other), tuple(depth), scratch, (9.0, 9.0))
    found = scratch.pairs[:count]
    good = np.array([pair for pair in found if np.abs(left(*pair) - depth).max() < 1e-9])
    assert len(good) and np.abs(np.exp(1j * good) - np.exp(1j * np.array([s, t]))).max(axis=1).min() < 1e-5
    if not flat:
        for near in all_pairs(one, other, depth):
            assert np.abs(np.exp(1j * good[:, 0]) - np.exp(1j * near)).min() < 1e-2

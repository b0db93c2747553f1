"""Closest points of segments and boxes against hulls, and where geometry degenerates."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from memetik.geometry import random_rotation
from memetik.kernels.geometry.closest import closest_on_segments, direction_apart, overlap, segment_to_box
from tests.naive.bodies import random_direction
from tests.naive.distance import box, hull_distance

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)


def vector(*numbers):
    return tuple(map(float, numbers))


def ends(c, u):
    return np.array([np.subtract(c, u), np.add(c, u)])


def random_segment(rng):
    """A segment near the origin; now and then a point, or along an axis."""
    u = random_direction(rng) * rng.choice([0.0, 0.1, 1.0])
    return vector(*rng.normal(scale=0.5, size=3)), vector(*u)


@given(seeds)
def test_segments(seed):
    rng = np.random.default_rng(seed)
    (a, u), (b, v) = random_segment(rng), random_segment(rng)
    s, t = closest_on_segments(a, u, b, v)
    assert abs(s) <= 1.0 and abs(t) <= 1.0
    found = np.linalg.norm(np.add(a, np.multiply(s, u)) - np.add(b, np.multiply(t, v)))
    assert_allclose(found, abs(hull_distance(ends(a, u), ends(b, v))), atol=1e-7)


@given(seeds, st.sampled_from([0.0, 1e-16, 1e-12, 1e-9, 1e-7, 1e-5]))
def test_parallel_segments(seed, angle):
    """Side by side, one behind the other, and almost so: the distance is right to a tenth of a micrometre."""
    rng = np.random.default_rng(seed)
    u = random_direction(rng)
    across = np.cross(u, random_direction(rng))
    a, b = np.zeros(3), across + rng.uniform(-3.0, 3.0) * u
    v = rng.uniform(-1.0, 1.0) * (u + angle * np.cross(u, across))
    s, t = closest_on_segments(vector(*a), vector(*u), vector(*b), vector(*v))
    found = np.linalg.norm(a + s * u - b - t * v)
    assert_allclose(found, hull_distance(ends(a, u), ends(b, v)), atol=1e-7)


def test_parallel_segments_meet_in_the_middle_of_where_they_lie_side_by_side():
    s, t = closest_on_segments(vector(0, 0, 0), vector(1, 0, 0), vector(1, 1, 0), vector(-1, 0, 0))
    assert (s, t) == (0.5, 0.5)


@given(seeds)
def test_direction_apart(seed):
    """A unit vector, square to both segments wherever that is possible."""
    rng = np.random.default_rng(seed)
    (_, u), (_, v) = random_segment(rng), random_segment(rng)
    v = u if rng.random() < 0.3 else v
    n = direction_apart(u, v)
    assert_allclose(np.linalg.norm(n), 1.0)
    assert_allclose([np.dot(n, u), np.dot(n, v)], 0.0, atol=1e-12)


@given(seeds)
def test_box(seed):
    """Distance and depth, with p = b + d n."""
    rng = np.random.default_rng(seed)
    c, u = random_segment(rng)
    h = vector(*rng.uniform(0.05, 0.6, 3))
    d, p, b, n = segment_to_box(c, u, h)
    expected = hull_distance(ends(c, u), box(*np.multiply(2.0, h)))
    assert_allclose(d, expected, atol=1e-9)
    assert_allclose(np.linalg.norm(n), 1.0)
    assert_allclose(p, np.add(b, np.multiply(d, n)), atol=1e-12)
    assert_allclose(np.linalg.norm(p - ends(c, u), axis=1).sum(), 2.0 * np.linalg.norm(u), atol=1e-9)  # on the segment
    if d > 0.0:
        assert (np.abs(b) <= np.add(h, 1e-12)).all()


def test_a_segment_along_a_face_is_nearest_in_the_middle():
    d, p, b, n = segment_to_box(vector(0.2, 0, 1), vector(1, 0, 0), vector(0.5, 0.5, 0.5))
    assert_allclose(d, 0.5)
    assert_allclose(p, (0, 0, 1), atol=1e-12)
    assert_allclose(n, (0, 0, 1))
    assert_allclose(b, (0, 0, 0.5), atol=1e-12)


def test_the_way_out_over_an_edge():
    """A rod that cuts a vertical edge slantwise leaves the box sideways, square to the edge and to itself."""
    c, u = vector(0.45, 0.45, 0), vector(0.3, -0.3, 0.05)
    d, _, _, n = segment_to_box(c, u, vector(0.5, 0.5, 0.5))
    assert_allclose(d, -0.1 / math.sqrt(2.0), atol=1e-12)
    assert_allclose(n, (math.sqrt(0.5), math.sqrt(0.5), 0), atol=1e-12)


@pytest.mark.parametrize("u", [(0, 0, 0), (1, 0, 0), (1, 1, 1)])
def test_the_middle_of_a_box(u):
    d, _, _, n = segment_to_box(vector(0, 0, 0), vector(*u), vector(0.3, 0.2, 0.5))
    assert_allclose(d, hull_distance(ends((0, 0, 0), u), box(0.6, 0.4, 1.0)), atol=1e-12)
    assert_allclose(np.linalg.norm(n), 1.0)


@given(seeds)
def test_boxes_that_overlap(seed):
    """The depth is that of the hulls; where they do not overlap, it is at most how far they are apart."""
    rng = np.random.default_rng(seed)
    aligned = rng.random() < 0.3
    R = np.eye(3) if aligned else random_rotation(rng)
    sides = R * rng.uniform(0.05, 0.6, 3)  # columns
    c, h = rng.normal(scale=0.3, size=3), rng.uniform(0.05, 0.6, 3)
    depth, p, b, n = overlap(vector(*c), tuple(vector(*column) for column in sides.T), vector(*h))
    corners = np.array([c + sides @ signs for signs in box(2.0, 2.0, 2.0)])
    d = hull_distance(corners, box(*(2.0 * h)))
    if d < 0.0:
        assert_allclose(depth, -d, atol=1e-9)
        assert_allclose(p, np.subtract(b, np.multiply(depth, n)), atol=1e-9)
        if not aligned:  # else a face touches a face, somewhere
            assert np.abs(np.linalg.solve(sides, p - c)).max() <= 1.0 + 1e-9
            assert (np.abs(b) <= h + 1e-9).all()
    else:
        assert -1e-9 <= -depth <= d + 1e-9
    assert_allclose(np.linalg.norm(n), 1.0)


def test_boxes_that_coincide():
    sides = (vector(1, 0, 0), vector(0, 2, 0), vector(0, 0, 3))
    depth, _, _, n = overlap(vector(0, 0, 0), sides, vector(1, 2, 3))
    assert depth == 2.0
    assert np.abs(n).tolist() == [1.0, 0.0, 0.0]

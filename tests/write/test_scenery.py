"""Plane geometry behind the ground and the shadow."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from memetik.write.scenery import clip, hull, nice

quick = settings(deadline=None, derandomize=True, max_examples=60)
coordinate = st.floats(-100.0, 200.0)


@pytest.mark.parametrize(
    ("length", "step"),
    [(1.0, 1.0), (1.3, 1.0), (1.5, 2.0), (0.03, 0.02), (0.04, 0.05), (7.9, 10.0), (60.0, 50.0)],
)
def test_nice_steps(length, step):
    assert nice(length) == pytest.approx(step)


@quick
@given(ends=st.tuples(coordinate, coordinate, coordinate, coordinate))
def test_a_clipped_segment_is_the_part_on_the_page(ends):
    segment = np.array(ends).reshape(2, 2)
    part = clip(segment, (100.0, 50.0))
    samples = segment[0] + np.linspace(0.0, 1.0, 501)[:, None] * (segment[1] - segment[0])
    inside = samples[((samples >= 1e-6) & (samples <= np.array([100.0, 50.0]) - 1e-6)).all(axis=1)]
    if part is None:
        assert len(inside) <= 1
        return
    assert np.all(part >= -1e-9) and np.all(part <= np.array([100.0, 50.0]) + 1e-9)
    if len(inside):
        assert math.dist(*part) >= math.dist(inside[0], inside[-1]) - 1e-6


@quick
@given(seed=st.integers(0, 10_000), count=st.integers(3, 30))
def test_the_hull_is_that_of_qhull(seed, count):
    xy = np.random.default_rng(seed).normal(size=(count, 2))
    assert {tuple(p) for p in hull(xy)} == {tuple(p) for p in xy[ConvexHull(xy).vertices].tolist()}


def test_the_hull_of_few_points_and_of_a_line():
    assert hull(np.array([[1.0, 2.0], [1.0, 2.0]])) == [(1.0, 2.0)]
    assert set(hull(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]))) == {(0.0, 0.0), (2.0, 2.0)}

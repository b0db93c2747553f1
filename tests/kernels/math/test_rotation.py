"""Rotations of poses against the rotations of the public interface, and in lanes as for one pose."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from memetik.kernels.compiler.jit import jit
from memetik.kernels.compiler.lanes import LANES, put, take
from memetik.kernels.math.rotation import axes_of, rotation_vector, turn_back
from memetik.kernels.search.lane_step import rotation_vector_lanes
from tests.kernels.compiler.test_lanes import aligned
from tests.naive import pose as naive

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)
angles = st.one_of(st.floats(0.0, 3.14), st.sampled_from([0.0, 1e-12, 1e-9, 1e-6]))


@jit
def rotation_vectors(target, tip, out):
    t = take(target, 0), take(target, 1), take(target, 2), take(target, 3)
    r = take(tip, 0), take(tip, 1), take(tip, 2), take(tip, 3)
    x, y, z = rotation_vector_lanes(t, r)
    put(out, 0, x)
    put(out, 1, y)
    put(out, 2, z)


@jit
def axes(pose):
    return axes_of(pose)


def two_poses(rng, angle):
    """A pose, another one that is turned by so much, about which axis in its own frame, either quaternion of the two."""
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    w, x, y, z = np.array([np.cos(angle / 2.0), *(np.sin(angle / 2.0) * axis)])
    first = naive.random_pose(rng)
    a, b, c, d = first[:4]
    second = np.array([
        a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y, a * y - b * z + c * w + d * x, a * z + b * y - c * x + d * w
    ]) * rng.choice([-1.0, 1.0])  # fmt: skip
    return tuple(map(float, first)), (*second.tolist(), 0.0, 0.0, 0.0), angle * axis


@given(seeds, angles)
def test_the_rotation_vector_says_how_one_pose_is_turned_from_the_other(seed, angle):
    first, second, expected = two_poses(np.random.default_rng(seed), angle)
    assert_allclose(rotation_vector(first, second), expected, rtol=0.0, atol=1e-14 + 1e-12 * angle)


@given(seeds)
def test_every_lane_has_the_rotation_vector_of_its_poses(seed):
    rng = np.random.default_rng(seed)
    target, tip, out = aligned(4, LANES), aligned(4, LANES), aligned(3, LANES)
    cases = [two_poses(rng, angle) for angle in rng.choice([0.0, 1e-9, 0.3, 3.0], LANES)]
    for lane, (first, second, _) in enumerate(cases):
        target[:, lane], tip[:, lane] = first[:4], second[:4]
    rotation_vectors(target, tip, out)
    for lane, (first, second, _) in enumerate(cases):
        assert_allclose(out[:, lane], rotation_vector(first, second), rtol=1e-13, atol=1e-15)


@given(seeds)
def test_axes_and_vectors_turned_back(seed):
    rng = np.random.default_rng(seed)
    pose, v = naive.random_pose(rng), rng.normal(size=3)
    R = naive.matrix(pose)[:3, :3]
    assert_allclose(np.transpose(axes(tuple(pose))), R, rtol=0.0, atol=1e-14)
    assert_allclose(turn_back(tuple(pose), *v), R.T @ v, rtol=0.0, atol=1e-14)

"""Pose kernels against their twins on 4x4 matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from memetik.kernels.body.motion import local
from memetik.kernels.body.records import FRAME, NODE, SCREW, SLIDE, TURN
from memetik.kernels.math import pose as kernel
from tests.naive import pose as naive

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)
FIELDS = ["w", "x", "y", "z", "px", "py", "pz"]
CLOSE = {"rtol": 0.0, "atol": 1e-14}


def as_matrix(pose):
    out = np.full((2, 4, 4), np.nan)
    kernel.write_matrix(pose, out, 1)
    assert np.isnan(out[0]).all()
    return out[1]


def record(dtype, pose, **fields):
    row = np.zeros(1, dtype=dtype)
    for name, value in zip(FIELDS, pose, strict=True):
        row[name] = value
    for name, value in fields.items():
        row[name] = value
    return row[0]


@given(seeds)
def test_write_matrix(seed):
    pose = naive.random_pose(np.random.default_rng(seed))
    assert_allclose(as_matrix(pose), naive.matrix(pose), **CLOSE)


@given(seeds)
def test_compose(seed):
    rng = np.random.default_rng(seed)
    a, b = naive.random_pose(rng), naive.random_pose(rng)
    assert_allclose(as_matrix(kernel.compose(a, b)), naive.compose(a, b), **CLOSE)


@given(seeds)
def test_inverse(seed):
    a = naive.random_pose(np.random.default_rng(seed))
    assert_allclose(as_matrix(kernel.inverse(a)), naive.inverse(a), **CLOSE)
    assert_allclose(kernel.compose(a, kernel.inverse(a)), (1, 0, 0, 0, 0, 0, 0), **CLOSE)


@given(seeds)
def test_poses_form_a_group(seed):
    rng = np.random.default_rng(seed)
    a, b, c = (naive.random_pose(rng) for _ in range(3))
    assert_allclose(
        kernel.compose(kernel.compose(a, b), c), kernel.compose(a, kernel.compose(b, c)), rtol=0.0, atol=1e-14
    )
    nothing = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    assert_allclose(kernel.compose(a, nothing), a, **CLOSE)
    assert_allclose(kernel.compose(nothing, a), a, **CLOSE)


@given(seeds)
def test_turn_and_axis(seed):
    rng = np.random.default_rng(seed)
    a, v = naive.random_pose(rng), rng.normal(size=3)
    assert_allclose(kernel.turn(a, *map(float, v)), naive.rotated(a, v), **CLOSE)
    assert_allclose(kernel.axis(a), naive.axis(a), **CLOSE)


@pytest.mark.parametrize("motion", [TURN, SLIDE, SCREW])
@given(seed=seeds, value=st.one_of(st.just(0.0), st.floats(-7.0, 7.0)))
def test_local(motion, seed, value):
    rng = np.random.default_rng(seed)
    # The pitch must be without effect unless the motion is a screw.
    node = record(NODE, naive.random_pose(rng), motion=motion, pitch=rng.normal())
    assert_allclose(as_matrix(local(node, value)), naive.local(node, value), rtol=0.0, atol=2e-14)


@pytest.mark.parametrize("dtype", [NODE, FRAME])
def test_constant_reads_the_pose_of_a_record(dtype, rng):
    pose = naive.random_pose(rng)
    assert kernel.constant(record(dtype, pose)) == pose


def test_store_and_load_touch_their_seven_columns_only(rng):
    rows = np.full((3, 15), np.nan)
    pose = naive.random_pose(rng)
    kernel.store(pose, rows, 1, 8)
    assert kernel.load(rows, 1, 8) == pose
    assert_array_equal(np.argwhere(~np.isnan(rows)), [(1, column) for column in range(8, 15)])


def test_a_long_product_stays_a_rotation(rng):
    """Quaternions are never normalised in the kernels: a thousand products must not need it."""
    pose = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for _ in range(1000):
        pose = kernel.compose(pose, naive.random_pose(rng))
    assert abs(np.linalg.norm(pose[:4]) - 1.0) < 1e-13

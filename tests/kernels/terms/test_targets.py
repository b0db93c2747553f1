"""Targets on their way into the data array: the same numbers as the geometry room gives, and nothing that is none."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from memetik.geometry import axis_angle, random_rotation, rotation_matrix, to_quaternion, transform
from memetik.kernels.terms.targets import (
    BAD_LAST_ROW,
    NOT_A_ROTATION,
    NOT_FINITE,
    OK,
    write_pose_target,
    write_pose_targets,
)

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)


def written(matrix, at=2):
    """The complaint and the seven numbers; what stands around them must stay."""
    data = np.full(at + 9, 7.5)
    complaint = write_pose_target(matrix, data, at)
    assert_array_equal(np.delete(data, range(at, at + 7)), 7.5)
    return complaint, data[at : at + 7]


def same_rotation(quaternion, R):
    return rotation_matrix(quaternion) == pytest.approx(R, abs=1e-12)


@given(seeds)
def test_any_pose(seed):
    rng = np.random.default_rng(seed)
    T = transform(rng.normal(size=3), random_rotation(rng))
    complaint, numbers = written(T)
    assert complaint == OK
    assert_allclose(abs(numbers[:4] @ to_quaternion(T[:3, :3])), 1.0, atol=1e-12)
    assert_allclose(np.linalg.norm(numbers[:4]), 1.0, atol=1e-15)
    assert_array_equal(numbers[4:], T[:3, 3])


@pytest.mark.parametrize("angle", [0.0, 1e-9, 2.0, 3.0, math.pi - 1e-9, math.pi])
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, -1, 1), (1, 1, -1)])
def test_every_largest_component(axis, angle):
    """Half turns leave no real part: each of the other components must be able to lead."""
    R = axis_angle(axis, angle)
    complaint, numbers = written(transform((0, 0, 0), R))
    assert complaint == OK
    assert same_rotation(numbers[:4], R)


def test_a_little_less_than_orthonormal_is_normalised(rng):
    T = transform((0.1, 0.2, 0.3), random_rotation(rng))
    T[:3, :3] += 1e-7 * rng.normal(size=(3, 3))
    complaint, numbers = written(T)
    assert complaint == OK
    assert np.linalg.norm(numbers[:4]) == pytest.approx(1.0, abs=1e-15)


def spoil(**changes):
    T = transform((0.1, 0.2, 0.3), axis_angle((1, 2, 3), 0.7))
    for place, value in changes.items():
        T[int(place[1]), int(place[2])] = value
    return T


@pytest.mark.parametrize(("matrix", "complaint"), [
    (spoil(p03=math.nan), NOT_FINITE),
    (spoil(p11=math.inf), NOT_FINITE),
    (spoil(p32=-math.inf), NOT_FINITE),
    (spoil(p30=1e-3), BAD_LAST_ROW),
    (spoil(p33=1.1), BAD_LAST_ROW),
    (spoil(p33=0.0), BAD_LAST_ROW),
    (spoil(p00=0.9), NOT_A_ROTATION),
    (spoil(p01=5e154), NOT_A_ROTATION),  # its square overflows
    (np.diag([1.0, 1.0, -1.0, 1.0]), NOT_A_ROTATION),  # a mirror
    (np.diag([2.0, 2.0, 2.0, 1.0]), NOT_A_ROTATION),
    (np.diag([0.0, 0.0, 0.0, 1.0]), NOT_A_ROTATION),
])  # fmt: skip
def test_complaints(matrix, complaint):
    told, numbers = written(matrix)
    assert told == complaint
    assert_array_equal(numbers, 7.5)


def test_many_poses(rng):
    matrices = np.array([transform(rng.normal(size=3), random_rotation(rng)) for _ in range(5)])
    rows = np.full((5, 7), np.nan)
    assert write_pose_targets(matrices, rows) == (-1, OK)
    for matrix, row in zip(matrices, rows, strict=True):
        assert_array_equal(row, written(matrix)[1])


def test_the_first_that_is_none_is_named(rng):
    matrices = np.tile(np.eye(4), (5, 1, 1))
    matrices[2, 3, 3], matrices[4, 0, 0] = 2.0, math.nan
    assert write_pose_targets(matrices, np.empty((5, 7))) == (2, BAD_LAST_ROW)

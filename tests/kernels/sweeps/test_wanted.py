"""Of all places that satisfy a term, the nearest."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from memetik.geometry import random_rotation
from memetik.kernels.sweeps.wanted import wanted_direction, wanted_point, wanted_turn
from memetik.kernels.terms.aim import AIM
from memetik.objectives import Cone, Direction, LookAt, Orientation, Position
from memetik.problem import Problem
from tests.kernels.flat import Flat
from tests.naive.bodies import serial_arm
from tests.naive.errors import orientation_gap, position_gap
from tests.naive.pose import matrix

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)
ARM = serial_arm(3)


def placed(objective, rng):
    """The compiled term at a random posture, with the pose of its frame as numbers and as a matrix."""
    flat = Flat(Problem(ARM, objective))
    flat.place(flat.sample(rng))
    pose = tuple(flat.work.world[0])
    return flat.terms[0], flat.data, pose, flat.work.world, matrix(pose)


@given(seed=seeds, mask=st.sampled_from([(1, 1, 1), (1, 0, 1), (0, 0, 1)]))
def test_a_point_moves_along_the_axes_that_count_alone(seed, mask):
    rng = np.random.default_rng(seed)
    axes, target = random_rotation(rng), rng.normal(size=3)
    term, data, pose, world, frame = placed(Position("link3", target, mask=mask, mask_axes=axes), rng)
    there = np.eye(4)
    there[:3, :3], there[:3, 3] = axes, target
    arrived = frame.copy()
    arrived[:3, 3] = wanted_point(term, data, pose, world)
    assert_allclose(position_gap(arrived[None], there[None], mask), 0.0, atol=1e-12)
    moved = axes.T @ (arrived[:3, 3] - frame[:3, 3])
    assert_allclose(moved[np.array(mask) == 0], 0.0, atol=1e-12)


@given(seed=seeds, mask=st.sampled_from([(1, 1, 1), (1, 1, 0), (0, 0, 1)]))
def test_a_turn_leaves_nothing_about_the_axes_that_count(seed, mask):
    rng = np.random.default_rng(seed)
    target = np.eye(4)
    target[:3, :3] = random_rotation(rng)
    term, data, pose, world, frame = placed(Orientation("link3", target[:3, :3], mask=mask), rng)
    arrived = matrix((*wanted_turn(term, data, pose, world), 0.0, 0.0, 0.0))
    assert_allclose(orientation_gap(arrived[None], target[None], mask), 0.0, atol=1e-7)
    kept = orientation_gap(frame[None], target[None]) * (1.0 - np.array(mask))
    assert_allclose(orientation_gap(arrived[None], target[None]), kept, atol=1e-6)


def test_wide_tolerances_do_not_bend_the_way():
    """An axis pulls less where its tolerance is wide; a method of points goes for the target all the same."""
    rng = np.random.default_rng(0)
    target = rng.normal(size=3)
    term, data, pose, world, _ = placed(Position("link3", target, tolerance=(1e-4, 1e-2, math.inf)), rng)
    assert_allclose(wanted_point(term, data, pose, world), (*target[:2], pose[6]), atol=1e-12)


@given(seed=seeds, half_angle=st.floats(0.01, 3.0))
def test_a_cone_asks_for_its_nearest_edge(seed, half_angle):
    rng = np.random.default_rng(seed)
    target = random_rotation(rng)[0]
    term, data, _, world, frame = placed(Cone("link3", target, half_angle), rng)
    assert term.kind == AIM.number
    axis, wanted, length = wanted_direction(term, data, world)
    axis, wanted = np.array(axis), np.array(wanted)
    assert length == math.inf
    assert_allclose(axis, frame[:3, 2], atol=1e-12)
    assert_allclose(wanted @ wanted, 1.0)
    off = math.acos(np.clip(axis @ target, -1.0, 1.0))
    assert math.acos(np.clip(wanted @ target, -1.0, 1.0)) == pytest.approx(min(off, half_angle), abs=1e-6)
    assert math.acos(np.clip(wanted @ axis, -1.0, 1.0)) == pytest.approx(max(0.0, off - half_angle), abs=1e-6)


def test_directions_and_gazes():
    rng = np.random.default_rng(1)
    term, data, _, world, _ = placed(Direction("link3", (0.0, 0.0, 2.0)), rng)
    assert_allclose(wanted_direction(term, data, world)[1], (0.0, 0.0, 1.0))
    assert wanted_direction(term, data, world)[2] == math.inf
    point = np.array([1.0, 2.0, 3.0])
    term, data, _, world, frame = placed(LookAt("link3", point), rng)
    axis, wanted, length = wanted_direction(term, data, world)
    assert_allclose(axis, frame[:3, 0], atol=1e-12)
    assert_allclose(frame[:3, 3] + length * np.array(wanted), point, atol=1e-12)

"""Steps of balls against rotations of SciPy, through the gimbal lock and everywhere else."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from memetik.kernels.body.balls import (
    angle_between,
    nearest_turns,
    settle_balls,
    step_balls,
    three_turns,
    write_ball_axes,
    write_ball_poses,
)
from memetik.kernels.body.records import BALL
from tests.kernels.flat import Flat
from tests.naive import balls as naive

pytestmark = pytest.mark.quick

angles = st.floats(-7.0, 7.0) | st.sampled_from([0.0, math.pi / 2, -math.pi / 2, math.pi, -math.pi, 3 * math.pi / 2])
triples = st.tuples(angles, angles, angles)
orders = st.sampled_from(naive.ORDERS)


def ball(order, variable=0):
    """The record of one ball."""
    return np.array([(0, variable, 1.0 if order in naive.RIGHT_HANDED else -1.0)], dtype=BALL)


def apart(order, one, other):
    return naive.angle(naive.rotation(order, one), naive.rotation(order, other))


@given(triples)
def test_three_turns(values):
    w, x, y, z = three_turns(*values)
    assert naive.angle(naive.Rotation.from_quat([x, y, z, w]), naive.rotation("xyz", values)) < 1e-14


@given(triples, triples)
def test_every_rotation_has_turns_near_any_others(values, near):
    found = nearest_turns(three_turns(*values), *near)
    assert apart("xyz", found, values) < 1e-14
    assert np.abs(np.subtract(found, near)).max() <= math.pi + 1e-9
    flipped = values[0] + math.pi, math.pi - values[1], values[2] + math.pi
    ways = [np.remainder(np.subtract(way, near) + math.pi, math.tau) - math.pi for way in (values, flipped)]
    least = min(float(way @ way) for way in ways)
    assert np.subtract(found, near) @ np.subtract(found, near) <= least + 1e-8 or abs(math.cos(values[1])) < 1e-6


@given(orders, triples, st.tuples(*[st.floats(-2.0, 2.0)] * 3))
@example("zxy", (0.3, math.pi / 2, -0.4), (0.0, 0.0, 0.5))
@example("xzy", (0.3, -math.pi / 2, -0.4), (0.1, 0.0, -0.5))
def test_a_step_turns(order, values, step):
    origin, there = np.array([9.0, *values]), np.zeros(4)
    moved = step_balls(ball(order, 1), origin, 0.5, np.array([0.0, *step]), there)
    assert naive.angle(naive.rotation(order, there[1:]), naive.turned(order, values, 0.5 * np.array(step))) < 1e-13
    assert there[0] == 0.0
    assert moved == bool((there[1:] != origin[1:]).any())
    if moved:
        step_balls(ball(order, 1), origin, 0.5, np.array([0.0, *step]), origin)  # in place, too
        assert_array_equal(origin[1:], there[1:])


@given(orders, triples)
def test_no_step_changes_nothing(order, values):
    x = np.array(values)
    assert not step_balls(ball(order), x, 1.0, np.zeros(3), x)
    assert_array_equal(x, values)


@given(orders, triples, triples)
def test_settled_values_are_near_and_the_same_rotation(order, values, start):
    x = np.array(values)
    settle_balls(ball(order), x, np.array(start))
    assert apart(order, x, values) < 1e-13
    before = np.remainder(np.subtract(values, start) + math.pi, math.tau) - math.pi
    assert (x - start) @ (x - start) <= before @ before + 1e-8


def test_settling_leaves_what_is_not_finite():
    x = np.array([0.0, math.nan, 1.0])
    settle_balls(ball("zxy"), x, np.zeros(3))
    assert_array_equal(x, [0.0, math.nan, 1.0])


@given(orders, triples, triples)
def test_the_angle_between_two_postures(order, one, other):
    found = angle_between(ball(order)[0], np.array(one), np.array(other))
    assert found == pytest.approx(apart(order, one, other), abs=1e-7)  # SciPy's near a half turn


@pytest.mark.parametrize("order", naive.ORDERS)
@pytest.mark.parametrize("middle", [0.0, 0.4, math.pi / 2, -math.pi / 2, 2.0])
def test_axes_of_steps_are_at_right_angles_and_turn_the_body(order, middle, rng):
    origin = mk.transform((1, 2, 3), mk.euler(0.3, -0.5, 1.2))
    body = mk.Body(
        "ball",
        [mk.build.Link("a"), mk.build.Link("b")],
        [mk.build.Joint("j", "spherical", "a", "b", origin=origin, order=order)],
    )
    flat = Flat(mk.Problem(body, mk.Pose("b", np.eye(4))))
    c = flat.compiled
    x = np.array([rng.uniform(-3, 3), middle, rng.uniform(-3, 3)])
    flat.linearise(x)
    axes = flat.work.axes.copy()
    assert_allclose(axes @ axes.T, np.eye(3), atol=1e-14)
    for k, axis in enumerate(axes):
        there = x.copy()
        step_balls(c.balls, x, 1.0, 0.7 * np.eye(3)[k], there)
        turned = mk.axis_angle(axis, 0.7) @ body.forward(x)["b"][:3, :3]
        assert_allclose(body.forward(there)["b"][:3, :3], turned, atol=1e-13)
    flat.place(x)
    write_ball_poses(c.balls, c.nodes, flat.work.poses)
    assert_allclose(mk.geometry.rotation_matrix(flat.work.poses[2, :4])[:, 2], axes[2], atol=1e-14)
    if middle == 0.0:  # there the third axis is that of the last turn, as it is without balls
        plain = axes.copy()
        write_ball_axes(c.balls[:0], plain)
        assert_array_equal(plain, axes)

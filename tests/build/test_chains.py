"""Chains of any length: their joints, names, limits and tips in closed form."""

import math

import numpy as np
import pytest

from memetik.build.chains import planar_chain, serial_chain, snake
from memetik.errors import BodyError
from memetik.geometry import axis_angle


def test_a_planar_chain_has_its_tip_where_the_sum_of_angles_says():
    lengths = [0.5, 0.3, 0.2]
    body = planar_chain(lengths)
    assert body.joint_names == ("joint_1", "joint_2", "joint_3")
    assert tuple(body.links) == ("base", "link_1", "link_2", "link_3", "tip")
    for q in np.random.default_rng(1).uniform(-math.pi, math.pi, (10, 3)):
        angles = np.cumsum(q)
        x, y = lengths @ np.cos(angles), lengths @ np.sin(angles)
        assert np.allclose(body.forward(q)["tip"][:3, 3], [x, y, 0], rtol=0, atol=1e-15)


@pytest.mark.parametrize("count", [5, 30, 1000])
def test_a_snake_of_any_size_is_one_metre_and_turns_about_y_and_z(count):
    body = snake(count)
    assert body.dof == count
    assert np.allclose(body.forward(np.zeros(count))["tip"][:3, 3], [1, 0, 0], rtol=0, atol=1e-12)
    q = np.random.default_rng(count).uniform(-0.2, 0.2, count)
    position, turned = np.zeros(3), np.eye(3)
    for i, angle in enumerate(q):
        turned = turned @ axis_angle([(0, 1, 0), (0, 0, 1)][i % 2], angle)
        position = position + turned[:, 0] / count
    assert np.allclose(body.forward(q)["tip"][:3, 3], position, rtol=0, atol=1e-12)


def test_a_snake_stays_clear_of_the_link_after_the_next():
    body = snake(20, length=2.0)
    radius, size = body.links["link_1"].shapes[0].size
    assert size == pytest.approx(0.1) and 2 * radius < size


def test_axes_repeat_over_the_joints():
    body = serial_chain(5, "xyz", length=2.0)
    axes = [tuple(joint.axis) for joint in body.joints.values() if joint.dof]
    assert axes == [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0)]
    assert body.forward(np.zeros(5))["tip"][0, 3] == pytest.approx(2.0)


def test_limits_are_one_pair_one_for_each_or_none():
    assert planar_chain(2, limits=(-1, 2)).lower.tolist() == [-1, -1]
    each = planar_chain(2, limits=[(-1, 1), (0, 3)])
    assert each.lower.tolist() == [-1, 0] and each.upper.tolist() == [1, 3]
    assert np.isinf(planar_chain(2, limits=None).upper).all()
    assert snake(3).upper.tolist() == [math.pi / 2] * 3


def test_links_carry_capsules_of_their_length_and_the_chain_is_named():
    body = serial_chain([0.4, 0.2], radius=0.03, name="arm")
    assert [body.links[f"link_{i}"].shapes[0].size for i in (1, 2)] == [(0.03, 0.4), (0.03, 0.2)]
    assert body.mass > 0 and body.name == "arm"
    assert body.chain("chain").joint_names == body.joint_names


def test_links_may_have_no_length():
    body = serial_chain([0.0, 0.5], "zy")
    assert body.links["link_1"].shapes[0].kind == "sphere"
    assert body.forward([0.3, 0.0])["tip"][0, 3] == pytest.approx(0.5 * math.cos(0.3))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: snake(0), "at least 1"),
        (lambda: snake(-3), "at least 1"),
        (lambda: snake(2.5), "whole number"),
        (lambda: snake(3, length=-1.0), "link 1 of the chain is -0.333333 m long"),
        (lambda: planar_chain(0), "at least 1"),
        (lambda: planar_chain([]), "at least one number"),
        (lambda: planar_chain([0.1, -0.2]), "link 2 of the chain is -0.2 m long"),
        (lambda: planar_chain([0.1, math.nan]), "link 2 of the chain is nan m long"),
        (lambda: planar_chain(["long"]), "numbers"),
        (lambda: planar_chain(3, limits=[(0, 1), (0, 1)]), "each of 3 joints"),
        (lambda: planar_chain(3, limits=(1, -1)), "above upper limit"),
        (lambda: serial_chain(3, "zw"), "axes is 'zw'"),
        (lambda: serial_chain(3, ""), "axes is ''"),
        (lambda: serial_chain(3, radius=-1.0), "negative"),
    ],
)
def test_chains_that_cannot_be_are_refused(call, says):
    with pytest.raises(BodyError, match=says):
        call()

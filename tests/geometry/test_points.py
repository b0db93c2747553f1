"""FABRIK on bare points against a plain twin, and angles of an arm against forward kinematics."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import memetik as mk
from tests.naive import fabrik

UPPER, LOWER = 0.105, 0.1137


def lengths(points):
    return np.linalg.norm(np.diff(points, axis=0), axis=1)


def arm(sign):
    low, high = sorted((sign * 0.1, sign * 3.0))
    return (
        mk.build.BodyBuilder("arm")
        .add("base", "a", "revolute", "shoulder", axis=(1, 0, 0), lower=-3.1, upper=3.1)
        .add("shoulder", "b", "revolute", "upper_arm", axis=(0, 0, 1), lower=-1.5, upper=1.5)
        .add("upper_arm", "c", "revolute", "elbow", origin=(0, UPPER, 0), axis=(0, 1, 0), lower=-3.1, upper=3.1)
        .add("elbow", "d", "revolute", "fore_arm", axis=(0, 0, 1), lower=low, upper=high)
        .add("fore_arm", "to_hand", "fixed", "hand", origin=(0, LOWER, 0))
        .build()
    )


@pytest.mark.parametrize("count", [2, 3, 6, 20])
def test_iterations_are_those_of_the_textbook(count, rng):
    points = rng.normal(size=(count, 3))
    target = points[0] + 0.3 * (points[-1] - points[0]) + 0.1 * rng.normal(size=3)
    expected = points
    for iterations in range(1, 4):
        expected = fabrik.sweep(expected, [*range(-1, count - 1)], {count - 1: target})
        found = mk.geometry.fabrik_points(points, target, tolerance=0.0, iterations=iterations)
        if count > 2:  # two points are in place after one
            assert_allclose(found, expected, atol=1e-12)
    assert_allclose(lengths(found), lengths(points), rtol=1e-12)
    assert np.all(found[0] == points[0])


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_targets_within_reach_are_reached(size, rng):
    for _ in range(20):
        points = size * rng.normal(size=(5, 3))
        line = rng.normal(size=3)
        target = points[0] + 0.6 * lengths(points).sum() * line / np.linalg.norm(line)
        least = max(0.0, 2.0 * lengths(points).max() - lengths(points).sum())
        if np.linalg.norm(target - points[0]) > least:
            found = mk.geometry.fabrik_points(points, target, tolerance=1e-9 * size)
            assert np.linalg.norm(found[-1] - target) <= 1.1e-9 * size


def test_a_target_out_of_reach_is_pointed_at(rng):
    points, target = rng.normal(size=(6, 3)), np.array([30.0, -20.0, 10.0])
    assert_allclose(mk.geometry.fabrik_points(points, target), fabrik.lay_out(points, target), atol=1e-12)


@pytest.mark.parametrize("place", [0.5, 1.9, -1.0])
@pytest.mark.parametrize("joints", [3, 4, 11])
def test_the_deadlock_of_a_straight_chain_is_left(joints, place):
    points = np.linspace((0, 0, 0), (2, 0, 0), joints)
    found = mk.geometry.fabrik_points(points, (place, 0, 0))
    assert np.linalg.norm(found[-1] - (place, 0, 0)) <= 1e-6
    assert_allclose(lengths(found), lengths(points), rtol=1e-12)


def test_points_in_one_place_are_no_harm():
    found = mk.geometry.fabrik_points([(0, 0, 0), (0, 0, 0), (1, 0, 0), (1, 0, 0)], (0, 0, 1))
    assert_allclose(found[-1], (0, 0, 1), atol=1e-6)
    assert np.all(mk.geometry.fabrik_points(np.zeros((3, 3)), (0, 0, 0)) == 0.0)
    assert np.all(mk.geometry.fabrik_points(np.zeros((3, 3)), (0, 0, 1)) == 0.0)


@pytest.mark.parametrize("sign", [-1, 1])
def test_angles_give_back_the_posture(sign, rng):
    body = arm(sign)
    Q = np.array([body.sample(rng) for _ in range(200)])
    elbows, hands = body.forward(Q, "elbow")[:, :3, 3], body.forward(Q, "hand")[:, :3, 3]
    assert_allclose(mk.geometry.elbow_angles(elbows, hands, bend=sign), Q, atol=1e-9)
    assert_allclose(mk.geometry.elbow_angles(elbows[0], hands[0], bend=sign), Q[0], atol=1e-9)


@pytest.mark.parametrize(
    ("elbow", "hand"),
    [
        ((0, UPPER, 0), (0, UPPER + LOWER, 0)),  # straight: c could be anything
        ((UPPER, 0, 0), (UPPER, LOWER, 0)),  # the upper arm on the axis of the shoulder: a could
        ((-UPPER, 0, 0), (-UPPER - LOWER, 0, 0)),
        ((0, UPPER, 0), (0, UPPER - LOWER, 0)),  # folded
    ],
)
def test_singular_postures_have_angles(elbow, hand):
    q = mk.geometry.elbow_angles(elbow, hand)
    body = arm(-1)
    assert_allclose(body.forward(q, "elbow")[:3, 3], elbow, atol=1e-12)
    assert_allclose(body.forward(q, "hand")[:3, 3], hand, atol=1e-12)


def test_what_is_wrong_is_said():
    for points in ([(0, 0, 0)], np.zeros((2, 2)), np.zeros(3)):
        with pytest.raises(mk.errors.GeometryError, match="at least two points"):
            mk.geometry.fabrik_points(points, (0, 0, 0))
    with pytest.raises(mk.errors.GeometryError, match="tolerance is -1"):
        mk.geometry.fabrik_points(np.eye(3), (0, 0, 0), tolerance=-1.0)
    with pytest.raises(mk.errors.GeometryError, match="iterations is 0"):
        mk.geometry.fabrik_points(np.eye(3), (0, 0, 0), iterations=0)
    with pytest.raises(mk.errors.GeometryError, match="elbow is at the shoulder"):
        mk.geometry.elbow_angles((0, 0, 0), (0, 1, 0))
    with pytest.raises(mk.errors.GeometryError, match="hand is at the elbow"):
        mk.geometry.elbow_angles((0, 1, 0), (0, 1, 0))
    with pytest.raises(mk.errors.GeometryError, match="as many of each"):
        mk.geometry.elbow_angles(np.ones((2, 3)), np.ones((3, 3)))
    with pytest.raises(mk.errors.GeometryError, match="bend is 2"):
        mk.geometry.elbow_angles((0, 1, 0), (0, 1, 1), bend=2)

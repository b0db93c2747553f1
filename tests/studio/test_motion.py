"""Realistic motion: limits hold in every frame, and the goal is reached without overshoot."""

import numpy as np
import pytest

import memetik as mk
from memetik.scenes import Motion
from memetik.studio.motion import FRAME, Follower


def run(body, start, goal, motion, frames=2_000):
    follower = Follower(body, start)
    path = [follower.q]
    for _ in range(frames):
        moving = follower.step(goal, motion, FRAME)
        path.append(follower.q)
        if not moving:
            return np.array(path)
    raise AssertionError("it never arrived")


@pytest.fixture(scope="module")
def body():
    return mk.planar_chain(3)


def test_instantaneous_motion_is_there_at_once(body):
    goal = np.array([1.0, -2.0, 0.5])
    np.testing.assert_array_equal(run(body, body.home, goal, Motion())[1], goal)


def test_velocity_and_acceleration_hold_and_nothing_overshoots(body):
    motion = Motion(realistic=True, velocity=1.5, acceleration=6.0)
    goal = np.array([2.0, -1.0, 0.003])
    path = run(body, body.home, goal, motion)
    speed = np.diff(path, axis=0)[:-1] / FRAME  # the last step only closes a gap of 1e-5
    assert np.abs(speed).max() <= 1.5 + 1e-9 and np.abs(speed).max() > 1.4
    assert np.abs(np.diff(speed, axis=0)).max() / FRAME <= 6.0 + 1e-6
    assert (np.abs(path) <= np.abs(goal) + 1e-9).all()
    np.testing.assert_array_equal(path[-1], goal)
    fastest = 2.0 / 1.5 + 1.5 / 6.0  # s, of a motion that speeds up, cruises and slows down
    assert fastest <= FRAME * len(path) < 1.3 * fastest


def test_a_goal_that_turns_round_is_followed(body):
    motion = Motion(realistic=True, velocity=1.5, acceleration=6.0)
    follower = Follower(body, body.home)
    path = [follower.q]
    for k in range(300):
        follower.step(np.full(3, 1.0 if k < 20 else -1.0), motion, FRAME)
        path.append(follower.q)
    speed = np.diff(np.array(path), axis=0) / FRAME
    assert np.abs(np.diff(speed, axis=0)).max() / FRAME <= 6.0 + 1e-6
    np.testing.assert_allclose(follower.q, -1.0)


def test_smoothing_leaves_its_share_of_the_way(body):
    path = run(body, body.home, np.ones(3), Motion(smoothing=0.5))
    np.testing.assert_allclose(path[1], 0.5)
    np.testing.assert_allclose(path[2], 0.75)


def test_slower_joints_of_the_model_stay_slower():
    arm = mk.load("panda")
    motion = Motion(realistic=True, velocity=5.0, acceleration=1e3)
    goal = arm.home.copy()
    goal[0] += 1.0
    speed = np.abs(np.diff(run(arm, arm.home, goal, motion), axis=0)[:-1]).max(axis=0) / FRAME
    assert speed[0] <= arm.joints["panda_joint1"].velocity[0] + 1e-9 < 5.0

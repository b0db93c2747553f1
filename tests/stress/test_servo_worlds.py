"""Obstacles of the stress test of servos: they run into who stands still, and spare who cannot get away."""

import numpy as np
import pytest

import memetik as mk

pytest.importorskip("pinocchio", reason="pip install pin")
pytest.importorskip("daqp", reason="pip install mink")

from memetik_lab.contact_judge import ContactJudge, Near
from tests.stress.servo_worlds import KEEP_OFF, RATE, SELF_CLEARANCE, Mover, Movers, draw_trial, g1, panda, ur5

SPEED = 0.1


def chase(robot, q, link, start, ticks):
    """A ball that goes after a link of a robot that stands still; its positions, contacts and least distance."""
    world = mk.World({"mover 0": mk.Shape("sphere", (0.05,), mk.translation(*start))})
    judge = ContactJudge(robot.body, world, [])
    judge.check(q)
    mover = Mover("mover 0", (np.array(start), np.array(start)), link, SPEED, np.array(start), np.eye(3))
    movers = Movers(robot, judge, [mover], np.full(robot.body.dof, 2.0))
    positions, contacts = [mover.position], []
    for _ in range(ticks):
        for name, pose in movers.step(q).items():
            judge.place(name, pose)
        contacts += judge.check(q)
        positions.append(mover.position)
    return np.array(positions), contacts, judge


def test_who_stands_still_is_run_into():
    robot = panda()
    q = robot.body.home
    hand = robot.body.forward(q)["panda_hand"][:3, 3]
    positions, contacts, _ = chase(robot, q, "panda_hand", hand + np.array([0.3, 0.0, 0.0]), 2_900)
    assert contacts and not any(each.by_robot for each in contacts)
    speeds = np.linalg.norm(np.diff(positions, axis=0), axis=1) * RATE
    assert SPEED * 0.9 < speeds.max() <= SPEED * (1.0 + 1e-9)


def test_a_link_that_cannot_get_away_is_spared():
    robot = panda()
    q = robot.body.home
    base = robot.body.forward(q)["panda_link1"][:3, 3]
    positions, contacts, judge = chase(robot, q, "panda_link1", base + np.array([0.0, -0.35, 0.0]), 2_900)
    assert not contacts and np.linalg.norm(positions - positions[0], axis=1).max() > 0.1
    assert judge.distance(q) > KEEP_OFF - 2.0 * SPEED / RATE


@pytest.mark.parametrize(("behind", "goes_on"), [(0.012, False), (0.028, True)])
def test_a_limb_is_not_trapped(behind, goes_on):
    """Between an obstacle that comes and one that stands behind: as long as that one is far enough, there is a way out."""
    robot = panda()
    gradient = 0.5 * np.eye(robot.body.dof)[0]
    normal = np.array([1.0, 0.0, 0.0])
    mover = Mover("mover 0", (np.zeros(3), np.zeros(3)), None, SPEED, np.zeros(3), np.eye(3))
    judge = ContactJudge(robot.body, mk.World({"mover 0": mk.Shape("sphere", (0.05,), mk.translation(3.0, 0, 0))}), [])
    movers = Movers(robot, judge, [mover], np.full(robot.body.dof, 2.0))
    near = [
        Near("panda_hand", "mover 0", 0.020, normal, gradient),
        Near("panda_hand", "wall", behind, -normal, -gradient),
    ]
    assert movers._can_get_away(mover, -0.05 * normal, robot.body.home, near) is goes_on
    assert movers._can_get_away(mover, 0.1 * normal, robot.body.home, near)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", [panda, ur5, g1])
def test_worlds_begin_free(make, seed):
    robot = make()
    trial = draw_trial(robot, np.random.default_rng(seed), SPEED)
    pairs = mk.SelfDistance(robot.body, ignore="always").pairs
    judge = ContactJudge(robot.body, trial.world, pairs)
    assert judge.distance(trial.start, world=True) > 0.039 and judge.distance(trial.start, world=False) > SELF_CLEARANCE
    assert all(next(stream).shape == (4, 4) for stream in trial.streams)

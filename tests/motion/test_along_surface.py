"""A track whose way is blocked runs along what blocks it, without going to and fro."""

import numpy as np
import pytest

from memetik import Body, Distance, Position, Problem, Shape, load, solve, track, translation
from memetik.build import Joint, Link


def arm():
    """Four links in a plane with a rod at the end, which is in the way of the tip."""
    rod = Shape("box", (0.06, 0.06, 0.2), translation(0.0, 0.0, 0.1))
    links = [Link("root"), Link("a"), Link("b"), Link("c"), Link("d", shapes=(rod,))]
    names = [link.name for link in links]
    joints = [
        Joint(f"j{k}", "revolute", names[k], names[k + 1], translation(0.0, 0.0, 0.3 if k else 0.0), axis=(0, 1, 0),
              lower=-2.5, upper=2.5)
        for k in range(4)
    ]  # fmt: skip
    return Body("arm", links, joints)


def turns_back(q):
    """In how many steps the fastest joint goes back from where it came."""
    v = np.diff(q, axis=0)
    fastest = np.abs(v[1:]).argmax(axis=1)
    rows = np.arange(len(fastest))
    return int((v[1:][rows, fastest] * v[:-1][rows, fastest] < 0.0).sum())


@pytest.mark.quick
def test_the_joints_do_not_chatter_along_a_wall():
    body = arm()
    wall = Shape("box", (0.2, 1.0, 2.0), translation(0.6, 0.0, 0.6))  # its near side is at x = 0.5
    steps = 60
    path = np.stack([np.full(steps, 0.45), np.zeros(steps), np.linspace(0.3, 0.65, steps)], axis=1)
    tip = Position("d", path[0], tolerance=1e-4)
    apart = Distance("d", [wall])
    problem = Problem(body, [tip, apart])
    start = solve(problem, np.array([0.3, 0.9, 0.6, -0.6])).q
    found = track(problem, {tip: path}, start)
    assert found.success
    assert found.errors[apart].max() == 0.0
    free = track(Problem(body, [alone := Position("d", path[0], tolerance=1e-4)]), {alone: path}, start)
    assert turns_back(found.q) <= turns_back(free.q)
    assert np.abs(np.diff(found.q, axis=0)).max() < 0.025  # steps that aim at the margin are up to 0.04 rad long


def slide(height, steps):
    """The tip of a Panda is led to and fro at this height through a box with its top at 0.3 m, which the hand must not touch."""
    body = load("panda").chain("panda_link0", "panda_hand")
    s = np.linspace(0.0, 1.0, steps)
    path = np.stack([0.5 + 0.05 * np.cos(4 * np.pi * s), -0.35 * np.cos(2 * np.pi * s), np.full(steps, height)], axis=1)
    tip = Position(body.frame("panda_hand", offset=(0.0, 0.0, 0.1)), path[0])
    links = [link.name for link in body.links.values() if link.shapes][1:]
    apart = Distance(links, [Shape("box", (0.5, 1.0, 0.3), translation(0.55, 0.0, 0.15))])
    problem = Problem(body, [tip, apart])
    at_rest = track(problem, {tip: np.repeat(path[:1], 20, axis=0)}, solve(problem, body.home).q).q[-1]
    found = track(problem, {tip: path}, at_rest)
    assert found.errors[apart].max() == 0.0
    return found, tip


def test_a_hand_that_leans_over_a_box_does_not_chatter():
    """All targets can be reached, by a hand that lies on the box: no joint jumps where it comes to lie on it, or leaves it."""
    found, _ = slide(0.27, 1000)
    assert found.success
    assert turns_back(found.q) <= 1  # the path turns round in its middle
    assert np.abs(np.diff(found.q, n=2, axis=0)).max() < 0.01  # 0.11 where contacts were pushed out


def test_a_hand_that_cannot_get_there_slides_smoothly():
    """Flat on the box, 4 cm from its targets: corner by corner, contacts would come and go."""
    found, tip = slide(0.22, 300)
    assert not found.reached.any()
    assert found.errors[tip].max() < 0.0445  # 0.0487 where contacts were errors among others
    assert turns_back(found.q) <= 2  # the path begins and turns round at rest
    assert np.abs(np.diff(found.q, n=2, axis=0)).max() < 0.003

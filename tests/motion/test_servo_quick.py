"""A few ticks among obstacles, also without the compiler: nothing is touched and limits hold. And guides and wrists, likewise."""

import numpy as np
import pytest

import memetik as mk

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def arm():
    """Three links in a plane, each a capsule."""
    names = ("base", "one", "two", "tip")
    links = [mk.build.Link("base")]
    joints = []
    for k, name in enumerate(names[1:]):
        solid = mk.Shape("capsule", (0.03, 0.2), mk.transform((0.15, 0.0, 0.0), mk.euler(0, 90, 0, degrees=True)))
        links.append(mk.build.Link(name, shapes=(solid,)))
        origin = mk.translation(0.3 if k else 0.0, 0.0, 0.0)
        joints.append(
            mk.build.Joint(name, "revolute", names[k], name, origin, (0, 0, 1), lower=-2.8, upper=2.8, velocity=2.0)
        )
    return mk.Body("arm", links, joints)


def clear(body, q, ball, radius):
    """The distance of a ball from the axes of the links, less both radii."""
    poses, found = body.forward(q), []
    for name in ("one", "two", "tip"):
        start, along = poses[name][:3, 3] + 0.05 * poses[name][:3, 0], 0.2 * poses[name][:3, 0]
        share = np.clip((ball - start) @ along / (along @ along), 0.0, 1.0)
        found.append(np.linalg.norm(start + share * along - ball) - radius - 0.03)
    return min(found)


@pytest.mark.parametrize("moves", [False, True])
def test_an_arm_goes_round_a_ball(arm, moves):
    at = np.array([0.45, 0.1, 0.0])
    world = mk.World({"ball": mk.Shape("sphere", (0.08,), mk.translation(*at))})
    reach = mk.Position(arm.frame("tip", offset=(0.25, 0.0, 0.0)), (0.5, -0.35, 0.0))
    keep = [mk.Distance(arm, world, clearance=0.01), mk.SelfDistance(arm, clearance=0.005)]
    problem = mk.Problem(arm, [reach, *keep, mk.CenterJoints(weight=1e-3)])
    start = mk.solve(problem, (-1.2, 0.8, 0.6)).q
    few = mk.Budget(evaluations=50)  # without a time, which is short without the compiler
    servo = mk.Servo(problem, rate=20, start=start, acceleration=20.0, budget=few)
    assert clear(arm, start, at, 0.08) > 0.0
    before = start
    for tick in range(70):
        if moves:
            at = at + np.array([0.0, -0.001, 0.0])
            world.move("ball", mk.translation(*at))
        q = servo.step({reach: (0.5, 0.35, 0.0) if tick < 50 else tuple(at)}).copy()
        assert np.abs(q - before).max() <= 2.0 / 20 + 1e-9
        assert clear(arm, q, at, 0.08) > (0.0 if not moves else -1e-9)
        before = q
    assert servo.status is not None and isinstance(servo.limited_by, tuple)


def test_a_guide_alone_finds_its_minimum(arm):
    tip = arm.frame("tip", offset=(0.25, 0.0, 0.0))
    target = arm.forward(np.array([1.0, -1.1, 0.7]), tip)[:3, 3]
    found = mk.solve(mk.Problem(arm, mk.Position(tip, target, tolerance=None)), budget=mk.Budget(evaluations=300))
    assert np.linalg.norm(arm.forward(found.q, tip)[:3, 3] - target) < 1e-3


def test_guides_of_a_pose_find_their_minimum():
    body = mk.load("panda")
    target = body.forward(body.home + 0.1, "panda_hand")
    guide = mk.Pose("panda_hand", target, position_tolerance=None, orientation_tolerance=None)
    found = mk.solve(mk.Problem(body, [guide, mk.Displacement(weight=1e-6)]), budget=mk.Budget(evaluations=100))
    assert np.linalg.norm(body.forward(found.q, "panda_hand")[:3, 3] - target[:3, 3]) < 2e-3


def test_all_solutions_of_a_wrist():
    body = mk.load("ur5")
    goal = np.array([0.3, -1.0, 1.2, 0.1, 0.9, 0.2])
    found = mk.solve_all(mk.Problem(body, mk.Pose("tool0", body.forward(goal, "tool0"))), goal, count=8)
    assert len(found) == 8 and all(found)


def test_a_wrist_in_closed_form_is_solved_nearby():
    body = mk.load("ur5")
    goal = np.array([0.3, -1.0, 1.2, 0.1, 0.9, 0.2])
    pose = mk.Pose("tool0", body.forward(goal, "tool0"))
    found = mk.solve(mk.Problem(body, [pose, mk.Displacement(weight=1e-3)]), goal + 0.05)
    assert found.success and np.abs(found.q - goal).max() < 1e-3

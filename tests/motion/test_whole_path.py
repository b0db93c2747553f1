"""track where steps one after another lose the path: searched as a whole, from another first posture, with the fewest jumps."""

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

import memetik as mk
from memetik.errors import ProblemError


def spline(body, tip, seed, steps=150):
    """What a tip does while the joints follow a monotone spline through four random postures."""
    rng = np.random.default_rng(seed)
    q = np.array([body.sample(rng) for _ in range(4)])
    return body.forward(PchipInterpolator(np.linspace(0.0, 1.0, 4), q)(np.linspace(0.0, 1.0, steps)), tip)


@pytest.fixture(scope="module")
def ur5():
    body = mk.load("ur5")
    pose = mk.Pose("tool0", np.eye(4))
    return body, pose, mk.Problem(body, pose)


@pytest.fixture(scope="module")
def panda():
    body = mk.load("panda").chain("panda_link0", "panda_hand")
    pose = mk.Pose("panda_hand", np.eye(4))
    return body, pose, mk.Problem(body, pose)


def met(body, tip, found, path):
    """Whether every step is on its target and within the limits, by the plain path."""
    there = body.forward(found.q, tip)
    off = np.linalg.norm((there - path)[:, :3, 3], axis=1)
    inside = (found.q >= body.lower).all() and (found.q <= body.upper).all()
    return off.max() <= 1e-4 + 1e-9 and inside


@pytest.mark.parametrize("seed", range(8))
def test_paths_that_joints_can_follow_are_followed(ur5, panda, seed):
    """They pass singularities and come near limits; a branch that fits is found, whatever is nearest to home."""
    for (body, pose, problem), tip in ((ur5, "tool0"), (panda, "panda_hand")):
        path = spline(body, tip, seed)
        found = mk.track(problem, {pose: path})
        assert found.success and len(found.reconfigurations) == 0
        assert np.abs(np.diff(found.q, axis=0)).max() <= 0.5
        assert met(body, tip, found, path)
        again = mk.track(problem, {pose: path})
        assert again.q.tobytes() == found.q.tobytes()


def wrist_turn(body, q, turns=1.0, steps=150):
    """The tool turns about its own axis, in place."""
    here = body.forward(q)["tool0"]
    return np.array(
        [here @ mk.transform((0, 0, 0), mk.axis_angle((0, 0, 1), a)) for a in np.linspace(0, turns * 2 * np.pi, steps)]
    )


def test_a_start_on_the_path_stays_and_one_elsewhere_does_not(ur5):
    """From where the wrist stands it has no whole turn left: without a start it begins a turn earlier."""
    body, pose, problem = ur5
    q = np.array([0.3, -1.2, 1.4, -0.8, -1.3, 5.5])
    path = wrist_turn(body, q)
    free = mk.track(problem, {pose: path})
    assert free.success
    fixed = mk.track(problem, {pose: path}, q)
    assert not fixed.success and fixed.reached.all()
    np.testing.assert_allclose(fixed.q[0], q, atol=2e-3)
    assert len(fixed.reconfigurations) == 1
    np.testing.assert_array_equal(fixed.reconfigurations, np.flatnonzero(fixed.jumped))
    far = mk.track(problem, {pose: path}, q + 1.0)
    assert far.success


def test_turns_that_no_joint_has_take_the_fewest_reconfigurations(ur5):
    """Five turns of a wrist whose limits hold two: it must turn back twice, and not more often."""
    body, pose, problem = ur5
    path = wrist_turn(body, np.array([0.3, -1.2, 1.4, -0.8, -1.3, 0.0]), 5.0, 600)
    found = mk.track(problem, {pose: path})
    assert found.reached.all() and len(found.reconfigurations) == 2


def test_a_step_out_of_reach_does_not_spoil_the_others(ur5):
    body, pose, problem = ur5
    path = spline(body, "tool0", 3)
    path[70:75, :3, 3] += (0.0, 0.0, 5.0)
    found = mk.track(problem, {pose: path})
    assert np.array_equal(np.flatnonzero(found.status == mk.Status.CLOSEST), np.arange(70, 75))


def test_a_closed_path_ends_where_it_begins(panda):
    body, pose, problem = panda
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    here = body.forward(body.home, "panda_hand")
    path = np.repeat(here[np.newaxis], 200, axis=0)
    path[:, 1, 3] += 0.2 * np.sin(angle)
    path[:, 2, 3] += 0.2 * (np.cos(angle) - 1.0)
    path[-1] = path[0]
    drifts = mk.track(problem, {pose: path}, body.home)
    assert drifts.success and np.abs(drifts.q[-1] - drifts.q[0]).max() > 1e-2
    found = mk.track(problem, {pose: path}, body.home, closed=True)
    assert found.success and np.array_equal(found.q[-1], found.q[0])
    np.testing.assert_allclose(found.q[0], drifts.q[0])
    with pytest.raises(ProblemError, match="end where they begin"):
        mk.track(problem, {pose: path[:-5]}, closed=True)


def test_limits_of_velocity_say_what_a_jump_is(panda):
    """At this rate a joint may change by 0.02 rad a step; the path that home leads to changes faster somewhere."""
    body, pose, problem = panda
    path = spline(body, "panda_hand", 1)
    loose = mk.track(problem, {pose: path}, rate=10.0)
    assert loose.success
    fast = np.abs(np.diff(loose.q, axis=0)).max()
    tight = mk.track(problem, {pose: path}, rate=10.0, velocity=5.0 * fast)
    assert np.array_equal(tight.jumped[1:], np.abs(np.diff(tight.q, axis=0)).max(axis=1) > 0.5 * fast + 1e-6)
    assert mk.track(problem, {pose: path}, rate=10.0, velocity=11.0 * fast).success


def test_the_budget_holds_for_the_whole_path(ur5):
    body, pose, problem = ur5
    path = spline(body, "tool0", 5)
    for most in (5, 50, 500):
        found = mk.track(problem, {pose: path}, budget=mk.Budget(evaluations=most))
        assert found.evaluations <= 1.1 * most * len(path) + 50


def test_two_arms_and_free_axes():
    """Both hands of a robot on splines of their own, one of which may spin about its axis."""
    body = mk.load("baxter")
    left, right = mk.Pose("left_gripper", np.eye(4)), mk.Position("right_gripper", (0, 0, 0))
    rng = np.random.default_rng(4)
    q = np.array([body.sample(rng) for _ in range(3)])
    way = body.forward(PchipInterpolator(np.linspace(0.0, 1.0, 3), q)(np.linspace(0.0, 1.0, 120)))
    found = mk.track(
        mk.Problem(body, [left, right]), {left: way["left_gripper"], right: way["right_gripper"][:, :3, 3]}
    )
    assert found.success


@pytest.mark.parametrize("seed", range(4))
def test_guides_alone_follow_what_tolerances_follow(ur5, panda, seed):
    """Nothing can be missed, but a branch that is left halfway is a jump, and off the target behind it."""
    for (body, _, _), tip in ((ur5, "tool0"), (panda, "panda_hand")):
        path = spline(body, tip, seed)
        guide = mk.Pose(tip, np.eye(4), position_tolerance=None, orientation_tolerance=None)
        found = mk.track(mk.Problem(body, guide), {guide: path})
        assert not found.jumped.any() and np.abs(np.diff(found.q, axis=0)).max() <= 0.5
        assert found.errors[guide].max() < 1e-4
        assert (found.status == mk.Status.MINIMUM).all()


@pytest.mark.quick
def test_a_wrist_that_has_to_begin_a_turn_back():
    """Small enough to run as plain Python: two links and a wrist that turns by more than is left of its limits."""
    lower, upper = [-3.0, -3.0, -3.2], [3.0, 3.0, 3.2]
    body = mk.build.planar_chain([0.5, 0.4, 0.1]).with_limits(
        {name: (lo, up) for name, lo, up in zip(("joint_1", "joint_2", "joint_3"), lower, upper, strict=True)}
    )
    tip = list(body.links)[-1]
    q = np.linspace([0.4, 0.9, -3.0], [0.5, 1.0, 3.0], 30)
    path = body.forward(q, tip)
    pose = mk.Pose(tip, path[0])
    track = mk.track(mk.Problem(body, pose), {pose: path}, jump=0.5)
    assert track.success and len(track.reconfigurations) == 0
    assert np.abs(np.diff(track.q, axis=0)).max() < 0.5

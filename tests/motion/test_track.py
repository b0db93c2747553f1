"""track: smooth paths without jumps, across pi, along the edge of reach, and back."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

import memetik as mk
from memetik.errors import ProblemError
from memetik.geometry import axis_angle, transform
from memetik.motion.track import _is_calmer, _Steps, track
from memetik.objectives import Custom, Direction, Displacement, LookAt, Orientation, Pose, Position
from memetik.problem import Problem
from memetik.solution import Status
from memetik.solvers import Budget, Memetic
from tests.naive import kinematics

RIGHT_DOWN = axis_angle((1, 0, 0), math.pi)


def circle(steps, radius=0.15, center=(0.45, 0.0, 0.4)):
    """Points of a circle in a plane of constant x."""
    angles = np.linspace(0.0, 2.0 * math.pi, steps)
    return np.array(center) + radius * np.stack([0.0 * angles, np.cos(angles), np.sin(angles)], axis=1)


def poses(points, rotation=RIGHT_DOWN):
    return np.array([transform(point, rotation) for point in points])


@pytest.fixture(scope="module")
def panda():
    return mk.load("panda")


def test_a_smooth_path_has_no_jumps(panda):
    pose = Pose("panda_hand", np.eye(4))
    problem = Problem(panda, pose)
    path = poses(circle(300))
    followed = track(problem, {pose: path}, rate=100.0)
    assert followed.success and len(followed.q) == 300
    assert not followed.jumped.any() and (followed.status == Status.REACHED).all()
    assert followed.largest_step < 0.1
    assert_allclose(followed.times, np.arange(300) / 100.0)
    assert followed.errors[pose].shape == (300, 2)
    for k in range(0, 300, 20):
        found = kinematics.pose(panda, "panda_hand", followed.q[k])
        error = np.linalg.norm((found - path[k])[:3, 3])
        assert error <= 1e-4 + 1e-12
        assert followed.errors[pose][k, 0] == pytest.approx(error, abs=1e-9)
    assert (followed.q >= panda.lower).all() and (followed.q <= panda.upper).all()


def test_steps_grow_with_the_spacing_of_the_path(panda):
    pose = Pose("panda_hand", np.eye(4))
    problem = Problem(panda, pose)
    fine, coarse = (track(problem, {pose: poses(circle(n))}) for n in (600, 60))
    assert fine.success and coarse.success
    assert fine.largest_step < 0.2 * coarse.largest_step


def test_a_continuous_joint_crosses_pi():
    """Two and a half turns of a pointer: the joint goes on turning instead of leaping back by a whole turn."""
    body = mk.Body(
        "pointer",
        [mk.build.Link("base"), mk.build.Link("hand")],
        [mk.build.Joint("turn", "continuous", "base", "hand")],
    )
    aim = Direction("hand", (1, 0, 0), axis=(1, 0, 0))
    angles = np.linspace(0.0, 5.0 * math.pi, 400)
    path = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
    followed = track(Problem(body, aim), {aim: path}, start=[0.0])
    assert followed.success
    assert_allclose(followed.q[:, 0], angles, atol=2e-3)
    assert followed.largest_step < 0.05


def test_a_wrist_crosses_pi_with_the_rest_at_rest():
    body = mk.load("ur5")  # its joints turn by two turns either way
    q = np.array([0.3, -1.2, 1.4, -1.0, -1.5, 2.9])
    T = kinematics.pose(body, "tool0", q)
    pose = Pose("tool0", T)
    path = np.array([T @ transform((0, 0, 0), axis_angle((0, 0, 1), angle)) for angle in np.linspace(0.0, 1.0, 100)])
    followed = track(Problem(body, pose), {pose: path}, start=q)
    assert followed.success
    assert_allclose(followed.q[-1, 5], 3.9, atol=5e-3)
    assert np.abs(followed.q[:, :5] - q[:5]).max() < 5e-3


def test_steps_out_of_reach_are_flagged_and_the_path_goes_on():
    """A straight line that leaves the workspace of an arm of 1 m for a while."""
    body = mk.build.planar_chain([0.5, 0.5])
    reach = Position("tip", (0, 0, 0))
    x = np.concatenate([np.linspace(0.6, 1.2, 60), np.linspace(1.2, 0.6, 60)])
    path = np.stack([x, np.full(120, 0.1), np.zeros(120)], axis=1)
    followed = track(Problem(body, reach), {reach: path}, start=[0.8, -1.0])
    possible = np.hypot(x, 0.1) <= 1.0
    assert not followed.success
    assert_array_equal(followed.status == Status.REACHED, possible)
    assert (followed.status[~possible] == Status.CLOSEST).all()
    missed = followed.errors[reach]
    assert_allclose(missed[~possible], (np.hypot(x, 0.1) - 1.0)[~possible], atol=1e-6)
    assert not followed.jumped.any()
    assert followed.largest_step < 0.5


def test_a_jump_is_made_only_where_there_is_no_other_way_and_is_said():
    """A target that leaps across the workspace: the arm must leap after it."""
    body = mk.build.planar_chain([1.0, 1.0], limits=None)
    reach = Position("tip", (0, 0, 0))
    path = np.array([(1.2, 0.2, 0.0)] * 5 + [(-1.0, -0.9, 0.0)] * 5)
    followed = track(Problem(body, reach), {reach: path}, start=[0.5, -1.0])
    assert (followed.status == Status.REACHED).all() and not followed.success
    assert_array_equal(np.flatnonzero(followed.jumped), [5])
    assert track(Problem(body, reach), {reach: path}, start=[0.5, -1.0], jump=7.0).success


def test_objectives_keep_their_targets(panda):
    pose, gaze = (
        Pose("panda_hand", transform((0.3, 0.1, 0.5), RIGHT_DOWN)),
        LookAt("panda_link5", (1.0, 0.0, 0.0), tolerance=None),
    )
    problem = Problem(panda, [pose, gaze])
    before, data = pose.target, problem.compiled.data.copy()
    start = panda.home
    alone = Memetic().solve(problem, start)
    track(problem, {pose: poses(circle(20)), gaze: circle(20)}, start=start)
    assert_array_equal(pose.target, before)
    assert_array_equal(gaze.target, (1.0, 0.0, 0.0))
    assert_array_equal(problem.compiled.data, data)
    assert_array_equal(Memetic().solve(problem, start).q, alone.q)


def test_several_targets_at_once_and_guides(panda):
    reach, face = Position("panda_hand", (0, 0, 0)), Orientation("panda_hand", np.eye(3))
    problem = Problem(panda, [reach, face, Displacement(weight=0.001)])
    path = circle(50)
    turns = np.array([RIGHT_DOWN @ axis_angle((0, 0, 1), angle) for angle in np.linspace(0.0, 0.5, 50)])
    followed = track(problem, {reach: path, face: turns})
    assert followed.success
    found = kinematics.pose(panda, "panda_hand", followed.q[-1])
    assert_allclose(found[:3, 3], path[-1], atol=1e-4)
    assert_allclose(found[:3, :3], turns[-1], atol=2e-3)


def test_the_same_call_gives_the_same_bits(panda):
    pose = Pose("panda_hand", np.eye(4))
    problem = Problem(panda, pose)
    first = track(problem, {pose: poses(circle(30))}).q.tobytes()
    track(problem, {pose: poses(circle(30, radius=0.3))}, seed=9)
    assert track(problem, {pose: poses(circle(30))}).q.tobytes() == first


def test_the_budget_is_for_each_step(panda):
    pose = Pose("panda_hand", np.eye(4))
    far = poses(circle(10, center=(5.0, 0.0, 0.0)))
    followed = track(Problem(panda, pose), {pose: far}, budget=Budget(evaluations=40))
    assert followed.evaluations <= 400
    assert (followed.status == Status.CLOSEST).all()


def test_joints_that_nothing_reads_stay(panda):
    reach = Position("panda_link5", (0, 0, 0))
    start = panda.clip(panda.home + 0.02)
    followed = track(Problem(panda, reach), {reach: circle(10, radius=0.05, center=(0.2, 0.0, 0.6))}, start=start)
    assert_array_equal(followed.q[:, 5:], np.tile(start[5:], (10, 1)))


def fails(frame):
    if frame.position[1] > 0.05:
        raise ValueError("too far left")
    return 0.0


def test_what_a_function_raises_is_not_lost():
    body = mk.build.planar_chain([0.5, 0.5])
    reach = Position("tip", (0, 0, 0))
    problem = Problem(body, [reach, Custom(fails, reads=["tip"])])
    path = np.stack([np.full(10, 0.7), np.linspace(0.0, 0.3, 10), np.zeros(10)], axis=1)
    with pytest.raises(ProblemError, match="too far left"):
        track(problem, {reach: path}, start=[0.0, 0.0])


def test_paths_that_are_none(panda):
    pose, other = Pose("panda_hand", np.eye(4)), Position("panda_hand", (0, 0, 0))
    problem = Problem(panda, pose)
    with pytest.raises(ProblemError, match="no targets"):
        track(problem, {})
    with pytest.raises(ProblemError, match="not an objective of this problem"):
        track(problem, {other: circle(3)})
    with pytest.raises(ProblemError, match="rows x 4 x 4"):
        track(problem, {pose: circle(3)})
    with pytest.raises(ProblemError, match=r"row 1: .* NaN"):
        bad = poses(circle(3))
        bad[1, 0, 3] = math.nan
        track(problem, {pose: bad})
    with pytest.raises(ProblemError, match="above zero"):
        track(problem, {pose: poses(circle(3))}, jump=0.0)
    with pytest.raises(ProblemError, match="at least one"):
        track(problem, {pose: np.empty((0, 4, 4))})
    both = Problem(panda, [pose, other])
    with pytest.raises(ProblemError, match="same number of targets"):
        track(both, {pose: poses(circle(3)), other: circle(4)})


# ---- Guides ----------------------------------------------------------------------------------------------------


def test_guides_alone_settle_at_every_step_as_solve_does():
    """A body that is led by guides only, a metre and more from step to step: each step ends where `solve` would."""
    body = mk.load("mannequin", base="floating")
    home = body.forward(body.home)
    tips = ("left_hand_tip", "right_hand_tip", "left_foot", "right_foot")
    moves = np.array([(0.0, 0.0, 0.0), (1.0, 0.5, 0.0), (0.0, 1.5, 0.1), (-1.0, 0.0, 0.0)])
    wishes = {mk.Position(tip, home[tip][:3, 3], tolerance=None): home[tip][:3, 3] * (1.1, 1.3, 0.9) for tip in tips}
    problem = mk.Problem(body, [*wishes, mk.Displacement(weight=1e-4)])
    targets = {wish: place + moves for wish, place in wishes.items()}
    found = mk.track(problem, targets, start=body.home)
    assert "guides only" in repr(found)
    q = body.home
    for step in range(len(moves)):
        for wish, path in targets.items():
            wish.target = path[step]
        q = mk.solve(problem, q).q
        missed = max(found.errors[wish][step] for wish in wishes)
        assert missed < 0.05 and missed < max(mk.solve(problem, q).errors[wish] for wish in wishes) + 1e-2
    assert found.jumped.tolist() == [False, True, True, True]


def pr2_circle(radius, center, steps=60):
    """The right arm of the PR2, its hand upright, and a circle for it in a plane of constant x."""
    body, tip = mk.load("pr2").chain("torso_lift_link", "r_gripper_tool_frame"), "r_gripper_tool_frame"
    path = poses(circle(steps, radius, center))
    path[:, :3, :3] = np.eye(3)
    pose = mk.Pose(tip, path[0], position_tolerance=1e-4, orientation_tolerance=1e-3)
    return body, pose, path, mk.solve(mk.Problem(body, pose)).q


@pytest.mark.parametrize("method", ["memetic", "bioik"])
@pytest.mark.parametrize("radius", [0.05, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_displacement_makes_no_step_larger(method, radius, seed):
    body, pose, path, start = pr2_circle(radius, (0.6, -0.2, -0.1))
    alone = mk.track(mk.Problem(body, pose), {pose: path}, start, method=method, seed=seed)
    assert alone.reached.all()
    for weight in (0.001, 0.01, 0.03, 0.1, 0.3, 1.0):
        problem = mk.Problem(body, [pose, mk.Displacement(weight=weight, name="calm")])
        calm = mk.track(problem, {pose: path}, start, method=method, seed=seed)
        assert calm.reached.all() and calm.largest_step <= alone.largest_step
        changes = np.abs(np.diff(np.vstack([start, calm.q]), axis=0)).mean(axis=1)
        np.testing.assert_allclose(calm.errors[problem.objectives[1]], changes, atol=1e-12)
        missed = np.linalg.norm(body.forward(calm.q, pose.frame)[:, :3, 3] - path[:, :3, 3], axis=1)
        np.testing.assert_allclose(calm.errors[pose][:, 0], missed, atol=1e-12)


@pytest.mark.quick
def test_a_step_at_the_edge_of_the_workspace_decides_nothing():
    """Of paths that miss nearly as many steps the one with smaller steps is calmer; a whole stretch that is met counts more."""
    body = mk.build.planar_chain([1.0, 1.0])
    compiled = mk.Problem(body, mk.Position("tip", (1.0, 0.0, 0.0))).compiled

    def steps(missed, largest):
        path = np.zeros((100, 2))
        path[50:, 0] = largest
        statuses = (np.arange(100) < missed).astype(np.int64)
        return _Steps(path, np.zeros((100, 1)), statuses, np.zeros(100, dtype=bool), 0)

    assert _is_calmer(compiled, steps(21, 0.1), steps(20, 0.2)) and not _is_calmer(
        compiled, steps(20, 0.2), steps(21, 0.1)
    )
    assert _is_calmer(compiled, steps(20, 0.2), steps(30, 0.1)) and not _is_calmer(
        compiled, steps(1, 0.1), steps(0, 0.2)
    )
    assert not _is_calmer(compiled, steps(0, 0.1), steps(0, 0.1))


@pytest.mark.parametrize("method", ["memetic", "bioik", "dls"])
def test_a_displacement_has_nothing_against_whole_turns(method):
    """Joints without limits come back by less than half a turn, with it as without; whether targets can be met or not."""
    body, pose, path, start = pr2_circle(0.3, (0.7, -0.3, 0.0), steps=40)
    path = np.concatenate([path, path[::-1]])
    for start_turns in (0.0, 3.0):
        start[[4, 6]] += start_turns * 2.0 * np.pi
        found = mk.track(mk.Problem(body, [pose, mk.Displacement()]), {pose: path}, start, method=method)
        free = np.vstack([start, found.q])[:, [4, 6]]
        assert np.abs(np.diff(free, axis=0)).max() <= np.pi + 1e-9


def test_a_joint_that_must_turn_back_jumps():
    """Whole turns change nothing of the posture, but a joint with limits that runs out of them has a way to go."""
    ur5 = mk.load("ur5")
    start = np.array([0.3, -1.2, 1.4, -0.8, -1.3, 5.5])
    pose = mk.Pose("tool0", np.eye(4))
    path = turning(ur5, "tool0", start, ur5.forward(start)["tool0"][:3, 2], 1, 90)
    found = mk.track(mk.Problem(ur5, pose), {pose: path}, start)
    assert found.reached.all()
    far = np.append(False, np.abs(np.diff(found.q, axis=0)).max(axis=1) > 0.5)
    assert far.any() and np.array_equal(found.jumped, far)


# ---- Bodies that turn without end -----------------------------------------------------------------------------


def floating_box(order="zxy"):
    return mk.Body(
        "box",
        [mk.build.Link("world"), mk.build.Link("box")],
        [mk.build.Joint("base", "floating", "world", "box", order=order)],
    )


def turning(body, link, start, axis, turns, per_turn):
    """A link that turns about an axis in the world from where it is at the start, in place."""
    here = body.forward(start)[link]
    path = np.repeat(here[np.newaxis], turns * per_turn, axis=0)
    for k, pose in enumerate(path):
        pose[:3, :3] = mk.axis_angle(axis, 2.0 * np.pi * (k + 1) / per_turn) @ here[:3, :3]
    return path


def angles(body, link, rows):
    """By how much a link turns from row to row [rad]."""
    turns = Rotation.from_matrix(np.array([body.forward(q)[link][:3, :3] for q in rows]))
    return (turns[:-1].inv() * turns[1:]).magnitude()


@pytest.mark.parametrize("order", ["zxy", "xyz", "yxz"])
@pytest.mark.parametrize("guided", [False, True])
@pytest.mark.parametrize("middle", [0.0, np.pi / 2, -np.pi / 2, 1.1])
def test_ten_turns_about_any_axis_take_even_steps(order, guided, middle, rng):
    """Whether or not they begin in the gimbal lock of the angles or pass through it."""
    body = floating_box(order)
    start = np.array([0.1, 0.2, 0.3, rng.uniform(-3, 3), middle, rng.uniform(-3, 3)])
    joint = body.joints["base"]
    first = mk.axis_angle(joint.motions()[3].axis, start[3])
    lost = first @ np.cross(
        joint.motions()[3].axis, joint.motions()[4].axis
    )  # the axis that no angle turns about there
    for axis in (lost, *np.eye(3), rng.normal(size=3)):
        pose = mk.Pose("box", np.eye(4))
        problem = mk.Problem(body, [pose, mk.Displacement(weight=0.01)] if guided else pose)
        path = turning(body, "box", start, axis / np.linalg.norm(axis), 10, 60)
        walk = mk.track(problem, {pose: path}, start)
        assert walk.success
        step = 2.0 * np.pi / 60
        assert_allclose(angles(body, "box", walk.q), step, atol=4e-3)  # to the tolerance
        assert walk.largest_step == pytest.approx(step, abs=4e-3)
        assert walk.evaluations <= (7 if guided else 2) * len(path)
        for k in (0, 7, 100, 333):  # no step is harder than the others
            pose.target = path[k + 1]
            assert mk.solve(problem, walk.q[k]).evaluations <= (7 if guided else 2)


def test_values_go_on_where_they_were(rng):
    """About an axis of the joint one angle grows without end, as that of a continuous joint does, also the middle one."""
    body = floating_box()
    pose = mk.Pose("box", np.eye(4))
    problem = mk.Problem(body, pose)
    for k, axis in ((3, (0, 0, 1)), (4, (1, 0, 0)), (5, (0, 1, 0))):
        walk = mk.track(problem, {pose: turning(body, "box", body.home, axis, 3, 50)})
        assert walk.success
        assert walk.q[-1, k] == pytest.approx(3 * 2.0 * np.pi, abs=2e-3)
        assert np.abs(np.delete(walk.q, k, axis=1)).max() < 2e-3


def test_a_jump_of_a_ball_is_one_of_its_rotation():
    body = floating_box()
    pose = mk.Pose("box", np.eye(4))
    problem = mk.Problem(body, pose)
    start = np.array([0.0, 0.0, 0.0, 0.0, np.pi / 2 - 1e-3, 0.0])
    near = start + np.array([0.0, 0.0, 0.0, 0.9, 0.0, -0.9])  # the last turns back what the first turns
    far = start + np.array([0.0, 0.0, 0.0, 0.9, 0.0, 0.0])
    for end, turned, jumped in ((near, 2e-3, False), (far, 0.9, True)):
        path = np.array([body.forward(q)["box"] for q in (start, end)])
        walk = mk.track(problem, {pose: path}, start)
        assert walk.reached.all() and walk.jumped.tolist() == [False, jumped]
        assert walk.largest_step == pytest.approx(turned, abs=3e-3)


@pytest.mark.parametrize("method", ["dls", "levenberg_marquardt", "bioik"])
def test_other_methods_follow_a_roll(method):
    body = floating_box()
    pose = mk.Pose("box", np.eye(4))
    start = np.array([0.0, 0.0, 0.0, 0.3, np.pi / 2, 0.0])
    path = turning(body, "box", start, (np.cos(0.3), np.sin(0.3), 0.0), 1, 40)
    walk = mk.track(mk.Problem(body, pose), {pose: path}, start, method=method)
    assert walk.reached.all()
    if method != "bioik":
        assert walk.success

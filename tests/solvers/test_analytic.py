"""Closed forms: every solution, each one checked by the naive forward kinematics."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import memetik as mk
from memetik.errors import ProblemError
from memetik.solution import Status
from memetik.solvers.analytic import Analytic
from memetik.solvers.budget import Budget
from tests.naive import kinematics

ANALYTIC = Analytic()
seeds = st.integers(0, 2**32 - 1)


def same(one, other):
    """The largest difference of a joint, whole turns apart."""
    return np.abs(np.angle(np.exp(1j * (np.asarray(one) - other)))).max()


def check(problem, link, target, solutions, atol=1e-9):
    """All are distinct, within the limits, on the target, and the nearest comes first."""
    body, start = problem.body, problem.body.home
    for solution in solutions:
        assert solution.success and solution.method == "analytic"
        assert (solution.q >= problem.lower).all() and (solution.q <= problem.upper).all()
        assert np.abs(kinematics.pose(body, link, solution.q) - target).max() < atol
    distances = [np.linalg.norm(solution.q - start) for solution in solutions]
    assert distances == sorted(distances)
    for k, solution in enumerate(solutions):
        assert all(np.abs(solution.q - other.q).max() > 1e-5 for other in solutions[:k])


# ---- Two links --------------------------------------------------------------------------------------------


def law_of_cosines(x, y, one, two):
    """Both postures of two links that reach (x, y)."""
    bend = math.acos((x * x + y * y - one * one - two * two) / (2.0 * one * two))
    return [(math.atan2(y, x) - math.atan2(two * math.sin(t), one + two * math.cos(t)), t) for t in (bend, -bend)]


@pytest.mark.quick
@given(x=st.floats(-1.5, 1.5), y=st.floats(-1.5, 1.5))
def test_two_links_both_ways(x, y):
    if not 0.41 < math.hypot(x, y) < 1.59:
        return
    body = mk.build.planar_chain([1.0, 0.6], limits=None)
    problem = mk.Problem(body, mk.Position("tip", (x, y, 0.0), tolerance=1e-10))
    solutions = ANALYTIC.solve_all(problem)
    expected = law_of_cosines(x, y, 1.0, 0.6)
    assert len(solutions) == 2
    for posture in expected:
        assert min(same(solution.q, posture) for solution in solutions) < 1e-9
    for solution in solutions:
        assert_allclose(kinematics.pose(body, "tip", solution.q)[:3, 3], (x, y, 0.0), atol=1e-12)


@pytest.mark.quick
@given(seed=seeds)
def test_two_links_anywhere_in_space(seed):
    """Any plane, links that are bent at zero and stand off the plane, axes that point against each other."""
    rng = np.random.default_rng(seed)
    builder = mk.build.BodyBuilder("arm")
    builder.add("base", "mount", "fixed", "stand", origin=(rng.normal(size=3), mk.geometry.random_rotation(rng)))
    builder.add("stand", "one", "continuous", "upper", axis=(0.0, 0.0, 1.0))
    builder.add("upper", "two", "continuous", "lower", origin=(0.5, 0.2, 0.1), axis=(0.0, 0.0, rng.choice([-1.0, 1.0])))
    builder.add("lower", "end", "fixed", "tip", origin=rng.normal(size=3))
    body = builder.build()
    posture = rng.uniform(-3.0, 3.0, 2)
    target = kinematics.pose(body, "tip", posture)[:3, 3]
    solutions = ANALYTIC.solve_all(mk.Problem(body, mk.Position("tip", target, tolerance=1e-9)))
    assert 1 <= len(solutions) <= 2
    assert min(same(solution.q, posture) for solution in solutions) < 1e-6
    for solution in solutions:
        assert_allclose(kinematics.pose(body, "tip", solution.q)[:3, 3], target, atol=1e-9)


@pytest.mark.quick
def test_two_links_straight_folded_and_out_of_reach():
    body = mk.build.planar_chain([1.0, 0.6], limits=None)
    reach = mk.Position("tip", (1.6, 0.0, 0.0), tolerance=1e-7)
    problem = mk.Problem(body, reach)
    assert len(ANALYTIC.solve_all(problem)) == 1
    reach.target = (0.0, -0.4, 0.0)
    assert len(ANALYTIC.solve_all(problem)) == 1
    reach.target = (0.0, 3.0, 0.0)  # the arm points to it
    solution = ANALYTIC.solve(problem)
    assert solution.status == Status.CLOSEST
    assert_allclose(solution.q, (math.pi / 2.0, 0.0), atol=1e-12)
    assert solution.errors[reach] == pytest.approx(1.4)
    assert ANALYTIC.solve_all(problem) == []
    reach.target = (0.0, 0.1, 0.0)  # too near: the folded arm comes nearest
    assert ANALYTIC.solve(problem).errors[reach] == pytest.approx(0.3)
    reach.target = (1.0, 0.0, 0.5)  # off the plane
    assert ANALYTIC.solve(problem).errors[reach] == pytest.approx(0.5)


@pytest.mark.quick
def test_an_angle_that_the_target_leaves_open_stays_as_it_is():
    """Equal links that fold back to the base may point anywhere."""
    body = mk.build.planar_chain([0.5, 0.5], limits=None)
    problem = mk.Problem(body, mk.Position("tip", (0.0, 0.0, 0.0), tolerance=1e-7))
    solution = ANALYTIC.solve(problem, (0.7, 3.0))
    assert solution.success
    assert_allclose(solution.q, (0.7, math.pi), atol=1e-7)


@pytest.mark.filterwarnings("ignore:the start")  # so far out that it looks like degrees
def test_limits_and_whole_turns():
    body = mk.build.planar_chain([1.0, 0.6], limits=((-1.0, 8.0), (0.0, 3.0)))
    problem = mk.Problem(body, mk.Position("tip", (1.0, 0.4, 0.0), tolerance=1e-9))
    left, _ = law_of_cosines(1.0, 0.4, 1.0, 0.6)
    (only,) = ANALYTIC.solve_all(problem)  # the elbow cannot bend the other way
    assert_allclose(only.q, left, atol=1e-9)
    (turned,) = ANALYTIC.solve_all(problem, (6.0, 1.0))  # a whole turn brings it near
    assert_allclose(turned.q, (left[0] + 2.0 * math.pi, left[1]), atol=1e-9)
    moved = ANALYTIC.solve(problem, (20.0, 1.0))
    assert moved.start_moved and moved.success


# ---- Shoulder and elbow -----------------------------------------------------------------------------------


@pytest.mark.parametrize("tip", ["LForeArm", "l_wrist", "r_wrist", "l_gripper"])
def test_the_arm_of_the_nao(tip):
    """Four joints to the forearm, five to the wrist and, with the fingers held, to the gripper."""
    body = mk.load("nao")
    pose = mk.Pose(tip, np.eye(4), position_tolerance=1e-9, orientation_tolerance=1e-9)
    problem = mk.Problem(body, pose, lock={"LHand": 0.2} if tip == "l_gripper" else None)
    active = problem.compiled.active
    assert active.size == (4 if tip == "LForeArm" else 5)
    rng = np.random.default_rng(0)
    for _ in range(30):
        q = problem.start(body.sample(rng))
        pose.target = kinematics.pose(body, tip, q)
        solutions = ANALYTIC.solve_all(problem)
        check(problem, tip, pose.target, solutions)
        assert min(same(solution.q[active], q[active]) for solution in solutions) < 1e-7


def paper_arm(joints=5, upper=0.105, fore=0.1137):
    """T = Rx Rz Tr(0, upper, 0) Ry Rz Tr(0, fore, 0) and, with five joints, Ry: eq. 5 of Poddighe, without limits."""
    arm = mk.build.BodyBuilder("arm")
    arm.add("base", "t1", "continuous", "a", axis=(1, 0, 0))
    arm.add("a", "t2", "continuous", "b", axis=(0, 0, 1))
    arm.add("b", "t3", "continuous", "c", axis=(0, 1, 0), origin=(0.0, upper, 0.0))
    arm.add("c", "t4", "continuous", "d", axis=(0, 0, 1))
    arm.add("d", "t5", "continuous" if joints == 5 else "fixed", "hand", axis=(0, 1, 0), origin=(0.0, fore, 0.0))
    return arm.build()


@pytest.mark.quick
@given(seed=seeds, joints=st.sampled_from([4, 5]))
def test_all_postures_of_the_paper_arm(seed, joints):
    body = paper_arm(joints)
    q = np.random.default_rng(seed).uniform(-3.0, 3.0, joints)
    target = kinematics.pose(body, "hand", q)
    problem = mk.Problem(body, mk.Pose("hand", target, position_tolerance=1e-9, orientation_tolerance=1e-9))
    solutions = ANALYTIC.solve_all(problem)
    check(problem, "hand", target, solutions)
    assert min(same(solution.q, q) for solution in solutions) < 1e-6
    assert len(solutions) == 2 * (joints - 3)
    if joints == 5:
        # The corrected equations 17 and 18: the elbow at (-l sin t2, l cos t2 cos t1, l cos t2 sin t1).
        x, y, z = kinematics.pose(body, "c", q)[:3, 3]
        t2, t1 = -math.asin(x / 0.105), math.atan2(z, y)
        pairs = [(t1, t2), (t1 + math.pi, math.pi - t2)]
        for pair in pairs:
            assert sum(same(solution.q[:2], pair) < 1e-6 for solution in solutions) == 2


@pytest.mark.quick
def test_links_on_their_axes_leave_an_angle_open():
    """The upper arm along the axis of the first joint, the forearm straight: the start decides what is open."""
    body = paper_arm()
    target = kinematics.pose(body, "hand", [0.0, -math.pi / 2.0, 0.4, 0.0, 0.0])
    problem = mk.Problem(body, mk.Pose("hand", target, position_tolerance=1e-7, orientation_tolerance=1e-7))
    solution = ANALYTIC.solve(problem, [0.3, -1.5, 0.2, 0.1, 0.1])
    assert solution.success
    assert np.abs(kinematics.pose(body, "hand", solution.q) - target).max() < 1e-7
    assert_allclose(solution.q[[0, 2]], (0.3, 0.2), atol=1e-7)


def test_a_pose_that_the_arm_cannot_take():
    body = paper_arm()
    target = kinematics.pose(body, "hand", [0.1, 0.2, 0.3, 0.4, 0.5])
    target[0, 3] += 0.05
    solution = ANALYTIC.solve(mk.Problem(body, mk.Pose("hand", target)))
    assert solution.status == Status.CLOSEST
    assert solution.term_errors[0] < 0.06


# ---- Six and seven joints ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "most"), [("ur5", 8), ("kr120", 8), ("m10ia", 8)])
def test_six_joints(name, most):
    body = mk.load(name)
    pose = mk.Pose("tool0", np.eye(4), position_tolerance=1e-7, orientation_tolerance=1e-7)
    problem = mk.Problem(body, pose)
    rng = np.random.default_rng(4)
    counts = []
    for _ in range(15):
        q = body.sample(rng)
        pose.target = kinematics.pose(body, "tool0", q)
        solutions = ANALYTIC.solve_all(problem)
        check(problem, "tool0", pose.target, solutions, atol=1e-7)
        assert min(same(solution.q, q) for solution in solutions) < 1e-4
        counts.append(len(solutions))
        nearest = ANALYTIC.solve(problem)
        assert_allclose(nearest.q, solutions[0].q, atol=1e-9)
        assert nearest.evaluations <= 2  # the others are not computed to the end
    assert 1 < max(counts) <= most


def test_six_joints_find_what_the_search_finds():
    body = mk.load("ur5")
    pose = mk.Pose("tool0", np.eye(4), position_tolerance=1e-6, orientation_tolerance=1e-6)
    problem = mk.Problem(body, pose)
    rng = np.random.default_rng(8)
    for _ in range(3):
        pose.target = kinematics.pose(body, "tool0", body.sample(rng))
        exact, found = ANALYTIC.solve_all(problem), mk.solve_all(problem, count=16)
        assert len(exact) == len(found)
        for solution in found:
            assert min(same(solution.q, other.q) for other in exact) < 1e-3


def test_seven_joints_hold_one():
    body = mk.load("iiwa14")
    pose = mk.Pose("tool0", np.eye(4), position_tolerance=1e-6, orientation_tolerance=1e-6)
    problem = mk.Problem(body, pose)
    rng = np.random.default_rng(2)
    for _ in range(5):
        q = body.sample(rng)
        pose.target = kinematics.pose(body, "tool0", q)
        again = ANALYTIC.solve(problem, q)  # held where it was, the drawn posture is among the solutions
        assert again.success and np.abs(again.q - q).max() < 1e-5
        solution = ANALYTIC.solve(problem)
        assert solution.success
        assert np.abs(kinematics.pose(body, "tool0", solution.q) - pose.target).max() < 2e-6
    solutions = ANALYTIC.solve_all(problem)
    check(problem, "tool0", pose.target, solutions, atol=1e-5)
    assert len(solutions) > 20
    few = ANALYTIC.solve_all(problem, budget=Budget(evaluations=40))
    assert 0 < len(few) < len(solutions)
    late = ANALYTIC.solve_all(problem, budget=Budget(seconds=1e-9))
    assert all(solution.timed_out for solution in late)


def test_out_of_reach_is_said_with_the_nearest_posture():
    body = mk.load("ur5")
    target = np.eye(4)
    target[:3, 3] = (5.0, 0.0, 0.0)
    solution = ANALYTIC.solve(mk.Problem(body, mk.Pose("tool0", target)))
    assert solution.status == Status.CLOSEST
    assert (solution.q >= body.lower).all() and (solution.q <= body.upper).all()
    assert "analytic" in str(solution)


# ---- What it refuses --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "tip"),
    [
        ("baxter", "left_gripper"),  # no closed form is known
        ("scara", "tool0"),  # a joint that slides
        ("valkyrie", "rightPalm"),  # ten joints from the pelvis
    ],
)
def test_bodies_without_a_closed_form(body, tip):
    with pytest.raises(ProblemError, match=r"no closed form.*'memetic'"):
        ANALYTIC.solve(mk.Problem(mk.load(body), mk.Pose(tip, np.eye(4))))


def test_wishes_that_it_cannot_take():
    body, flat = mk.load("ur5"), mk.build.planar_chain([1.0, 0.6])
    pose = mk.Pose("tool0", np.eye(4))
    for problem in (
        mk.Problem(body, [pose, mk.CenterJoints()]),
        mk.Problem(body, [mk.Pose("tool0", np.eye(4)), mk.Displacement(tolerance=0.1)]),
        mk.Problem(body, mk.Orientation("tool0", np.eye(3))),
        mk.Problem(body, mk.Pose("tool0", np.eye(4), position_tolerance=None)),
        mk.Problem(body, mk.Pose("tool0", np.eye(4), relative_to="base_link")),
        mk.Problem(flat, mk.Position("tip", (1.0, 0.0, 0.0), mask=(1, 0, 1))),
        mk.Problem(flat, mk.Position("tip", (1.0, 0.0, 0.0), tolerance=None)),
    ):
        with pytest.raises(ProblemError, match=r"takes one Pose.*'memetic'"):
            ANALYTIC.solve(problem)
    for problem in (
        mk.Problem(body, mk.Position("tool0", (0.3, 0.3, 0.3))),  # six joints for three numbers
        mk.Problem(mk.build.serial_chain([0.3, 0.2], "zy"), mk.Position("tip", (0.2, 0.1, 0.1))),  # axes not parallel
        mk.Problem(mk.build.serial_chain([0.3, 0.2, 0.2, 0.1], "zy"), mk.Pose("tip", np.eye(4))),  # axes do not meet
    ):
        with pytest.raises(ProblemError, match=r"no closed form.*'memetic'"):
            ANALYTIC.solve(problem)


def test_mimic_joints_are_no_joints_of_an_arm():
    body = paper_arm()
    joints = [
        dataclasses.replace(joint, mimic=mk.build.Mimic("t1", 0.5)) if joint.name == "t5" else joint
        for joint in body.joints.values()
    ]
    coupled = mk.Body("coupled", body.links.values(), joints)
    with pytest.raises(ProblemError, match="'memetic'"):
        ANALYTIC.solve(mk.Problem(coupled, mk.Pose("hand", np.eye(4))))

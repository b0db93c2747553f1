"""solve_all: distinct, verified, nearest to the start first."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from memetik.errors import ProblemError
from memetik.objectives import Custom, Displacement, Pose, Position
from memetik.problem import Problem
from memetik.solvers import Budget, solve_all
from tests.naive import kinematics


def farthest(one, other):
    """The largest difference of a joint, whole turns apart."""
    gap = np.abs(one - other)
    return np.minimum(gap, np.abs(2.0 * math.pi - gap)).max()


def law_of_cosines(x, y, one, two):
    """Both postures of two links that reach (x, y)."""
    bend = math.acos((x * x + y * y - one * one - two * two) / (2.0 * one * two))
    postures = []
    for elbow in (bend, -bend):
        shoulder = math.atan2(y, x) - math.atan2(two * math.sin(elbow), one + two * math.cos(elbow))
        postures.append((shoulder, elbow))
    return np.array(postures)


@pytest.mark.parametrize("target", [(1.0, 0.4), (-0.7, 0.9), (0.3, -1.2)])
def test_two_links_have_exactly_two_solutions(target):
    body = mk.build.planar_chain([1.0, 0.6])
    start = np.array([0.1, 0.2])
    solutions = solve_all(Problem(body, Position("tip", (*target, 0.0), tolerance=1e-8)), start)
    expected = law_of_cosines(*target, 1.0, 0.6)
    expected = expected[np.argsort(np.linalg.norm(expected - start, axis=1))]
    assert len(solutions) == 2
    for solution, posture in zip(solutions, expected, strict=True):
        assert solution.success and solution.method == "memetic"
        assert_allclose(solution.q, posture, atol=1e-6)


def test_a_stretched_arm_has_one_solution_and_a_far_target_none():
    body = mk.build.planar_chain([1.0, 1.0])
    assert len(solve_all(Problem(body, Position("tip", (2.0, 0.0, 0.0))))) == 1
    assert solve_all(Problem(body, Position("tip", (2.1, 0.0, 0.0)))) == []


def test_an_arm_of_six_joints_has_up_to_eight():
    """The postures of a UR5: shoulder left or right, elbow up or down, wrist turned or not."""
    body = mk.load("ur5")
    rng = np.random.default_rng(3)
    counts = []
    for _ in range(5):
        T = kinematics.pose(body, "tool0", body.sample(rng))
        start = body.sample(rng)
        solutions = solve_all(Problem(body, Pose("tool0", T)), start, count=16)
        counts.append(len(solutions))
        distances = [np.linalg.norm(solution.q - start) for solution in solutions]
        assert distances == sorted(distances)
        for k, solution in enumerate(solutions):
            found = kinematics.pose(body, "tool0", solution.q)
            assert np.linalg.norm((found - T)[:3, 3]) <= 1e-4 + 1e-12
            assert solution.errors[solution.problem.objectives[0]].position <= 1e-4
            assert (solution.q >= body.lower).all() and (solution.q <= body.upper).all()
            assert all(farthest(solution.q, other.q) > 0.05 for other in solutions[:k])
    assert set(counts) <= {2, 4, 6, 8} and max(counts) == 8


@pytest.mark.parametrize(("name", "base", "tip"), [
    ("ur5", "base_link", "tool0"), ("kr120", "base_link", "tool0"), ("m10ia", "base_link", "tool0"),
    ("valkyrie", "pelvis", "rightFoot"),
])  # fmt: skip
def test_of_an_arm_with_a_closed_form_all_there_are(name, base, tip):
    """What a search from all over its joints finds, and the posture that was drawn, are among them."""
    body = mk.load(name).chain(base, tip)
    pose = Pose(tip, np.eye(4), position_tolerance=1e-6, orientation_tolerance=1e-6)
    guided = Problem(body, [pose, Displacement(weight=1e-9)])  # a second objective: no closed form is tried
    rng = np.random.default_rng(4)
    for _ in range(5):
        drawn = body.sample(rng)
        pose.target = kinematics.pose(body, tip, drawn)
        found = solve_all(Problem(body, pose), body.home, count=64)
        assert all(solution.success and solution.method == "memetic" for solution in found)
        searched = [solution.q for solution in solve_all(guided, body.home, count=64)]
        for q in (drawn, *searched):
            assert min(farthest(q, solution.q) for solution in found) < 0.05


def test_a_limit_may_be_between_a_solution_and_the_target_within_its_tolerance():
    body = mk.load("kr120").chain("base_link", "tool0")
    pose = Pose("tool0", kinematics.pose(body, "tool0", np.array([0.7, -1.5, 1.0, 0.3, 0.6, 0.2])))
    first = [solution.q[0] for solution in solve_all(Problem(body, pose))]
    assert first and np.ptp(first) < 1e-9  # the other way round it does not reach the target
    narrow = body.with_limits({body.joint_names[0]: (-1.0, first[0] - 1e-3)})
    wide = Problem(narrow, Pose("tool0", pose.target, position_tolerance=1e-2, orientation_tolerance=1e-1))
    assert len(solve_all(wide)) == len(first)


def test_count_and_distinct():
    body = mk.build.planar_chain([1.0, 0.6, 0.4])
    problem = Problem(body, Position("tip", (0.9, 0.4, 0.0)))
    few = solve_all(problem, count=3)
    assert len(few) == 3
    coarse = solve_all(problem, count=64, distinct=1.0)
    assert all(farthest(a.q, b.q) > 1.0 for i, a in enumerate(coarse) for b in coarse[:i])
    assert len(coarse) < len(solve_all(problem, count=64, distinct=0.1))
    near = solve_all(problem, coarse[-1].q, count=1)[0]
    assert np.abs(near.q - coarse[-1].q).max() < 1e-3


def test_the_same_call_gives_the_same_bits():
    body = mk.build.planar_chain([1.0, 0.6, 0.4])
    problem = Problem(body, [Position("tip", (0.9, 0.4, 0.0)), Displacement()])
    first = [solution.q.tobytes() for solution in solve_all(problem, [0.1, 0.2, 0.3])]
    solve_all(problem, [0.5, 0.5, 0.5], seed=7)
    assert [solution.q.tobytes() for solution in solve_all(problem, [0.1, 0.2, 0.3])] == first


@pytest.mark.parametrize("evaluations", [1, 10, 500])
@pytest.mark.parametrize(("name", "tip"), [("panda", "panda_hand"), ("ur5", "tool0")])
def test_the_budget_is_kept(evaluations, name, tip):
    """Of a search, and of a closed form, which 500 evaluations suffice for."""
    body = mk.load(name)
    problem = Problem(body, Pose(tip, body.forward(body.home)[tip]))
    solutions = solve_all(problem, count=64, budget=Budget(evaluations=evaluations))
    assert all(solution.evaluations <= evaluations for solution in solutions)
    assert solutions or evaluations < 500


def test_joints_that_nothing_reads_stay_and_locked_ones_are_locked():
    body = mk.load("panda")
    start = body.clip(body.home + 0.01)
    problem = Problem(body, Position("panda_link6", (0.3, 0.2, 0.6)), lock={"panda_joint2": 0.3})
    for solution in solve_all(problem, start, count=4):
        assert solution["panda_joint2"] == 0.3
        assert_array_equal(solution.q[6:], start[6:])


def test_what_a_function_raises_is_not_lost():
    body = mk.build.planar_chain(2)
    problem = Problem(body, [Position("tip", (0.3, 0.3, 0.0)), Custom(fails_below_one, reads=["tip"])])
    with pytest.raises(ProblemError, match="too near"):
        solve_all(problem)


def fails_below_one(frame):
    if frame.position[0] < 0.99:
        raise ValueError("too near")
    return 0.0


@pytest.mark.parametrize("wrong", [{"count": 0}, {"patience": 0}, {"distinct": 0.0}, {"distinct": math.nan}])
def test_arguments_that_are_none(wrong):
    with pytest.raises(ProblemError, match="solve_all"):
        solve_all(Problem(mk.build.planar_chain(2), Position("tip", (0.5, 0.0, 0.0))), **wrong)

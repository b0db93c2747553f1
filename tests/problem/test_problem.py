"""Problems: everything that can be wrong is said before anything is solved, and what is held fast stays where it is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from memetik import Body
from memetik.build import Joint, Link, Mimic
from memetik.build.chains import serial_chain
from memetik.errors import ProblemError, UnknownNameError
from memetik.objectives import (
    Direction,
    Displacement,
    JointValue,
    LookAt,
    Orientation,
    Pose,
    Position,
)
from memetik.problem import Problem
from memetik.solvers import Budget, Memetic
from tests.naive import kinematics

pytestmark = pytest.mark.quick

BUDGET = Budget(evaluations=1000)


def solve(problem, start=None):
    return Memetic().solve(problem, start, BUDGET)


@pytest.fixture
def arm():
    """Six joints about different axes; the tip can take any pose nearby."""
    return serial_chain([0.3, 0.3, 0.1, 0.1, 0.1, 0.1], "zyyxyx", limits=(-2.5, 2.5))


@pytest.fixture
def reach():
    return Position("tip", (0.4, 0.2, 0.1))


# ---- Said before solving ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("objectives", "error", "message"),
    [
        (lambda: [], ProblemError, "at least one objective"),
        (lambda: [3.0], ProblemError, "3.0 is not an objective"),
        (lambda: [Position("tpi", (0, 0, 0))], UnknownNameError, "no link named 'tpi'.*'tip'"),
        (lambda: [Position("tip", (0, 0, 0), relative_to="lnik_1")], UnknownNameError, "link_1"),
        (lambda: [LookAt("link_9", (0, 0, 0))], UnknownNameError, "no link named 'link_9'"),
        (lambda: [JointValue("joint_9", 0.1)], UnknownNameError, "no free joint named 'joint_9'.*joint_"),
        (lambda: [JointValue("tip_joint", 0.1)], UnknownNameError, "no free joint named 'tip_joint'"),
        (lambda: [Position("base", (0, 0, 0))], ProblemError, "no free joint can influence it"),
        (lambda: [Direction("base", (0, 0, 1))], ProblemError, "no free joint can influence it"),
        (lambda: [Displacement()], ProblemError, "no objective asks for anything"),
    ],
)
def test_impossible_problems_are_refused(arm, objectives, error, message):
    with pytest.raises(error, match=message):
        Problem(arm, objectives())


def test_the_same_objective_twice_is_refused(arm, reach):
    with pytest.raises(ProblemError, match="twice"):
        Problem(arm, [reach, reach])


def test_an_objective_that_only_locked_joints_move_is_refused(arm):
    with pytest.raises(ProblemError, match="no free joint can influence it"):
        Problem(arm, Direction("link_1", (0.0, 1.0, 0.0)), lock={"joint_1": 0.0})
    with pytest.raises(ProblemError, match=r"joint 'joint_1' is locked at 0\.5"):
        Problem(arm, JointValue("joint_1", 0.3), lock={"joint_1": 0.5})


@pytest.mark.parametrize(
    ("conditions", "error", "message"),
    [
        ({"lock": {"joint_1": 2.6}}, ProblemError, "'joint_1' is locked at 2.6, outside its limits -2.5 to 2.5"),
        ({"lock": {"joint_1": math.nan}}, ProblemError, "'joint_1' is locked at nan"),
        ({"lock": {"joint_7": 0.0}}, UnknownNameError, "no free joint named 'joint_7'"),
        ({"limits": {"joint_7": (0.0, 1.0)}}, UnknownNameError, "no free joint named 'joint_7'"),
        ({"limits": {"joint_1": (1.0, 0.0)}}, ProblemError, "limits of joint 'joint_1'"),
        ({"limits": {"joint_1": (math.nan, 1.0)}}, ProblemError, "limits of joint 'joint_1'"),
        ({"limits": {"joint_1": (3.0, 4.0)}}, ProblemError, "outside the body's -2.5 to 2.5"),
        ({"limits": {"joint_1": (0.0, 1.0)}, "lock": {"joint_1": 2.0}}, ProblemError, "outside its limits 0 to 1"),
    ],
)
def test_impossible_conditions_are_refused(arm, reach, conditions, error, message):
    with pytest.raises(error, match=message):
        Problem(arm, reach, **conditions)


def test_a_joint_without_limits_cannot_be_locked_at_infinity():
    body = Body("wheel", [Link("a"), Link("b")], [Joint("turn", "continuous", "a", "b")])
    with pytest.raises(ProblemError, match="locked at inf"):
        Problem(body, JointValue("turn", 0.0), lock={"turn": math.inf})


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ([0.0] * 5, r"shape \(5,\), but body 'chain' has 6 free joints"),
        ([[0.0] * 6], r"shape \(1, 6\)"),
        ([0.0, math.nan, 0.0, 0.0, 0.0, 0.0], "NaN or infinite"),
        ([0.0, math.inf, 0.0, -math.inf, 0.0, 0.0], "NaN or infinite"),
        (["left"] * 6, "the start is not a joint vector"),
    ],
)
def test_an_impossible_start_is_refused(arm, reach, start, message):
    with pytest.raises(ProblemError, match=message):
        solve(Problem(arm, reach), start)


def test_a_start_is_never_written_to(arm, reach):
    start = np.zeros(6)
    solve(Problem(arm, reach), start)
    assert not start.any()


# ---- Start, limits, locks ---------------------------------------------------------------------------------


def test_a_start_outside_the_limits_is_moved_inside(arm, reach):
    outside = solve(Problem(arm, reach), [3.0, 0.1, -9.0, 0.0, 0.0, 0.0])
    assert outside.success and outside.start_moved
    assert (np.abs(outside.q) <= 2.5).all()
    assert not solve(Problem(arm, reach), [2.5, 0.1, -2.5, 0.0, 0.0, 0.0]).start_moved


def test_narrower_limits_are_kept(arm, rng):
    limits = {"joint_1": (0.2, 0.4), "joint_3": (-math.inf, 0.0)}
    for target in rng.normal(scale=0.4, size=(5, 3)):
        q = solve(Problem(arm, Position("tip", target), limits=limits)).q
        assert 0.2 <= q[0] <= 0.4 and -2.5 <= q[2] <= 0.0 and (np.abs(q) <= 2.5).all()
    wider = Problem(arm, Position("tip", (0.4, 0.2, 0.1)), limits={"joint_1": (-9.0, 9.0)})
    assert wider.lower[0] == -2.5 and wider.upper[0] == 2.5


def test_locked_joints_keep_their_value_bit_for_bit(arm):
    value = 0.1 + 0.2  # not a round number
    reach = Position("tip", kinematics.pose(arm, "tip", [0.5, value, 0.9, -0.4, -1.0 / 3.0, 0.0])[:3, 3])
    problem = Problem(arm, reach, lock={"joint_2": value, "joint_5": -1.0 / 3.0})
    for start in (None, [0.5] * 6):
        solution = solve(problem, start)
        assert solution.success
        assert solution["joint_2"] == value and solution["joint_5"] == -1.0 / 3.0
        assert_allclose(kinematics.pose(arm, "tip", solution.q)[:3, 3], reach.target, atol=1e-4)


def test_some_variables_of_a_joint_can_be_locked(arm):
    """A body that drives on the floor: its free root keeps its height and stays upright."""
    mobile = arm.with_base("floating")
    lock = {"base.z": 0.1 / 3.0, "base.rx": 0.0, "base.ry": 0.0}
    there = kinematics.slide((1, 0, 0), 3.0) @ kinematics.slide((0, 0, 1), 0.3) @ kinematics.turn((1, 2, 0), 1.0)
    target = Pose("tip", there)
    solution = solve(Problem(mobile, target, lock=lock))
    assert solution.success
    assert {name: solution[name] for name in lock} == lock
    assert_allclose(kinematics.pose(mobile, "tip", solution.q)[:3, 3], [3.0, 0.0, 0.3], atol=1e-4)
    with pytest.raises(ProblemError, match=r"'base\.z' is locked"):
        Problem(mobile, [target, JointValue("base.z", 0.0)], lock=lock)


def test_joints_that_nothing_reads_keep_their_start():
    body = Body(
        "two arms",
        [Link(name) for name in ("trunk", "left", "left_hand", "right")],
        [
            Joint("a", "revolute", "trunk", "left", lower=-1.0, upper=1.0),
            Joint("b", "prismatic", "left", "left_hand", axis=(1, 0, 0), lower=0.1, upper=1.0),
            Joint("c", "revolute", "trunk", "right", lower=-1.0, upper=1.0),
        ],
    )
    start = [0.1, 0.2, 1.0 / 3.0]
    solution = solve(Problem(body, Position("left_hand", (0.5, 0.3, 0.0))), start)
    assert solution.success and solution["c"] == 1.0 / 3.0
    solution = solve(Problem(body, [JointValue("b", 0.7), Displacement()]), start)
    assert solution.success and solution["a"] == 0.1 and solution["c"] == 1.0 / 3.0


def test_mimic_joints_follow():
    body = Body(
        "gripper",
        [Link(name) for name in "abcd"],
        [
            Joint("turn", "revolute", "a", "b", lower=-1.5, upper=1.5),
            Joint("bend", "revolute", "b", "c", kinematics.slide((1, 0, 0), 1.0), mimic=Mimic("turn", -2.0, 0.1)),
            Joint("out", "prismatic", "c", "d", axis=(1, 0, 0), lower=0.5, upper=1.5),
        ],
    )
    wanted = kinematics.pose(body, "d", [0.4, 0.9])
    reach = Position("d", wanted[:3, 3])
    solution = solve(Problem(body, reach), [0.1, 1.0])
    assert solution.success
    assert_allclose(kinematics.pose(body, "d", solution.q)[:3, 3], wanted[:3, 3], atol=1e-4)
    # With the source locked, the follower stands still as well.
    locked = solve(Problem(body, Position("d", wanted[:3, 3], mask=(1, 0, 0)), lock={"turn": 0.4}), [0.0, 0.5])
    assert locked.success and locked["turn"] == 0.4
    assert_allclose(locked["out"], 0.9, atol=1e-3)


def test_continuous_joints_come_back_near_the_start():
    body = Body(
        "wheels",
        [Link("a"), Link("b"), Link("c")],
        [
            Joint("one", "continuous", "a", "b"),
            Joint("two", "continuous", "b", "c", kinematics.slide((1, 0, 0), 0.5), axis=(0, 1, 0)),
        ],
    )
    target = Pose("c", kinematics.pose(body, "c", [1.0, -2.0]))
    for turns in (0, 1, -3, 100):
        start = np.array([0.5, -1.5]) + 2.0 * math.pi * turns
        solution = solve(Problem(body, target), start)
        assert solution.success
        assert (np.abs(solution.q - start) <= math.pi + 1e-9).all()


# ---- Compiled once ----------------------------------------------------------------------------------------


def test_a_new_target_changes_the_problem_in_place(arm):
    q, r = [0.3, 0.4, -0.5, 0.2, 0.6, 0.1], [-0.3, 0.2, 0.7, 0.1, -0.4, 0.3]
    (T, A), (U, B) = [[kinematics.pose(arm, link, at) for link in ("tip", "link_3")] for at in (q, r)]
    pose, elbow, value = Pose("tip", T), Position("link_3", A[:3, 3]), JointValue("joint_1", 0.3)
    problem = Problem(arm, [pose, elbow, value])
    compiled = problem.compiled
    assert solve(problem).success
    pose.target, elbow.target, value.target = U, B[:3, 3], -0.3
    assert problem.compiled is compiled
    solution = solve(problem)
    assert solution.success
    assert_allclose(kinematics.pose(arm, "tip", solution.q), U, atol=2e-3)
    assert_allclose(kinematics.pose(arm, "link_3", solution.q)[:3, 3], B[:3, 3], atol=1e-4)
    assert_allclose(solution["joint_1"], -0.3, atol=1e-3)


def test_a_target_that_is_refused_changes_nothing(arm):
    reach = Position("tip", (0.4, 0.2, 0.1))
    problem = Problem(arm, reach)
    with pytest.raises(ProblemError):
        reach.target = (0.4, math.nan, 0.1)
    assert_array_equal(reach.target, (0.4, 0.2, 0.1))
    assert_allclose(kinematics.pose(arm, "tip", solve(problem).q)[:3, 3], (0.4, 0.2, 0.1), atol=1e-4)


@pytest.mark.parametrize("attribute", ["weight", "tolerance", "position_tolerance", "orientation_tolerance"])
def test_weights_and_tolerances_compile_again(arm, attribute):
    pose = Pose("tip", kinematics.pose(arm, "tip", [0.3, 0.4, -0.5, 0.2, 0.6, 0.1]))
    problem = Problem(arm, pose)
    compiled = problem.compiled
    setattr(pose, attribute, 0.25)
    assert problem.compiled is not compiled
    assert solve(problem).success
    with pytest.raises(ProblemError):
        setattr(pose, attribute, -0.25)
    assert getattr(pose, attribute) == 0.25


def test_tolerances_decide_success(arm):
    far = Position("tip", (2.0, 0.0, 0.0), tolerance=1e-3)  # the arm is 1 m long
    problem = Problem(arm, far)
    solution = solve(problem)
    assert not solution.success
    assert_allclose(solution.errors[far], 1.0, atol=1e-3)
    far.tolerance = 1.1
    assert solve(problem).success


def test_objectives_in_several_problems_do_not_disturb_each_other(arm):
    """The second problem numbers its variables differently; the first must not notice."""
    bend, reach = JointValue("joint_5", 0.4), Position("tip", (0.5, 0.2, 0.1))
    both = Problem(arm, [reach, bend])
    one = Problem(arm, bend)
    assert both.compiled.active.tolist() == [0, 1, 2, 3, 4, 5] and one.compiled.active.tolist() == [4]
    for value in (0.4, -0.7):
        bend.target = value
        for problem in (both, one):
            solution = solve(problem)
            assert solution.success
            assert_allclose(solution["joint_5"], value, atol=1e-3)


def test_the_same_call_gives_the_same_answer(arm, rng):
    T = kinematics.pose(arm, "tip", arm.sample(rng))
    problem = Problem(arm, [Pose("tip", T), Displacement()])
    first = solve(problem, [0.1] * 6)
    solve(problem, [1.0] * 6)  # leaves nothing behind
    assert_array_equal(solve(problem, [0.1] * 6).q, first.q)
    assert_array_equal(solve(Problem(arm, [Pose("tip", T), Displacement()]), [0.1] * 6).q, first.q)


def test_orientation_and_position_of_one_frame_are_a_pose(arm, rng):
    T = kinematics.pose(arm, "tip", arm.sample(rng))
    solution = solve(Problem(arm, [Position("tip", T[:3, 3]), Orientation("tip", T[:3, :3])]))
    assert solution.success
    assert_allclose(kinematics.pose(arm, "tip", solution.q), T, atol=2e-3)


def test_a_problem_shows_what_it_is(arm, reach):
    assert repr(Problem(arm, reach, lock={"joint_1": 0.0})) == "<Problem: chain, 1 objectives, 5 joints to solve>"


@pytest.mark.parametrize("lock", [["joint_1"], "joint_1", 0.5])
def test_a_lock_needs_values(arm, lock):
    with pytest.raises(ProblemError, match=r"Write lock=\{joint: value\}, for example lock=\{name: start\["):
        Problem(arm, Position("tip", (0.5, 0.5, 0.0)), lock=lock)

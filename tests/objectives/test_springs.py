"""Displacement, JointValue, CenterJoints, AvoidLimits: wishes about single joints."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from memetik import Body
from memetik.build import Joint, Link
from memetik.build.chains import serial_chain
from memetik.errors import ProblemError, UnknownNameError
from memetik.kernels.terms.springs import displacement, displacement_springs, rest_at_start
from memetik.objectives import AvoidLimits, CenterJoints, Displacement, JointValue, Position
from memetik.problem import Problem
from memetik.solvers import Budget, Memetic

pytestmark = pytest.mark.quick

BUDGET = Budget(evaluations=1000)


def solve(body, objectives, start=None, **conditions):
    return Memetic().solve(Problem(body, objectives, **conditions), start, BUDGET)


@pytest.fixture
def arm():
    """Redundant for a point: seven joints."""
    return serial_chain([0.2] * 7, "zyzyzyx", limits=(-2.0, 2.5))


# ---- What is wrong is said --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: JointValue("joint_1", math.nan), "value of joint 'joint_1' is nan; it must be finite"),
        (lambda: JointValue("joint_1", math.inf), "must be finite"),
        (lambda: JointValue("joint_1", 0.0, tolerance=-1.0), "tolerance is -1"),
        (lambda: JointValue("joint_1", 0.0, weight=0.0), "weight is 0"),
        (
            lambda: Displacement(stiffness={"joint_1": -1.0}),
            "weight of joint 'joint_1' is -1.0; it must be zero or positive",
        ),
        (lambda: Displacement(stiffness={"joint_1": math.nan}), "weight of joint 'joint_1'"),
        (lambda: Displacement(weight=math.nan), "weight is nan"),
        (lambda: AvoidLimits(margin=0.0), "margin is 0"),
        (lambda: AvoidLimits(margin=0.6), "margin is 0.6"),
        (lambda: AvoidLimits(margin=math.nan), "margin is nan"),
    ],
)
def test_mistakes_are_said_at_once(make, message):
    with pytest.raises(ProblemError, match=message):
        make()


@pytest.mark.parametrize("kind", [Displacement, CenterJoints, AvoidLimits])
def test_an_unknown_joint_is_named(arm, kind):
    with pytest.raises(UnknownNameError, match="joint_1"):
        Problem(arm, [Position("tip", (0.5, 0.5, 0.5)), kind(stiffness={"jiont_1": 1.0})])


@pytest.mark.parametrize("reference", [np.zeros(3), np.full(7, math.nan), np.zeros((7, 1))])
def test_a_reference_is_a_joint_vector(arm, reference):
    with pytest.raises(ProblemError, match="reference must be a joint vector of 7 finite numbers"):
        Problem(arm, Displacement(reference=reference))


# ---- JointValue -------------------------------------------------------------------------------------------


def test_a_joint_takes_a_value(arm):
    bend, reach = JointValue("joint_4", 1.1, tolerance=1e-4), Position("tip", (0.7, 0.4, 0.3))
    solution = solve(arm, [bend, reach])
    assert solution.success
    assert_allclose(solution["joint_4"], 1.1, atol=1e-4)
    assert solution.errors[bend] == pytest.approx(abs(solution["joint_4"] - 1.1), abs=1e-12)
    assert bend.target == 1.1


def test_a_value_beyond_the_limits_is_approached(arm):
    bend = JointValue("joint_4", 9.0)
    solution = solve(arm, [bend])
    assert not solution.success
    assert solution["joint_4"] == 2.5
    assert_allclose(solution.errors[bend], 6.5)


# ---- Displacement -----------------------------------------------------------------------------------------


def moved(solution, start):
    return float(np.abs(solution.q - start).sum())


def test_displacement_keeps_near_the_start(arm, rng):
    reach = Position("tip", (0.6, 0.5, 0.4))
    calm = Displacement()
    for start in rng.uniform(-1.0, 1.0, size=(5, 7)):
        alone, calmed = solve(arm, [reach], start), solve(arm, [reach, calm], start)
        assert calmed.success
        assert moved(calmed, start) <= moved(alone, start) * 1.01 + 1e-6
        assert_allclose(calmed.errors[calm], moved(calmed, start) / 7)


def test_where_nothing_has_to_move_nothing_does(arm):
    start = np.full(7, 0.3)
    reach = Position("tip", arm.forward(start)["tip"][:3, 3])
    solution = solve(arm, [reach, calm := Displacement()], start)
    assert np.array_equal(solution.q, start) and solution.errors[calm] == 0.0


def test_displacement_from_a_posture_of_its_own(arm):
    reference = np.linspace(-0.5, 0.6, 7)
    solution = solve(arm, [Displacement(reference=reference, tolerance=1e-6)], np.zeros(7))
    assert solution.success
    assert_allclose(solution.q, reference, atol=1e-5)


def test_a_reference_is_for_the_whole_body_though_joints_are_locked(arm):
    reference = np.linspace(-0.5, 0.6, 7)
    solution = solve(arm, [Displacement(reference=reference, tolerance=1e-6)], lock={"joint_2": 0.0, "joint_5": 1.0})
    assert solution.success
    expected = reference.copy()
    expected[[1, 4]] = 0.0, 1.0
    assert_allclose(solution.q, expected, atol=1e-5)


def test_stiff_joints_move_less(arm):
    start = np.full(7, 0.3)
    reach = Position("tip", (0.4, -0.6, 0.2))
    even = solve(arm, [reach, Displacement(weight=1.0)], start)
    stiff = solve(arm, [reach, Displacement(weight=1.0, stiffness={"joint_1": 10.0})], start)
    assert even.success and stiff.success
    assert abs(stiff["joint_1"] - 0.3) < 0.5 * abs(even["joint_1"] - 0.3)


def test_weights_may_name_locked_joints(arm):
    calm = Displacement(stiffness={"joint_1": 2.0, "joint_2": 0.0})
    assert solve(arm, [Position("tip", (0.6, 0.5, 0.4)), calm], lock={"joint_1": 0.5}).success


# ---- The middle of the range and its ends -----------------------------------------------------------------


def test_joints_gather_at_the_middle(arm):
    solution = solve(arm, [center := CenterJoints(tolerance=1e-6)], arm.home)
    assert solution.success
    assert_allclose(solution.q, 0.25, atol=1e-5)
    off = solve(arm, [CenterJoints(tolerance=1.0)], np.full(7, 1.375))
    assert np.array_equal(off.q, np.full(7, 1.375))
    assert_allclose(next(iter(off.errors.values())), 0.5)  # half of the way from the middle to the limit
    assert solution.errors[center] <= 1e-6


def test_narrower_limits_move_the_middle(arm):
    solution = solve(arm, [CenterJoints(tolerance=1e-6)], limits={"joint_1": (1.0, 2.0), "joint_2": (-9.0, 0.0)})
    assert_allclose(solution.q[:3], (1.5, -1.0, 0.25), atol=1e-5)


def test_limits_are_avoided_only_near_them(arm):
    start = np.array([0.0, 2.4, -1.9, 0.5, 1.0, -1.0, 0.0])
    solution = solve(arm, [AvoidLimits(margin=0.1, tolerance=1e-6)], start)
    assert solution.success
    assert_allclose(solution.q, np.clip(start, -2.0 + 0.45, 2.5 - 0.45), atol=1e-5)


def test_narrower_limits_are_avoided_too(arm):
    solution = solve(arm, [AvoidLimits(margin=0.1, tolerance=1e-6)], np.full(7, 1.0), limits={"joint_1": (-1.0, 1.0)})
    assert_allclose(solution.q, [0.8, *[1.0] * 6], atol=1e-5)


def test_joints_without_limits_have_neither_middle_nor_end():
    body = Body("wheel", [Link("a"), Link("b")], [Joint("turn", "continuous", "a", "b")])
    reach = JointValue("turn", 4.0)
    solution = solve(body, [reach, center := CenterJoints(), avoid := AvoidLimits()])
    assert solution.success
    assert solution.errors[center] == 0.0 and solution.errors[avoid] == 0.0


def test_one_open_side():
    body = Body("ray", [Link("a"), Link("b")], [Joint("out", "prismatic", "a", "b", axis=(1, 0, 0), lower=0.0)])
    solution = solve(body, [AvoidLimits(margin=0.2, tolerance=1e-6)], [0.05])
    assert solution.success
    assert_allclose(solution.q, [0.2], atol=1e-5)  # margin counts in metres or radians there


def test_springs_alone_read_every_joint_and_no_frame(arm):
    problem = Problem(arm, CenterJoints())
    assert len(problem.compiled.active) == 7 and len(problem.compiled.frames) == 0


# ---- What is near -----------------------------------------------------------------------------------------


def test_the_distance_is_what_displacements_minimise(arm, rng):
    """Against the sum written out, of two Displacements with weights of their own; a soft CenterJoints does not count."""
    rest, weights = rng.uniform(-1.0, 1.0, 7), {"joint_2": 3.0, "joint_5": 0.0}
    objectives = [
        Position("tip", (0.3, 0.2, 0.5)), Displacement(weight=0.5, stiffness=weights), CenterJoints(),
        Displacement(reference=rest, weight=2.0), Displacement(tolerance=0.4),
    ]  # fmt: skip
    c = Problem(arm, objectives).compiled
    data, start = c.data.copy(), rng.uniform(-1.0, 1.0, 7)
    rest_at_start(c.terms, data, start)
    stiffness = np.array([weights.get(name, 1.0) for name in arm.joint_names])
    near, weight = np.empty(7), np.empty(7)
    displacement_springs(c.terms, data, start, near, weight)
    constants = []
    for _ in range(20):
        x = rng.uniform(-2.0, 2.0, 7)
        expected = 0.5 * np.sum((stiffness * (x - start)) ** 2) + 2.0 * np.sum((x - rest) ** 2)
        found = displacement(c.terms, data, start, x)
        assert found == pytest.approx(expected)
        constants.append(found - np.sum(weight * (x - near) ** 2))
    assert_allclose(constants, constants[0])


def test_without_a_displacement_all_joints_count_alike(arm, rng):
    c = Problem(arm, [Position("tip", (0.3, 0.2, 0.5)), CenterJoints()]).compiled
    start, x = rng.uniform(-1.0, 1.0, (2, 7))
    near, weight = np.empty(7), np.empty(7)
    displacement_springs(c.terms, c.data, start, near, weight)
    assert displacement(c.terms, c.data, start, x) == pytest.approx(np.sum((x - start) ** 2))
    assert_allclose(near, start)
    assert_allclose(weight, 1.0)

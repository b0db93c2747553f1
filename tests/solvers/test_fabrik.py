"""FABRIK: solved on arms, hands and humanoids, out of its deadlock, honest about what it missed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from memetik.body import Mimic
from memetik.build import BodyBuilder, planar_chain, snake
from memetik.errors import ProblemError
from memetik.geometry import transform
from memetik.objectives import AvoidLimits, Cone, Direction, LookAt, Orientation, Pose, Position
from memetik.problem import Problem
from memetik.solution import Status
from memetik.solvers import Budget
from memetik.solvers.ccd import CCD
from memetik.solvers.fabrik import FABRIK
from tests.solvers.sweeps import BODIES, aim, growth, honest, reach
from tests.timing import overrun


@pytest.mark.parametrize("name", list(BODIES))
def test_positions_are_reached(name, rng):
    make, tips = BODIES[name]
    body = make()
    problem = reach(body, tips, Position)
    for _ in range(8):
        aim(problem, body.sample(rng))
        solution = FABRIK().solve(problem, body.sample(rng))
        assert solution.success
        assert honest(solution)


@pytest.mark.parametrize(("name", "least"), [("ur5", 20), ("chain", 20), ("valkyrie", 19)])
def test_poses_are_reached(name, least, rng):
    make, tips = BODIES[name]
    body = make()
    problem = reach(body, tips, Pose)
    solved = 0
    for _ in range(20):
        aim(problem, body.sample(rng))
        solution = FABRIK().solve(problem, body.sample(rng))
        assert honest(solution)
        solved += solution.success
    assert solved >= least


def test_the_textbook_needs_few_sweeps_on_a_long_chain(rng):
    body = planar_chain(10)
    problem = reach(body, ("tip",), Position)
    counts = []
    for _ in range(20):
        aim(problem, body.sample(rng))
        solution = FABRIK(ahead=0.0, restarts=False).solve(problem, body.sample(rng))
        assert solution.success
        counts.append(solution.evaluations)
    assert np.median(counts) <= 4


def test_a_thousand_joints():
    body = snake(1000)
    rng = np.random.default_rng(5)
    problem = reach(body, ("tip",), Pose)
    aim(problem, body.sample(rng))
    solution = FABRIK().solve(problem, body.sample(rng))
    assert solution.success
    assert solution.evaluations < 20
    assert honest(solution)


@pytest.mark.timed
def test_a_sweep_takes_time_in_proportion_to_the_joints():
    assert growth(FABRIK(), 100, 1600) < 4 * 16  # in proportion it is 16, with all pairs of joints 256


# ---- The same answer, and no more than asked for ----------------------------------------------------------------


def hard():
    """A pose that the limits keep out of reach though it is near, so that all of the budget is used."""
    straight = {"panda_joint4": (-0.3, -0.07)}
    return Problem(mk.load("panda"), Pose("panda_hand", transform((0.0, 0.1, 0.1))), limits=straight)


def test_the_same_seed_gives_the_same_bits():
    problem = hard()
    answers = [FABRIK(seed=seed).solve(problem, budget=Budget(evaluations=500)) for seed in (1, 1, 2)]
    assert answers[0].attempts > 1
    assert_array_equal(answers[0].q, answers[1].q)
    assert answers[0].evaluations == answers[1].evaluations
    assert not np.array_equal(answers[0].q, answers[2].q)


@pytest.mark.parametrize("evaluations", [1, 2, 10, 11, 57])
def test_the_budget_is_kept(evaluations):
    solution = FABRIK().solve(hard(), budget=Budget(evaluations=evaluations))
    assert solution.evaluations == evaluations
    assert honest(solution)
    assert not solution.timed_out


@pytest.mark.timed
def test_deadlines_are_kept():
    problem, budget = hard(), Budget(evaluations=10**9, seconds=0.001)
    FABRIK().solve(problem, budget=Budget(evaluations=300))  # compiled, or loaded, before the clock runs
    assert overrun(lambda: FABRIK().solve(problem, budget=budget), budget.seconds) < 2e-4


# ---- Where it gets stuck ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ahead", [0.0, 1.0])
@pytest.mark.parametrize("joints", [2, 3, 10, 100])
@pytest.mark.parametrize("place", [0.7, 0.05, -0.4])
def test_the_deadlock_of_a_straight_chain_is_left(joints, place, ahead):
    problem = Problem(planar_chain(joints), Position("tip", (place, 0.0, 0.0)))
    solution = FABRIK(ahead=ahead, restarts=False).solve(problem, np.zeros(joints))
    assert solution.success
    again = FABRIK(ahead=ahead, restarts=False).solve(problem, np.zeros(joints))
    assert_array_equal(solution.q, again.q)


@pytest.mark.quick
def test_a_target_out_of_reach_is_laid_out_to_in_one_sweep():
    problem = Problem(planar_chain(10), Position("tip", (1.2, -1.6, 0.0)))
    for budget in (Budget(evaluations=2), Budget()):
        solution = FABRIK().solve(problem, [1.0, -1.0] * 5, budget)
        assert solution.status is Status.CLOSEST
        assert_allclose(problem.body.forward(solution.q)["tip"][:2, 3], (0.6, -0.8), atol=2e-4)
    assert solution.attempts == 1  # more starts would not help
    assert solution.evaluations < 200


@pytest.mark.parametrize(("name", "tip"), [("ur5", "tool0"), ("iiwa14", "tool0")])
def test_an_arm_points_at_a_target_out_of_reach(name, tip):
    body = mk.load(name)
    problem = Problem(body, Position(tip, (1.5, 2.0, 1.0)))
    solution = FABRIK().solve(problem)
    assert solution.status is Status.CLOSEST
    nearest = CCD().solve(problem)
    assert solution.errors[problem.objectives[0]] < 1.02 * nearest.errors[problem.objectives[0]]


@pytest.mark.quick
def test_without_restarts_it_ends_where_it_stands_still():
    body = planar_chain(3, limits=(-0.5, 0.5))
    solution = FABRIK(restarts=False).solve(Problem(body, Position("tip", (-0.5, 0.0, 0.0))))
    assert solution.status is Status.CLOSEST
    assert solution.attempts == 1
    assert solution.evaluations < 200
    assert honest(solution)


# ---- What it takes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    ["position mask", "position tolerances", "orientation", "orientation mask", "direction", "gaze", "cone", "aimed"],
)
def test_objectives(kind, rng):
    body = mk.load("ur5")
    for _ in range(5):
        pose = body.forward(body.sample(rng))["tool0"]
        point, turn = pose[:3, 3], pose[:3, :3]
        objectives = {
            "position mask": [Position("tool0", point, mask=(1, 0, 1), mask_axes=turn)],
            "position tolerances": [Position("tool0", point, tolerance=(1e-4, 1e-3, math.inf))],
            "orientation": [Orientation("tool0", turn)],
            "orientation mask": [Position("tool0", point), Orientation("tool0", turn, mask=(1, 1, 0))],
            "direction": [Direction("tool0", turn[:, 2])],
            "gaze": [LookAt("tool0", point + 0.4 * turn[:, 0])],
            "cone": [Position("tool0", point), Cone("tool0", turn[:, 2], 0.3)],
            "aimed": [Position("tool0", point), Direction("tool0", turn[:, 2])],
        }[kind]
        assert FABRIK().solve(Problem(body, objectives), body.sample(rng)).success


def test_a_link_in_the_middle_can_have_a_target_of_its_own(rng):
    body = snake(12)
    problem = reach(body, ("link_6", "tip"), Position)
    for _ in range(10):
        aim(problem, body.sample(rng))
        solution = FABRIK().solve(problem, body.sample(rng))
        assert solution.success
        assert honest(solution)


def test_a_free_root_goes_along(rng):
    body = mk.load("h1", base="floating", base_lower=-1.0, base_upper=1.0)
    problem = reach(body, ("left_ankle_link", "right_ankle_link"), Position)
    for _ in range(5):
        aim(problem, body.sample(rng))
        solution = FABRIK().solve(problem, body.sample(rng))
        assert solution.success
        assert honest(solution)


def test_guides_guide_and_never_block(rng):
    body = snake(10)
    target = body.forward(body.sample(rng))["tip"]
    hard, soft = Position("tip", target[:3, 3]), Direction("tip", target[:3, 2], tolerance=None, weight=0.5)
    start = body.sample(rng)
    solution = FABRIK().solve(Problem(body, [hard, soft]), start)
    assert solution.success
    assert solution.errors[soft] < 0.1
    contrary = Direction("tip", (1.0, 0.0, 0.0), tolerance=None, weight=100.0)
    assert FABRIK().solve(Problem(body, [Pose("tip", target), contrary]), start).success


@pytest.mark.quick
def test_slides_lengthen_bones_within_their_limits(rng):
    body = (
        BodyBuilder("crane")
        .add("base", "slew", "revolute", "mast", axis=(0, 0, 1), lower=-2.0, upper=2.0)
        .add("mast", "luff", "revolute", "boom", origin=(0, 0, 0.5), axis=(0, 1, 0), lower=-1.5, upper=0.5)
        .add("boom", "reach", "prismatic", "jib", origin=(0.5, 0, 0), axis=(1, 0, 0), lower=0.0, upper=0.6)
        .add(
            "jib",
            "spindle",
            "screw",
            "hook",
            origin=(0.2, 0, 0),
            axis=(0, 0, 1),
            screw_pitch=0.01,
            lower=-9.0,
            upper=9.0,
        )
        .add("hook", "to_tip", "fixed", "tip", origin=(0.1, 0, 0))
        .build()
    )
    problem = reach(body, ("tip",), Position)
    used = []
    for _ in range(10):
        aim(problem, body.sample(rng))
        solution = FABRIK().solve(problem, body.sample(rng))
        assert solution.success
        assert honest(solution)
        used.append(solution["reach"])
    assert np.ptp(used) > 0.2
    far = Problem(body, Position("tip", (5.0, 0.0, 0.5)))
    assert FABRIK().solve(far)["reach"] == pytest.approx(0.6)


@pytest.mark.quick
def test_mimic_joints_go_with_what_they_follow(rng):
    body = (
        BodyBuilder("finger")
        .add("base", "spread", "revolute", "knuckle", axis=(0, 0, 1), lower=-0.4, upper=0.4)
        .add("knuckle", "first", "revolute", "one", axis=(0, 1, 0), lower=-0.2, upper=1.6)
        .add("one", "second", "revolute", "two", origin=(0.05, 0, 0), axis=(0, 1, 0), lower=0.0, upper=1.6)
        .add("two", "third", "revolute", "three", origin=(0.03, 0, 0), axis=(0, 1, 0), mimic=Mimic("second", 0.8))
        .add("three", "to_tip", "fixed", "tip", origin=(0.03, 0, 0))
        .build()
    )
    problem = reach(body, ("tip",), Position)
    for _ in range(3):
        aim(problem, body.sample(rng))
        solution = FABRIK().solve(problem, body.sample(rng))
        assert solution.success
        assert honest(solution)


def test_what_it_cannot_take_is_said():
    body = mk.load("ur5")
    with pytest.raises(ProblemError, match=r"'fabrik' cannot take <AvoidLimits>.*'memetic'"):
        FABRIK().solve(Problem(body, [Position("tool0", (0.4, 0.2, 0.3)), AvoidLimits()]))
    with pytest.raises(ProblemError, match=r"rides on another frame.*'memetic'"):
        FABRIK().solve(Problem(body, Position("tool0", (0.1, 0.0, 0.0), relative_to="forearm_link")))


def test_bad_parameters_are_said():
    with pytest.raises(ProblemError, match="ahead is 2"):
        FABRIK(ahead=2)
    with pytest.raises(ProblemError, match="ahead is -1"):
        FABRIK(ahead=-1)

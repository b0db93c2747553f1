"""CCD: solved on arms, hands and humanoids, the same answer every time, honest about what it missed."""

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
from memetik.objectives import (
    CenterJoints,
    Cone,
    Direction,
    Displacement,
    LookAt,
    Orientation,
    Pose,
    Position,
)
from memetik.problem import Problem
from memetik.solution import Status
from memetik.solvers import Budget
from memetik.solvers.ccd import CCD
from tests.solvers.sweeps import BODIES, aim, growth, honest, reach
from tests.timing import overrun

DIRECTIONS = ("tip_to_root", "root_to_tip")


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("name", list(BODIES))
def test_positions_are_reached(name, direction, rng):
    make, tips = BODIES[name]
    body = make()
    problem = reach(body, tips, Position)
    for _ in range(8):
        aim(problem, body.sample(rng))
        solution = CCD(direction=direction).solve(problem, body.sample(rng))
        assert solution.success
        assert honest(solution)


@pytest.mark.parametrize(("name", "least"), [("ur5", 19), ("chain", 19), ("valkyrie", 18)])
def test_poses_are_reached(name, least, rng):
    make, tips = BODIES[name]
    body = make()
    problem = reach(body, tips, Pose)
    solved = 0
    for _ in range(20):
        aim(problem, body.sample(rng))
        solution = CCD().solve(problem, body.sample(rng))
        assert honest(solution)
        solved += solution.success
    assert solved >= least


@pytest.mark.quick
def test_the_planar_arm_is_that_of_the_textbook():
    """Two links of one metre, folded out to (1, 1): the elbow first, then the shoulder, by hand."""
    problem = Problem(planar_chain([1.0, 1.0], limits=None), Position("tip", (1.0, 1.0, 0.0)))
    one = CCD(restarts=False).solve(problem, [0.0, 0.0], Budget(evaluations=2))
    # The elbow at (1, 0) sees the target straight up and turns by a quarter; the tip is there.
    assert_allclose(one.q, [0.0, 0.5 * math.pi], atol=1e-12)
    assert one.success
    other = CCD(restarts=False, direction="root_to_tip").solve(problem, [0.0, 0.0], Budget(evaluations=2))
    # The shoulder points the straight arm at the target; the elbow lies on that line and has nothing to gain.
    assert_allclose(other.q, [0.25 * math.pi, 0.0], atol=1e-12)


def test_a_thousand_joints():
    body = snake(1000)
    rng = np.random.default_rng(5)
    problem = reach(body, ("tip",), Pose)
    aim(problem, body.sample(rng))
    solution = CCD().solve(problem, body.sample(rng))
    assert solution.success
    assert honest(solution)


@pytest.mark.timed
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_sweep_takes_time_in_proportion_to_the_joints(direction):
    assert growth(CCD(direction=direction), 100, 1600) < 4 * 16  # with forward kinematics at each joint, 256


# ---- The same answer, and no more than asked for ----------------------------------------------------------------


def hard():
    """A pose that the limits keep out of reach though it is near, so that all of the budget is used."""
    straight = {"panda_joint4": (-0.3, -0.07)}
    return Problem(mk.load("panda"), Pose("panda_hand", transform((0.0, 0.1, 0.1))), limits=straight)


def test_the_same_seed_gives_the_same_bits():
    problem = hard()
    answers = [CCD(seed=seed).solve(problem, budget=Budget(evaluations=500)) for seed in (1, 1, 2)]
    assert answers[0].attempts > 1
    assert_array_equal(answers[0].q, answers[1].q)
    assert answers[0].evaluations == answers[1].evaluations
    assert not np.array_equal(answers[0].q, answers[2].q)


@pytest.mark.quick
def test_solvers_with_other_settings_share_a_problem():
    def problem():
        return Problem(planar_chain(3), Position("tip", (0.2, 0.4, 0.0)))

    shared = problem()
    for solver in (CCD(), CCD(direction="root_to_tip"), CCD(longest_step=0.1), CCD()):
        assert_array_equal(solver.solve(shared).q, solver.solve(problem()).q)


@pytest.mark.parametrize("evaluations", [1, 2, 10, 11, 57])
def test_the_budget_is_kept(evaluations):
    problem = hard()
    solution = CCD().solve(problem, budget=Budget(evaluations=evaluations))
    assert solution.evaluations == evaluations
    assert honest(solution)
    assert not solution.timed_out


def test_the_first_evaluation_is_the_start():
    problem = reach(mk.load("panda"), ("panda_hand",), Pose)
    assert_array_equal(CCD().solve(problem, budget=Budget(evaluations=1)).q, problem.body.home)
    aim(problem, problem.body.home)
    solution = CCD().solve(problem)
    assert solution.success
    assert solution.evaluations == 1


@pytest.mark.timed
def test_deadlines_are_kept():
    problem, budget = hard(), Budget(evaluations=10**9, seconds=0.001)
    CCD().solve(problem, budget=Budget(evaluations=300))  # compiled, or loaded, before the clock runs
    assert overrun(lambda: CCD().solve(problem, budget=budget), budget.seconds) < 2e-4


def test_more_sweeps_are_never_worse():
    problem = hard()
    found = [CCD().solve(problem, budget=Budget(evaluations=n)) for n in (1, 3, 10, 30, 100, 300)]
    costs = [((problem.compiled.terms["scale"] * solution.term_errors) ** 2).sum() for solution in found]
    assert sorted(costs, reverse=True) == costs
    assert costs[-1] < 0.5 * costs[0]


# ---- Where it gets stuck ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("joints", [2, 3, 10])
@pytest.mark.parametrize("place", [0.7, 0.05, -0.4])
def test_a_straight_chain_leaves_its_own_line(joints, place):
    """No joint alone can bring the tip nearer; without the nudge this ends where it began."""
    body = planar_chain(joints)
    problem = Problem(body, Position("tip", (place, 0.0, 0.0)))
    solution = CCD(restarts=False).solve(problem, np.zeros(joints))
    assert solution.success


@pytest.mark.parametrize("restarts", [True, False])
def test_a_target_out_of_reach_is_pointed_at(restarts):
    problem = Problem(planar_chain(10), Position("tip", (1.2, -1.6, 0.0)))
    solution = CCD(restarts=restarts).solve(problem)
    assert solution.status is Status.CLOSEST
    assert_allclose(problem.body.forward(solution.q)["tip"][:2, 3], (0.6, -0.8), atol=1e-3)
    assert solution.evaluations < 20_000  # more starts would not help, so none are tried


@pytest.mark.quick
def test_without_restarts_it_ends_where_it_stands_still():
    body = planar_chain(3, limits=(-0.5, 0.5))
    solution = CCD(restarts=False).solve(Problem(body, Position("tip", (-0.5, 0.0, 0.0))))
    assert solution.status is Status.CLOSEST
    assert solution.attempts == 1
    assert solution.evaluations < 200
    assert honest(solution)


# ---- What it takes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(
    "kind",
    ["position mask", "position tolerances", "orientation", "orientation mask", "direction", "gaze", "cone", "aimed"],
)
def test_objectives(kind, direction, rng):
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
        assert CCD(direction=direction).solve(Problem(body, objectives), body.sample(rng)).success


def test_guides_guide_and_never_block(rng):
    body = snake(10)
    q = body.sample(rng)
    target = body.forward(q)["tip"]
    hard, soft = Position("tip", target[:3, 3]), Direction("tip", target[:3, 2], tolerance=None, weight=0.5)
    start = body.sample(rng)
    without = CCD().solve(Problem(body, [hard]), start)
    guided = Problem(body, [hard, soft])
    solution = CCD().solve(guided, start)
    assert solution.success
    assert solution.errors[soft] < 0.05
    angle = math.acos(np.clip(body.forward(without.q)["tip"][:3, 2] @ target[:3, 2], -1.0, 1.0))
    assert angle > 0.2
    contrary = Direction("tip", (1.0, 0.0, 0.0), tolerance=None, weight=100.0)
    assert CCD().solve(Problem(body, [Pose("tip", target), contrary]), start).success


@pytest.mark.quick
def test_guides_alone_come_to_a_balance():
    body = planar_chain(1, limits=None)
    left, right = (Direction("tip", d, axis=(1, 0, 0), tolerance=None) for d in ((1.0, 0.5, 0.0), (1.0, -0.5, 0.0)))
    solution = CCD().solve(Problem(body, [left, right]), [1.0])
    assert solution.status is Status.MINIMUM
    assert_allclose(solution.q, [0.0], atol=1e-6)


@pytest.mark.quick
def test_weights_decide_between_tips():
    """A tip on either side of one hinge cannot both have what they want: the heavier has more of it."""
    body = (
        BodyBuilder("cross")
        .add("base", "hinge", "continuous", "bar")
        .add("bar", "to_x", "fixed", "x", origin=(1, 0, 0))
        .add("bar", "to_y", "fixed", "y", origin=(0, 1, 0))
        .build()
    )
    for heavy in (1.0, 9.0):
        x, y = Position("x", (1.0, 0.0, 0.0), weight=heavy), Position("y", (-1.0, 0.0, 0.0))
        q = CCD(restarts=False).solve(Problem(body, [x, y])).q
        assert_allclose(math.tan(q[0]), 1.0 / heavy, rtol=1e-6)  # atan2(Σ w b, Σ w a)


@pytest.mark.quick
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_slides_screws_and_mimic_joints(direction, rng):
    body = (
        BodyBuilder("press")
        .add("base", "column", "prismatic", "carriage", axis=(0, 0, 1), lower=-0.3, upper=0.3)
        .add("carriage", "spindle", "screw", "nut", axis=(0, 0, 1), screw_pitch=0.02, lower=-6.0, upper=6.0)
        .add("nut", "shoulder", "revolute", "upper", origin=(0.1, 0, 0), axis=(0, 1, 0), lower=-1.5, upper=1.5)
        .add(
            "upper",
            "elbow",
            "revolute",
            "lower",
            origin=(0.3, 0, 0),
            axis=(0, 1, 0),
            mimic=Mimic("shoulder", -1.5, 0.2),
        )
        .add("lower", "to_tip", "fixed", "tip", origin=(0.3, 0, 0))
        .build()
    )
    problem = reach(body, ("tip",), Position)
    for _ in range(10):
        aim(problem, body.sample(rng))
        solution = CCD(direction=direction).solve(problem, body.sample(rng))
        assert solution.success
        assert honest(solution)


def test_longest_step_spreads_the_motion():
    problem = Problem(planar_chain(10), Position("tip", (0.5, 0.5, 0.0)))
    bold, careful = CCD().solve(problem), CCD(longest_step=0.05).solve(problem)
    assert bold.success
    assert careful.success
    assert np.abs(careful.q).max() < 0.5 * np.abs(bold.q).max()


@pytest.mark.quick
def test_a_weight_is_the_share_of_the_turn():
    """Two links of one metre, folded out to (1, 1): the elbow would turn by a quarter, and turns by half of that."""
    problem = Problem(planar_chain([1.0, 1.0], limits=None), Position("tip", (1.0, 1.0, 0.0)))
    shoulder, elbow = problem.body.joint_names
    one = CCD(restarts=False, weights={elbow: 0.5, shoulder: 0.0}).solve(problem, [0.0, 0.0], Budget(evaluations=2))
    assert_allclose(one.q, [0.0, 0.25 * math.pi], atol=1e-12)
    rest = CCD(restarts=False, weights={elbow: 0.0}).solve(problem, [0.0, 0.0], Budget(evaluations=2))
    assert_allclose(rest.q, [0.25 * math.pi, 0.0], atol=1e-12)  # the shoulder points the straight arm at the target


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_joints_without_weight_rest_and_the_others_reach(direction, rng):
    """Also through restarts and nudges; and the weights are those of the joints that are named."""
    body = mk.load("panda")
    problem = reach(body, ("panda_hand",), Position)
    rests = [body.index(name) for name in ("panda_joint3", "panda_joint5")]
    solver = CCD(direction=direction, weights={"panda_joint3": 0.0, "panda_joint5": 0.0, "panda_joint2": 0.5})
    for _ in range(8):
        q, start = body.sample(rng), body.sample(rng)
        q[rests] = start[rests]
        aim(problem, q)
        solution = solver.solve(problem, start)
        assert solution.success
        assert honest(solution)
        assert_array_equal(solution.q[rests], start[rests])
    missed = solver.solve(Problem(body, Position("panda_hand", (0.0, 0.0, -0.3))), start, Budget(evaluations=300))
    assert missed.attempts > 1
    assert_array_equal(missed.q[rests], start[rests])


@pytest.mark.quick
def test_weights_of_one_change_no_bit():
    problem = Problem(planar_chain(3), Position("tip", (0.2, 0.4, 0.0)))
    ones = CCD(weights=dict.fromkeys(problem.body.joint_names, 1.0))
    assert_array_equal(ones.solve(problem).q, CCD().solve(problem).q)
    halves = CCD(weights=dict.fromkeys(problem.body.joint_names, 0.5))
    assert not np.array_equal(halves.solve(problem).q, CCD().solve(problem).q)
    assert_array_equal(ones.solve(problem).q, CCD().solve(problem).q)  # not those of the solver before
    assert hash(ones) == hash(CCD())
    assert ones != CCD()


def test_bad_weights_are_said():
    problem = Problem(planar_chain(3), Position("tip", (0.2, 0.4, 0.0)))
    with pytest.raises(mk.errors.UnknownNameError, match="no free joint named 'elbow'"):
        CCD(weights={"elbow": 0.5}).solve(problem)
    for wrong in (-0.1, 1.5, math.nan):
        with pytest.raises(ProblemError, match=r"weights\['elbow'\] is .*from 0"):
            CCD(weights={"elbow": wrong})
    with pytest.raises(ProblemError, match=r"weights is 0\.5\. Give a dict"):
        CCD(weights=0.5)
    with pytest.raises(ProblemError, match=r"weights\['elbow'\]"):
        CCD(weights={"elbow": "half"})


def test_what_it_cannot_take_is_said():
    body = mk.load("ur5")
    hold = Position("tool0", (0.4, 0.2, 0.3))
    with pytest.raises(ProblemError, match=r"'ccd' cannot take <CenterJoints>.*'memetic'"):
        CCD().solve(Problem(body, [hold, CenterJoints()]))
    with pytest.raises(ProblemError, match="'ccd' cannot take <Displacement>"):
        CCD().solve(Problem(body, [hold, Displacement()]))
    rides = Position("tool0", (0.1, 0.0, 0.0), relative_to="forearm_link")
    with pytest.raises(ProblemError, match=r"rides on another frame.*'memetic'"):
        CCD().solve(Problem(body, rides))


def test_bad_parameters_are_said():
    with pytest.raises(ProblemError, match=r"direction is 'sideways'.*'tip_to_root' or 'root_to_tip'"):
        CCD(direction="sideways")
    with pytest.raises(ProblemError, match="longest_step is 0"):
        CCD(longest_step=0)

"""L-BFGS-B as a method: arms and humanoids are solved, limits and budgets kept, and what is reported is true."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

import memetik as mk
from memetik.errors import ProblemError
from memetik.geometry import random_rotation, transform
from memetik.objectives import (
    CenterJoints,
    Custom,
    Displacement,
    JointValue,
    LookAt,
    Orientation,
    Pose,
    Position,
)
from memetik.problem import Problem
from memetik.solution import Status
from memetik.solvers import Budget
from memetik.solvers.lbfgsb import LBFGSB
from tests.kernels.flat import Flat
from tests.naive import kinematics
from tests.naive.bodies import random_body, serial_arm
from tests.timing import overrun

TIPS = {"panda": "panda_hand", "ur5": "tool0", "iiwa14": "tool0", "kr120": "tool0"}


def cost(flat, q, softness=0.0):
    """Half the sum of squared residuals."""
    return 0.5 * flat.measure(np.ascontiguousarray(q[flat.active]), softness)[0]


def assert_inside(body, q):
    assert (q >= body.lower).all() and (q <= body.upper).all()


@pytest.mark.parametrize("name", TIPS)
def test_arms_reach_poses(name):
    body, tip = mk.load(name), TIPS[name]
    pose = Pose(tip, np.eye(4), position_tolerance=1e-5, orientation_tolerance=1e-4)
    problem = Problem(body, pose)
    rng = np.random.default_rng(1)
    for _ in range(25):
        T = pose.target = kinematics.pose(body, tip, body.sample(rng))
        solution = LBFGSB().solve(problem, body.sample(rng))
        assert solution.status is Status.REACHED and solution.method == "lbfgsb"
        assert_inside(body, solution.q)
        there = kinematics.pose(body, tip, solution.q)
        assert np.linalg.norm(there[:3, 3] - T[:3, 3]) <= 1.001e-5
        assert solution.errors[pose].orientation <= 1e-4
        assert_allclose(there[:3, :3], T[:3, :3], atol=2e-4)


def test_a_humanoid_reaches_with_hands_and_feet():
    body = mk.load("valkyrie").with_base("xyz", lower=-1.0, upper=1.0)
    links = ("rightPalm", "leftPalm", "rightFoot", "leftFoot")
    poses = [Pose(link, np.eye(4)) for link in links]
    problem = Problem(body, poses)
    rng = np.random.default_rng(2)
    for _ in range(5):
        there = body.forward(body.sample(rng))
        for pose, link in zip(poses, links, strict=True):
            pose.target = there[link].copy()
        solution = LBFGSB().solve(problem, body.sample(rng))
        assert solution.success
        assert_inside(body, solution.q)


@pytest.mark.parametrize("memory", [1, 3, 10])
def test_any_memory(memory, rng):
    body = serial_arm(6, rng)
    pose = Pose("link6", kinematics.pose(body, "link6", body.sample(rng)))
    assert LBFGSB(memory=memory).solve(Problem(body, pose), body.sample(rng)).success


@pytest.mark.parametrize("memory", [0, -1, 11])
def test_memories_that_are_none(memory):
    with pytest.raises(ProblemError, match=f"memory is {memory}; it must be from 1 to 10"):
        LBFGSB(memory=memory)


@pytest.mark.parametrize("seed", range(8))
def test_limits_are_kept_by_any_body(seed):
    """Trees of all kinds of joints, targets mostly out of reach, starts at and beyond the limits."""
    rng = np.random.default_rng(seed)
    body = random_body(rng, 8)
    objectives = [Position("link8", rng.normal(size=3)), Orientation("link5", random_rotation(rng), weight=0.3)]
    try:
        problem = Problem(body, objectives)
    except ProblemError:
        problem = Problem(serial_arm(5, rng), Position("link5", rng.normal(size=3)))
    body = problem.body
    for start in (body.sample(rng), np.where(np.isfinite(body.upper), body.upper + 1.0, 0.0)):
        solution = LBFGSB().solve(problem, start, Budget(evaluations=400))
        assert_inside(body, solution.q)
        assert solution.status in (Status.REACHED, Status.CLOSEST)


def test_a_limit_that_is_in_the_way_is_touched_exactly():
    body = mk.build.planar_chain([1.0, 1.0])
    problem = Problem(body, Position("tip", (0.0, 3.0, 0.0)), limits={"joint_1": (-0.5, 0.5)})
    solution = LBFGSB().solve(problem, [0.0, 0.1])
    assert solution.status is Status.CLOSEST
    assert solution["joint_1"] == 0.5


# ---- The same answer -----------------------------------------------------------------------------------------


def hard_arm():
    body = mk.load("panda")
    rng = np.random.default_rng(5)
    return Problem(body, Pose("panda_hand", body.forward(body.sample(rng))["panda_hand"])), body.sample(rng)


def test_the_same_seed_gives_the_same_bits():
    problem, start = hard_arm()
    first = LBFGSB(seed=3).solve(problem, start)
    LBFGSB(seed=4).solve(problem, problem.body.home)
    second = LBFGSB(seed=3).solve(problem, start)
    assert first.q.tobytes() == second.q.tobytes()
    assert (first.evaluations, first.attempts) == (second.evaluations, second.attempts)


def test_seeds_differ_once_it_starts_again():
    body = mk.load("panda")
    problem = Problem(body, Pose("panda_hand", transform((0.0, 0.0, 5.0))))
    answers = {LBFGSB(seed=seed).solve(problem, budget=Budget(evaluations=2000)).q.tobytes() for seed in range(3)}
    assert len(answers) == 3


def test_the_start_is_not_changed():
    problem, start = hard_arm()
    before = start.copy()
    LBFGSB().solve(problem, start)
    assert_array_equal(start, before)


# ---- Budgets -------------------------------------------------------------------------------------------------


def hard_problems():
    """Out of reach, with guides, and contradictory."""
    body = mk.load("ur5")
    far, near = np.full(3, 4.0), body.forward(body.home)["tool0"][:3, 3]
    yield Problem(body, Position("tool0", far))
    yield Problem(body, [Position("tool0", far), Displacement(), CenterJoints()])
    yield Problem(body, [Position("tool0", near), Position("tool0", near + 0.3)])


@pytest.mark.parametrize("evaluations", [1, 2, 3, 7, 50, 399, 1201])
@pytest.mark.parametrize("restarts", [True, False])
def test_evaluations_are_never_exceeded(evaluations, restarts):
    for problem in hard_problems():
        solution = LBFGSB(restarts=restarts).solve(problem, budget=Budget(evaluations=evaluations))
        assert 1 <= solution.evaluations <= evaluations
        assert solution.status is Status.CLOSEST and not solution.timed_out


def test_the_evaluations_are_used():
    for problem in hard_problems():
        solution = LBFGSB().solve(problem, budget=Budget(evaluations=3000))
        assert solution.evaluations > 2600 and solution.attempts > 10


@pytest.mark.timed
@pytest.mark.parametrize("number", range(3))
def test_deadlines_are_kept(number):
    problem, budget = list(hard_problems())[number], Budget(evaluations=10**9, seconds=0.001)
    LBFGSB().solve(problem, budget=Budget(evaluations=300))  # compiled, or loaded, before the clock runs
    assert overrun(lambda: LBFGSB().solve(problem, budget=budget), budget.seconds) < 2e-4


# ---- What cannot be reached, guides, and the single descent --------------------------------------------------


def unreachable():
    rng = np.random.default_rng(11)
    panda = mk.load("panda")
    for _ in range(4):
        far = transform(rng.normal(size=3) * 2.0, random_rotation(rng))
        yield Problem(panda, Pose("panda_hand", far)), panda.sample(rng)
        looking = [Position("panda_hand", far[:3, 3]), LookAt("panda_link5", rng.normal(size=3))]
        yield Problem(panda, looking), panda.home


@pytest.mark.parametrize("case", list(unreachable()))
@pytest.mark.parametrize("restarts", [True, False])
def test_closest_is_a_minimum(case, restarts):
    """SciPy's L-BFGS-B from the answer finds nothing that is better by more than a millionth."""
    problem, start = case
    solution = LBFGSB(restarts=restarts).solve(problem, start, Budget(evaluations=4000))
    flat = Flat(problem)
    assert solution.status is Status.CLOSEST
    x, bounds = solution.q[flat.active], list(zip(flat.variables["lower"], flat.variables["upper"], strict=True))
    least = minimize(lambda y: flat.measure(y)[0], x, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-15})
    assert flat.measure(x)[0] <= least.fun * (1.0 + 1e-6)


def test_more_evaluations_never_make_it_worse():
    for problem in hard_problems():
        flat = Flat(problem)
        costs = [cost(flat, LBFGSB().solve(problem, budget=Budget(evaluations=n)).q) for n in (1, 60, 2000)]
        assert costs[0] >= costs[1] * (1.0 - 1e-6) and costs[1] >= costs[2] * (1.0 - 1e-6)


def test_what_is_reported_is_true():
    """Errors are those of the naive forward kinematics on the vector that is returned."""
    body = mk.load("ur5")
    rng = np.random.default_rng(8)
    for scale in (0.3, 3.0):
        point = rng.normal(size=3) * scale
        reach = Position("tool0", point)
        solution = LBFGSB().solve(Problem(body, reach), budget=Budget(evaluations=2000))
        error = np.linalg.norm(kinematics.pose(body, "tool0", solution.q)[:3, 3] - point)
        assert solution.errors[reach] == pytest.approx(error, rel=1e-9, abs=1e-12)
        assert solution.success == (error <= reach.tolerance)


def test_without_restarts_it_is_one_descent():
    """It ends where SciPy's L-BFGS-B ends, or before that, satisfied."""
    problem, _ = hard_arm()
    flat, rng, seen = Flat(problem), np.random.default_rng(6), set()
    bounds = list(zip(flat.variables["lower"], flat.variables["upper"], strict=True))
    for _ in range(20):
        start = problem.body.sample(rng)
        solution = LBFGSB(restarts=False).solve(problem, start)
        assert solution.attempts == 1
        seen.add(solution.status)
        if not solution.success:
            x = solution.q[flat.active]
            least = minimize(lambda y: flat.measure(y)[0], x, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-15})
            assert flat.measure(x)[0] <= least.fun * (1.0 + 1e-6)
    assert seen == {Status.REACHED, Status.CLOSEST}  # from some starts a minimum is in the way


@pytest.mark.parametrize("weight", [0.01, 1.0, 100.0])
def test_guides_never_block(weight):
    body = mk.load("panda")
    rng = np.random.default_rng(3)
    pose = Pose("panda_hand", np.eye(4))
    problem = Problem(body, [pose, Position("panda_link4", (9, 9, 9), tolerance=None, weight=weight), Displacement()])
    for _ in range(10):
        pose.target = body.forward(body.sample(rng))["panda_hand"].copy()
        assert LBFGSB().solve(problem, body.sample(rng)).success


def test_guides_choose_among_solutions():
    body = mk.build.planar_chain([1.0, 1.0, 1.0])
    reach = Position("tip", (1.5, 0.5, 0.0))
    for value in (-0.8, 0.8):
        guide = JointValue("joint_3", value, tolerance=None, weight=0.01)
        solution = LBFGSB().solve(Problem(body, [reach, guide]), [0.1, 0.2, 0.0])
        assert solution.success
        assert solution["joint_3"] == pytest.approx(value, abs=0.02)


def test_only_guides_are_reached_at_their_balance():
    body = mk.build.planar_chain([1.0, 1.0])
    problem = Problem(
        body, [Position("tip", (3.0, 0.0, 0.0), tolerance=None), JointValue("joint_2", 0.5, tolerance=None)]
    )
    flat = Flat(problem)
    for start in ([1.0, 1.0], [-2.0, 0.3], [0.0, 0.0]):
        solution = LBFGSB().solve(problem, start)
        assert solution.success
        least = minimize(lambda x: flat.measure(x, 1.0)[0], solution.q, method="Nelder-Mead", tol=1e-12)
        assert flat.measure(solution.q, 1.0)[0] <= least.fun + 1e-9


# ---- Objectives that users write -----------------------------------------------------------------------------


def test_custom_objectives_give_what_the_built_in_ones_give():
    body = mk.load("ur5")
    rng = np.random.default_rng(9)
    for _ in range(5):
        x, y, z = (float(number) for number in body.forward(body.sample(rng))["tool0"][:3, 3])

        def miss(tool, x=x, y=y, z=z):
            a, b, c = tool.position
            return a - x, b - y, c - z

        start = body.sample(rng)
        for objective in (Position("tool0", (x, y, z)), Custom(miss, reads=["tool0"], tolerance=1e-4)):
            solution = LBFGSB().solve(Problem(body, objective), start)
            assert solution.success
            assert_allclose(kinematics.pose(body, "tool0", solution.q)[:3, 3], (x, y, z), atol=1.01e-4)


def test_an_objective_that_is_not_defined_everywhere():
    """Beyond half the reach there is no answer; the descent steps back from there, and restarts land elsewhere."""
    body = mk.build.planar_chain([1.0, 1.0])
    inside = Custom(lambda tip: tip.position[0] - 0.8 if tip.position[0] < 1.0 else math.nan, reads=["tip"])
    for start in ([1.2, 0.3], [2.0, 0.0], [0.0, 0.0]):
        solution = LBFGSB().solve(Problem(body, inside), start)
        assert solution.success
        assert kinematics.pose(body, "tip", solution.q)[0, 3] == pytest.approx(0.8, abs=1e-3)


def test_an_objective_that_is_defined_nowhere():
    body = mk.build.planar_chain([1.0, 1.0])
    nowhere = Custom(lambda tip: tip.position[0] * math.nan, reads=["tip"])
    solution = LBFGSB().solve(Problem(body, nowhere), [0.3, 0.2], Budget(evaluations=100))
    assert solution.status is Status.INVALID
    assert_array_equal(solution.q, [0.3, 0.2])


def test_joints_that_nothing_reads_stay():
    body = mk.load("valkyrie")
    rng = np.random.default_rng(10)
    start = body.sample(rng)
    target = body.forward(body.sample(rng))["rightPalm"][:3, 3]
    solution = LBFGSB().solve(Problem(body, Position("rightPalm", target)), start)
    assert solution.success
    for joint in ("leftShoulderPitch", "leftKneePitch"):
        assert solution[joint] == start[body.joint_names.index(joint)]

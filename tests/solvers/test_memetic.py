"""The flagship: the same answer every time, budgets and deadlines, limits, and the truth about what was reached."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

import memetik as mk
from memetik.errors import ProblemError
from memetik.geometry import random_rotation, transform
from memetik.objectives import (
    CenterJoints,
    Cone,
    Custom,
    Direction,
    Displacement,
    JointValue,
    LookAt,
    Orientation,
    Pose,
    Position,
)
from memetik.problem import Problem
from memetik.solution import Status
from memetik.solvers import Budget, Memetic, solve
from tests.kernels.flat import Flat
from tests.naive import kinematics
from tests.naive.bodies import random_body, serial_arm
from tests.timing import overrun

TIPS = {"panda": "panda_hand", "ur5": "tool0", "iiwa14": "tool0", "shadow_hand": "rh_fftip", "nao": "l_gripper"}


def pose_of(body, link, q):
    return kinematics.pose(body, link, q)


def arm_problem(seed=0):
    """A panda and 12 targets, every third one out of reach."""
    body = mk.load("panda")
    rng = np.random.default_rng(seed)
    targets = [body.forward(body.sample(rng))["panda_hand"].copy() for _ in range(12)]
    for target in targets[::3]:
        target[:3, 3] += 5.0
    objective = Pose("panda_hand", targets[0])
    return Problem(body, [objective]), objective, targets


def answers(problem, objective, targets, seed=0, evaluations=300):
    """Bits of all answers."""
    found = []
    for target in targets:
        objective.target = target
        solution = Memetic(seed).solve(problem, budget=Budget(evaluations=evaluations))
        found.append((solution.q.tobytes(), solution.status, solution.evaluations, solution.attempts))
    return found


# ---- The same answer ----------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bits():
    first = answers(*arm_problem())
    assert answers(*arm_problem()) == first
    assert {status for _, status, _, _ in first} == {Status.REACHED, Status.CLOSEST}


def test_solves_in_between_leave_no_trace():
    problem, objective, targets = arm_problem()
    first = answers(problem, objective, targets)
    other, other_objective, other_targets = arm_problem(seed=1)
    answers(other, other_objective, other_targets, seed=5)
    answers(problem, objective, other_targets, seed=3)
    assert answers(problem, objective, targets) == first
    backwards = answers(problem, objective, targets[::-1])
    assert backwards[::-1] == first


def test_guides_that_follow_the_start_leave_no_trace():
    body = mk.load("ur5")
    rng = np.random.default_rng(1)
    reach = Position("tool0", body.forward(body.sample(rng))["tool0"][:3, 3])
    problem = Problem(body, [reach, Displacement(weight=0.1)])
    starts = [body.sample(rng) for _ in range(5)]
    first = [Memetic().solve(problem, start).q.tobytes() for start in starts]
    assert [Memetic().solve(problem, start).q.tobytes() for start in starts[::-1]][::-1] == first


def test_threads_with_problems_of_their_own():
    expected = [answers(*arm_problem(seed)) for seed in range(4)]
    problems = [arm_problem(seed) for seed in range(4)]
    found = [None] * 4

    def work(k):
        for _ in range(5):
            found[k] = answers(*problems[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_threads_that_share_a_problem_in_turn():
    problem, objective, targets = arm_problem()
    expected = answers(problem, objective, targets)
    found, turn = [], threading.Lock()

    def work():
        for _ in range(3):
            with turn:
                found.append(answers(problem, objective, targets))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == 12 * [expected]


def test_the_seed_matters_once_the_population_is_used_up():
    problem, objective, targets = arm_problem()
    one, other = (answers(problem, objective, targets[:1], seed, evaluations=3000) for seed in (1, 2))
    assert one != other


def test_the_start_is_not_changed():
    problem, _, _ = arm_problem()
    start = problem.body.home + 0.1
    before = start.copy()
    Memetic().solve(problem, start)
    assert_array_equal(start, before)


# ---- Budgets ------------------------------------------------------------------------------------------------

EVALUATIONS = [1, 2, 3, 5, 10, 59, 60, 61, 62, 70, 100, 250, 1000]


def hard_problems():
    """Out of reach, with guides, with room to spare, and contradictory: every way through the solver."""
    body = mk.load("ur5")
    far, near = np.full(3, 4.0), body.forward(body.home)["tool0"][:3, 3]
    yield Problem(body, Position("tool0", far))
    yield Problem(body, [Position("tool0", far), Displacement(), CenterJoints()])
    yield Problem(body, [Position("tool0", far), Orientation("tool0", np.eye(3), tolerance=1.0)])
    yield Problem(body, Pose("tool0", transform(far), position_tolerance=0.5))
    yield Problem(body, Pose("tool0", transform(far), orientation_tolerance=3.0))
    yield Problem(body, [Position("tool0", near), Position("tool0", near + 0.3)])


@pytest.mark.parametrize("evaluations", EVALUATIONS)
def test_evaluations_are_never_exceeded(evaluations):
    for problem in hard_problems():
        solution = Memetic().solve(problem, budget=Budget(evaluations=evaluations))
        assert 1 <= solution.evaluations <= evaluations
        assert solution.status is Status.CLOSEST and not solution.timed_out


def test_one_evaluation_gives_a_verified_answer():
    rng = np.random.default_rng(2)
    body = mk.load("panda")
    q, start = body.sample(rng), body.sample(rng)
    T = pose_of(body, "panda_hand", q)
    problem = Problem(body, Pose("panda_hand", T))
    missed = Memetic().solve(problem, start, Budget(evaluations=1))
    assert missed.status is Status.CLOSEST and missed.evaluations == 1
    assert_array_equal(missed.q, start)
    error = missed.errors[problem.objectives[0]]
    assert error.position == pytest.approx(np.linalg.norm((pose_of(body, "panda_hand", start) - T)[:3, 3]), rel=1e-9)
    there = Memetic().solve(problem, q, Budget(evaluations=1))
    assert there.success and there.evaluations == 1
    assert_array_equal(there.q, q)


def test_more_evaluations_never_make_it_worse():
    for problem in hard_problems():
        flat = Flat(problem)
        costs = [
            flat.measure(Memetic().solve(problem, budget=Budget(evaluations=n)).q[flat.active])[1]
            for n in (1, 60, 2000)
        ]
        assert costs[0] >= costs[1] * (1.0 - 1e-6) and costs[1] >= costs[2] * (1.0 - 1e-6)


@pytest.mark.timed
@pytest.mark.parametrize("number", range(6))
def test_deadlines_are_kept(number):
    problem, budget = list(hard_problems())[number], Budget(evaluations=10**9, seconds=0.001)
    Memetic().solve(problem, budget=Budget(evaluations=300))  # compiled, or loaded, before the clock runs
    assert overrun(lambda: Memetic().solve(problem, budget=budget), budget.seconds) < 2e-4


def test_a_solve_that_ends_in_time_says_so():
    problem, objective, targets = arm_problem()
    objective.target = targets[1]
    solution = Memetic().solve(problem, budget=Budget(seconds=10.0))
    assert solution.success and not solution.timed_out
    again = Memetic().solve(problem)
    assert_array_equal(solution.q, again.q)


@pytest.mark.parametrize(
    "budget", [{"evaluations": 0}, {"evaluations": -3}, {"seconds": 0.0}, {"seconds": -1.0}, {"seconds": math.nan}]
)
def test_budgets_that_are_none(budget):
    with pytest.raises(ProblemError, match="budget"):
        Budget(**budget)


# ---- Guides, and what cannot be reached ---------------------------------------------------------------------


@pytest.mark.parametrize("weight", [0.01, 1.0, 100.0])
def test_guides_never_block(weight):
    """Guides that want the opposite, however heavy, do not keep a reachable pose from being reached."""
    body = mk.load("panda")
    rng = np.random.default_rng(3)
    pose = Pose("panda_hand", np.eye(4))
    guides = [
        Position("panda_link4", (9, 9, 9), tolerance=None, weight=weight),
        Direction("panda_hand", (0, 0, 1), tolerance=None, weight=weight),
        Displacement(weight=weight),
    ]
    problem = Problem(body, [pose, *guides])
    for _ in range(30):
        pose.target = body.forward(body.sample(rng))["panda_hand"].copy()
        solution = Memetic().solve(problem, body.sample(rng))
        assert solution.success
        assert solution.errors[pose].position <= 1e-4 and solution.errors[pose].orientation <= 1e-3


def test_guides_choose_among_solutions():
    """With a redundant arm the elbow goes where the guide wants it, as far as the hand allows."""
    body = mk.load("iiwa14")
    rng = np.random.default_rng(4)
    tip, elbow = TIPS["iiwa14"], "link_4"
    T = body.forward(body.sample(rng))[tip]
    heights = []
    for direction in (1.0, -1.0):
        guide = Position(elbow, (0.0, 0.0, 3.0 * direction), tolerance=None, weight=0.1)
        solution = Memetic().solve(Problem(body, [Pose(tip, T), guide]))
        assert solution.success
        heights.append(body.forward(solution.q)[elbow][2, 3])
    assert heights[0] > heights[1] - 1e-6


def test_only_guides_are_reached_at_their_balance():
    body = mk.build.planar_chain([1.0, 1.0])
    guides = [Position("tip", (3.0, 0.0, 0.0), tolerance=None), JointValue("joint_2", 0.5, tolerance=None)]
    flat = Flat(Problem(body, guides))
    for start in ([1.0, 1.0], [-2.0, 0.3], [0.0, 0.0]):
        solution = Memetic().solve(Problem(body, guides), start)
        assert solution.success
        least = minimize(lambda x: flat.measure(x, 1.0)[0], solution.q, method="Nelder-Mead", tol=1e-12)
        assert flat.measure(solution.q, 1.0)[0] <= least.fun + 1e-9


def test_a_reachable_pose_that_only_guides_is_reached_from_afar():
    """A single descent from home ends more than a millimetre off at one pose in five; the budget goes into others."""
    body, rng = mk.load("panda"), np.random.default_rng(0)
    here = body.forward(body.home)["panda_hand"]
    guide = Pose("panda_hand", here, position_tolerance=None, orientation_tolerance=None)
    problem = Problem(body, [guide])
    for _ in range(50):
        guide.target = body.forward(body.sample(rng))["panda_hand"]
        solution = solve(problem, budget=Budget(evaluations=20_000))
        assert np.linalg.norm(body.forward(solution.q)["panda_hand"][:3, 3] - guide.target[:3, 3]) < 1e-3


def test_out_of_reach_the_arm_points_there():
    body = mk.build.planar_chain([1.0, 1.0, 1.0])
    reach = Position("tip", (4.0, -3.0, 0.0))
    solution = Memetic().solve(Problem(body, reach), [0.3, 0.2, 0.1])
    assert solution.status is Status.CLOSEST and not solution.success
    assert solution.errors[reach] == pytest.approx(2.0, abs=1e-6)
    assert_allclose(solution.q, [math.atan2(-3.0, 4.0), 0.0, 0.0], atol=1e-3)


def test_objectives_that_contradict_each_other_meet_in_the_middle():
    body = mk.load("ur5")
    here = body.forward(body.home)["tool0"][:3, 3]
    one, other = Position("tool0", here), Position("tool0", here + np.array([0.0, 0.0, 0.1]))
    solution = Memetic().solve(Problem(body, [one, other]))
    assert solution.status is Status.CLOSEST
    assert solution.errors[one] == pytest.approx(0.05, abs=1e-5)
    assert solution.errors[other] == pytest.approx(0.05, abs=1e-5)


def local_minimum_cases():
    """Arms and trees with targets out of reach, some at their limits, some with coupled joints."""
    rng = np.random.default_rng(11)
    panda = mk.load("panda")
    for _ in range(4):
        far = transform(rng.normal(size=3) * 2.0, random_rotation(rng))
        yield Problem(panda, Pose("panda_hand", far)), panda.sample(rng)
        yield (
            Problem(panda, [Position("panda_hand", far[:3, 3]), LookAt("panda_link5", rng.normal(size=3))]),
            panda.home,
        )
    hand = mk.load("shadow_hand")
    tips = ("rh_fftip", "rh_thtip", "rh_lftip")
    yield Problem(hand, [Position(tip, (0.2, 0.1 * k, 0.3)) for k, tip in enumerate(tips)]), hand.home
    for seed in range(6):
        body = random_body(np.random.default_rng(seed), 8)
        objectives = [Position("link8", rng.normal(size=3) * 3.0), Orientation("link5", random_rotation(rng))]
        try:
            yield Problem(body, objectives), body.sample(rng)
        except ProblemError:
            continue


@pytest.mark.parametrize("case", list(local_minimum_cases()), ids=lambda case: case[0].body.name)
def test_closest_is_a_minimum(case):
    """L-BFGS-B from the answer finds nothing that is better by more than a millionth."""
    problem, start = case
    solution = Memetic().solve(problem, start, Budget(evaluations=4000))
    flat = Flat(problem)

    def cost(x):
        flat.linearise(x)
        return flat.measure(x)[1], 2.0 * gradient(flat, x)

    def gradient(flat, x):
        flat.linearise(x)
        w = flat.work
        return w.jacobian[:, : w.residual.size] @ w.residual + w.gradient

    x = solution.q[flat.active]
    bounds = list(zip(flat.variables["lower"], flat.variables["upper"], strict=True))
    better = minimize(
        cost, x, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 2000, "ftol": 1e-15, "gtol": 1e-10}
    )
    assert cost(x)[0] <= better.fun + 1e-6


@pytest.mark.filterwarnings("ignore:the start")  # so far out that it looks like degrees
@pytest.mark.parametrize("name", ["panda", "ur5", "shadow_hand", "nao"])
def test_limits_are_never_broken(name):
    """Whatever the target and however far outside the start is."""
    body = mk.load(name)
    rng = np.random.default_rng(5)
    reach = Position(TIPS[name], (0, 0, 0))
    narrowed = {
        joint: (low + 0.1 * (high - low), high)
        for joint, low, high in zip(body.joint_names, body.lower, body.upper, strict=True)
    }
    problem = Problem(body, reach, limits=narrowed)
    for _ in range(40):
        reach.target = rng.normal(size=3)
        solution = Memetic().solve(problem, rng.normal(scale=10.0, size=body.dof), Budget(evaluations=200))
        assert (solution.q >= problem.lower).all() and (solution.q <= problem.upper).all()
        assert solution.start_moved


def test_what_an_objective_cannot_say_is_invalid():
    body = mk.build.planar_chain(3)
    nowhere = Custom(no_number, reads=["tip"])
    solution = Memetic().solve(
        Problem(body, [Position("tip", (0.5, 0.0, 0.0)), nowhere]), budget=Budget(evaluations=50)
    )
    assert solution.status is Status.INVALID and math.isnan(solution.errors[nowhere])
    assert np.isfinite(solution.q).all()


def no_number(frame):
    return math.nan


# ---- Nothing to solve ---------------------------------------------------------------------------------------


def test_problems_that_nothing_can_move_are_refused_at_once():
    body = mk.load("panda")
    with pytest.raises(ProblemError, match="no free joint can influence it"):
        Problem(body, Position(body.root, (0, 0, 0)))
    everything = dict(zip(body.joint_names, body.home, strict=True))
    with pytest.raises(ProblemError, match="no free joint can influence it"):
        Problem(body, Position("panda_hand", (0.3, 0, 0.3)), lock=everything)
    with pytest.raises(ProblemError, match="no free joint can influence it"):
        Problem(
            body, Position("panda_hand", (0, 0, 0)), limits={name: (value, value) for name, value in everything.items()}
        )
    with pytest.raises(ProblemError, match="is locked at"):
        Problem(body, JointValue("panda_joint1", 0.1), lock={"panda_joint1": 0.0})


def test_by_name():
    body = mk.build.planar_chain(3)
    problem = Problem(body, Position("tip", (0.5, 0.3, 0.0)))
    one, other = solve(problem), Memetic().solve(problem)
    assert one.method == "memetic"
    assert_array_equal(one.q, other.q)
    assert_array_equal(solve(problem, seed=4).q, Memetic(4).solve(problem).q)


# ---- Bodies of every kind -----------------------------------------------------------------------------------


def one_joint(kind, **fields):
    builder = mk.build.BodyBuilder("one joint")
    builder.add("base", "joint", kind, "link", origin=(0.1, 0.0, 0.2), axis=(0.0, 1.0, 1.0), **fields)
    builder.add("link", "rod", "fixed", "tip", origin=(0.3, 0.1, 0.0))
    return builder.build()


SINGLE = {
    "revolute": {"lower": -2.0, "upper": 2.0},
    "continuous": {},
    "prismatic": {"lower": -0.5, "upper": 0.8},
    "screw": {"screw_pitch": 0.1},
    "cylindrical": {"lower": (-3.0, -0.2), "upper": (3.0, 0.5)},
    "planar": {},
    "spherical": {},
    "xyz": {"lower": -1.0, "upper": 1.0},
    "floating": {},
}


def solved_all(body, tip, rng, count=30, pose=True):
    """Solves poses that can be reached, from random starts, and checks every answer by plain matrices."""
    objective = Pose(tip, np.eye(4)) if pose else Position(tip, (0, 0, 0))
    problem = Problem(body, objective)
    for _ in range(count):
        T = pose_of(body, tip, body.sample(rng))
        objective.target = T if pose else T[:3, 3]
        solution = Memetic().solve(problem, body.sample(rng))
        assert solution.success
        found = pose_of(body, tip, solution.q)
        assert np.linalg.norm((found - T)[:3, 3]) <= 1e-4 + 1e-12
        if pose:
            assert np.abs(found - T)[:3, :3].max() <= 1e-3
        assert (solution.q >= body.lower).all() and (solution.q <= body.upper).all()


@pytest.mark.parametrize("kind", SINGLE)
def test_bodies_of_one_joint(kind, rng):
    solved_all(one_joint(kind, **SINGLE[kind]), "tip", rng)


def test_a_gantry_of_slides_only(rng):
    builder = mk.build.BodyBuilder("gantry")
    builder.add("base", "x", "prismatic", "bridge", axis=(1, 0, 0), lower=-1.0, upper=1.0)
    builder.add("bridge", "y", "prismatic", "trolley", axis=(0, 1, 0), lower=-0.5, upper=0.5)
    builder.add("trolley", "z", "prismatic", "hook", axis=(0, 0, -1), lower=0.0, upper=2.0)
    body = builder.build()
    solved_all(body, "hook", rng, pose=False)
    far = Position("hook", (9.0, 9.0, -1.0))
    solution = Memetic().solve(Problem(body, far))
    assert_allclose(solution.q, [1.0, 0.5, 1.0], atol=1e-9)


def test_chains_of_every_kind(rng):
    kinds = ["revolute", "continuous", "prismatic", "screw", "cylindrical", "planar", "spherical"]
    for seed in range(6):
        body = random_body(np.random.default_rng(seed), 7, kinds, mimics=0.2)
        solved_all(body, "link7", rng, count=10)


@pytest.mark.parametrize("base", ["planar", "xyz", "floating"])
def test_a_free_base(base, rng):
    body = mk.load("ur5").with_base(base)
    solved_all(body, "tool0", rng, count=15)


def test_a_floating_humanoid_with_four_tips(rng):
    body = mk.load("h1", base="floating")
    tips = body.chains["feet_hands"].tips
    objectives = [Position(tip, (0, 0, 0)) for tip in tips]
    problem = Problem(body, objectives)
    for _ in range(10):
        poses = body.forward(body.sample(rng))
        for objective, tip in zip(objectives, tips, strict=True):
            objective.target = poses[tip][:3, 3]
        assert Memetic().solve(problem).success


def test_fingertips_of_a_hand_with_coupled_joints(rng):
    """Five targets at once; the last joints of the fingers follow the ones before."""
    body = mk.load("shadow_hand")
    coupled = [joint for joint in body.joints.values() if joint.mimic is not None]
    assert len(coupled) == 4
    tips = ["rh_fftip", "rh_mftip", "rh_rftip", "rh_lftip", "rh_thtip"]
    objectives = [Position(tip, (0, 0, 0)) for tip in tips]
    problem = Problem(body, objectives)
    for _ in range(20):
        q = body.sample(rng)
        for objective, tip in zip(objectives, tips, strict=True):
            objective.target = pose_of(body, tip, q)[:3, 3]
        solution = Memetic().solve(problem, body.sample(rng))
        assert solution.success
        for objective, tip in zip(objectives, tips, strict=True):
            assert np.linalg.norm(pose_of(body, tip, solution.q)[:3, 3] - objective.target) <= 1e-4 + 1e-12


def test_the_pose_of_a_finger_with_a_coupled_joint(rng):
    """A variable that moves two joints of one chain: the step must count both."""
    body = mk.load("shadow_hand")
    objective = Pose("rh_fftip", np.eye(4))
    problem = Problem(body, objective)
    spent = []
    for _ in range(40):
        objective.target = body.forward(body.sample(rng))["rh_fftip"].copy()
        solution = Memetic().solve(problem, body.sample(rng))
        assert solution.success
        spent.append(solution.evaluations)
    assert np.mean(spent) < 7.5


def five_bar():
    """Two arms of two links in the plane, their bases 0.4 m apart; the loop is closed where their tips meet.

            tip
           /   \\
        left   right        links of 0.5 and 0.6 m
          |     |
        --o-----o--
    """
    builder = mk.build.BodyBuilder("five-bar")
    for side, x in (("left", -0.2), ("right", 0.2)):
        builder.add(
            "base", f"{side}_shoulder", "revolute", f"{side}_upper", origin=(x, 0, 0), lower=-math.pi, upper=math.pi
        )
        builder.add(
            f"{side}_upper",
            f"{side}_elbow",
            "revolute",
            f"{side}_lower",
            origin=(0.5, 0, 0),
            lower=-math.pi,
            upper=math.pi,
        )
        builder.add(f"{side}_lower", f"{side}_end", "fixed", f"{side}_tip", origin=(0.6, 0, 0))
    return builder.build()


def shoulder_angles(x, y, base, upper=0.5, lower=0.6):
    """Both shoulder angles of an arm of two links that reaches (x, y), by the law of cosines."""
    reach = math.hypot(x - base, y)
    way, bend = math.atan2(y, x - base), math.acos((upper**2 + reach**2 - lower**2) / (2 * upper * reach))
    return way - bend, way + bend


@pytest.mark.parametrize("target", [(0.0, 0.8), (0.3, 0.6), (-0.25, 0.7)])
def test_a_five_bar_linkage_closes_its_loop(target):
    body = five_bar()
    meet = Position("left_tip", (0, 0, 0), relative_to="right_tip", tolerance=1e-7)
    reach = Position("left_tip", (*target, 0.0), tolerance=1e-7)
    solution = Memetic().solve(Problem(body, [meet, reach]), [1.9, -1.0, 1.2, 1.0])
    assert solution.success
    left, right = (pose_of(body, f"{side}_tip", solution.q)[:3, 3] for side in ("left", "right"))
    assert_allclose(left, (*target, 0.0), atol=2e-7)
    assert_allclose(right, left, atol=2e-7)
    for side, base in (("left", -0.2), ("right", 0.2)):
        angle = solution[f"{side}_shoulder"]
        assert min(abs(angle - other) for other in shoulder_angles(*target, base)) < 1e-5


def test_a_driven_five_bar_linkage():
    """Both shoulders given: the elbows follow, and the tip is where two circles meet."""
    body = five_bar()
    meet = Position("left_tip", (0, 0, 0), relative_to="right_tip", tolerance=1e-8)
    problem = Problem(body, meet, lock={"left_shoulder": 2.0, "right_shoulder": 1.1})
    solution = Memetic().solve(problem, [0.0, -1.0, 0.0, 1.0])
    assert solution.success and solution["left_shoulder"] == 2.0 and solution["right_shoulder"] == 1.1
    tip = pose_of(body, "left_tip", solution.q)[:2, 3]
    for base, angle in ((-0.2, 2.0), (0.2, 1.1)):
        elbow = np.array([base + 0.5 * math.cos(angle), 0.5 * math.sin(angle)])
        assert np.linalg.norm(tip - elbow) == pytest.approx(0.6, abs=1e-7)


def test_joints_that_nothing_reads_stay():
    body = mk.load("pr2")
    start = body.clip(body.home + 0.05)
    tip = "r_gripper_tool_frame"
    problem = Problem(body, Position(tip, body.forward(body.clip(body.home - 0.2))[tip][:3, 3]))
    solution = Memetic().solve(problem, start)
    unread = np.setdiff1d(np.arange(body.dof), problem.compiled.active)
    assert len(unread) > 5 and solution.success
    assert_array_equal(solution.q[unread], start[unread])
    assert (solution.q != start).any()


def test_a_cone_is_satisfied_anywhere_inside():
    body = serial_arm(4)
    rng = np.random.default_rng(9)
    q = body.sample(rng)
    axis = pose_of(body, "link4", q)[:3, 2]
    solution = Memetic().solve(Problem(body, Cone("link4", axis, 0.5)), q)
    assert solution.success and solution.evaluations == 1
    assert_array_equal(solution.q, q)


@pytest.mark.parametrize("seed", [1727, 2477])
def test_a_heavy_guide_leaves_the_answer_finite(seed):
    """Few rows of a heavy guide count, so most variables are open: the damped step is next to singular."""
    rng = np.random.default_rng(seed)
    origins = [mk.transform(rng.normal(size=3) * 0.3, mk.geometry.random_rotation(rng)) for _ in range(3)]
    joints = [
        mk.build.Joint(f"joint{k}", kind, f"link{k}", f"link{k + 1}", origin=origins[k], axis=(0, 0, 1))
        for k, kind in enumerate(("revolute", "spherical", "planar"))
    ]
    body = mk.Body("arm", [mk.build.Link(f"link{k}") for k in range(4)], joints)
    tip, near = body.frame("link3", (0.1, -0.1, 0.2)), body.frame("link1", (-0.2, 0.1, 0.25))
    q = body.sample(rng)
    guide = mk.Pose(
        tip,
        body.forward(q, tip),
        mask=(1, 0, 0, 0, 0, 1),
        position_tolerance=None,
        orientation_tolerance=None,
        weight=3e5,
    )
    place = mk.Position(near, body.forward(q, near)[:3, 3])
    problem = mk.Problem(body, [guide, place])
    solution = mk.solve(problem, seed=seed, budget=mk.Budget(evaluations=3000))
    assert solution.success and np.isfinite(solution.q).all()
    step = mk.bind(problem, place, seed=seed, budget=mk.Budget(evaluations=3000))
    for _ in range(3):  # each goes on from the one before
        assert np.isfinite(step(place.target)).all() and step.success

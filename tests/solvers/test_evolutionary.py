"""GA, DE, PSO and HGSA: they solve, keep limits and budgets, give the same answer each time, and take every objective."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from memetik.errors import ProblemError
from memetik.objectives import Displacement, Pose, Position
from memetik.problem import Problem
from memetik.solution import Status
from memetik.solvers import Budget, solve
from memetik.solvers.evolution import DE, GA, HGSA, PSO
from tests.naive import kinematics
from tests.naive.bodies import serial_arm
from tests.stress import honesty
from tests.timing import overrun

METHODS = [GA, DE, PSO, HGSA]
AMPLE = Budget(evaluations=200_000)

methods = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)


@pytest.fixture(scope="module")
def arm():
    return serial_arm(5)


def targets(body, tip, count, seed=0):
    """Poses that can be reached, and starts."""
    rng = np.random.default_rng(seed)
    return [(kinematics.pose(body, tip, body.sample(rng)), body.sample(rng)) for _ in range(count)]


def reach(body, tip, **tolerances):
    pose = Pose(tip, np.eye(4), **tolerances)
    return Problem(body, pose), pose


@methods
def test_positions_are_reached(method, arm):
    wish = Position("link5", (0.0, 0.0, 0.0), tolerance=1e-4)
    problem = Problem(arm, wish)
    for target, start in targets(arm, "link5", 10):
        wish.target = target[:3, 3]
        solution = method().solve(problem, start, AMPLE)
        assert solution.success and solution.method == method.name
        assert math.dist(kinematics.pose(arm, "link5", solution.q)[:3, 3], target[:3, 3]) <= 1e-4


@pytest.mark.quick
@methods
def test_a_short_search_keeps_its_budget_and_what_it_found(method):
    target = np.array([0.3, 0.6, 0.0])
    problem = Problem(mk.build.planar_chain(3), Position("tip", target, tolerance=1e-9))
    start = np.array([0.3, -0.4, 0.2])
    solution = method(population=6).solve(problem, start, Budget(evaluations=120))
    assert solution.evaluations <= 120 and not solution.success

    def error(q):
        return math.dist(kinematics.pose(problem.body, "tip", q)[:3, 3], target)

    assert error(solution.q) < error(start)


@pytest.mark.parametrize(("method", "least"), [(GA, 2), (DE, 20), (PSO, 13), (HGSA, 7)])
def test_poses_of_an_arm(method, least):
    """Of 20 poses of a UR5 to 0.1 mm and 1 mrad in 20 000 evaluations; all but DE often need more."""
    body = mk.load("ur5")
    problem, pose = reach(body, "tool0", position_tolerance=1e-4, orientation_tolerance=1e-3)
    solved = 0
    for target, start in targets(body, "tool0", 20):
        pose.target = target
        solution = method().solve(problem, start)
        solved += solution.success
        assert solution.evaluations <= 20_000
    assert solved >= least


@methods
def test_the_same_seed_gives_the_same_bits(method, arm):
    problem, pose = reach(arm, "link5")

    def answers(seed):
        found = []
        for target, start in targets(arm, "link5", 4):
            pose.target = target
            solution = method(seed=seed).solve(problem, start, Budget(evaluations=700))
            found.append((solution.q.tobytes(), solution.status, solution.evaluations, solution.attempts))
        return found

    first = answers(3)
    assert answers(4) != first
    assert answers(3) == first


@methods
@pytest.mark.parametrize("most", [1, 2, 13, 500])
def test_evaluations_are_kept(method, most, arm):
    problem = Problem(arm, Position("link5", (9.0, 0.0, 0.0)))
    solution = method().solve(problem, None, Budget(evaluations=most))
    assert solution.evaluations == most and not solution.timed_out
    assert solution.status is Status.CLOSEST


@pytest.mark.timed
@methods
def test_deadlines_are_kept(method, arm):
    problem, budget = Problem(arm, Position("link5", (9.0, 0.0, 0.0))), Budget(evaluations=10**12, seconds=0.005)
    method().solve(problem, None, Budget(evaluations=1000))  # compiled, or loaded, before the clock runs
    assert overrun(lambda: method().solve(problem, None, budget), budget.seconds) < 1e-3


@pytest.mark.quick
@methods
def test_a_budget_of_generations_is_kept_to_the_last(method):
    """Out of reach, so that nothing else ends the search: what is spent tells how many were bred and drawn."""
    problem = Problem(mk.build.planar_chain(3), Position("tip", (5.0, 0.0, 0.0), tolerance=1e-9))
    size, elites, joints = 12, 4, 3
    a_generation = {"ga": size - 1, "de": size, "pso": size, "hgsa": size - elites + 2 * elites * joints}[method.name]
    for generations in (1, 2, 20):
        solver = method(population=size, patience=5)
        solution = solver.solve(problem, budget=Budget(generations=generations))
        assert solution.evaluations == solution.attempts * size + generations * a_generation
        again = method(population=size, patience=5, seed=0).solve(problem, budget=Budget(generations=generations))
        assert_array_equal(again.q, solution.q)
    assert solution.attempts > 1  # populations that were drawn again do not count
    assert solver.solve(problem, budget=Budget(evaluations=900)).evaluations == 900  # the limit does not stay
    with_both = solver.solve(problem, budget=Budget(evaluations=50, generations=1_000))
    assert with_both.evaluations == 50


@methods
def test_what_is_out_of_reach_is_approached_within_the_limits(method, arm):
    limits = {"joint1": (-0.2, 0.1), "joint3": (0.3, 0.31)}
    problem = Problem(arm, Position("link5", (9.0, 0.0, 0.0)), limits=limits)
    solution = method().solve(problem, None, Budget(evaluations=20_000))
    assert solution.status is Status.CLOSEST
    assert (solution.q >= problem.lower).all() and (solution.q <= problem.upper).all()
    (closest,) = solve(problem).term_errors
    (found,) = solution.term_errors
    assert closest - 1e-6 <= found <= 1.01 * closest  # the loss of the thesis has its minimum a little aside


@methods
def test_a_start_that_will_do_is_the_answer(method, arm, rng):
    q = arm.sample(rng)
    problem = Problem(arm, Pose("link5", kinematics.pose(arm, "link5", q)))
    solution = method().solve(problem, q)
    assert solution.success and solution.evaluations == 1
    assert_array_equal(solution.q, q)


@methods
def test_guides_pull_but_do_not_block(method, arm):
    """A displacement that weighs as much as the target: reached all the same, and nearer to the start than without it."""
    wish = Position("link5", (0.0, 0.0, 0.0), tolerance=1e-4)
    alone, guided = Problem(arm, wish), Problem(arm, [wish, Displacement(weight=1.0)])
    moved = {alone: 0.0, guided: 0.0}
    for target, start in targets(arm, "link5", 6, seed=1):
        wish.target = target[:3, 3]
        for problem in moved:
            solution = method().solve(problem, start, AMPLE)
            assert solution.success
            moved[problem] += float(np.abs(solution.q - start).mean())
    assert moved[guided] < 0.9 * moved[alone]


@methods
def test_where_nothing_can_be_missed_the_least_is_found(method, arm):
    guide = Position("link5", kinematics.pose(arm, "link5", np.full(5, 0.4))[:3, 3], tolerance=None)
    solution = method().solve(Problem(arm, guide), None, AMPLE)
    assert solution.success and solution.attempts == 1
    assert solution.term_errors[0] < 1e-6
    assert solution.evaluations < AMPLE.evaluations  # it ends when nothing more is gained


@methods
def test_a_wide_tolerance_holds_nothing_back(method, arm):
    """Two positions that cannot both be met, one of which need not be met closely."""
    here = kinematics.pose(arm, "link5", np.full(5, 0.4))[:3, 3]
    firm = Position("link5", here, tolerance=1e-4)
    loose = Position("link5", here + np.array([0.02, 0.0, 0.0]), tolerance=0.05, weight=10.0)
    assert method().solve(Problem(arm, [firm, loose]), None, AMPLE).success


@methods
def test_an_objective_that_jumps(method, arm):
    """In steps of 5 cm there is no derivative that could tell the way."""
    goal = kinematics.pose(arm, "link5", np.full(5, 0.4))[:3, 3]

    @mk.objective(reads=["link5"], tolerance=1e-9)
    def in_the_same_cell(link):
        x, y, z = link.position
        return (
            abs(round(20.0 * x) - round(20.0 * goal[0]))
            + abs(round(20.0 * y) - round(20.0 * goal[1]))
            + abs(round(20.0 * z) - round(20.0 * goal[2]))
        )

    assert method().solve(Problem(arm, in_the_same_cell), None, AMPLE).success


@methods
def test_every_objective_every_joint_and_the_truth(method):
    """Random problems of all objectives, checked by twins: limits, locked joints, budgets, statuses and errors."""
    count, wrong, seen = honesty.run(200, seed=14, method=method.name)
    assert count == 200 and wrong == []
    assert seen["REACHED"] > 5 and seen["CLOSEST"] > 50


def test_differences_may_be_added_to_any_individual(arm):
    problem, pose = reach(arm, "link5", position_tolerance=1e-3, orientation_tolerance=1e-2)
    pose.target = kinematics.pose(arm, "link5", np.full(5, 0.4))
    best, drawn = (DE(base=base, patience=80).solve(problem, None, AMPLE) for base in ("best", "random"))
    assert best.success and drawn.success and best.evaluations < drawn.evaluations


def test_a_swarm_may_know_its_neighbours_only(arm):
    wish = Position("link5", kinematics.pose(arm, "link5", np.full(5, 0.4))[:3, 3])
    together, apart = (PSO(neighbours=n).solve(Problem(arm, wish), None, AMPLE) for n in (None, 1))
    assert together.success and apart.success
    with pytest.raises(AssertionError):
        assert_allclose(together.q, apart.q)


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: DE(population=3), "de: population is 3; it must be at least 4"),
        (lambda: GA(patience=0), "ga: patience is 0"),
        (lambda: DE(base="worst"), "must be 'best' or 'random'"),
        (lambda: DE(crossover=1.5), "it is a share, from 0 to 1"),
        (lambda: GA(tournament=0), "at least one individual"),
        (lambda: GA(mutation=0.0), "mutation is 0.0; it must be above zero"),
        (lambda: PSO(memory=3.0), "fly apart; with inertia 0.6 they must sum to less than 3.84"),
        (lambda: PSO(neighbours=0), "at least 1, or None for all"),
        (lambda: HGSA(reach=0.0), "reach is 0.0; it must be above zero"),
        (lambda: HGSA(elites=13), "from 1 to the population of 12"),
        (lambda: HGSA(population=2, elites=3), "from 1 to the population of 2"),
    ],
)
def test_parameters_are_checked(make, what):
    with pytest.raises(ProblemError, match=what):
        make()


@pytest.mark.quick
def test_the_local_search_of_hgsa_goes_as_far_as_it_may():
    body = mk.build.planar_chain(3)
    start = np.array([0.3, 0.4, 0.5])
    problem = Problem(body, Position("tip", kinematics.pose(body, "tip", start + 0.2)[:3, 3], tolerance=1e-9))
    changes = []
    for furthest in (1e-4, 1e-2):
        solution = HGSA(population=2, elites=2, reach=furthest).solve(problem, start, Budget(generations=1))
        changes.append(np.abs(solution.q - start).max())
        assert 0.0 < changes[-1] <= furthest * math.pi
    assert changes[1] > 10.0 * changes[0]

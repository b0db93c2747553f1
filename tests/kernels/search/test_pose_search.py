"""The search for one pose: the same method as the general one, and as honest."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import memetik as mk
from memetik.kernels.compiler.function_pointers import lasting_address
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, MOVED, OUTCOME, TIMED_OUT
from memetik.kernels.problem.verify import CLOSEST, INVALID, REACHED
from memetik.kernels.search import search as memetic
from memetik.kernels.search.pose_search import solve_pose
from memetik.kernels.search.search_record import NEXT_START, Callees
from memetik.solvers.memetic_plan import memetic_plan
from tests.naive import errors, kinematics

pytestmark = pytest.mark.quick


class Case:
    """One pose of an arm, solved by either kernel."""

    def __init__(self, name="panda", tip="panda_link8", **tolerances):
        self.body, self.tip, self.rng = mk.load(name), tip, np.random.default_rng(8)
        self.pose = mk.Pose(tip, np.eye(4), **tolerances)
        self.problem = mk.Problem(self.body, self.pose)
        self.plan = memetic_plan(self.problem.compiled)
        self.plan.complete()
        self.scratch = self.plan.lease()
        assert self.problem.compiled.one_pose

    def aim(self):
        self.pose.target = self.body.forward(self.body.sample(self.rng))[self.tip]
        return self.body.sample(self.rng)

    def solve(self, start, *, seed=0, most=20_000, seconds=0.0):
        q, outcome = np.array(start), np.full(OUTCOME + 4, np.nan)
        status = solve_pose(self.scratch.table, q, outcome, seed, most, seconds)
        return status, q, outcome

    def solve_generally(self, start, *, most=20_000):
        plan, scratch, q = self.plan, self.scratch, np.array(start)
        callees = Callees(plan.attempt, lasting_address(memetic.next_start, NEXT_START))
        status = memetic.solve(
            scratch.arrays, plan.population, scratch.memetic.scratch, callees, q, scratch.outcome, 0, 0, most, 0.0
        )
        return status, q, scratch.outcome.copy()


def test_the_same_answers_as_the_general_search():
    """Both choose the same starts and take the same steps; sums in another order may differ in the last bits."""
    case = Case()
    for _ in range(20):
        start = case.aim()
        status, q, outcome = case.solve(start)
        expected_status, expected, expected_outcome = case.solve_generally(start)
        assert status == expected_status == REACHED
        assert_allclose(q, expected, atol=1e-7)
        assert outcome[ATTEMPTS] == expected_outcome[ATTEMPTS]
        assert outcome[EVALUATIONS] == expected_outcome[EVALUATIONS]


def test_the_verdict_is_about_what_is_returned():
    case = Case("ur5", "tool0", position_tolerance=1e-5, orientation_tolerance=1e-5)
    for _ in range(50):
        start = case.aim()
        status, q, outcome = case.solve(start, most=15)
        found, target = kinematics.pose(case.body, "tool0", q)[None], case.pose.target[None]
        distance = errors.lengths(errors.position_gap(found, target))[0]
        angle = errors.lengths(errors.orientation_gap(found, target))[0]
        assert outcome[OUTCOME] == pytest.approx(distance, abs=1e-12)
        assert outcome[OUTCOME + 1] == pytest.approx(angle, abs=1e-9)
        reached = distance <= 1e-5 and angle <= 1e-5
        assert status == (REACHED if reached else CLOSEST)
        assert outcome[OUTCOME + 2 :].all() == reached
        assert (q >= case.body.lower).all() and (q <= case.body.upper).all()


def test_a_target_out_of_reach_spends_the_budget_and_keeps_the_best():
    case = Case()
    start = case.aim()
    case.pose.target = mk.transform((3.0, 0.0, 0.5), np.eye(3))
    few, many = case.solve(start, most=50), case.solve(start, most=5000)
    assert few[0] == many[0] == CLOSEST
    assert few[2][EVALUATIONS] == 50 and many[2][EVALUATIONS] == 5000
    assert many[2][ATTEMPTS] > len(case.plan.population.genes) // memetic.SHARE + 2  # fresh postures were drawn as well
    assert many[2][OUTCOME] < few[2][OUTCOME] + 1e-12


def test_the_seed_decides_what_is_drawn():
    case = Case()
    start = case.aim()
    case.pose.target = mk.transform((3.0, 0.0, 0.5), np.eye(3))
    one, again, other = (case.solve(start, seed=seed, most=3000)[1] for seed in (1, 1, 2))
    assert (one == again).all() and (one != other).any()


def test_time_ends_it():
    case = Case()
    start = case.aim()
    case.pose.target = mk.transform((3.0, 0.0, 0.5), np.eye(3))
    status, _, outcome = case.solve(start, most=10**9, seconds=1e-3)
    assert status == CLOSEST and outcome[TIMED_OUT] == 1.0


def test_a_start_outside_the_limits_is_moved_in():
    case = Case()
    start = case.aim()
    start[0] = 99.0
    status, q, outcome = case.solve(start)
    assert status == REACHED and outcome[MOVED] == 1.0
    assert q[0] <= case.body.upper[0]


def test_numbers_that_are_none_are_never_an_answer():
    case = Case()
    start = case.aim()
    case.plan.compiled.data[case.pose._pose.place(case.plan.compiled.data)] = np.nan
    assert case.solve(start, most=100)[0] == INVALID


def test_without_where_to_go_on_from_it_ends_after_the_first_attempt():
    case = Case()
    case.pose.target = mk.translation(3.0, 0.0, 0.5)
    case.plan.addresses["next_pose_start"] = 0
    status, _, outcome = case.solve(case.body.home)
    assert status == memetic.UNFINISHED
    assert outcome[ATTEMPTS] == 1.0

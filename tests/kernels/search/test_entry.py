"""The ways into the search against the obvious twin: look at the start in Python, set the target, call the search."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import memetik as mk
from memetik.kernels.compiler.function_pointers import lasting_address
from memetik.kernels.problem.budget import OUTCOME
from memetik.kernels.problem.verify import REACHED
from memetik.kernels.runtime.cancel import AT_FIRST
from memetik.kernels.runtime.record import allocate, table_of
from memetik.kernels.search.entry import LOCKED, UNUSUAL, BoundPose, SearchCall, search_from, step_pose
from memetik.kernels.search.pose_search import solve_pose
from memetik.kernels.terms.function_pointers import WRITE_POSE
from memetik.kernels.terms.targets import write_pose_target
from memetik.solvers.memetic_plan import memetic_plan

pytestmark = pytest.mark.quick

MOST, USUAL = 500, 20.0
BODY, TIP = mk.load("panda"), "panda_hand"


class Case:
    """A pose of an arm with a locked finger, ready for each way."""

    def __init__(self):
        self.pose = mk.Pose(TIP, np.eye(4))
        self.problem = mk.Problem(BODY, self.pose)
        c = self.problem.compiled
        self.plan = memetic_plan(c)
        self.plan.complete()
        self.scratch = self.plan.lease()
        self.table = self.scratch.table
        self.finger = BODY.index("panda_finger_joint1")
        self.bound = allocate(
            BoundPose, c.sizes, arrays=self.scratch.memetic, search=self.plan.search, place=int(c.terms[0]["target"]), seed=4,
            write=lasting_address(write_pose_target, WRITE_POSE), most=MOST, seconds=0.0,
            locked=np.array([(self.finger, 0.03)], dtype=LOCKED),
        )  # fmt: skip
        call = allocate(SearchCall, {}, search=self.plan.search, table=self.table, keeps_gil=AT_FIRST)
        call.spending["most"] = MOST
        self.call = table_of(call)
        self.calls = call  # whose arrays the table is about
        self.bound.usual[0] = USUAL
        self.bound_table = table_of(self.bound)

    def naive(self, target, start):
        self.pose.target = target
        q, outcome = start.copy(), np.zeros(OUTCOME + 4)
        q[self.finger] = 0.03
        return solve_pose(self.table, q, outcome, 4, MOST, 0.0), q, outcome


@pytest.fixture(scope="module")
def case():
    return Case()


def test_steps(case, rng):
    reached = 0
    for k in range(20):
        target, start = BODY.forward(BODY.sample(rng))[TIP], BODY.sample(rng)
        if k % 4 == 3:
            target[:3, 3] *= 2.0
        last = case.bound.last.copy()
        status = step_pose(case.bound_table, target, start)
        found = case.bound.q.copy(), case.bound.outcome.copy()
        expected, q, outcome = case.naive(target, start)
        assert status == expected
        assert_array_equal(found[0], q)
        assert_array_equal(found[1], outcome)
        assert_array_equal(case.bound.last, q if status == REACHED else last)
        reached += status == REACHED
    assert 10 <= reached < 20


def test_searches(case, rng):
    case.pose.target = BODY.forward(BODY.sample(rng))[TIP]
    start = BODY.sample(rng)
    q, outcome, other, others = start.copy(), np.zeros(OUTCOME + 4), start.copy(), np.zeros(OUTCOME + 4)
    status = search_from(case.call, q, outcome, 2, USUAL)
    assert status == solve_pose(case.table, other, others, 2, MOST, 0.0)
    assert_array_equal(q, other)
    assert_array_equal(outcome, others)


def unusual_starts():
    good = BODY.home.copy()
    nan, infinite, far, huge = (good.copy() for _ in range(4))
    nan[2], infinite[0], far[1], huge[1] = np.nan, -np.inf, USUAL + 1.0, 1e200
    return [nan, infinite, far, huge, good[:-1].copy(), np.append(good, 0.0), np.empty(0)]


@pytest.mark.parametrize("start", unusual_starts(), ids=["nan", "infinite", "far", "huge", "short", "long", "empty"])
def test_a_start_to_look_at_is_left_alone(case, start):
    q, outcome = start.copy(), np.full(OUTCOME + 4, 7.5)
    assert search_from(case.call, q, outcome, 0, USUAL) == UNUSUAL
    assert_array_equal(q, start)
    assert (outcome == 7.5).all()
    before = [array.copy() for array in (case.bound.q, case.bound.last, case.bound.outcome, case.problem.compiled.data)]
    assert step_pose(case.bound_table, np.eye(4), start) == UNUSUAL
    after = case.bound.q, case.bound.last, case.bound.outcome, case.problem.compiled.data
    assert all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))


@pytest.mark.parametrize(
    "target", [np.full((4, 4), np.nan), 2.0 * np.eye(4), np.eye(3), np.zeros((4, 0)), np.ones((4, 4))]
)
def test_a_target_that_is_none_is_left_to_python(case, target):
    before = case.problem.compiled.data.copy(), case.bound.q.copy()
    assert step_pose(case.bound_table, target, BODY.home.copy()) == UNUSUAL
    assert_array_equal(case.problem.compiled.data, before[0])
    assert_array_equal(case.bound.q, before[1])

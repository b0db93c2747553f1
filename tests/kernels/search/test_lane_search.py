"""Rows in lanes against the obvious twin: the same rows one after another (batch.py)."""

from __future__ import annotations

import platform

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import memetik as mk
from memetik.batch import threads
from memetik.kernels.compiler.lanes import LANES
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, MOVED
from memetik.kernels.problem.verify import ENDED
from memetik.kernels.runtime.cancel import cancel
from memetik.kernels.search.batch import Rows, solve_rows
from memetik.kernels.search.lane_search import solve_in_lanes
from memetik.problem.columns import target_columns
from memetik.solution import Status
from memetik.solvers.memetic_plan import MemeticScratch, memetic_plan, shares
from tests.kernels.search.test_pose_step import arm
from tests.naive import errors, kinematics

TOLERANCE = 1e-5  # m and rad


class Task:
    """Rows of one pose, solved by either kernel."""

    def __init__(self, body, tip, rng, count, *, tolerance=TOLERANCE):
        self.body, self.tip = body, tip
        pose = mk.Pose(tip, np.eye(4), position_tolerance=tolerance, orientation_tolerance=tolerance)
        self.pose, self.problem = pose, mk.Problem(body, pose)
        assert self.problem.compiled.one_pose
        self.targets = np.array([body.forward(body.sample(rng))[tip] for _ in range(count)])
        self.starts = np.array([body.sample(rng) for _ in range(count)])

    def solve(self, *, in_lanes, most=20_000, seed=0, pause=1e9, order=None, cancelled=False):
        """How many rows it came to, and the rows."""
        c, plan = self.problem.compiled, memetic_plan(self.problem.compiled)
        order = np.arange(len(self.targets)) if order is None else order
        places, numbers, _ = target_columns(self.problem, {self.pose: self.targets[order]}, "test")
        own = MemeticScratch(plan, c.data.copy())
        if cancelled:
            cancel(own.clock)
        count = len(order)
        rows = Rows(
            places, numbers, self.starts[order].copy(), np.full(count, -1, dtype=np.int8),
            np.full((count, own.outcome.size), np.nan), np.full(count, np.nan),
        )  # fmt: skip
        limits = shares(c, most)
        if in_lanes:
            return solve_in_lanes(rows, plan.stages, own.table, own.lane_table, limits, seed, pause), rows
        return solve_rows(rows, plan.stages, own.table, limits, c.only_guides, seed, 0.0, pause), rows

    def hold_equal(self, **options):
        """The statuses, after a look at every bit."""
        (came_to, found), (_, expected) = self.solve(in_lanes=True, **options), self.solve(in_lanes=False, **options)
        assert came_to == len(self.targets)
        assert_array_equal(found.statuses, expected.statuses)
        assert_array_equal(found.outcomes, expected.outcomes)
        assert_array_equal(found.q, expected.q)
        assert (found.seconds > 0.0).all()
        return found


# Which products the compiler fuses with a sum is its own choice for every kernel, and these are the processors on which the
# choices are known to agree: those of x86 with AVX-512, with AVX2, and with neither.
SAME_BITS = pytest.mark.only_if(platform.machine() in ("x86_64", "AMD64"), "processors of the x86 family")


@pytest.mark.filterwarnings("ignore:the start")  # so far out that it looks like degrees
@pytest.mark.quick
@SAME_BITS
def test_the_bits_of_one_row_after_another(rng):
    task = Task(mk.load("panda"), "panda_hand", rng, 12)
    task.targets[2, :3, 3] += 2.0  # out of reach: the other stages follow
    task.starts[3, 0] = 99.0  # outside the limits
    found = task.hold_equal(most=300, seed=5)
    assert found.statuses[2] == Status.CLOSEST and (np.delete(found.statuses, 2) == Status.REACHED).all()
    assert found.outcomes[:, MOVED].tolist() == [float(k == 3) for k in range(12)]


@SAME_BITS
@pytest.mark.parametrize(("name", "tip"), [("panda", "panda_hand"), ("baxter", "left_gripper"), ("iiwa14", "tool0")])
def test_the_bits_of_many_rows(name, tip, rng):
    task = Task(mk.load(name), tip, rng, 500)
    assert (task.hold_equal().statuses == Status.REACHED).mean() > 0.99


@SAME_BITS
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), joints=st.integers(1, 12), most=st.sampled_from([1, 7, 90, 700]))
def test_the_bits_for_any_joints_and_budget(seed, joints, most):
    """One in three targets is out of reach, so that budgets are spent in every way: amid attempts and while drawing."""
    rng = np.random.default_rng(seed)
    task = Task(arm(rng, joints), f"link{joints}", rng, 20)
    task.targets[::3, :3, 3] += 9.0
    found = task.hold_equal(most=most, seed=seed % 7)
    assert (found.outcomes[:, EVALUATIONS] <= most).all()


@SAME_BITS
@pytest.mark.parametrize("order", ["zxy", "xzy"])  # right-handed and left-handed
def test_the_bits_of_balls(order, rng):
    links = [mk.build.Link(f"link{k}") for k in range(5)]
    joints = [
        mk.build.Joint(
            f"ball{k}", "spherical", f"link{k}", f"link{k + 1}", origin=mk.translation(0, 0.1, 0.3), order=order
        )
        for k in range(3)
    ]
    joints.append(
        mk.build.Joint("turn", "revolute", "link3", "link4", lower=-1.0, upper=2.0, origin=mk.translation(0, 0, 0.3))
    )
    task = Task(mk.Body("balls", links, joints), "link4", rng, 300)
    assert task.problem.compiled.balls.size == 3
    assert (task.hold_equal().statuses == Status.REACHED).all()


def test_on_any_processor_the_same_but_for_rounding(rng):
    task = Task(mk.load("panda"), "panda_hand", rng, 2000)
    (_, found), (_, expected) = task.solve(in_lanes=True), task.solve(in_lanes=False)
    assert_array_equal(found.statuses, expected.statuses)
    assert (found.outcomes[:, EVALUATIONS] == expected.outcomes[:, EVALUATIONS]).mean() >= 0.999


@pytest.mark.quick
def test_the_verdict_is_about_what_is_returned(rng):
    task = Task(mk.load("ur5"), "tool0", rng, 30)
    _, rows = task.solve(in_lanes=True, most=40)
    found = np.array([kinematics.pose(task.body, "tool0", q) for q in rows.q])
    distance = errors.lengths(errors.position_gap(found, task.targets))
    angle = errors.lengths(errors.orientation_gap(found, task.targets))
    reached = (distance <= TOLERANCE) & (angle <= TOLERANCE)
    assert_array_equal(rows.statuses == Status.REACHED, reached)
    assert 0 < reached.sum() < len(reached)
    assert (rows.q >= task.body.lower).all() and (rows.q <= task.body.upper).all()


@pytest.mark.quick
def test_a_row_depends_on_no_other(rng):
    """The same answers in any order, and in parts of any size."""
    count = 8 if LANES == 1 else 60
    task = Task(mk.load("panda"), "panda_hand", rng, count)
    task.targets[5, :3, 3] += 2.0
    _, whole = task.solve(in_lanes=True, most=400)
    order = rng.permutation(count)
    _, shuffled = task.solve(in_lanes=True, most=400, order=order)
    parts = [
        task.solve(in_lanes=True, most=400, order=part)[1] for part in np.split(np.arange(count), [1, 4, count // 2])
    ]
    for name in ("q", "statuses", "outcomes"):
        assert_array_equal(getattr(shuffled, name), getattr(whole, name)[order])
        assert_array_equal(np.concatenate([getattr(part, name) for part in parts]), getattr(whole, name))


def test_the_seed_decides_what_is_drawn(rng):
    task = Task(mk.load("panda"), "panda_hand", rng, 1)
    task.targets[:, :3, 3] += 3.0
    one, again, other = (task.solve(in_lanes=True, seed=seed, most=3000)[1] for seed in (1, 1, 2))
    assert one.outcomes[0, ATTEMPTS] > 33  # more than the population has for it
    assert (one.q == again.q).all() and (one.q != other.q).any()


@pytest.mark.filterwarnings("ignore:the start")
@pytest.mark.quick
@SAME_BITS
def test_joints_that_have_turned_too_often_for_lanes(rng):
    body = mk.Body(
        "spinner",
        [mk.build.Link(name) for name in ("base", "a", "tip")],
        [
            mk.build.Joint("spin", "continuous", "base", "a"),
            mk.build.Joint(
                "reach", "prismatic", "a", "tip", mk.transform((0.3, 0, 0), np.eye(3)), lower=0.0, upper=1.0
            ),
        ],
    )
    task = Task(body, "tip", rng, 9)
    task.starts[4, 0] = 3e6
    assert (task.hold_equal(most=500).statuses == Status.REACHED).all()


@pytest.mark.quick
def test_a_pause_lets_it_end_what_it_has_begun(rng):
    task = Task(mk.load("panda"), "panda_hand", rng, 4)
    came_to, rows = task.solve(in_lanes=True, pause=0.0)
    assert came_to == 1
    assert rows.statuses[0] == Status.REACHED and (rows.statuses[1:] == -1).all() and np.isnan(rows.outcomes[1:]).all()


@pytest.mark.quick
def test_it_can_be_cancelled(rng):
    task = Task(mk.load("panda"), "panda_hand", rng, LANES + 3)
    came_to, rows = task.solve(in_lanes=True, cancelled=True)
    assert came_to == LANES
    assert (rows.statuses[:LANES] == ENDED).all() and (rows.statuses[LANES:] == -1).all()


def test_threads_and_the_size_of_the_batch_make_no_difference(rng):
    task = Task(mk.load("panda"), "panda_hand", rng, 300)
    task.targets[::50, :3, 3] += 2.0
    budget = mk.Budget(evaluations=2000)

    def batch(count, used):
        return mk.solve_batch(
            task.problem, {task.pose: task.targets[:count]}, task.starts[:count], budget=budget, threads=used
        )

    one, three, part = batch(300, 1), batch(300, 3), batch(threads.FEW + 1, 2)
    assert_array_equal(three.q, one.q)
    assert_array_equal(three.numbers, one.numbers)
    assert_array_equal(part.q, one.q[: threads.FEW + 1])


@pytest.mark.quick
def test_few_rows_and_a_time_limit_need_no_lanes(rng, monkeypatch):
    task = Task(mk.build.planar_chain([0.5, 0.4, 0.3]), "tip", rng, threads.FEW + 1)

    def refuse(*_):
        raise AssertionError("in lanes")

    monkeypatch.setattr(threads, "solve_in_lanes", refuse)
    few = slice(threads.FEW)
    mk.solve_batch(task.problem, {task.pose: task.targets[few]}, task.starts[few], threads=1)
    mk.solve_batch(task.problem, {task.pose: task.targets}, task.starts, threads=1, budget=mk.Budget(seconds=1.0))
    with pytest.raises(AssertionError, match="in lanes"):
        mk.solve_batch(task.problem, {task.pose: task.targets}, task.starts, threads=1)

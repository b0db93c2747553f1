"""Rows in one call against the obvious twin: a loop that assigns the target of a row and solves it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import memetik as mk
from memetik.kernels.problem.budget import TIMED_OUT
from memetik.kernels.search.batch import Rows, solve_rows
from memetik.problem.columns import target_columns
from memetik.solution import Status
from memetik.solution.solution import reported
from memetik.solvers.memetic_plan import MemeticScratch, memetic_plan, shares


def rows_of(problem, targets, starts, *, most=20_000, seed=0, pause=1e9, seconds=0.0):
    """solve_rows on a problem, as a thread calls it; how many rows it solved, q, numbers, statuses, times."""
    places, rows, _ = target_columns(problem, targets, "test")
    c, plan = problem.compiled, memetic_plan(problem.compiled)
    own = MemeticScratch(plan, c.data.copy())
    q, numbers = np.array(starts), np.full((len(rows), own.outcome.size), np.nan)
    statuses, lasted = np.full(len(rows), -1, dtype=np.int8), np.full(len(rows), np.nan)
    rows = Rows(places, rows, q, statuses, numbers, lasted)
    solved = solve_rows(rows, plan.stages, own.table, shares(c, most), c.only_guides, seed, seconds, pause)
    return solved, q, numbers, statuses, lasted


def one_by_one(problem, targets, starts, *, most=20_000, seed=0):
    found = []
    for k, start in enumerate(starts):
        for objective, many in targets.items():
            objective.target = many[k]
        found.append(mk.solve(problem, start, seed=seed, budget=mk.Budget(evaluations=most)))
    return found


def hold_equal(problem, targets, starts, **options):
    solved, q, numbers, statuses, lasted = rows_of(problem, targets, starts, **options)
    expected = one_by_one(problem, targets, starts, **options)
    assert solved == len(starts)
    assert_array_equal(q, [solution.q for solution in expected])
    assert_array_equal(numbers, [solution._numbers for solution in expected])
    assert_array_equal([reported(problem, status) for status in statuses], [solution.status for solution in expected])
    assert (lasted > 0.0).all()
    return statuses


def reachable(body, tip, rng, count):
    poses = np.array([body.forward(body.sample(rng))[tip] for _ in range(count)])
    return poses, np.array([body.sample(rng) for _ in range(count)])


@pytest.mark.filterwarnings("ignore:the start")  # so far out that it looks like degrees
@pytest.mark.quick
def test_one_pose_bit_for_bit(rng):
    body = mk.load("panda")
    pose = mk.Pose("panda_hand", np.eye(4), position_tolerance=1e-5, orientation_tolerance=1e-5)
    targets, starts = reachable(body, "panda_hand", rng, 6)
    targets[2, :3, 3] += 2.0  # out of reach: the other stages follow
    starts[3, 0] = 99.0  # outside the limits
    statuses = hold_equal(mk.Problem(body, pose), {pose: targets}, starts, most=300, seed=5)
    assert statuses[2] == Status.CLOSEST and (np.delete(statuses, 2) == Status.REACHED).all()


@pytest.mark.quick
def test_many_terms_bit_for_bit(rng):
    """Two targets a row, guides, and a tolerance that is wide enough to yield."""
    body = mk.load("panda")
    place = mk.Position("panda_hand", (0, 0, 0), tolerance=1e-5)
    gaze = mk.Direction("panda_hand", (0, 0, 1), tolerance=0.3)
    calm = mk.Displacement(weight=0.01)
    problem = mk.Problem(body, [place, gaze, calm], lock={"panda_joint3": 0.2})
    assert problem.compiled.loose_tolerances is not None
    poses, starts = reachable(body, "panda_hand", rng, 6)
    targets = {place: poses[:, :3, 3].copy(), gaze: rng.normal(size=(6, 3))}
    targets[place][1] += 2.0
    starts[:, body.index("panda_joint3")] = 0.2
    statuses = hold_equal(problem, targets, starts, most=600)
    assert statuses[1] == Status.CLOSEST and Status.REACHED in statuses


def test_yielding_bit_for_bit(rng):
    """Rows that are reached only in the last stage are among those that are held equal."""
    body = mk.load("ur5")
    pose = mk.Pose("tool0", np.eye(4), position_tolerance=1e-6, orientation_tolerance=0.4)
    targets, starts = reachable(body, "tool0", rng, 40)
    targets[:, :3, 3] *= 1.06  # at the edge of reach, where an orientation must give way
    problem = mk.Problem(body, pose)
    statuses = hold_equal(problem, {pose: targets}, starts, most=400)
    assert {Status.REACHED, Status.CLOSEST} <= set(statuses)
    plan = memetic_plan(problem.compiled)
    plan.stages = plan.stages._replace(relax=0)
    assert (
        rows_of(problem, {pose: targets}, starts, most=400)[3] > statuses
    ).any()  # it is the last stage that makes it


@pytest.mark.quick
def test_only_guides_bit_for_bit(rng):
    body = mk.build.planar_chain([0.5, 0.4, 0.3])
    guide = mk.Position("tip", (0, 0, 0), tolerance=None)
    targets = rng.uniform(-0.8, 0.8, (4, 3)) * (1, 1, 0)
    hold_equal(mk.Problem(body, guide), {guide: targets}, np.zeros((4, 3)), most=200)


@pytest.mark.quick
def test_a_pause_ends_it_after_a_row(rng):
    body = mk.build.planar_chain([0.5, 0.4, 0.3])
    place = mk.Position("tip", (0, 0, 0))
    targets = rng.uniform(-0.5, 0.5, (4, 3)) * (1, 1, 0)
    solved, _, numbers, statuses, _ = rows_of(mk.Problem(body, place), {place: targets}, np.zeros((4, 3)), pause=0.0)
    assert solved == 1
    assert statuses[0] != -1 and (statuses[1:] == -1).all() and np.isnan(numbers[1:]).all()


@pytest.mark.timed
def test_each_row_has_its_own_time(rng):
    body = mk.build.planar_chain([0.5, 0.4, 0.3])
    place = mk.Position("tip", (0, 0, 0))
    targets = np.array([[2.0, 0.0, 0.0], [0.7, 0.2, 0.0], [0.0, 2.0, 0.0]])
    _, _, numbers, statuses, lasted = rows_of(
        mk.Problem(body, place), {place: targets}, np.zeros((3, 3)), most=10**9, seconds=0.2
    )
    assert statuses.tolist() == [Status.CLOSEST, Status.REACHED, Status.CLOSEST]
    assert numbers[:, TIMED_OUT].tolist() == [1.0, 0.0, 1.0]
    assert (lasted[[0, 2]] > 0.1).all()

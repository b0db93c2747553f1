"""`mk.solve` takes a short way for the usual call. Whatever is not usual is seen, and answers are the same on both ways."""

import numpy as np
import pytest

import memetik as mk
from memetik.problem.cancel import CancelToken
from tests.conftest import COMPILED

POSES = 200 if COMPILED else 2


@pytest.fixture(scope="module")
def ur5():
    return mk.load("ur5")


@pytest.fixture
def reach(ur5):
    """An arm, one pose of its tool, and the problem, which was solved before."""
    pose = mk.Pose("tool0", ur5.forward(ur5.home)["tool0"])
    problem = mk.Problem(ur5, pose)
    assert mk.solve(problem, ur5.home).success
    return ur5, pose, problem


def numbers(solution):
    return solution.q.tobytes(), solution.status, solution.numbers.tobytes(), solution.success, solution.method


@pytest.mark.quick
def test_both_ways_give_the_same(reach, rng):
    """Some are out of reach, so that both go on after the search."""
    body, pose, problem = reach
    for k in range(POSES):
        target = body.forward(body.sample(rng))["tool0"]
        if k % 5 == 1:
            target[:3, 3] += 2.0
        pose.target = target
        start = body.sample(rng)
        usual = mk.solve(problem, start)
        assert numbers(usual) == numbers(mk.solve(problem, start.tolist()))
        assert numbers(usual) == numbers(mk.solvers.Memetic().solve(problem, start))
        assert usual.success == (k % 5 != 1) == bool(usual)
        assert usual.seconds > 0.0 and usual.compile_seconds >= 0.0


def test_in_whatever_order_a_target_lies(reach, rng):
    body, pose, problem = reach
    target, start = body.forward(body.sample(rng))["tool0"], body.sample(rng)
    wide = np.zeros((4, 8))
    wide[:, ::2] = target
    frozen = target.copy()
    frozen.flags.writeable = False
    pose.target = target
    expected = numbers(mk.solve(problem, start))
    for same in (np.asfortranarray(target), wide[:, ::2], np.stack([target] * 2)[1], frozen):
        pose.target = np.eye(4)
        pose.target = same
        assert numbers(mk.solve(problem, start)) == expected


@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (4, 5), (1, 4), (0, 4), (2, 2)])
def test_a_target_of_another_shape_is_refused(shape, reach):
    _, pose, _ = reach
    before = pose.target
    with pytest.raises(mk.errors.ProblemError, match="target"):
        pose.target = np.ones(shape)
    assert np.array_equal(pose.target, before)


@pytest.mark.parametrize("start", [np.zeros(5), np.zeros(7), np.zeros((2, 3)), np.array(1.0), np.full(6, np.nan)])
def test_a_start_that_is_none_is_refused_the_second_time_too(start, reach):
    _, _, problem = reach
    for _ in range(2):
        with pytest.raises(mk.errors.ProblemError, match="start"):
            mk.solve(problem, start)


@pytest.mark.parametrize("budget", [None, 3, "long"])
@pytest.mark.parametrize("lock", [{}, {"shoulder_pan_joint": 0.1}])
def test_what_is_no_budget_is_refused_the_second_time_too(budget, lock, ur5):
    problem = mk.Problem(ur5, mk.Position("tool0", (0.4, 0.2, 0.4)), lock=lock)
    for _ in range(2):
        with pytest.raises(mk.errors.ProblemError, match="budget"):
            mk.solve(problem, ur5.home, budget=budget)
        assert mk.solve(problem, ur5.home).success


def test_a_locked_joint_stays_where_it_is_locked(ur5):
    problem = mk.Problem(ur5, mk.Position("tool0", (0.4, 0.2, 0.4)), lock={"shoulder_pan_joint": 0.1})
    for _ in range(3):
        solution = mk.solve(problem, ur5.home)
        assert solution["shoulder_pan_joint"] == 0.1 and not solution.start_moved


def test_a_token_is_heard_every_time(reach):
    body, pose, problem = reach
    pose.target = mk.translation(5.0, 0.0, 0.0)
    budget = mk.Budget(evaluations=300, token=CancelToken())
    whole = [mk.solve(problem, body.home, budget=budget).evaluations for _ in range(2)]
    budget.token.cancel()
    cancelled = [mk.solve(problem, body.home, budget=budget).evaluations for _ in range(2)]
    assert min(whole) > 5 * max(cancelled)


def test_each_budget_counts(reach, rng):
    body, pose, problem = reach
    pose.target = body.forward(body.sample(rng))["tool0"]
    one, many = mk.Budget(evaluations=1), mk.Budget(evaluations=1000)
    for _ in range(2):
        assert mk.solve(problem, body.home, budget=one).evaluations == 1
        assert mk.solve(problem, body.home, budget=many).success


def test_a_tolerance_that_changes_counts(reach):
    body, pose, problem = reach
    pose.target = mk.translation(5.0, 0.0, 0.0)
    assert not mk.solve(problem, body.home).success
    pose.position_tolerance, pose.orientation_tolerance = 100.0, 4.0
    assert mk.solve(problem, body.home).success

"""A portfolio with hardly any time still answers."""

from __future__ import annotations

import time

import numpy as np
import pytest

import memetik as mk
from memetik.errors import ProblemError, RefusedError
from memetik.solvers.portfolio import NO_TIME, Portfolio


@pytest.fixture
def reach():
    return mk.Problem(mk.load("iiwa14"), mk.Pose("tool0", mk.transform((0.4, 0.2, 0.6))))


@pytest.mark.parametrize("race", [False, True])
@pytest.mark.parametrize("seconds", [1e-12, 1e-6])
def test_it_answers_when_the_time_is_over_before_it_begins(reach, race, seconds):
    solution = Portfolio(race=race).solve(reach, budget=mk.Budget(seconds=seconds))
    assert solution.status in (mk.Status.REACHED, mk.Status.CLOSEST) and solution.timed_out
    assert np.isfinite(solution.q).all()
    assert solution.runs[0].status is not None
    assert solution.seconds < 1.0


def test_by_name(reach):
    assert mk.solve(reach, method="portfolio", budget=mk.Budget(seconds=1e-6)).timed_out


class Refuses:
    def solve(self, problem, start=None, budget=None):
        raise RefusedError("not for me.")


class Misses:
    """Answers late and without the time having ended it."""

    def solve(self, problem, start=None, budget=None):
        time.sleep(0.02)
        return mk.solve(problem, start, budget=mk.Budget(evaluations=1))


def test_the_first_that_can_take_the_problem_runs_in_any_case(reach):
    solution = Portfolio(methods=(Refuses(), "memetic", "de")).solve(reach, budget=mk.Budget(seconds=1e-9))
    refused, ran, late = solution.runs
    assert refused.note == "not for me." and ran.status is not None and late.note == NO_TIME
    with pytest.raises(RefusedError, match=r"no method of the portfolio can take the problem. not for me"):
        Portfolio(methods=(Refuses(),)).solve(reach, budget=mk.Budget(seconds=1e-9))


def test_a_turn_that_was_missed_for_time_is_told(reach):
    solution = Portfolio(methods=(Misses(), "de")).solve(reach, budget=mk.Budget(seconds=0.01))
    assert not solution.success and solution.runs[1].note == NO_TIME and solution.timed_out


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"methods": 3}, "methods is 3. Give a list"),
        ({"methods": "memetic"}, "methods is 'memetic'. Give a list"),
        ({"methods": np.empty((0, 3))}, "there is no method on the list"),
        ({"methods": [3]}, "method is 3; give a name"),
        ({"methods": [mk.solvers.Memetic]}, "method is <class"),
        ({"shares": 1.0}, "shares is 1.0. Give a list"),
        ({"shares": [1.0]}, "give 2 finite numbers above zero"),
        ({"shares": [1.0, np.inf]}, "give 2 finite numbers above zero"),
        ({"shares": [1.0, np.nan]}, "give 2 finite numbers above zero"),
        ({"shares": [1.0, None]}, "a share is None"),
    ],
)
def test_lists_that_are_none(wrong, says):
    with pytest.raises(ProblemError, match=says):
        Portfolio(**wrong)


@pytest.mark.parametrize("race", [False, True])
def test_shares_of_any_size(reach, race):
    assert Portfolio(race=race, shares=[1e308, 1e308]).solve(reach).success
    assert (
        Portfolio(race=race, methods=iter(["memetic", mk.solvers.DE()]), shares=(1e-320, 1.0), seed=3)
        .solve(reach)
        .success
    )

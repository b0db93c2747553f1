"""A portfolio with hardly any time still answers."""

from __future__ import annotations

import time

import numpy as np
import pytest

import memetik as mk
from memetik.errors import RefusedError
from memetik.solvers.portfolio import NO_TIME, Portfolio


@pytest.fixture
def reach():
    return mk.Problem(mk.load("ur5"), mk.Pose("tool0", mk.transform((0.4, 0.2, 0.4))))


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

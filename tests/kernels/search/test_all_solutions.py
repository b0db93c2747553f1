"""Gathering distinct solutions: how far apart two postures are, and what is kept."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memetik.build import planar_chain
from memetik.kernels.body.records import BALL
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS
from memetik.kernels.search.all_solutions import Found, apart, find_all
from memetik.objectives import Position
from memetik.problem import Problem
from memetik.solvers.memetic_plan import POPULATION, memetic_plan
from tests.conftest import COMPILED
from tests.kernels.flat import variables_of

pytestmark = pytest.mark.quick

TURN = 2.0 * math.pi


@given(st.integers(0, 2**32 - 1))
def test_apart_against_all_whole_turns(seed):
    rng = np.random.default_rng(seed)
    x, other = rng.uniform(-20.0, 20.0, (2, 5))
    variables = variables_of(np.zeros(5), 0.0, rng.random(5) < 0.5)
    balls = np.zeros(0, dtype=BALL)
    copies = np.where(variables["whole_turn"], TURN * np.arange(-10, 11)[:, None], 0.0)
    expected = np.abs(x - other + copies).min(axis=0).max()
    assert apart(x, other, variables, balls) == pytest.approx(expected, abs=1e-12)
    assert apart(other, x, variables, balls) == pytest.approx(expected, abs=1e-12)


def collect(problem, rows, most=2000, patience=30, distinct=0.05, seed=0):
    c = problem.compiled
    found = Found(np.full((rows, c.active.size), np.nan), np.full((rows, c.terms.size), np.nan), np.full(rows, np.nan))
    plan = memetic_plan(c)
    scratch = plan.lease()
    count = find_all(
        scratch.table, found, plan.attempt, problem.start(None), scratch.outcome, seed, most, 0.0, patience, distinct
    )
    return count, found.solutions, found.errors, scratch.outcome


def two_links():
    body = planar_chain(2)
    tip = list(body.links)[-1]
    reach = np.linalg.norm(body.forward(np.zeros(2))[tip][:3, 3])
    return Problem(body, Position(tip, (0.6 * reach, 0.2 * reach, 0.0)))


def test_two_postures_of_two_links():
    found, solutions, errors, _ = collect(two_links(), 6)
    assert found == 2
    assert np.isnan(solutions[2:]).all() and np.isnan(errors[2:]).all()
    assert (errors[:2] <= 1e-4).all()
    assert np.abs(solutions[0] - solutions[1]).max() > 0.05


def test_it_stops_when_full():
    found, _, _, outcome = collect(two_links(), 1)
    assert found == 1
    assert outcome[ATTEMPTS] < 30


def test_it_stops_when_nothing_new_comes():
    few, many = collect(two_links(), 6, patience=3)[3][ATTEMPTS], collect(two_links(), 6, patience=40)[3][ATTEMPTS]
    assert few < many


@pytest.mark.parametrize("most", [1, 7, 40])
def test_it_stops_when_the_budget_is_spent(most):
    assert collect(two_links(), 6, most=most)[3][EVALUATIONS] <= most


def test_beyond_the_population_postures_are_drawn():
    """An impossible target uses up the population, and goes on with fresh postures until patience ends."""
    problem = two_links()
    problem.objectives[0].target = (100.0, 0.0, 0.0)
    patience = POPULATION + 20 if COMPILED else 3
    found, _, _, outcome = collect(problem, 2, most=100_000, patience=patience)
    assert found == 0
    assert outcome[ATTEMPTS] == patience

"""Seeds and budgets of the wrong type or size are told in words of our own, whoever gets them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import memetik as mk
from memetik.errors import ProblemError
from memetik.learn import FeedForward
from memetik.problem.seed import checked_seed

pytestmark = pytest.mark.quick

BAD_SEEDS = ["x", "1", -1, 2**63, 2**70, 10**5000, 1.5, 1.0, True, False, None, math.nan, [1], np.array([1, 2]), {}]
BAD_EVALUATIONS = ["x", 1.5, math.nan, math.inf, 2**80, 10**5000, 0, -1, None, True, [1]]
BAD_SECONDS = ["x", "1", math.nan, -1, 0, -math.inf, -(10**400), None, True, [1.0], 1j]
MESSAGE = r"seed is .*; write a whole number from 0 to 2\*\*63 - 1"


@pytest.fixture
def reach():
    return mk.Problem(mk.build.planar_chain([0.5, 0.4, 0.3]), mk.Position("tip", (0.7, 0.5, 0.0)))


def short(value):
    return "huge" if isinstance(value, int) and abs(value) > 2**80 else str(value)


@pytest.mark.parametrize("seed", BAD_SEEDS, ids=short)
def test_every_method_refuses_a_seed_that_is_none(reach, seed):
    for method in mk.methods():
        with pytest.raises(ProblemError, match=MESSAGE):
            mk.solve(reach, method=method.name, seed=seed)
        with pytest.raises(ProblemError, match=MESSAGE):
            method.solver(seed=seed)
    with pytest.raises(ProblemError, match="seed"):
        mk.solve(reach, method=mk.solvers.BioIK(), seed=seed)


@pytest.mark.parametrize("seed", BAD_SEEDS, ids=short)
def test_what_solves_more_than_once_refuses_it_too(reach, seed):
    wish = reach.objectives[0]
    for call in (
        lambda: mk.solve_all(reach, seed=seed),
        lambda: mk.track(reach, {wish: np.zeros((2, 3))}, seed=seed),
        lambda: mk.solve_batch(reach, {wish: np.zeros((2, 3))}, seed=seed),
        lambda: FeedForward.train(reach, seed=seed),
    ):
        with pytest.raises(ProblemError, match=MESSAGE):
            call()


@pytest.mark.parametrize("generations", [bad for bad in BAD_EVALUATIONS if bad is not None], ids=short)
def test_generations_are_whole_numbers_above_zero(generations):
    with pytest.raises(ProblemError, match="generations is"):
        mk.Budget(generations=generations)


def test_a_budget_of_generations_leaves_evaluations_open_unless_they_are_given():
    assert mk.Budget().evaluations == 20_000 and mk.Budget().generations is None
    assert mk.Budget(generations=3.0) == mk.Budget(2**62, generations=3)
    assert mk.Budget(20_000, generations=3).evaluations == 20_000
    assert "generations=3" in repr(mk.Budget(generations=3))


def test_methods_without_generations_refuse_a_budget_of_them(reach):
    wish, budget = reach.objectives[0], mk.Budget(generations=3)
    have = []
    for method in mk.methods():
        try:
            mk.solve(reach, method=method.name, budget=budget)
            have.append(method.name)
        except ProblemError as error:
            assert "bioik, ga, de, pso and hgsa" in str(error)
    assert have == ["bioik", "ga", "de", "pso", "hgsa"]
    for call in (
        lambda: mk.solve_all(reach, budget=budget),
        lambda: mk.track(reach, {wish: np.zeros((2, 3))}, budget=budget),
        lambda: mk.solve_batch(reach, {wish: np.zeros((2, 3))}, budget=budget),
        lambda: mk.bind(reach, wish, budget=budget)((0.7, 0.5, 0.0)),
        lambda: mk.Servo(reach, rate=100.0, budget=budget),
        lambda: mk.solvers.minimise(lambda x: x[0] ** 2, [-1.0], [1.0], method="lbfgsb", budget=budget),
    ):
        with pytest.raises(ProblemError, match="generations"):
            call()


def test_a_seed_is_any_whole_number_that_kernels_take(reach):
    for seed in (0, 7, np.int64(7), np.uint8(7), 2**63 - 1):
        assert type(checked_seed(seed)) is int and checked_seed(seed) == seed
        assert mk.solvers.Memetic(seed=seed).solve(reach).success
    assert mk.solvers.Memetic(seed=np.uint8(7)) == mk.solvers.Memetic(seed=7)


@pytest.mark.parametrize("evaluations", BAD_EVALUATIONS, ids=short)
def test_evaluations_are_a_whole_number(evaluations):
    with pytest.raises(ProblemError, match=r"budget: evaluations is .*; write a whole number from 1 to 2\*\*62"):
        mk.Budget(evaluations=evaluations)


@pytest.mark.parametrize("seconds", BAD_SECONDS, ids=short)
def test_seconds_are_above_zero(seconds):
    with pytest.raises(ProblemError, match=r"budget: seconds is .*; write a number above zero, or leave it out"):
        mk.Budget(seconds=seconds)


def test_numbers_of_a_budget_are_plain():
    budget = mk.Budget(np.int32(50), np.float32(0.5))
    assert (type(budget.evaluations), type(budget.seconds)) == (int, float)
    assert budget == mk.Budget(50, Fraction(1, 2))
    assert mk.Budget(seconds=10**400) == mk.Budget() == mk.Budget(seconds=math.inf)


@pytest.mark.parametrize("budget", [None, 5, "1 s", (100, 0.1), mk.Budget], ids=str)
def test_what_is_no_budget_is_refused(reach, budget):
    wish = reach.objectives[0]
    for call in (
        lambda: mk.solve(reach, budget=budget),
        lambda: mk.solve(reach, budget=budget, method="ccd"),
        lambda: mk.solve_all(reach, budget=budget),
        lambda: mk.track(reach, {wish: np.zeros((2, 3))}, budget=budget),
        lambda: mk.solve_batch(reach, {wish: np.zeros((2, 3))}, budget=budget),
    ):
        with pytest.raises(ProblemError, match=r"budget is .*; write mk.Budget\(evaluations=20_000\)"):
            call()


@pytest.mark.parametrize("budget", [None, 100, "x", [1.0], mk.Budget], ids=str)
def test_every_solver_refuses_a_budget_that_is_none(reach, budget):
    for method in mk.methods():
        with pytest.raises(ProblemError, match=r"budget is .*; write mk.Budget"):
            method.solver().solve(reach, None, budget)
    for call in (mk.solvers.BioIK().evolve, mk.solvers.Analytic().solve_all):
        with pytest.raises(ProblemError, match=r"budget is .*; write mk.Budget"):
            call(reach, None, budget)


def test_every_solver_refuses_a_problem_that_is_none():
    for method in mk.methods():
        with pytest.raises(ProblemError, match="'panda' is not a problem"):
            method.solver().solve("panda")
    for call in (mk.solvers.Analytic().check, mk.solvers.Learned().train):
        with pytest.raises(ProblemError, match="'panda' is not a problem"):
            call("panda")


def test_a_whole_number_may_be_written_as_a_float():
    evaluations = mk.Budget(evaluations=1e5).evaluations
    assert evaluations == 100_000 and type(evaluations) is int

"""mk.solvers.minimise beside SciPy, and what it refuses."""

import math

import numba
import numpy as np
import pytest
from scipy import optimize

import memetik as mk
from tests.conftest import COMPILED

BOWL = np.array([0.3, -0.4, 0.1])


def bowl(x):
    return (x[0] - 0.3) ** 2 + 3.0 * (x[1] + 0.4) ** 2 + 2.0 * (x[2] - 0.1) ** 2


CALLS = []


def call():
    CALLS.append(1)


def counted(x):
    with numba.objmode():
        call()
    return (x[0] - 0.3) ** 2 + 3.0 * (x[1] + 0.4) ** 2 + 2.0 * (x[2] - 0.1) ** 2


def corner(x):
    return x[0] + 2.0 * x[1] - 5.0


def rastrigin(x):
    total = 10.0 * x.size
    for k in range(x.size):
        total += x[k] ** 2 - 10.0 * math.cos(2.0 * math.pi * x[k])
    return total


def valley(x):
    return 100.0 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2 - 1000.0  # far below zero


@pytest.mark.quick
@pytest.mark.parametrize("method", ["de", "bioik", "ga", "pso", "lbfgsb"])
def test_every_method_finds_the_bottom_of_a_bowl(method):
    found = mk.solvers.minimise(
        bowl, [-1, -1, -1], [1, 1, 1], method=method, target_value=1e-5, budget=mk.Budget(evaluations=8_000)
    )
    assert found.success and found.value <= 1e-5 and found.evaluations <= 8_000 and found.method == method
    np.testing.assert_allclose(found.x, BOWL, atol=5e-3)
    assert found.value == bowl(found.x)


def test_a_minimum_at_the_bounds_is_met_exactly():
    found = mk.solvers.minimise(corner, [-3.0, -0.1], [2.0, 7.3], budget=mk.Budget(evaluations=4_000))
    np.testing.assert_array_equal(found.x, [-3.0, -0.1])
    assert not found.success  # there was no target


def test_values_far_below_zero_are_told_apart_as_scipy_does():
    found = mk.solvers.minimise(valley, [-5, -5], [10, 10], budget=mk.Budget(evaluations=10_000))
    peer = optimize.minimize(valley, [0.5, 0.5], method="L-BFGS-B", bounds=[(-5, 10)] * 2, options={"ftol": 1e-15})
    assert found.value <= peer.fun + 1e-9
    np.testing.assert_allclose(found.x, [1.0, 1.0], atol=1e-4)


def test_many_minima_are_escaped_as_often_as_by_scipy():
    lower, upper = np.full(4, -5.12), np.full(4, 5.12)
    ours = theirs = spent = 0
    for seed in range(6):
        peer = optimize.differential_evolution(rastrigin, list(zip(lower, upper, strict=True)), seed=seed)
        theirs, spent = theirs + (peer.fun < 1e-6), spent + peer.nfev
    for seed in range(6):
        found = mk.solvers.minimise(
            rastrigin, lower, upper, target_value=1e-6, seed=seed, budget=mk.Budget(evaluations=spent // 6)
        )
        ours += found.success
    assert ours >= theirs > 0


def test_evaluations_are_the_calls_of_the_function():
    for method in ("de", "lbfgsb", "pso", "bioik"):
        CALLS.clear()
        found = mk.solvers.minimise(counted, [-1, -1, -1], [1, 1, 1], method=method, budget=mk.Budget(evaluations=600))
        assert abs(len(CALLS) - found.evaluations) <= 8  # the verification, and the value that is returned


def test_the_same_call_gives_the_same_answer_and_a_start_is_used():
    first = mk.solvers.minimise(rastrigin, [-5, -5], [5, 5], seed=3, budget=mk.Budget(evaluations=500))
    again = mk.solvers.minimise(rastrigin, [-5, -5], [5, 5], seed=3, budget=mk.Budget(evaluations=500))
    np.testing.assert_array_equal(first.x, again.x)
    known = mk.solvers.minimise(rastrigin, -5.0, 5.0, start=[0.0, 0.0], target_value=1e-12)
    assert known.success and known.evaluations == 1


def test_a_variable_may_be_held_by_equal_bounds_and_a_function_undefined_somewhere():
    def half(x):
        if x[0] < 0.0:
            return math.nan
        if x[0] > 0.9:
            raise ValueError("too far")
        return (x[0] - 0.25) ** 2 + x[1]

    found = mk.solvers.minimise(half, [-1.0, 2.0], [1.0, 2.0], budget=mk.Budget(evaluations=2_000))
    assert found.x[1] == 2.0 and abs(found.x[0] - 0.25) < 1e-5


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"f": 3}, "not a function"),
        ({"lower": [0, 0], "upper": [1, 1, 1]}, "same length"),
        ({"lower": 0.0, "upper": 1.0}, "how many variables"),
        ({"upper": [1, math.inf]}, "finite"),
        ({"lower": [2, 0]}, "at most"),
        ({"start": [3, 3]}, "outside"),
        ({"method": "dee"}, "de"),
        ({"target_value": "low"}, "target_value"),
        ({"budget": 100}, "budget"),
    ],
)
def test_what_is_wrong_is_said(change, says):
    given = {"f": corner, "lower": [0, 0], "upper": [1, 1], **change}
    with pytest.raises(mk.MemetikError, match=says):
        mk.solvers.minimise(given.pop("f"), given.pop("lower"), given.pop("upper"), **given)


@pytest.mark.only_if(COMPILED, "compiled kernels")
def test_a_function_that_numba_cannot_compile_is_refused_by_name():
    with pytest.raises(mk.errors.ProblemError, match="Numba cannot compile"):
        mk.solvers.minimise(lambda x: object(), [0.0], [1.0])

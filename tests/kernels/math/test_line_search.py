"""The line search on functions of one variable.

It ends with a step that satisfies the strong Wolfe conditions, or with one that decreases the function enough and has
such a step near it: closer than a tenth of the step.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memetik.kernels.math.line_search import ENOUGH, FLAT, LINE_SEARCH, NARROW, begin_search, next_trial

pytestmark = pytest.mark.quick


def search(function, step, longest=1e10, most=60):
    """(step, value, trials) of where a search along a function that gives value and slope ends."""
    state = np.zeros(1, dtype=LINE_SEARCH)[0]
    begin_search(state, *function(0.0), step, longest)
    trials = []
    for _ in range(most):
        assert 0.0 <= step <= longest
        trials.append(step)
        value, slope = function(step)
        step, done = next_trial(state, step, value, slope)
        if done:
            return step, value, trials
    raise AssertionError(f"no end: {trials}")


def is_flat(function, step):
    """The second condition."""
    return abs(function(step)[1]) <= FLAT * abs(function(0.0)[1])


def assert_found(function, step, value):
    start, down = function(0.0)
    assert value == function(step)[0] <= start + ENOUGH * step * down
    if not is_flat(function, step):
        near = np.linspace((1.0 - NARROW) * step, (1.0 + NARROW) * step, 1001)
        slopes = np.array([function(a)[1] for a in near])
        assert (slopes > 0.0).any() and (slopes < 0.0).any()  # a minimum lies between, and there it is flat


# Functions of Moré and Thuente (1994), section 5: their minima are at 1.4, 1.6 and 1.0, the last among many.
PUBLISHED = {
    "flat in the distance": lambda a: (-a / (a * a + 2.0), (a * a - 2.0) / (a * a + 2.0) ** 2),
    "steep at the end": lambda a: (
        (a + 0.004) ** 5 - 2.0 * (a + 0.004) ** 4,
        5.0 * (a + 0.004) ** 4 - 8.0 * (a + 0.004) ** 3,
    ),
    "waves": lambda a: (
        _hinge(a)[0] + 0.6 / (39.0 * math.pi) * math.sin(19.5 * math.pi * a) * 0.99,
        _hinge(a)[1] + 0.3 * math.cos(19.5 * math.pi * a) * 0.99,
    ),
}


def _hinge(a, beta=0.01):
    """A downward slope, a parabola around 1, an upward slope."""
    if a <= 1.0 - beta:
        return 1.0 - a, -1.0
    if a >= 1.0 + beta:
        return a - 1.0, 1.0
    return (a - 1.0) ** 2 / (2.0 * beta) + beta / 2.0, (a - 1.0) / beta


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("first", [1e-3, 1e-1, 1e1, 1e3])
def test_published_functions(name, first):
    function = PUBLISHED[name]
    step, value, trials = search(function, first)
    assert_found(function, step, value)
    assert len(trials) <= 20


@given(seed=st.integers(0, 2**32 - 1), first=st.floats(-4.0, 4.0))
def test_random_functions(seed, first):
    """A bowl with waves, so that there are many intervals to choose from."""
    rng = np.random.default_rng(seed)
    width, height, length, phase = 10.0 ** rng.uniform(-2, 2), rng.uniform(0, 1), rng.uniform(0.2, 3), rng.uniform(0, 6)

    def function(a):
        b = a / width
        wave = height * math.sin(b / length + phase)
        slope = 2.0 * (b - 1.0) + height / length * math.cos(b / length + phase)
        return (b - 1.0) ** 2 + wave, slope / width

    if function(0.0)[1] < 0.0:
        step, value, _ = search(function, width * 10.0**first)
        assert_found(function, step, value)


def test_the_longest_step_ends_it():
    step, value, trials = search(lambda a: (-a, -1.0), 1.0, longest=50.0)
    assert step == trials[-1] == 50.0 and value == -50.0


@pytest.mark.parametrize("hole", [math.nan, math.inf])
def test_steps_back_from_where_the_function_is_not_defined(hole):
    def function(a):
        return ((a - 1.0) ** 2, 2.0 * (a - 1.0)) if a < 1.5 else (hole, hole)

    step, value, trials = search(function, 800.0)
    assert_found(function, step, value)
    assert sum(trial >= 1.5 for trial in trials) >= 3


def test_a_step_that_is_good_is_taken_at_once():
    assert search(lambda a: ((a - 1.0) ** 2, 2.0 * (a - 1.0)), 0.9)[2] == [0.9]

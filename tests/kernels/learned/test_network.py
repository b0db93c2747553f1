"""The network's kernels against the formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from memetik.kernels.learned.encoding import Scales
from memetik.kernels.learned.network import (
    FIRST_STEP,
    GROW,
    LONGEST_STEP,
    SHORTEST_STEP,
    SHRINK,
    Network,
    infer,
    infer_batch,
    respond,
    rprop,
)
from memetik.kernels.runtime.record import allocate, table_of
from memetik.learn import FeedForward
from memetik.learn.training import weight_count
from tests.naive import networks

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, sizes=st.lists(st.integers(1, 6), min_size=2, max_size=4))
def test_answer_is_that_of_the_formulas(seed, sizes):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=weight_count(sizes), scale=2.0)
    units = np.full(sum(sizes), np.nan)
    units[: sizes[0]] = rng.normal(size=sizes[0])
    expected = np.concatenate(networks.feed_forward(sizes, weights, units[: sizes[0]]))
    respond(np.array(sizes), weights, units)
    assert_allclose(units, expected, rtol=0.0, atol=1e-13)


def test_saturated_units_do_not_overflow():
    units = np.array([1.0, np.nan, np.nan])
    respond(np.array([1, 2]), np.array([-1e6, 0.0, 1e6, 0.0]), units)
    assert_allclose(units, [1.0, 0.0, 1.0], atol=1e-300)


# What stands first: gradient, previous gradient, step, last move. Then: weight, previous gradient, step and move after.
CASES = {
    "begin": ((2.0, 0.0, 0.1, 0.0), (-0.1, 2.0, 0.1, -0.1)),
    "same sign": ((2.0, 3.0, 0.1, -0.1), (-0.1 * GROW, 2.0, 0.1 * GROW, -0.1 * GROW)),
    "downhill": ((-2.0, -3.0, 0.1, 0.1), (0.1 * GROW, -2.0, 0.1 * GROW, 0.1 * GROW)),
    "jumped over": ((-2.0, 3.0, 0.1, -0.1), (0.1, 0.0, 0.1 * SHRINK, 0.0)),
    "after a jump": ((-2.0, 0.0, 0.05, 0.0), (0.05, -2.0, 0.05, 0.05)),
    "flat": ((0.0, 3.0, 0.1, -0.1), (0.0, 0.0, 0.1, 0.0)),
    "longest": ((1.0, 1.0, LONGEST_STEP, -1.0), (-LONGEST_STEP, 1.0, LONGEST_STEP, -LONGEST_STEP)),
    "shortest": ((-1.0, 1.0, SHORTEST_STEP, -1.0), (1.0, 0.0, SHORTEST_STEP, 0.0)),
}


@pytest.mark.parametrize("case", CASES)
def test_rprop_follows_its_rule(case):
    (gradient, previous, step, move), after = CASES[case]
    weight, *kept = (np.array([value]) for value in (0.0, previous, step, move))
    rprop(weight, np.array([gradient]), *kept)
    assert_allclose([weight[0], *(value[0] for value in kept)], after, rtol=1e-15)


@given(seed=seeds, n=st.integers(1, 8))
def test_rprop_finds_the_minimum_of_a_bowl(seed, n):
    """Derivatives that differ by factors of millions make no difference: only their signs count."""
    rng = np.random.default_rng(seed)
    stiffness, bottom, weights = 10.0 ** rng.uniform(-3.0, 3.0, n), rng.normal(size=n), np.zeros(n)
    previous, moves, steps = np.zeros(n), np.zeros(n), np.full(n, FIRST_STEP)
    for _ in range(200):
        rprop(weights, stiffness * (weights - bottom), previous, steps, moves)
    assert_allclose(weights, bottom, atol=1e-4)


@pytest.fixture(scope="module")
def asked():
    """A planar arm with a joint before it that no target concerns, and a joint that turns freely."""
    arm = mk.build.BodyBuilder("arm")
    arm.add("base", "head", "revolute", "face", lower=-1.0, upper=1.0)
    arm.add("base", "shoulder", "continuous", "upper")
    arm.add("upper", "elbow", "revolute", "lower", origin=(0.5, 0.0, 0.0), lower=-2.0, upper=1.0)
    reach = mk.Position(mk.Frame("lower", mk.translation(0.4, 0.0, 0.0)), (0.3, 0.4, 0.0))
    return mk.Problem(arm.build(), reach), reach


def test_batch_and_single_answer_with_the_formulas(asked, rng):
    problem, reach = asked
    c = problem.compiled
    lower = c.variables["sample_lower"].copy()
    scales = Scales(np.array([-0.9, -0.9, 0.0]), np.array([0.6, 0.5, 1.0]), lower, c.variables["sample_upper"] - lower)
    sizes = np.array([3, 7, 2])
    weights = rng.normal(size=weight_count(sizes))
    network = allocate(
        Network, {**c.sizes, "units": 12}, scales=scales, terms=c.terms, variables=c.variables, data=c.data.copy(),
        sizes=sizes, weights=weights,
    )  # fmt: skip
    points = rng.normal(size=(20, 3))
    rows, target = reach.target_rows(points)
    columns = target.place(c.data) + np.arange(7)
    postures = np.empty((20, 2))
    infer_batch(table_of(network), columns, rows, np.zeros(2), False, postures)
    asking = network._replace(data=c.data)
    for point, posture in zip(points, postures, strict=True):
        answer = networks.feed_forward(sizes, weights, (point - scales.low) * scales.gain)[-1]
        assert_allclose(posture, lower + scales.span * answer, atol=1e-12)
        reach.target = point
        q = np.array([0.7, 20.0, -1.5])
        infer(table_of(asking), q)
        assert q[0] == 0.7  # no target concerns it
        assert q[2] == posture[1]
        assert abs(q[1] - 20.0) <= np.pi  # whole turns towards the start
        assert_allclose(np.cos(q[1] - posture[0]), 1.0, atol=1e-12)


@pytest.mark.quick
def test_a_network_hears_the_posture_at_hand_and_follows_it(asked, rng):
    """Each answer is that of the formulas to the target and to the answer before, brought into the range by whole turns."""
    problem, reach = asked
    c = problem.compiled
    lower = c.variables["sample_lower"].copy()
    span = c.variables["sample_upper"] - lower
    scales = Scales(np.append([-0.9, -0.9, 0.0], lower), np.append([0.6, 0.5, 1.0], 1.0 / span), lower, span)
    sizes = np.array([5, 6, 2])
    weights = rng.normal(size=weight_count(sizes))
    network = allocate(
        Network, {**c.sizes, "units": 13}, scales=scales, terms=c.terms, variables=c.variables, data=c.data.copy(),
        sizes=sizes, weights=weights,
    )  # fmt: skip
    points = rng.normal(size=(4, 3))
    rows, target = reach.target_rows(points)
    postures, start = np.empty((4, 2)), np.array([20.0, -1.5])
    columns = target.place(c.data) + np.arange(7)
    for follow in (True, False):
        infer_batch(table_of(network), columns, rows, start, follow, postures)
        heard = np.array([start[0] - 2.0 * np.pi * np.floor((start[0] - lower[0]) / (2.0 * np.pi)), start[1]])
        for point, posture in zip(points, postures, strict=True):
            inputs = (np.append(point, heard) - scales.low) * scales.gain
            wanted = lower + span * networks.feed_forward(sizes, weights, inputs)[-1]
            assert_allclose(posture, wanted, atol=1e-12)
            if follow:
                heard = posture


def test_the_batch_leaves_the_targets_alone(asked):
    problem, reach = asked
    reach.target = (0.1, 0.2, 0.0)
    before = problem.compiled.data.copy()
    network = FeedForward.train(problem, hidden=3, samples=5, epochs=1)
    network.predict_batch(problem, {reach: np.ones((3, 3))})
    assert_array_equal(problem.compiled.data, before)

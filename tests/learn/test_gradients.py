"""Errors and gradients of both networks: against the kernels that answer, and against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from memetik.learn.training import (
    ElmanError,
    FeedForwardError,
    elman_weight_count,
    first_weights,
    layer_views,
    weight_count,
)
from tests.naive import networks

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**32 - 1)
few = st.integers(1, 5)


def differences(function, weights, step=1e-6):
    """Central differences of a function of the weights."""
    return [
        (function(weights + change) - function(weights - change)) / (2.0 * step)
        for change in step * np.eye(weights.size)
    ]


@given(seed=seeds, sizes=st.lists(few, min_size=2, max_size=4), samples=few)
def test_gradient_of_a_feed_forward_network(seed, sizes, samples):
    rng = np.random.default_rng(seed)
    inputs, wanted = rng.random((samples, sizes[0])), rng.random((samples, sizes[-1]))
    weights = rng.normal(size=weight_count(sizes))
    error = FeedForwardError(sizes, inputs, wanted)
    gradient = np.full(weights.size, np.nan)
    answers = np.array([networks.feed_forward(sizes, weights, row)[-1] for row in inputs])
    assert error.slope(weights, gradient) == pytest.approx(np.mean((answers - wanted) ** 2), abs=1e-13)
    assert_allclose(gradient, differences(error.value, weights), atol=1e-8)


@given(seed=seeds, sizes=st.tuples(few, few, few), samples=few, steps=few)
def test_gradient_of_an_elman_network(seed, sizes, samples, steps):
    rng = np.random.default_rng(seed)
    many, hidden, outputs = sizes
    inputs, wanted = rng.random((samples, steps, many)), rng.random((samples, steps, outputs))
    weights = rng.normal(size=elman_weight_count(*sizes))
    error = ElmanError(hidden, inputs, wanted)
    gradient = np.full(weights.size, np.nan)
    answers = np.array([networks.elman(weights, path, hidden, outputs)[1] for path in inputs])
    assert error.slope(weights, gradient) == pytest.approx(np.mean((answers - wanted) ** 2), abs=1e-13)
    assert_allclose(gradient, differences(error.value, weights), atol=1e-8)


def test_training_begins_with_units_that_share_out_the_cube(rng):
    """Every hidden unit is half active somewhere in the cube of the inputs, none is flat or saturated all over it."""
    weights = first_weights([3, 40, 4], rng)
    hidden, outputs = layer_views(weights, [3, 40, 4])
    corners = np.array(np.meshgrid(*3 * [[0.0, 1.0]])).reshape(3, -1)
    values = hidden[:, :-1] @ corners + hidden[:, -1:]
    assert ((values.min(axis=1) < 0.0) & (values.max(axis=1) > 0.0)).all()
    assert_allclose(np.linalg.norm(hidden[:, :-1], axis=1), 1.4 * 40 ** (1 / 3))
    assert outputs.shape == (4, 41)

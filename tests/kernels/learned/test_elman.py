"""The recurrent network's kernel against the formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from memetik.kernels.learned.elman import respond_in_turn
from memetik.learn.training import elman_weight_count
from tests.naive import networks

pytestmark = pytest.mark.quick


@given(seed=st.integers(0, 2**32 - 1), sizes=st.tuples(*3 * [st.integers(1, 5)]), steps=st.integers(1, 6))
def test_answers_in_turn_are_those_of_the_formulas(seed, sizes, steps):
    rng = np.random.default_rng(seed)
    many, hidden, outputs = sizes
    weights, inputs = rng.normal(size=elman_weight_count(*sizes)), rng.normal(size=(steps, many))
    said, answers = np.full((steps, hidden), np.nan), np.full((steps, outputs), np.nan)
    respond_in_turn(weights, inputs, said, answers)
    expected = networks.elman(weights, inputs, hidden, outputs)
    assert_allclose(said, expected[0], atol=1e-13)
    assert_allclose(answers, expected[1], atol=1e-13)

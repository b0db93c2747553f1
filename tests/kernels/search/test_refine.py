"""Polishing: from the best posture to a true minimum, never uphill."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from memetik.build import planar_chain
from memetik.kernels.problem.budget import EVALUATIONS
from memetik.kernels.problem.guides import FAINT
from memetik.kernels.problem.verify import CLOSEST, REACHED
from memetik.kernels.search.refine import STEPS, refine_vector
from memetik.objectives import Direction, Displacement, Position
from memetik.problem import Problem
from memetik.problem.scratch import Scratch
from tests.kernels.flat import Flat

pytestmark = pytest.mark.quick


def polished(problem, q, most=1000, seconds=0.0):
    scratch = Scratch(problem.compiled)
    answer = q.copy()
    status = refine_vector(scratch.table, answer, scratch.outcome, FAINT, most, seconds)
    return status, answer, scratch.outcome


def test_out_of_reach_the_arm_points_at_the_target():
    """Three links of 1 m in the plane: the nearest they come is stretched out along the way."""
    body = planar_chain([1.0, 1.0, 1.0])
    problem = Problem(body, Position("tip", (4.0, 3.0, 0.0)))
    status, q, outcome = polished(problem, np.array([0.1, 0.4, -0.2]))
    assert status == CLOSEST
    assert_allclose(q, [np.arctan2(3.0, 4.0), 0.0, 0.0], atol=1e-4)
    assert outcome[EVALUATIONS] <= STEPS


def test_it_never_goes_uphill(rng):
    body = planar_chain(4)
    guide = Displacement(reference=np.ones(4))
    problem = Problem(body, [Position("tip", (0.9, 9.0, 0.0)), Direction("tip", (0, 1, 0), axis=(1, 0, 0)), guide])
    flat = Flat(problem)
    for _ in range(10):
        start = body.sample(rng)
        _, q, _ = polished(problem, start)
        assert flat.measure(q)[1] <= flat.measure(start)[1] + 1e-6
        assert (q >= problem.lower).all() and (q <= problem.upper).all()


def test_it_can_still_arrive(rng):
    body = planar_chain(3)
    q = body.sample(rng)
    problem = Problem(body, Position("tip", body.forward(q)["tip"][:3, 3]))
    status, _, _ = polished(problem, q + 0.1)
    assert status == REACHED


@pytest.mark.parametrize("most", [1, 5])
def test_it_keeps_to_the_evaluations(most, rng):
    problem = Problem(planar_chain(3), Position("tip", (9.0, 0.0, 0.0)))
    assert polished(problem, rng.normal(size=3), most)[2][EVALUATIONS] <= most


def test_at_a_minimum_it_stays():
    body = planar_chain(2)
    problem = Problem(body, Position("tip", (9.0, 0.0, 0.0)))
    _, q, _ = polished(problem, np.zeros(2))
    assert_array_equal(q, 0.0)

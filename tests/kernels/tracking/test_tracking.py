"""Following targets step by step, in small; motion/test_track.py has it in large."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from memetik.build import planar_chain
from memetik.kernels.problem.budget import EVALUATIONS
from memetik.kernels.problem.verify import CLOSEST, REACHED
from memetik.kernels.tracking.tracking import JUMPED, Path, track_targets
from memetik.objectives import Position
from memetik.problem import Problem
from memetik.solvers.memetic_plan import memetic_plan

pytestmark = pytest.mark.quick


def followed(points, start, most=2000, jump=0.5, seconds=0.0):
    """Joint vectors, errors and statuses of an arm of two links of 0.5 m."""
    reach = Position("tip", (0, 0, 0))
    problem = Problem(planar_chain([0.5, 0.5]), reach)
    c = problem.compiled
    rows, target = reach.target_rows(points)
    places = np.arange(7) + target.place(c.data)
    path = Path(
        places,
        rows,
        np.full((len(rows), 2), np.nan),
        np.full((len(rows), 1), np.nan),
        np.full(len(rows), -1),
        np.ones(2),
    )
    plan = memetic_plan(c)
    plan.complete_track()
    scratch = plan.lease()
    track_targets(
        scratch.table,
        path,
        plan.attempt,
        plan.slide,
        np.array(start),
        scratch.outcome,
        0,
        most,
        seconds,
        jump,
    )
    return path.q, path.errors[:, 0], path.statuses, scratch.outcome


def test_each_step_is_near_the_one_before():
    x = np.linspace(0.7, 0.8, 6)
    path, errors, statuses, _ = followed(np.stack([x, 0 * x, 0 * x], axis=1), (0.8, -1.6))
    assert_array_equal(statuses, REACHED)
    assert (errors <= 1e-4).all()
    assert np.abs(np.diff(path, axis=0)).max() < 0.1
    for q, goal in zip(path, x, strict=True):
        assert np.cos(q[0]) + np.cos(q.sum()) == pytest.approx(2.0 * goal, abs=4e-4)


def test_what_is_out_of_reach_is_approached():
    path, errors, statuses, _ = followed([(0.9, 0.1, 0.0), (1.2, 0.5, 0.0)], (0.5, -0.9))
    assert_array_equal(statuses, [REACHED, CLOSEST])
    assert errors[1] == pytest.approx(0.3, abs=1e-6)
    assert_allclose(path[1], [np.arctan2(0.5, 1.2), 0.0], atol=1e-3)


def test_a_leap_is_marked():
    _, _, statuses, _ = followed([(0.6, 0.1, 0.0), (-0.6, -0.3, 0.0)], (0.8, -1.6))
    assert_array_equal(statuses, [REACHED, JUMPED])


def test_the_first_step_may_be_far():
    assert_array_equal(followed([(-0.6, -0.3, 0.0)], (0.8, -1.6))[2], [REACHED])


@pytest.mark.parametrize("most", [1, 5, 30])
def test_the_budget_is_for_one_step(most):
    outcome = followed([(3.0, 0.0, 0.0)] * 3, (0.8, -1.6), most=most)[3]
    assert outcome[EVALUATIONS] <= 3 * most


def test_a_start_out_of_limits_is_moved_inside():
    path, _, statuses, _ = followed([(0.9, 0.1, 0.0)], (9.0, -9.0))
    assert statuses[0] == REACHED
    assert (np.abs(path) <= np.pi).all()

"""One posture, rank by rank: residuals that stick out of their sets, their gradient, and how costs compare."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from memetik.build import planar_chain
from memetik.kernels.problem.problem_record import Run
from memetik.kernels.search.levels import (
    HELD,
    NOTHING,
    WITHIN,
    compare,
    linearise_rank,
    measure_rank,
    minimise_rank,
    settle_rank,
)
from memetik.objectives import Distance, JointValue, Plane, Position
from memetik.problem import Problem
from memetik.solvers.memetic_plan import memetic_plan

pytestmark = pytest.mark.quick
BODY = planar_chain([0.5, 0.4, 0.3])


def at(objectives, x):
    """The records of a problem, with its targets and the posture x."""
    scratch = memetic_plan(Problem(BODY, objectives).compiled).lease()
    scratch.take_targets()
    scratch.table  # noqa: B018 - allocates
    whole = scratch.memetic
    whole.solve.work.best[:] = x
    outcome = np.zeros(scratch.outcome.size)
    run = Run(0, 10_000, 0.0, whole.solve.clock, whole.solve.state, outcome)
    return whole.solve.problem, whole.levels, run, whole.solve.work


def sets():
    """Terms above that stay in a ball, in a box, on one side, off a solid, and by a spring; below them a position."""
    near = np.array([0.6, 0.5, 0.0])
    return [
        Position("link_2", near, tolerance=0.05, priority=1),
        Position("tip", near, tolerance=(0.02, 0.03, 0.01), priority=1),
        Plane("tip", (0.4, 0.0, 0.0), (-1.0, 0.0, 0.0), side="above", tolerance=0.01, priority=1),
        Distance(BODY.frame("tip"), [(0.7, 0.6, 0.0, 0.3)], radius=0.05, priority=1),
        JointValue("joint_2", 0.2, tolerance=0.05, priority=1),
        Position("tip", (1.0, 0.4, 0.0)),
    ]


@pytest.mark.parametrize("mode", [WITHIN, HELD])
def test_the_gradient_is_that_of_the_error(mode, rng):
    problem, levels, run, work = at(sets(), np.zeros(3))
    for _ in range(20):
        x = rng.uniform(-1.5, 1.5, 3)
        work.best[:] = rng.uniform(-1.5, 1.5, 3)
        settle_rank(problem, levels, 0, work)  # where they are elsewhere
        levels.modes[levels.ranks == 0] = mode
        if mode == WITHIN:
            tolerances = problem.terms["tolerance"][levels.ranks == 0]
            levels.bound[levels.ranks == 0] = np.where(np.isfinite(tolerances), tolerances, 0.0)
        measure_rank(problem, levels, x, 1, 1e2, run, work)
        linearise_rank(problem, levels, x, 1, 1e2, work)
        gradient = 2.0 * (work.jacobian @ work.residual + work.gradient)
        for k in range(3):
            step = np.eye(3)[k] * 1e-6
            ahead, behind = (measure_rank(problem, levels, x + s, 1, 1e2, run, work)[0] for s in (step, -step))
            assert gradient[k] == pytest.approx((ahead - behind) / 2e-6, rel=2e-3, abs=1e-2)


def test_inside_their_sets_terms_above_say_nothing():
    x = np.array([0.3, 0.4, 0.2])
    tip = BODY.forward(x)["tip"][:3, 3]
    above = [
        Position("tip", tip + np.array([0.01, 0.0, 0.0]), tolerance=0.02, priority=1),
        Distance(BODY.frame("tip"), [(*(tip + np.array([0.0, 0.103, 0.0])), 0.1)], priority=1),  # within the margin
    ]
    problem, levels, run, work = at([*above, Position("link_2", (0.0, 0.0, 0.0))], x)
    settle_rank(problem, levels, 0, work)
    assert_allclose(levels.modes[levels.ranks == 0], WITHIN)
    error, done = measure_rank(problem, levels, x, NOTHING, 1.0, run, work)
    assert error == 0.0 and done


def test_a_step_does_not_run_into_what_is_close():
    # The tip stands 3 mm off a ball and is wanted behind it: the first step stops at it, or goes around.
    x = np.array([0.3, 0.4, 0.2])
    tip = BODY.forward(x)["tip"][:3, 3]
    ball = tip + np.array([-0.203, 0.0, 0.0])
    keep_off = Distance(BODY.frame("tip"), [(*ball, 0.2)], priority=1)
    problem, levels, run, work = at([keep_off, Position("tip", ball)], x)
    settle_rank(problem, levels, 0, work)
    error, _ = minimise_rank(problem, levels, 1, 1e4, 1e-6, run, work)
    center = BODY.forward(work.best)["tip"][:3, 3]
    assert np.linalg.norm(center - ball) == pytest.approx(0.2, abs=1e-4)
    assert math.sqrt(error) == pytest.approx(0.2 * levels.scale[1], rel=1e-3)


@pytest.mark.parametrize(
    ("cost", "least", "expected"),
    [
        ((0.0, 1.0), (math.inf, math.inf), (0, -1)),
        ((0.0, 1.0), (0.0, 2.0), (1, -1)),
        ((0.0, 2.0), (0.0, 1.0), (1, 1)),
        ((1e-3, 0.0), (0.0, 9.0), (0, 1)),  # a higher rank is never traded for a lower one
        ((1.0 + 1e-9, 0.5), (1.0, 0.7), (1, -1)),  # equal but for rounding
        ((1.0, 1.0), (1.0, 1.0), (2, 0)),
        ((math.nan, 0.0), (1.0, 1.0), (0, 1)),
    ],
)
def test_ranks_are_compared_in_turn(cost, least, expected):
    assert compare(np.array(cost), np.array(least), 2) == expected

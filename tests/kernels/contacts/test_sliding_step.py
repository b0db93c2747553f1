"""The step along surfaces is the minimum of its linear model under all constraints, by SciPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from memetik import Distance, Position, Problem, Shape, load, track, translation
from memetik.kernels.contacts.sliding_step import OF_ROWS, ROW_GAP, Slide, constrained_step
from memetik.kernels.problem.problem_record import VARIABLE
from memetik.kernels.runtime.record import allocate
from memetik.solvers.memetic_plan import memetic_plan


def by_scipy(matrix, goal, rows, gaps, bounds):
    """The least (s - goal)·matrix (s - goal) with rows·s <= gaps, within bounds."""
    return minimize(
        lambda s: 0.5 * (s - goal) @ matrix @ (s - goal), np.zeros(goal.size), jac=lambda s: matrix @ (s - goal),
        bounds=bounds, method="SLSQP", options={"ftol": 1e-14, "maxiter": 500},
        constraints={"type": "ineq", "fun": lambda s: gaps - rows @ s, "jac": lambda s: -rows},
    ).x  # fmt: skip


@pytest.mark.quick
def test_steps_are_those_of_a_quadratic_program(rng):
    """Random models with contacts that hold, are far away or repeat each other, and joints at their limits."""
    body = load("panda").chain("panda_link0", "panda_hand")
    problem = Problem(body, [Position("panda_hand", (0.3, 0.0, 0.5)), Distance("panda_hand", [(1.0, 0.0, 0.0)])])
    plan = memetic_plan(problem.compiled)
    work, n = plan.new_scratch().memetic.solve.work, problem.compiled.variables.size
    variables = np.zeros(n, dtype=VARIABLE)
    held = 0
    for _ in range(20):
        slide = allocate(Slide, plan.sizes)
        x, goal = rng.uniform(-0.5, 0.5, n), rng.normal(size=n)
        variables["lower"], variables["upper"] = x - rng.uniform(0.0, 1.0, n), x + rng.uniform(0.0, 1.0, n)
        half = rng.normal(size=(n, n))
        matrix = half @ half.T + 0.1 * np.eye(n)
        lower = np.linalg.cholesky(matrix)
        slide.system[:] = np.tril(lower, -1) + np.diag(1.0 / np.diag(lower))
        slide.free_step[:] = goal
        slide.count[OF_ROWS] = 5
        slide.rows[:, :4] = rng.normal(size=(n, 4))
        slide.rows[:, 4] = slide.rows[:, 0]
        slide.contacts[:5, ROW_GAP] = rng.uniform(0.0, 0.5, 5)
        held += constrained_step(slide, variables, x, work)
        rows, gaps = slide.rows[:, :5].T, slide.contacts[:5, ROW_GAP]
        bounds = np.stack([variables["lower"] - x, variables["upper"] - x], axis=1)
        assert_allclose(work.step, by_scipy(matrix, goal, rows, gaps, bounds), atol=2e-5)
    assert held > 20


@pytest.mark.quick
def test_a_track_begins_anew_each_time():
    """What one track has met does not change the next."""
    body = load("panda").chain("panda_link0", "panda_hand")
    path = np.stack([np.full(4, 0.5), np.linspace(0.0, 0.01, 4), np.full(4, 0.22)], axis=1)
    tip = Position(body.frame("panda_hand", offset=(0.0, 0.0, 0.1)), path[0])
    problem = Problem(
        body, [tip, Distance("panda_hand", [Shape("box", (0.5, 1.0, 0.3), translation(0.55, 0.0, 0.15))])]
    )
    first, again = (track(problem, {tip: path}, body.home).q for _ in range(2))
    assert (first == again).all()

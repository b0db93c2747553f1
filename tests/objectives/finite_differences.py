"""Jacobians of compiled problems against central differences of their residuals, by the kernels that solvers use."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from memetik import Body
from memetik.kernels.body.balls import step_balls
from memetik.kernels.problem.evaluate import linearise, measure, place
from memetik.kernels.problem.workspace import Workspace
from memetik.kernels.runtime.record import allocate
from memetik.kernels.terms.springs import SPRINGS, springs_cost, springs_gradient
from memetik.problem import Problem

STEP = 1e-5  # m or rad; the differences are good to about 1e-9 then


class Evaluated:
    """All residuals of a problem at one posture, unscaled as the objectives define them, and their derivatives."""

    def __init__(self, problem: Problem, x):
        c = problem.compiled
        record, work = c.record, allocate(Workspace, c.sizes)
        place(c.nodes, c.frames, x, work.poses, work.world)
        self.cost, _, _ = measure(c.terms, c.data, work.world, x, 1.0, work.residual)
        self.residual, scaled = work.residual.copy(), work.residual
        linearise(record, x, 1.0, work)
        self.jacobian, self.gradient, self.diagonal = work.jacobian, work.gradient, work.diagonal
        for term in c.terms:
            rows = slice(term["row"], term["row"] + term["rows"])
            self.jacobian[:, rows] /= term["scale"]
            assert_allclose(scaled[rows], term["scale"] * self.residual[rows])


def posture(problem: Problem, q):
    """The variables that a problem solves for, taken from a joint vector of the whole body."""
    return np.ascontiguousarray(np.asarray(q, dtype=np.float64)[problem.compiled.active])


def moved(problem: Problem, x, change):
    """The posture after a small step: balls are turned by it, all else is added."""
    there = x + change
    step_balls(problem.compiled.balls, x, 1.0, change, there)
    return there


def differences(problem: Problem, x, step=STEP):
    """Derivative of all residuals by each variable, shaped as the kernels write it: (variables, residuals)."""
    return np.array(
        [
            (
                Evaluated(problem, moved(problem, x, change)).residual
                - Evaluated(problem, moved(problem, x, -change)).residual
            )
            / (2.0 * step)
            for change in step * np.eye(x.size)
        ]
    )


def check_jacobian(body: Body, objectives, q, tolerance=1e-6, **conditions):
    """The kernels' Jacobian is the derivative of the kernels' residual, and springs' gradient that of their cost.

    `tolerance` is relative to the largest derivative. Returns the Jacobian, for a look at what is in it.
    """
    problem = Problem(body, objectives, **conditions)
    x = posture(problem, q)
    here = Evaluated(problem, x)
    expected = differences(problem, x)
    size = max(1.0, float(np.abs(expected).max(initial=0.0)))
    assert_allclose(here.jacobian, expected, rtol=0.0, atol=tolerance * size)
    for term in problem.compiled.terms:
        if term.kind == SPRINGS.number:
            check_springs(problem, term, x, tolerance)
    return here.jacobian


def check_springs(problem: Problem, term, x, tolerance=1e-6):
    """The gradient is half that of the squared cost, and the diagonal its derivative, both with the scale squared."""
    data, balls = problem.compiled.data, problem.compiled.balls

    def gradient(at):
        slope, stiffness = np.zeros(x.size), np.zeros(x.size)
        springs_gradient(term, data, at, term.scale, balls.size > 0, slope, stiffness)
        return slope, stiffness

    slope, stiffness = gradient(x)
    for k, change in enumerate(STEP * np.eye(x.size)):
        ahead, behind = moved(problem, x, change), moved(problem, x, -change)
        cost = (springs_cost(term, data, ahead) - springs_cost(term, data, behind)) / (2.0 * STEP)
        size = max(1.0, abs(cost))
        assert_allclose(slope[k], 0.5 * term.scale**2 * cost, rtol=0.0, atol=tolerance * size)
        if problem.compiled.variables[k]["ball"]:
            continue  # the diagonal is that of Gauss and Newton, exact only at rest
        turn = (gradient(x + change)[0][k] - gradient(x - change)[0][k]) / (2.0 * STEP)
        assert_allclose(stiffness[k], turn, rtol=0.0, atol=tolerance * max(1.0, abs(turn)))

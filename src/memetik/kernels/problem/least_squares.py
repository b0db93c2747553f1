"""What every step of a least-squares method is made of: a linear model of the errors, and a move within the limits.

With residuals r and their Jacobian J, and springs on single variables with gradient g and diagonal D, the squared error
after a step s is about

    |r + J s|^2 + 2 g·s + s^T D s        with half the gradient J^T r + g
"""

from __future__ import annotations

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.linear import step_by_residuals, step_by_variables
from memetik.kernels.problem.evaluate import linearise


@jit_part
def linear_model(problem, x, softness, work):
    """The linear model at a posture that was just measured, in the workspace, and which variables are free to move."""
    nodes, frames, terms, data, bounds, spans = problem
    linearise(
        nodes,
        frames,
        terms,
        data,
        x,
        softness,
        work.poses,
        work.world,
        work.axes,
        work.residual,
        work.jacobian,
        work.gradient,
        work.diagonal,
    )
    for k in range(x.size):
        work.free[k] = 1.0
        if x[k] <= bounds[0, k] or x[k] >= bounds[1, k]:
            # At a limit: hold the joint if going downhill would push it out.
            uphill = work.gradient[k]
            for i in range(spans[k, 0], spans[k, 1]):
                uphill += work.jacobian[k, i] * work.residual[i]
            if (x[k] <= bounds[0, k] and uphill >= 0.0) or (x[k] >= bounds[1, k] and uphill <= 0.0):
                work.free[k] = 0.0


@jit
def steepest_descent(problem, work):
    """Write half the negative gradient of the squared error, -(J^T r + g), into work.step; held variables stay."""
    spans = problem[5]
    for k in range(work.step.size):
        uphill = work.gradient[k]
        for i in range(spans[k, 0], spans[k, 1]):
            uphill += work.jacobian[k, i] * work.residual[i]
        work.step[k] = -uphill if work.free[k] != 0.0 else 0.0


@jit
def curvature(problem, step, work):
    """s^T (J^T J + D) s, the bend of the model along a step; J s is left in work.right."""
    spans, total = problem[5], 0.0
    for i in range(work.right.size):
        work.right[i] = 0.0
    for k in range(step.size):
        total += work.diagonal[k] * step[k] * step[k]
        for i in range(spans[k, 0], spans[k, 1]):
            work.right[i] += work.jacobian[k, i] * step[k]
    for i in range(work.right.size):
        total += work.right[i] * work.right[i]
    return total


@jit
def damped_step(problem, damping, work):
    """Write the solution of (J^T J + D + damping) s = -(J^T r + g) into work.step, through the smaller system."""
    spans = problem[5]
    if work.residual.size <= work.step.size:
        step_by_residuals(
            work.jacobian,
            spans,
            work.residual,
            work.gradient,
            work.diagonal,
            work.free,
            damping,
            work.system,
            work.right,
            work.step,
        )
    else:
        step_by_variables(
            work.jacobian,
            spans,
            work.residual,
            work.gradient,
            work.diagonal,
            work.free,
            damping,
            work.system,
            work.step,
        )


@jit
def shorten(longest, work):
    """Scale work.step so that no variable moves by more than `longest` [rad or m]; its direction stays."""
    most = 0.0
    for k in range(work.step.size):
        most = max(most, abs(work.step[k]))
    if most > longest:
        scale = longest / most
        for k in range(work.step.size):
            work.step[k] *= scale


@jit
def take_step(x, bounds, work):
    """Move along work.step and stop at the limits."""
    for k in range(x.size):
        x[k] = min(max(x[k] + work.step[k], bounds[0, k]), bounds[1, k])


@jit
def step_from(origin, share, x, bounds, work):
    """Put x at a share of work.step from `origin`, within the limits; false if that is nowhere new, or nowhere at all."""
    total = 0.0
    for k in range(x.size):
        total += work.step[k]
    if not math.isfinite(total):
        return False
    moved = False
    for k in range(x.size):
        value = min(max(origin[k] + share * work.step[k], bounds[0, k]), bounds[1, k])
        moved = moved or value != origin[k]
        x[k] = value
    return moved

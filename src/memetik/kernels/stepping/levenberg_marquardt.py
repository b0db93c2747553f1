"""One step of Levenberg-Marquardt; the method is explained in solvers/stepping/levenberg_marquardt.py."""

from __future__ import annotations

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.problem.least_squares import curvature, damped_step, linear_model, shorten, step_from
from memetik.kernels.stepping.iterate import LAST, LONGEST, MEMORY, OWN

FIRST = OWN  # first damping, as a share of the largest diagonal entry of J^T J + D

DAMPING = MEMORY  # lambda
GROWTH = MEMORY + 1  # what the next refusal multiplies it by
PROMISED = MEMORY + 2  # gain that the linear model promised for the step under way
ORIGIN = MEMORY + 3  # the posture that stands, n numbers, and the residuals there

LEAST, MOST = 1e-12, 1e12  # of the damping


@jit_part
def largest_curvature(work):
    """The largest diagonal entry of J^T J + D."""
    most = 0.0
    for k in range(work.step.size):
        entry = work.diagonal[k]
        for i in range(work.residual.size):
            entry += work.jacobian[k, i] * work.jacobian[k, i]
        most = max(most, entry)
    return most


@jit
def promise(problem, origin, x, work):
    """The gain in squared error that the linear model promises for going from origin to x."""
    for k in range(x.size):
        work.step[k] = x[k] - origin[k]
    gain = -curvature(problem, work.step, work)
    for k in range(x.size):
        gain -= 2.0 * work.gradient[k] * work.step[k]
    for i in range(work.residual.size):
        gain -= 2.0 * work.right[i] * work.residual[i]
    return gain


@jit
def levenberg_marquardt_step(problem, x, softness, error, parameters, room, work):
    """Accept or refuse the posture that the last step led to, set the damping by it, and step from the one that stands."""
    n, m, variables = x.size, work.residual.size, problem.variables
    origin, residual = room[ORIGIN : ORIGIN + n], room[ORIGIN + n : ORIGIN + n + m]
    if error < room[LAST]:
        linear_model(problem, x, softness, work)
        if math.isfinite(room[LAST]):
            rho = (room[LAST] - error) / room[PROMISED]
            room[DAMPING] = max(room[DAMPING] * max(1.0 / 3.0, 1.0 - (2.0 * rho - 1.0) ** 3), LEAST)
        else:
            room[DAMPING] = max(parameters[FIRST] * largest_curvature(work), LEAST)
        room[LAST], room[GROWTH] = error, 2.0
        for k in range(n):
            origin[k] = x[k]
        for i in range(m):
            residual[i] = work.residual[i]
    else:  # the Jacobian is still that of the posture that stands
        for i in range(m):
            work.residual[i] = residual[i]
        room[DAMPING] *= room[GROWTH]
        room[GROWTH] *= 2.0
    while room[DAMPING] <= MOST:
        damped_step(problem, room[DAMPING], work)
        shorten(parameters[LONGEST], work)
        if not step_from(origin, 1.0, x, variables, work):
            return False
        room[PROMISED] = promise(problem, origin, x, work)
        if room[PROMISED] > 0.0:
            return True
        room[DAMPING] *= room[GROWTH]  # a limit has bent the step uphill: be warier
        room[GROWTH] *= 2.0
    return False

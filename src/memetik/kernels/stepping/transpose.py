"""One step of the Jacobian transpose method; the method is explained in solvers/stepping/transpose.py."""

from __future__ import annotations

import math

from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.least_squares import curvature, linear_model, shorten, steepest_descent, step_from
from memetik.kernels.stepping.iterate import LAST, LONGEST, MEMORY, OWN

LENGTH = OWN  # a fixed length of the step, 0 to choose it
LAG = OWN + 1  # 1: each step is as long as was best for the one before

BEST = MEMORY  # the length that was best for the step before


@jit
def transpose_step(problem, x, softness, error, parameters, room, work):
    """s = alpha d along d = -(J^T r + g), with alpha = d·d / d^T (J^T J + D) d, of the step before where there is one."""
    linear_model(problem, x, softness, work)
    steepest_descent(problem, work)
    alpha = parameters[LENGTH]
    if alpha == 0.0:
        steep, bend = 0.0, curvature(problem, work.step, work)
        for k in range(x.size):
            steep += work.step[k] * work.step[k]
        if not bend > 0.0:
            return False
        alpha = best = steep / bend
        if parameters[LAG] != 0.0 and math.isfinite(room[LAST]):
            alpha = room[BEST]
        room[LAST], room[BEST] = error, best
    for k in range(x.size):
        work.step[k] *= alpha
    shorten(parameters[LONGEST], work)
    return step_from(x, 1.0, x, problem.variables, work)

"""One step of the Jacobian transpose method; the method is explained in solvers/transpose.py."""

from __future__ import annotations

from memetik.kernels.iterate import LONGEST, OWN
from memetik.kernels.jit import jit
from memetik.kernels.step import curvature, linear_model, shorten, steepest_descent, step_from

LENGTH = OWN  # a fixed length of the step, 0 for the best one


@jit
def transpose_step(problem, x, softness, error, parameters, room, work):
    """s = alpha d along d = -(J^T r + g), with alpha = d·d / d^T (J^T J + D) d unless it is fixed."""
    linear_model(problem, x, softness, work)
    steepest_descent(problem, work)
    alpha = parameters[LENGTH]
    if alpha == 0.0:
        steep, bend = 0.0, curvature(problem, work.step, work)
        for k in range(x.size):
            steep += work.step[k] * work.step[k]
        if not bend > 0.0:
            return False
        alpha = steep / bend
    for k in range(x.size):
        work.step[k] *= alpha
    shorten(parameters[LONGEST], work)
    return step_from(x, 1.0, x, problem[4], work)

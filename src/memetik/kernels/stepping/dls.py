"""One step of damped least squares; the method is explained in solvers/stepping/dls.py."""

from __future__ import annotations

from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.least_squares import damped_step, linear_model, shorten, step_from
from memetik.kernels.stepping.iterate import LONGEST, OWN

DAMPING = OWN  # lambda


@jit
def dls_step(problem, x, softness, error, parameters, room, work):
    """(J^T J + D + lambda^2) s = -(J^T r + g)."""
    linear_model(problem, x, softness, work)
    damped_step(problem, parameters[DAMPING] * parameters[DAMPING], work)
    shorten(parameters[LONGEST], work)
    return step_from(x, 1.0, x, problem.variables, work)

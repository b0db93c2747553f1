"""One step by the pseudoinverse with damped small singular values; the method is explained in solvers/stepping/svd_dls.py."""

from __future__ import annotations

from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.least_squares import linear_model, shorten, step_from
from memetik.kernels.stepping.directions import combine, directions
from memetik.kernels.stepping.iterate import LONGEST, MEMORY, OWN

DAMPING = OWN  # lambda where a singular value is zero
SINGULAR = OWN + 1  # singular values above this are not damped


@jit
def svd_dls_step(problem, x, softness, error, parameters, room, work):
    """f(sigma) = sigma / (sigma^2 + lambda^2 (1 - (sigma / singular)^2)), 1 / sigma from `singular` on."""
    linear_model(problem, x, softness, work)
    d = directions(room[MEMORY:], work)
    for i in range(d.sigma.size):
        sigma, nearness = d.sigma[i], 0.0
        if sigma < parameters[SINGULAR]:
            nearness = 1.0 - (sigma / parameters[SINGULAR]) ** 2
        square = sigma * sigma + parameters[DAMPING] * parameters[DAMPING] * nearness
        d.wrong[i] *= sigma / square if square > 0.0 else 0.0
    combine(d, work)
    shorten(parameters[LONGEST], work)
    return step_from(x, 1.0, x, problem.variables, work)

"""One step of Gauss-Newton; the method is explained in solvers/stepping/gauss_newton.py."""

from __future__ import annotations

from memetik.kernels.compiler.jit import jit
from memetik.kernels.memetic.descent import LEAST_DAMPING
from memetik.kernels.problem.least_squares import damped_step, linear_model, shorten, step_from
from memetik.kernels.stepping.iterate import LAST, LONGEST, MEMORY, OWN

LINE_SEARCH = OWN  # 1: halve a step that gains nothing

SHARE = MEMORY  # how much of the step is taken
ORIGIN = MEMORY + 1  # where it sets out
LEAST_SHARE = 1e-3  # a line search that gets here leads nowhere


@jit
def gauss_newton_step(problem, x, softness, error, parameters, room, work):
    """J s = -r in the least-squares sense, the shortest such s; half of it, a quarter, ... while the error does not fall."""
    n, variables = x.size, problem.variables
    origin = room[ORIGIN : ORIGIN + n]
    if parameters[LINE_SEARCH] != 0.0 and not error < room[LAST]:
        room[SHARE] *= 0.5  # work.step is still the one that led here
        if room[SHARE] < LEAST_SHARE:
            return False
        return step_from(origin, room[SHARE], x, variables, work)
    room[LAST], room[SHARE] = error, 1.0
    for k in range(n):
        origin[k] = x[k]
    linear_model(problem, x, softness, work)
    damped_step(problem, LEAST_DAMPING, work)
    shorten(parameters[LONGEST], work)
    return step_from(origin, 1.0, x, variables, work)

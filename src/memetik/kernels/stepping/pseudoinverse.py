"""One step by the pseudoinverse, all the way or to a waypoint; see solvers/stepping/{pseudoinverse,interpolated}.py."""

from __future__ import annotations

import math

from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.least_squares import linear_model, shorten, step_from
from memetik.kernels.stepping.directions import combine, directions
from memetik.kernels.stepping.iterate import LAST, LONGEST, MEMORY, OWN

CUTOFF = OWN  # singular values below this share of the largest count as zero
WAYPOINTS = OWN + 1  # in how many parts the way to the target is cut

PASSED = MEMORY  # waypoints so far
SCRATCH = MEMORY + 1


@jit
def pseudoinverse_step(problem, x, softness, error, parameters, room, work):
    """s = -A^+ b / w, with w waypoints still ahead: f(sigma) = 1 / sigma, or 0 where sigma is next to nothing."""
    room[PASSED] = room[PASSED] + 1.0 if math.isfinite(room[LAST]) else 0.0
    room[LAST] = error
    linear_model(problem, x, softness, work)
    d = directions(room[SCRATCH:], work)
    largest = 0.0
    for i in range(d.sigma.size):
        largest = max(largest, d.sigma[i])
    ahead = max(parameters[WAYPOINTS] - room[PASSED], 1.0)
    for i in range(d.sigma.size):
        if d.sigma[i] > parameters[CUTOFF] * largest:
            d.wrong[i] /= ahead * d.sigma[i]
        else:
            d.wrong[i] = 0.0
    combine(d, work)
    shorten(parameters[LONGEST], work)
    return step_from(x, 1.0, x, problem.variables, work)

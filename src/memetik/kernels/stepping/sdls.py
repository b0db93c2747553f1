"""One step of selectively damped least squares; the method is explained in solvers/stepping/sdls.py."""

from __future__ import annotations

import math

from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.least_squares import linear_model, shorten, step_from
from memetik.kernels.stepping.directions import combine, directions
from memetik.kernels.stepping.iterate import LONGEST, MEMORY, OWN

GAMMA = OWN  # the longest step of all [rad or m]
NOTHING = 1e-10  # a singular value below this moves nothing


@jit
def sdls_step(problem, x, softness, error, parameters, room, work):
    """Every direction as far as the pseudoinverse says, but no further than gamma_i."""
    terms = problem.terms
    n, m = x.size, work.residual.size
    linear_model(problem, x, softness, work)
    d = directions(room[MEMORY:], work)
    # How far a unit of each variable moves all targets together, sum_l |ds_l / dx_k|: in work.trial.
    for k in range(n):
        work.trial[k] = math.sqrt(work.diagonal[k])
        for t in range(terms.size):
            square = 0.0
            for i in range(terms[t].row, terms[t].row + terms[t].rows):
                square += work.jacobian[k, i] * work.jacobian[k, i]
            work.trial[k] += math.sqrt(square)
    for i in range(d.sigma.size):
        if d.sigma[i] <= NOTHING:
            d.wrong[i] = 0.0
            continue
        gain = 0.0  # N_i: how far a unit along left_i moves all targets together
        for t in range(terms.size):
            square = 0.0
            for j in range(terms[t].row, terms[t].row + terms[t].rows):
                square += d.left[i, j] * d.left[i, j]
            gain += math.sqrt(square)
        for j in range(m, d.left.shape[1]):
            gain += abs(d.left[i, j])
        effort, most = 0.0, 0.0  # M_i: how far the joints that achieve it would move them if each moved alone
        for k in range(n):
            effort += abs(d.right[i, k]) * work.trial[k]
            most = max(most, abs(d.right[i, k]))
        effort /= d.sigma[i]
        allowed = parameters[GAMMA] * min(1.0, gain / effort)
        d.wrong[i] /= d.sigma[i]
        if abs(d.wrong[i]) * most > allowed:
            d.wrong[i] *= allowed / (abs(d.wrong[i]) * most)
    combine(d, work)
    shorten(min(parameters[GAMMA], parameters[LONGEST]), work)
    return step_from(x, 1.0, x, problem.variables, work)

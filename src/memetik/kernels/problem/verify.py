"""The last act of every solver: wrap, clamp, recompute by the plain path, and judge what is really returned."""

from __future__ import annotations

import math

from memetik.kernels.compiler.function_pointers import call_residual
from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.budget import OUTCOME
from memetik.kernels.problem.evaluate import count_residuals, place, term_error
from memetik.kernels.problem.workspace import carve
from memetik.kernels.terms.records import SPRINGS

REACHED, CLOSEST, INVALID = 0, 1, 2
ENDED = 4  # a signal or another thread ended the search (cancel.py); what it leaves is of no use


@jit
def wrap_towards(x, start, bounds):
    """Take whole turns off every angle that may turn freely (bounds row 4), to lie as near to the start as limits allow."""
    for k in range(x.size):
        if bounds[4, k] != 0.0 and math.isfinite(x[k]):
            near = x[k] - 2.0 * math.pi * round((x[k] - start[k]) / (2.0 * math.pi))
            if not bounds[0, k] <= near <= bounds[1, k]:
                # The copy nearest to the start is out of limits: the next one in the direction of the limits.
                near += 2.0 * math.pi if near < bounds[0, k] else -2.0 * math.pi
            if bounds[0, k] <= near <= bounds[1, k]:
                x[k] = near


@jit
def verify(nodes, frames, terms, data, bounds, x, start, poses, world, residual, errors, satisfied):
    """Wrap and clamp x, then measure every term on it. Returns the status.

    An error that is not a number is never good enough; of a soft term it is reported and does not matter.
    """
    wrap_towards(x, start, bounds)
    status = REACHED
    for k in range(x.size):
        x[k] = min(max(x[k], bounds[0, k]), bounds[1, k])
        if not math.isfinite(x[k]):
            status = INVALID
    place(nodes, frames, x, poses, world)
    for t in range(terms.size):
        if terms[t].kind != SPRINGS:
            call_residual(terms[t].residual, terms[t], data, world, x, residual)
        error, good = term_error(terms[t], data, x, residual)
        errors[t] = error
        satisfied[t] = 1.0 if good or terms[t].soft else 0.0
        if not good and not terms[t].soft:
            status = max(status, CLOSEST if math.isfinite(error) else INVALID)
    return status


@jit
def judge(nodes, frames, terms, data, bounds, spans, active, limits, q, flags, clock, state, buffer, outcome):
    """The status of a joint vector as it stands, with the errors of all terms written behind the outcome."""
    n = active.size
    work = carve(buffer, nodes.size, frames.size, n, count_residuals(terms), 0)
    for k in range(n):
        work.x[k] = work.start[k] = q[active[k]]
    errors, satisfied = outcome[OUTCOME : OUTCOME + terms.size], outcome[OUTCOME + terms.size :]
    return verify(
        nodes, frames, terms, data, bounds, work.x, work.start, work.poses, work.world, work.residual, errors, satisfied
    )

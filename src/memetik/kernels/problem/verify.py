"""The end of every solve: wrap, clamp, recompute by the plain path, and judge what is really returned."""

import math

from memetik.kernels.body.balls import settle_balls
from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.budget import OUTCOME
from memetik.kernels.problem.evaluate import place, term_error
from memetik.kernels.problem.limits import clamp, wrap_towards
from memetik.kernels.terms.function_pointers import call_residual

REACHED, CLOSEST, INVALID = 0, 1, 2
ENDED = 4  # a signal or another thread ended the search (runtime/cancel.py); what it leaves is of no use


@jit
def verify(problem, x, outcome, work):
    """Wrap x towards work.start, clamp it, and measure every term on it, behind OUTCOME. Returns the status.

    Balls are written by the values nearest to work.start.

    An error that is not a number is never good enough; of a soft term it is reported and does not matter.
    """
    terms, variables = problem.terms, problem.variables
    settle_balls(problem.balls, x, work.start)
    wrap_towards(x, work.start, variables)
    status = REACHED
    for k in range(x.size):
        x[k] = clamp(x[k], variables[k])
        if not math.isfinite(x[k]):
            status = INVALID
    place(problem.nodes, problem.frames, x, work.poses, work.world)
    for t in range(terms.size):
        if terms[t].rows > 0:
            call_residual(terms[t].residual, terms[t], problem.data, work.world, x, work.residual)
        error, good = term_error(terms[t], problem.data, x, work.residual)
        outcome[OUTCOME + t] = error
        outcome[OUTCOME + terms.size + t] = 1.0 if good or terms[t].soft else 0.0
        if not good and not terms[t].soft:
            status = max(status, CLOSEST if math.isfinite(error) else INVALID)
    return status

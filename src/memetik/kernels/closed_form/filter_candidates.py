"""From the postures that a closed form offers to those that are solutions."""

import math
from typing import NamedTuple

from memetik.kernels.compiler.jit import jit
from memetik.kernels.compiler.record import Array, floats, integers
from memetik.kernels.problem.budget import EVALUATIONS, OUTCOME
from memetik.kernels.problem.record import solve_arrays
from memetik.kernels.problem.verify import REACHED, verify

REPEATED = 3  # a solution that was offered before
SAME = 1e-5  # rad; offers nearer to each other are one, such as the two ways to bend an arm that is straight


@jit
def same(x, y, variables):
    """Whether two postures are one, whole turns apart where they do not matter (whole_turn)."""
    most = 0.0
    for k in range(x.size):
        off = x[k] - y[k]
        if variables[k].whole_turn:
            off -= 2.0 * math.pi * round(off / (2.0 * math.pi))
        most = max(most, abs(off))
    return most <= SAME


class Candidates(NamedTuple):
    """Postures that a closed form offers, and what becomes of them."""

    postures: Array = floats("candidates", "variables")
    statuses: Array = integers("candidates")  # REPEATED for one that stands among the rows before it
    costs: Array = floats("candidates")  # distance of a solution from the start, else sum of squares of scaled errors
    outcomes: Array = floats("candidates", "outcome")  # as of a solve, with the errors of all terms


@jit
def filter_candidates(table, candidates, known, q, outcome):
    """Bring every candidate near to the start q by whole turns and within the limits, and judge what it is then.

    The first `known` ones are solutions from before. The distance of a solution is that of the joint that moves most.
    """
    arrays = solve_arrays(table)
    problem, work = arrays.problem, arrays.work
    terms, variables = problem.terms, problem.variables
    for k in range(work.start.size):
        work.start[k] = q[variables[k].index]
    for r in range(known, candidates.statuses.size):
        x, numbers = candidates.postures[r], candidates.outcomes[r]
        status = verify(problem, x, numbers, work)
        outcome[EVALUATIONS] += 1.0
        cost = 0.0
        if status == REACHED:
            for k in range(x.size):
                cost = max(cost, abs(x[k] - work.start[k]))
            for before in range(r):
                if candidates.statuses[before] == REACHED and same(x, candidates.postures[before], variables):
                    status = REPEATED
        else:
            for t in range(terms.size):
                cost += (terms[t].scale * numbers[OUTCOME + t]) ** 2
        candidates.statuses[r] = status
        candidates.costs[r] = cost

"""From the postures that a closed form offers to those that are solutions."""

import math
from typing import NamedTuple

from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.budget import EVALUATIONS, OUTCOME
from memetik.kernels.problem.verify import REACHED, verify
from memetik.kernels.runtime.record import Array, floats, integers
from memetik.kernels.terms.springs import displacement

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

    every: Array = integers(1)  # 1 to look for every solution, 0 for the nearest
    count: Array = integers(1)  # of rows that hold one
    postures: Array = floats("candidates", "variables")
    statuses: Array = integers("candidates")  # REPEATED for one that stands among the rows before it
    costs: Array = floats("candidates")  # squared distance of a solution (`displacement`), else of its scaled errors
    outcomes: Array = floats("candidates", "outcome")  # as of a solve, with the errors of all terms


@jit
def filter_candidates(arrays, candidates, rows, count, outcome):
    """Add the first `count` rows to the candidates; returns how many of them are solutions that were not known.

    Each is brought near to the start (work.start) by whole turns and within the limits, and judged as it is then.
    """
    problem, work = arrays.problem, arrays.work
    terms, variables = problem.terms, problem.variables
    solutions = 0
    for r in range(candidates.count[0], candidates.count[0] + count):
        x, numbers = candidates.postures[r], candidates.outcomes[r]
        for k in range(x.size):
            x[k] = rows[r - candidates.count[0], k]
        status = verify(problem, x, numbers, work)
        outcome[EVALUATIONS] += 1.0
        cost = 0.0
        if status == REACHED:
            cost = displacement(terms, problem.data, work.start, x)
            for before in range(r):
                if candidates.statuses[before] == REACHED and same(x, candidates.postures[before], variables):
                    status = REPEATED
            solutions += status == REACHED
        else:
            for t in range(terms.size):
                cost += (terms[t].scale * numbers[OUTCOME + t]) ** 2
        candidates.statuses[r] = status
        candidates.costs[r] = cost
    candidates.count[0] += count
    return solutions


@jit
def best_candidate(candidates):
    """The row of the nearest solution, else of what misses least; -1 if nothing can be measured."""
    best = -1
    for r in range(candidates.count[0]):
        status = candidates.statuses[r]
        if status == REPEATED or not math.isfinite(candidates.costs[r]):
            continue
        solved = status == REACHED
        if best >= 0 and (candidates.statuses[best] == REACHED) != solved:
            better = solved
        else:
            better = best < 0 or candidates.costs[r] < candidates.costs[best]
        if better:
            best = r
    return best

"""How fit a posture is, for methods that only compare postures.

Fitness is the loss of the thesis (losses.py): the smaller, the fitter. Guides pull from the first generation on and fade
from one to the next, and so does what a term within its tolerance still loses: otherwise both could hold the terms that
are not satisfied back for ever. Where nothing can be missed, nothing fades.
"""

import math

from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.budget import EVALUATIONS, remember, spent
from memetik.kernels.problem.evaluate import place, term_error
from memetik.kernels.problem.losses import measured_loss, residual_length
from memetik.kernels.terms.springs import springs_cost


@jit
def weigh(terms, data, world, x, ease, residual):
    """The fitness, eq. 4.3 with `ease` times the square of what guides or is within tolerance; writes all residuals.

    Then the squared error of all terms that can block, as `measure` has it (evaluate.py), and whether these are satisfied,
    never so if there are none. What is not a number is as bad as can be.
    """
    total, error = 0.0, 0.0
    count, blocks = 0, 0
    satisfied = True
    begin = 0
    while begin < terms.size:
        end = begin + (2 if terms[begin].paired else 1)  # one loss of two terms, as in `average`
        loss, good = 0.0, True
        for t in range(begin, end):
            loss += measured_loss(terms[t], data, world, x, residual)
            good = good and (terms[t].soft != 0 or term_error(terms[t], data, x, residual)[1])
            if terms[t].soft == 0:
                blocks += 1
                error += scaled_square(terms[t], data, x, residual)
        loss /= end - begin
        satisfied = satisfied and good
        square = terms[begin].weight * loss * loss
        total += ease * square if good else square
        count += 1
        begin = end
    fitness = math.sqrt(total / count)
    if not fitness < math.inf:
        fitness = math.inf
    if blocks == 0:
        return fitness, fitness, False
    return fitness, error if error < math.inf else math.inf, satisfied


@jit
def scaled_square(term, data, x, residual):
    """The squared error of a term whose residuals have been written."""
    if term.rows == 0:
        return term.scale * term.scale * springs_cost(term, data, x)
    return (term.scale * residual_length(term, residual)) ** 2


@jit
def judge_placed(problem, run, x, ease, world, work):
    """The fitness of a posture whose frames stand in `world`, and whether the search is over: satisfied, or spent."""
    run.outcome[EVALUATIONS] += 1.0
    fitness, error, satisfied = weigh(problem.terms, problem.data, world, x, ease, work.residual)
    remember(x, -1.0 if satisfied else error, run, work)  # nothing is better than satisfied
    return fitness, satisfied or spent(run)


@jit
def appraise(problem, run, x, ease, work):
    """Place the body and judge it. One evaluation.

    All genes of an individual differ from those of the one before it, so there is nothing that the OFKT could keep.
    """
    place(problem.nodes, problem.frames, x, work.poses, work.world)
    return judge_placed(problem, run, x, ease, work.world, work)

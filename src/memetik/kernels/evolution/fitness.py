"""How fit a posture is, for methods that only compare postures, and what all of them do with it.

Fitness is the loss of the thesis (losses.py): the smaller, the fitter. Guides pull from the first generation on and fade
from one to the next, and so does what a term within its tolerance still loses: otherwise both could hold the terms that
are not satisfied back for ever. Where nothing can be missed, nothing fades.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from memetik.kernels.compiler.jit import jit
from memetik.kernels.compiler.random import seed_stream
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, remember, spent
from memetik.kernels.problem.evaluate import place, term_error
from memetik.kernels.problem.limits import sample
from memetik.kernels.problem.losses import measured_loss, residual_length
from memetik.kernels.problem.workspace import Workspace
from memetik.kernels.terms.springs import springs_cost

FADING = 0.9  # what is left of the pull of guides in the next generation
GAIN = 0.05  # a smaller share of the best fitness is no progress

# The parameters that the methods have in common; those of one method alone follow.
SIZE, PATIENCE, OWN = 0, 1, 2


class Setting(NamedTuple):
    """What stays the same during a search: the problem, what may be spent, and where the outcome goes."""

    problem: tuple[Any, ...]  # nodes, frames, terms, data, variables, variables
    most: int
    deadline: float
    clock: np.ndarray
    state: np.ndarray
    outcome: np.ndarray
    work: Workspace


@jit
def weigh(terms, data, world, x, ease, residual):
    """The fitness, eq. 4.3 with `ease` times the square of what guides or is within tolerance; writes all residuals.

    Then the squared error of all terms that can block, as `measure` has it (evaluate.py), and whether these are satisfied,
    never so if there are none. What is not a number is as bad as can be.
    """
    total, error = 0.0, 0.0
    count, blocks = 0, 0
    satisfied = True
    t = 0
    while t < terms.size:
        loss = measured_loss(terms[t], data, world, x, residual)
        good = terms[t].soft != 0 or term_error(terms[t], data, x, residual)[1]
        if terms[t].soft == 0:
            blocks += 1
            error += scaled_square(terms[t], data, x, residual)
        if terms[t].paired:  # one loss of two terms, as in `average`
            t += 1
            loss = 0.5 * (loss + measured_loss(terms[t], data, world, x, residual))
            good = good and (terms[t].soft != 0 or term_error(terms[t], data, x, residual)[1])
            if terms[t].soft == 0:
                blocks += 1
                error += scaled_square(terms[t], data, x, residual)
        satisfied = satisfied and good
        square = terms[t].weight * loss * loss
        total += ease * square if good else square
        count += 1
        t += 1
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
def judge_placed(setting, x, ease, world):
    """The fitness of a posture whose frames stand in `world`, and whether the search is over: satisfied, or spent."""
    terms, data = setting.problem.terms, setting.problem.data
    outcome, work = setting.outcome, setting.work
    outcome[EVALUATIONS] += 1.0
    fitness, error, satisfied = weigh(terms, data, world, x, ease, work.residual)
    remember(x, -1.0 if satisfied else error, outcome, work)  # nothing is better than satisfied
    return fitness, satisfied or spent(outcome, setting.most, setting.deadline, setting.clock)


@jit
def appraise(setting, x, ease):
    """Place the body and judge it. One evaluation.

    All genes of an individual differ from those of the one before it, so there is nothing that the OFKT could keep.
    """
    nodes, frames = setting.problem.nodes, setting.problem.frames
    place(nodes, frames, x, setting.work.poses, setting.work.world)
    return judge_placed(setting, x, ease, setting.work.world)


@jit
def draw_genes(setting, genes):
    """A posture drawn evenly within the limits; a joint without limits has a finite span instead."""
    variables, state = setting.problem.variables, setting.state
    for k in range(genes.size):
        genes[k] = sample(variables[k], state)


@jit
def populate(setting, x, seed, genes, fitness):
    """A fresh population, from the next stream of the seed; x is one of the first. Whether the search is over."""
    attempt = setting.outcome[ATTEMPTS]
    setting.outcome[ATTEMPTS] += 1.0
    seed_stream(setting.state, seed, int(attempt))
    for i in range(genes.shape[0]):
        draw_genes(setting, genes[i])
        if attempt == 0.0 and i == 0:
            for k in range(x.size):
                genes[i, k] = x[k]
        fitness[i], over = appraise(setting, genes[i], 1.0)
        if over:
            return True
    return False


@jit
def fittest(fitness):
    """Which individual is the fittest."""
    best = 0
    for i in range(1, fitness.size):
        if fitness[i] < fitness[best]:
            best = i
    return best


@jit
def wait(best, record, waited):
    """Count generations without progress. The fitness that the next ones are measured by, and how many there were."""
    if best < (1.0 - GAIN) * record:
        return best, 0
    return record, waited + 1


@jit
def anything_blocks(terms):
    """Whether some term can be missed."""
    blocks = False
    for t in range(terms.size):
        blocks = blocks or not terms[t].soft
    return blocks

"""The last stage of a solve with priorities: what could not be had gives way rank by rank, from many postures.

The answer of the search weighs all terms against each other. Here each posture descends rank by rank (levels.py): that answer,
the start, the most promising of the population, and postures around the best. The best counts by its first rank, among equals by
the second, and so on. The start and the answer are looked at as they are, too: with no time left, one that keeps off obstacles
is still better than one that does not.

Where something is missed, the least miss may be in a valley that few postures lead to, so all of the budget goes to look for
it, as in the search. With an end after 24 postures in a row that brought nothing, 22 of 1,000 targets in a wall were missed by
2 to 45 mm more than need be; without it none by more than 2 (tests/stress/wall.py). Guides alone end there: they ask for a
balance, and cannot be missed.
"""

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.problem.budget import ATTEMPTS, deadline_after, spent
from memetik.kernels.problem.limits import clamp
from memetik.kernels.problem.problem_record import Run
from memetik.kernels.problem.solve import end_solve
from memetik.kernels.runtime.random import seed_stream, uniform
from memetik.kernels.search.levels import consider, descend_ranks
from memetik.kernels.search.population_poses import take_best
from memetik.kernels.search.search import rank
from memetik.kernels.search.search_record import memetic_arrays

STREAM = 3  # of the random numbers
ROUGH, FINE = 1e-3, 1e-5  # the share that a step should gain at first, and in what is the best so far
PATIENCE = 24  # guides alone: postures in a row that bring nothing better
AROUND = 3  # every so-manieth posture is near the best so far ...
REACH = 0.1  # ... within this share of the range of each variable


@jit
def keep_start(table):
    """Remember where the search began, before other stages begin elsewhere."""
    arrays = memetic_arrays(table)
    for k in range(arrays.levels.start.size):
        arrays.levels.start[k] = arrays.solve.work.start[k]


@jit_part
def forget(levels):
    """Nothing is known yet."""
    for k in range(levels.least.size):
        levels.least[k] = math.inf


@jit_part
def load(source, x):
    """Copy a posture."""
    for k in range(x.size):
        x[k] = source[k]


@jit
def settle_levels(problem, levels, x, last, run, work):
    """The best of the posture x and of what is in the valley of the last one, rank by rank, in place. For tracking."""
    forget(levels)
    load(x, levels.answer)
    consider(problem, levels, x, run.outcome, work)
    load(last, work.best)
    consider(problem, levels, work.best, run.outcome, work)
    if not spent(run):
        descend_ranks(problem, levels, FINE, run, work)
    load(levels.answer, x)


@jit_part
def propose(problem, arrays, number, run):
    """Write the next posture to descend from into work.best."""
    best, levels, genes = arrays.solve.work.best, arrays.levels, arrays.population.genes
    if number % AROUND == AROUND - 1:
        for k in range(best.size):
            wide = REACH * (problem.variables[k].sample_upper - problem.variables[k].sample_lower)
            best[k] = clamp(levels.answer[k] + wide * (uniform(run.state) - 0.5), problem.variables[k])
    else:
        load(genes[take_best(arrays.scratch.score)], best)


@jit
def priority_stage(table, q, outcome, seed, most, seconds):
    """Go on from what was found: the best answer, rank by rank, of many postures."""
    arrays = memetic_arrays(table)
    problem, work, levels, scratch = arrays.solve.problem, arrays.solve.work, arrays.levels, arrays.scratch
    run = Run(
        seed, most, deadline_after(seconds, arrays.solve.clock), arrays.solve.clock, arrays.solve.state, outcome
    )  # fmt: skip
    seed_stream(run.state, seed, STREAM)
    load(levels.start, work.start)
    forget(levels)
    for k in range(work.x.size):
        levels.found[k] = levels.answer[k] = work.x[k] = q[problem.variables[k].index]
    consider(problem, levels, work.x, outcome, work)
    load(levels.start, work.x)
    consider(problem, levels, work.x, outcome, work)
    for t in range(problem.terms.size):
        scratch.failed[t] = 0 if problem.terms[t].soft and not arrays.only_guides else 1
    for c in range(scratch.used.size):
        scratch.used[c] = 0
    number, idle = -2, 0
    while (idle < PATIENCE or not arrays.only_guides) and number < scratch.used.size and not spent(run):
        if number == -2:
            load(levels.found, work.best)
        elif number == -1:
            load(levels.start, work.best)
        else:
            if number == 0:
                rank(problem, arrays.population, scratch, work)
            propose(problem, arrays, number, run)
        outcome[ATTEMPTS] += 1.0
        idle += 1
        stall = ROUGH
        while descend_ranks(problem, levels, stall, run, work) and not spent(run):
            idle, stall = 0, FINE
            load(levels.answer, work.best)
        number += 1
    return end_solve(problem, q, levels.answer, outcome, work)

"""The lowest cost of problems in which nothing can be missed: local minima from many postures, of which the best is kept.

Where all objectives are guides, a descent ends at the nearest local minimum of their cost, and no tolerance says whether that is
good enough. So it starts again: by turns from the most promising posture of the population (selection and recombination, as in
search.py), and from the best posture so far with a random share of its variables drawn again, which replaces single limbs and
keeps what is good. A short descent says whether a start is promising; only then it goes on to a true minimum.

It ends when the cost is negligible, when the budget is spent, or when the lowest cost was met again so often, from independent
starts, that a lower one is unlikely. `python -m tests.stress.guides` measures all of this.
"""

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.problem.budget import ATTEMPTS, deadline_after, spent
from memetik.kernels.problem.limits import sample
from memetik.kernels.problem.problem_record import Run
from memetik.kernels.problem.solve import end_solve
from memetik.kernels.runtime.random import seed_stream, uniform
from memetik.kernels.search.descent import descend
from memetik.kernels.search.population_poses import end_of_chain, take_best
from memetik.kernels.search.refine import look, refine
from memetik.kernels.search.search import choose_limbs, rank
from memetik.kernels.search.search_record import memetic_arrays

STREAM = 4  # of the random numbers
# A short descent that ends above so many times the lowest cost goes no further, unless it ends below a bar, which rises with each
# one that ends above and falls with each below, so that about a fifth go on: the lowest cost may be so near zero that no other
# descent comes close to it in a few steps.
PROMISING, RISING, FALLING = 10.0, 1.1, 0.7
SAME = 1e-3  # costs that differ by less than this share are the same: among these the posture found first is kept
# The search ends when the lowest cost was met this often from the population or random postures, and this many restarts in a row
# brought nothing lower. Of 1,000 problems of humanoids none is then more than 1 % above the best of 20 random starts, after
# 2,250 evaluations in the median; with 20 restarts in a row 2 are, and with patience alone 7 after 60 restarts.
AGAIN, PATIENCE = 8, 80
MEASURED = 2  # evaluations that are kept back
PRECISE = 1e-6  # m or rad; a cost that no single error above this could have is negligible


@jit_part
def negligible_cost(terms):
    """The cost below which no error of a term is worth another start."""
    least = math.inf
    for t in range(terms.size):
        if terms[t].scale > 0.0:
            least = min(least, terms[t].scale * terms[t].scale)
    return PRECISE * PRECISE * least


@jit_part
def begin_again(problem, arrays, number, run):
    """Write the next start into work.x: with an even number independent of what was found, else a variation of it."""
    variables, scratch, genes, work = problem.variables, arrays.scratch, arrays.population.genes, arrays.solve.work
    x, kept = work.x, arrays.levels.answer
    if number % 2 != 0:
        share = uniform(run.state)
        for k in range(x.size):
            x[k] = sample(variables[k], run.state) if uniform(run.state) < share else kept[k]
    elif number // 2 < genes.shape[0]:
        c = take_best(scratch.score)
        for k in range(x.size):
            x[k] = genes[c, k]
        if end_of_chain(problem.nodes, 0) + 1 < problem.nodes.size:
            choose_limbs(problem, arrays.population, scratch, x, run, work)
    else:
        for k in range(x.size):
            x[k] = sample(variables[k], run.state)


@jit_part
def minimise_again(problem, arrays, least, run):
    """Restart until the posture in levels.answer, which costs `least`, seems to have the lowest cost, or the budget is spent."""
    scratch, work, kept = arrays.scratch, arrays.solve.work, arrays.levels.answer
    x, best = work.x, work.best
    for t in range(scratch.failed.size):
        scratch.failed[t] = 1
    for k in range(x.size):
        scratch.chosen[k] = 1
    for c in range(scratch.used.size):
        scratch.used[c] = 0
    rank(problem, arrays.population, scratch, work)
    enough = negligible_cost(problem.terms)
    # What is measured after a descent has ended is not more than the budget.
    run = Run(run.seed, run.most - MEASURED, run.deadline, run.clock, run.state, run.outcome)
    number, again, idle, bar = 0, 1, 0, PROMISING * least
    while least > enough and (again < AGAIN or idle < PATIENCE) and not spent(run):
        run.outcome[ATTEMPTS] += 1.0
        begin_again(problem, arrays, number, run)
        if not spent(run):
            descend(problem, x, 1.0, run, work)
        for k in range(x.size):
            best[k] = x[k]
        cost = look(problem, best, 1.0, run, work)
        promising = cost < max(PROMISING * least, bar)
        bar *= FALLING if cost < bar else RISING
        if promising and not spent(run):
            refine(problem, 1.0, run, work)
            cost = look(problem, best, 1.0, run, work)
        if cost < (1.0 - SAME) * least:
            least, again, idle = cost, 1, 0
            for k in range(x.size):
                kept[k] = best[k]
        else:
            idle += 1
            if number % 2 == 0 and cost <= (1.0 + SAME) * least:
                again += 1
        number += 1
    return least


@jit
def restart_stage(table, q, outcome, seed, most, seconds):
    """The second stage where nothing can be missed: from the minimum next to q to the lowest one found."""
    arrays = memetic_arrays(table)
    problem, work, kept = arrays.solve.problem, arrays.solve.work, arrays.levels.answer
    clock = arrays.solve.clock
    run = Run(seed, most, deadline_after(seconds, clock), clock, arrays.solve.state, outcome)
    seed_stream(run.state, seed, STREAM)
    for k in range(kept.size):
        work.best[k] = q[problem.variables[k].index]
    if look(problem, work.best, 1.0, run, work) > negligible_cost(problem.terms) and not spent(run):
        refine(problem, 1.0, run, work)
    for k in range(kept.size):
        kept[k] = work.best[k]
    if not spent(run):
        least = look(problem, kept, 1.0, run, work)
        minimise_again(problem, arrays, least if math.isfinite(least) else math.inf, run)
    return end_solve(problem, q, kept, outcome, work)

"""Bio IK: the memetic evolutionary algorithm of the thesis (Starke 2020), Algorithm 3.

Numbers of equations and lines, here and in the other files, are those of the thesis.

    gene encoding, limits      4.1, 4.2    reproduce.py, constrain
    objective function         4.3 - 4.11  losses.py; objective.py, combine and evaluate
    initialisation             4.12, 4.13  reproduce.py, initialise
    selection of parents       4.14        select.py, select
    selection of survivors     4.15        here, search
    recombination              4.16        reproduce.py, recombine
    extinction, mutation       4.17, 4.18  reproduce.py, extinguish and mutate
    adoption                   4.19        reproduce.py, adopt
    niching                    4.20        select.py, niche
    gradient, exploitation     4.21, 4.22  gradient.py, exploit.py; elites.py, by threads
    wipe out                   4.23        here, search
    termination                4.5.9       objective.py, terminates
    interpolation of weights   5.3         weights.py
    OFKT                       4.24, 4.25  objective.py, place_changes; ofkt.py

Every individual draws from a stream of random numbers of its own, so that it does not matter who works out which.
"""

import math

import numpy as np

from memetik.kernels.bio_ik.bio_ik_record import read_worker
from memetik.kernels.bio_ik.breed import breed, over, populate, survey
from memetik.kernels.bio_ik.elites import exploit_elites, forget
from memetik.kernels.bio_ik.function_pointers import call_look
from memetik.kernels.bio_ik.objective import combine
from memetik.kernels.bio_ik.reproduce import extinguish
from memetik.kernels.bio_ik.select import select_elites, sort_by_fitness
from memetik.kernels.bio_ik.weights import given_weights, interpolate_weights, let_yield
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, remember
from memetik.kernels.runtime.random import seed_stream

NONE = np.int64(0)  # whatever is given a plain 0, Numba compiles once more for it
# A fitness that improves by less than this share stands still. Eq. 4.23 waits until no elite gains anything; but where each is
# exploited to its end at once, a new one always gains, if only to end where others have. So it is the number of generations
# that the solution has stood that counts then (settings.patience).
STANDING = 0.01


@jit
def gains(after, before, standing):
    """Whether a fitness has improved by more than a share of what it was."""
    return after < (1.0 - standing) * before


@jit_part
def rank(terms, norm, shared, population):
    """Lines 45 and 46: fitness under the weights of the generation, the order of the individuals and their extinction."""
    order = shared.order
    for i in range(order.size):
        population.fitness[i] = combine(terms, norm, shared.weights, population.losses[i])
        order[i] = i
    sort_by_fitness(population.fitness, order)
    extinguish(order, population.fitness, population.extinction)


@jit_part
def any_elite_gains(terms, settings, shared, population, offspring, count, standing):
    """Whether exploitation made some of the first `count` elites fitter, the second condition of eq. 4.23."""
    norm = settings.norm
    for e in range(count):
        before = combine(terms, norm, shared.given, population.losses[shared.elites[e]])
        if gains(combine(terms, norm, shared.given, offspring.losses[e]), before, standing):
            return True
    return False


@jit_part
def every_elite_ended(ended):
    """Whether all elites were exploited until they gained no more."""
    whole = True
    for e in range(ended.size):
        whole = whole and ended[e] != 0
    return whole


@jit_part
def update_solution(terms, norm, given, population, count, best, run, work):
    """Lines 29 and 47: the fittest of `count` individuals, if it is fitter than the solution. Returns the fitness of that."""
    x = work.x
    for i in range(count):
        phi = combine(terms, norm, given, population.losses[i])
        if phi < best:
            best = phi
            remember(population.genes[i], phi, run, work)
            for k in range(x.size):
                x[k] = population.genes[i, k]
    for i in range(count, population.losses.shape[0]):  # there was no budget for these: unfit for anything
        for t in range(population.losses.shape[1]):
            population.losses[i, t] = math.inf
    return best


@jit_part
def begin(terms, shared, record, scratch):
    """Nothing has yielded, spent or been recorded yet. Returns if some term can be missed, and if some may yield to it."""
    shared.task[0].living = 0
    if shared.task[0].unguided == 0:
        record.count[0] = 0
    blocks, yields = False, False
    for t in range(terms.size):
        shared.ease[t] = 0.0 if terms[t].soft and shared.task[0].unguided else 1.0
        blocks = blocks or not terms[t].soft
        yields = yields or shared.yields[t] != 0
    given_weights(terms, shared.ease, shared.given)
    forget(scratch)
    return blocks, yields and blocks


@jit_part
def add_generation(terms, norm, shared, population, generation, count, elites, record):
    """Add the first `count` individuals of the population, of which the first are elites, as far as there is room."""
    for i in range(count):
        row = record.count[0]
        if row == record.generation.size:
            break
        record.generation[row], record.place[row] = generation, i
        record.parents[row, 0], record.parents[row, 1] = shared.parents[i, 0], shared.parents[i, 1]
        record.elite[row] = 1 if i < elites else 0
        record.fitness[row] = combine(terms, norm, shared.given, population.losses[i])
        for k in range(population.genes.shape[1]):
            record.genes[row, k] = population.genes[i, k]
        record.count[0] = row + 1


@jit_part
def search(problem, run, own, work):
    """Algorithm 3, from the seed work.x, in place. An evaluation is one placement of the body, whole or in part (OFKT)."""
    worker = read_worker(own)
    settings, shared, scratch = worker.settings, worker.shared, worker.scratch
    terms, variables, norm, x, outcome = problem.terms, problem.variables, settings.norm, work.x, run.outcome
    population, offspring, task, tally = shared.first, shared.second, shared.task[0], scratch.tally[0]
    psi, kappa = shared.order.size, shared.elites.size
    standing = STANDING if settings.patience > 0 else 0.0
    blocks, yields = begin(terms, shared, worker.record, scratch)
    generation, best = NONE, math.inf  # best: the fitness of the solution x*
    anew, count, stood = True, 0, 0  # stood: generations in which the solution was not replaced
    while True:
        stream = generation * (psi + kappa + 1)
        seed_stream(run.state, run.seed, stream)
        gained, before, elites = True, best, NONE
        if anew:
            count = populate(variables, settings, own, x, offspring, shared, run, scratch)
        else:
            outcome[ATTEMPTS] += 1.0
            interpolate_weights(terms, shared.given, settings.weight_interpolation, run.state, shared.weights)
            rank(terms, norm, shared, population)
            select_elites(shared.order, shared.pool, run.state, shared.elites)
            allowance = (run.most - tally.spent - (psi - kappa)) // kappa
            task.seed, task.stream = run.seed, stream + psi + 1
            elites = exploit_elites(own, settings, population, offspring, shared, generation, allowance, run, scratch)
            gained = any_elite_gains(terms, settings, shared, population, offspring, elites, standing)
            count = elites
            if tally.satisfied == 0:
                count = breed(variables, settings, own, population, offspring, shared, stream + 1, run, scratch)
        task.living = 1 - task.living  # eq. 4.15: elites and offspring are the next generation
        population, offspring = offspring, population
        outcome[EVALUATIONS] = tally.spent
        if task.unguided == 0:
            add_generation(terms, norm, shared, population, generation, count, elites, worker.record)
        if tally.satisfied != 0:
            remember(population.genes[count - 1], -1.0, run, work)
            return
        best = update_solution(terms, norm, shared.given, population, count, best, run, work)
        if generation == 0 and settings.exploitation:
            survey(variables, settings, own, population.genes, shared, run, scratch)
        generation += 1
        if over(run, scratch) or 0 < task.generations <= outcome[ATTEMPTS]:
            return
        stands = not anew and not gains(best, before, standing)
        if stands and not blocks:
            return
        if stands and yields and tally.spent + 1 < run.most:
            call_look(settings.look, own, shared.given, x, 0)
            let_yield(terms, problem.data, x, scratch.residual, shared.yields, shared.ease)
            given_weights(terms, shared.ease, shared.given)
            best = combine(terms, norm, shared.given, scratch.losses)
        if anew or not stands:
            stood = 0
        elif every_elite_ended(shared.ended):
            stood += 1
        anew = ((stands and not gained) or 0 < settings.patience <= stood) and settings.wipe_out  # eq. 4.23

"""Bio IK: the memetic evolutionary algorithm of the thesis (Starke 2018), Algorithm 3.

Numbers of equations and lines, here and in bio_ik_*.py, are those of the thesis.

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
    OFKT                       4.24, 4.25  place.py, ofkt.py

Every individual draws from a stream of random numbers of its own, so that it does not matter who works out which.
"""

from __future__ import annotations

import math

import numpy as np

from memetik.kernels.bio_ik.breed import breed, populate, survey
from memetik.kernels.bio_ik.elites import exploit_elites
from memetik.kernels.bio_ik.function_pointers import call_look
from memetik.kernels.bio_ik.history import record
from memetik.kernels.bio_ik.objective import combine
from memetik.kernels.bio_ik.reproduce import extinguish
from memetik.kernels.bio_ik.scratch import (
    ELITES,
    EXPLOITATION,
    HISTORY,
    INTERPOLATION,
    LIVING,
    LOOK,
    OWN,
    PARAMETERS,
    SATISFIED,
    SEED,
    SIZE,
    SPENT,
    STREAM,
    WIPE_OUT,
    WORKERS,
    carve_shared,
    carve_worker,
    clear_worker,
    shared_places,
    shared_size,
    worker_places,
    worker_size,
)  # fmt: skip
from memetik.kernels.bio_ik.select import select_elites, sort_by_fitness
from memetik.kernels.bio_ik.weights import given_weights, interpolate_weights, let_yield
from memetik.kernels.compiler.cancel import CAUGHT, copy_clock
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.compiler.random import seed_stream
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, remember, spent
from memetik.kernels.problem.evaluate import count_residuals

OLDEST = np.int64(0)  # generation; as OWN (scratch.py)
STANDING = 0.01  # a fitness that improves by less than this share stands still
# Generations that the solution may stand before all is drawn anew. Eq. 4.23 waits until no elite gains any more; but where
# each is exploited to its end at once, a new one always gains, if only to end where others have.
PATIENCE = 4


@jit
def search_size(psi, kappa, workers, nodes, frames, n, residuals, terms):
    """How many floats the search needs, without its history."""
    return shared_size(psi, kappa, n, terms) + workers * worker_size(nodes, frames, n, residuals, terms)


@jit
def search_places(psi, kappa, workers, n):
    """How many integers the search needs."""
    return shared_places(psi, kappa) + workers * worker_places(n)


@jit
def gains(after, before):
    """Whether a fitness has improved by more than what counts as standing still."""
    return after < (1.0 - STANDING) * before


@jit_part
def rank(terms, parameters, shared):
    """Lines 45 and 46: fitness under the weights of the generation, the order of the individuals and their extinction."""
    population, order = shared.population, shared.order
    for i in range(order.size):
        population.fitness[i] = combine(terms, parameters, shared.weights, population.losses[i])
        order[i] = i
    sort_by_fitness(population.fitness, order)
    extinguish(order, population.fitness, population.extinction)


@jit_part
def any_elite_gains(terms, parameters, shared, count):
    """Whether exploitation made some of the first `count` elites fitter, the second condition of eq. 4.23."""
    for e in range(count):
        before = combine(terms, parameters, shared.given, shared.population.losses[shared.elites[e]])
        if gains(combine(terms, parameters, shared.given, shared.offspring.losses[e]), before):
            return True
    return False


@jit_part
def every_elite_ended(shared):
    """Whether all elites were exploited until they gained no more."""
    ended = True
    for e in range(shared.ended.size):
        ended = ended and shared.ended[e] != 0.0
    return ended


@jit_part
def update_solution(terms, parameters, shared, count, best, x, outcome, work):
    """Lines 29 and 47: the fittest of `count` individuals, if it is fitter than the solution x. Returns the fitness of x."""
    population = shared.population
    for i in range(count):
        phi = combine(terms, parameters, shared.given, population.losses[i])
        if phi < best:
            best = phi
            remember(population.genes[i], phi, outcome, work)
            for k in range(x.size):
                x[k] = population.genes[i, k]
    for i in range(count, population.losses.shape[0]):  # there was no budget for these: unfit for anything
        for t in range(population.losses.shape[1]):
            population.losses[i, t] = math.inf
    return best


@jit_part
def begin(problem, parameters, places, room, history):
    """Nothing has yielded, spent or been recorded yet. Returns if some term can be missed, and if some may yield to it."""
    terms = problem.terms
    places[LIVING] = 0
    shared = carve_shared(problem, parameters, places, room)
    blocks, yields = False, False
    for t in range(terms.size):
        shared.ease[t] = 1.0
        blocks = blocks or not terms[t].soft
        yields = yields or parameters[PARAMETERS + t] != 0.0
    given_weights(terms, shared.ease, shared.given)
    clear_worker(carve_worker(problem, parameters, places, room, OWN))
    if parameters[HISTORY] != 0.0:
        history[0] = 0.0
    return blocks, yields and blocks


@jit_part
def search(problem, x, seed, most, deadline, parameters, places, room, clock, state, outcome, work):
    """Algorithm 3, from the seed x, in place. An evaluation is one placement of the body, whole or in part (OFKT)."""
    worker = carve_worker(problem, parameters, places, room, OWN)
    copy_clock(clock, worker.clock)  # where the phases look for signals
    evolve(problem, x, seed, most, deadline, parameters, places, room, clock, state, outcome, work)
    if clock[CAUGHT] == 0:
        copy_clock(worker.clock, clock)


@jit_part
def evolve(problem, x, seed, most, deadline, parameters, places, room, clock, state, outcome, work):
    """The loop of Algorithm 3 over generations."""
    nodes, frames, terms, data = problem.nodes, problem.frames, problem.terms, problem.data
    psi, kappa = int(parameters[SIZE]), int(parameters[ELITES])
    workers = int(parameters[WORKERS])
    history = room[
        search_size(psi, kappa, workers, nodes.size, frames.size, x.size, count_residuals(terms), terms.size) :
    ]
    worker = carve_worker(problem, parameters, places, room, OWN)
    blocks, yields = begin(problem, parameters, places, room, history)
    generation, best = OLDEST, math.inf  # best: the fitness of the solution x*
    anew, count, stood = True, 0, 0  # stood: generations in which the solution was not replaced
    while True:
        shared = carve_shared(problem, parameters, places, room)
        stream = generation * (psi + kappa + 1)
        seed_stream(state, seed, stream)
        gained, before, elites = True, best, 0
        if anew:
            count = populate(problem, parameters, places, room, x, shared, most, deadline, state, worker)
        else:
            outcome[ATTEMPTS] += 1.0
            interpolate_weights(terms, shared.given, parameters[INTERPOLATION], state, shared.weights)
            rank(terms, parameters, shared)
            select_elites(shared.order, shared.pool, state, shared.elites)
            allowance = (most - worker.tally[SPENT] - (psi - kappa)) // kappa
            places[SEED], places[STREAM] = seed, stream + psi + 1
            elites = exploit_elites(
                problem, parameters, places, room, shared, worker, generation, allowance, deadline, state
            )
            gained, count = any_elite_gains(terms, parameters, shared, elites), elites
            if worker.tally[SATISFIED] == 0.0:
                count = breed(
                    problem, parameters, places, room, shared, seed, stream + 1, most, deadline, state, worker
                )
        places[LIVING] = 1 - places[LIVING]  # eq. 4.15: elites and offspring are the next generation
        shared = carve_shared(problem, parameters, places, room)
        outcome[EVALUATIONS] = worker.tally[SPENT]
        if parameters[HISTORY] != 0.0:
            record(terms, parameters, shared, generation, count, elites, history)
        if worker.tally[SATISFIED] != 0.0:
            remember(shared.population.genes[count - 1], -1.0, outcome, work)
            return
        best = update_solution(terms, parameters, shared, count, best, x, outcome, work)
        if generation == 0 and parameters[EXPLOITATION] != 0.0:
            survey(problem, parameters, places, room, shared, most, deadline, worker)
            outcome[EVALUATIONS] = worker.tally[SPENT]
        generation += 1
        if spent(outcome, most, deadline, worker.clock) or clock[CAUGHT] != 0:
            return
        stands = not anew and not gains(best, before)
        if stands and not blocks:
            return
        if stands and yields and worker.tally[SPENT] + 1.0 < most:
            call_look(places[LOOK], problem, parameters, places, room, 0, shared.given, x, 0)
            let_yield(terms, data, x, worker.residual, parameters[PARAMETERS:], shared.ease)
            given_weights(terms, shared.ease, shared.given)
            best = combine(terms, parameters, shared.given, worker.losses)
        if anew or not stands:
            stood = 0
        elif every_elite_ended(shared):
            stood += 1
        anew = ((stands and not gained) or stood == PATIENCE) and parameters[WIPE_OUT] != 0.0  # eq. 4.23

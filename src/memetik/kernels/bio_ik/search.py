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
    HANDS,
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
    carve_colony,
    carve_hand,
    clear_hand,
    colony_places,
    colony_size,
    hand_places,
    hand_size,
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
def search_size(psi, kappa, hands, nodes, frames, n, residuals, terms):
    """How many floats the search needs, without its history."""
    return colony_size(psi, kappa, n, terms) + hands * hand_size(nodes, frames, n, residuals, terms)


@jit
def search_places(psi, kappa, hands, n):
    """How many integers the search needs."""
    return colony_places(psi, kappa) + hands * hand_places(n)


@jit
def gains(after, before):
    """Whether a fitness has improved by more than what counts as standing still."""
    return after < (1.0 - STANDING) * before


@jit_part
def rank(terms, parameters, colony):
    """Lines 45 and 46: fitness under the weights of the generation, the order of the individuals and their extinction."""
    population, order = colony.population, colony.order
    for i in range(order.size):
        population.fitness[i] = combine(terms, parameters, colony.weights, population.losses[i])
        order[i] = i
    sort_by_fitness(population.fitness, order)
    extinguish(order, population.fitness, population.extinction)


@jit_part
def any_elite_gains(terms, parameters, colony, count):
    """Whether exploitation made some of the first `count` elites fitter, the second condition of eq. 4.23."""
    for e in range(count):
        before = combine(terms, parameters, colony.given, colony.population.losses[colony.elites[e]])
        if gains(combine(terms, parameters, colony.given, colony.offspring.losses[e]), before):
            return True
    return False


@jit_part
def every_elite_ended(colony):
    """Whether all elites were exploited until they gained no more."""
    ended = True
    for e in range(colony.ended.size):
        ended = ended and colony.ended[e] != 0.0
    return ended


@jit_part
def update_solution(terms, parameters, colony, count, best, x, outcome, work):
    """Lines 29 and 47: the fittest of `count` individuals, if it is fitter than the solution x. Returns the fitness of x."""
    population = colony.population
    for i in range(count):
        phi = combine(terms, parameters, colony.given, population.losses[i])
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
    terms = problem[2]
    places[LIVING] = 0
    colony = carve_colony(problem, parameters, places, room)
    blocks, yields = False, False
    for t in range(terms.size):
        colony.ease[t] = 1.0
        blocks = blocks or not terms[t].soft
        yields = yields or parameters[PARAMETERS + t] != 0.0
    given_weights(terms, colony.ease, colony.given)
    clear_hand(carve_hand(problem, parameters, places, room, OWN))
    if parameters[HISTORY] != 0.0:
        history[0] = 0.0
    return blocks, yields and blocks


@jit_part
def search(problem, x, seed, most, deadline, parameters, places, room, clock, state, outcome, work):
    """Algorithm 3, from the seed x, in place. An evaluation is one placement of the body, whole or in part (OFKT)."""
    hand = carve_hand(problem, parameters, places, room, OWN)
    copy_clock(clock, hand.clock)  # where the phases look for signals
    evolve(problem, x, seed, most, deadline, parameters, places, room, clock, state, outcome, work)
    if clock[CAUGHT] == 0:
        copy_clock(hand.clock, clock)


@jit_part
def evolve(problem, x, seed, most, deadline, parameters, places, room, clock, state, outcome, work):
    """The loop of Algorithm 3 over generations."""
    nodes, frames, terms, data, bounds, spans = problem
    psi, kappa = int(parameters[SIZE]), int(parameters[ELITES])
    hands = int(parameters[HANDS])
    history = room[
        search_size(psi, kappa, hands, nodes.size, frames.size, x.size, count_residuals(terms), terms.size) :
    ]
    hand = carve_hand(problem, parameters, places, room, OWN)
    blocks, yields = begin(problem, parameters, places, room, history)
    generation, best = OLDEST, math.inf  # best: the fitness of the solution x*
    anew, count, stood = True, 0, 0  # stood: generations in which the solution was not replaced
    while True:
        colony = carve_colony(problem, parameters, places, room)
        stream = generation * (psi + kappa + 1)
        seed_stream(state, seed, stream)
        gained, before, elites = True, best, 0
        if anew:
            count = populate(problem, parameters, places, room, x, colony, most, deadline, state, hand)
        else:
            outcome[ATTEMPTS] += 1.0
            interpolate_weights(terms, colony.given, parameters[INTERPOLATION], state, colony.weights)
            rank(terms, parameters, colony)
            select_elites(colony.order, colony.pool, state, colony.elites)
            allowance = (most - hand.tally[SPENT] - (psi - kappa)) // kappa
            places[SEED], places[STREAM] = seed, stream + psi + 1
            elites = exploit_elites(
                problem, parameters, places, room, colony, hand, generation, allowance, deadline, state
            )
            gained, count = any_elite_gains(terms, parameters, colony, elites), elites
            if hand.tally[SATISFIED] == 0.0:
                count = breed(problem, parameters, places, room, colony, seed, stream + 1, most, deadline, state, hand)
        places[LIVING] = 1 - places[LIVING]  # eq. 4.15: elites and offspring are the next generation
        colony = carve_colony(problem, parameters, places, room)
        outcome[EVALUATIONS] = hand.tally[SPENT]
        if parameters[HISTORY] != 0.0:
            record(terms, parameters, colony, generation, count, elites, history)
        if hand.tally[SATISFIED] != 0.0:
            remember(colony.population.genes[count - 1], -1.0, outcome, work)
            return
        best = update_solution(terms, parameters, colony, count, best, x, outcome, work)
        if generation == 0 and parameters[EXPLOITATION] != 0.0:
            survey(problem, parameters, places, room, colony, most, deadline, hand)
            outcome[EVALUATIONS] = hand.tally[SPENT]
        generation += 1
        if spent(outcome, most, deadline, hand.clock) or clock[CAUGHT] != 0:
            return
        stands = not anew and not gains(best, before)
        if stands and not blocks:
            return
        if stands and yields and hand.tally[SPENT] + 1.0 < most:
            call_look(places[LOOK], problem, parameters, places, room, 0, colony.given, x, 0)
            let_yield(terms, data, x, hand.residual, parameters[PARAMETERS:], colony.ease)
            given_weights(terms, colony.ease, colony.given)
            best = combine(terms, parameters, colony.given, hand.losses)
        if anew or not stands:
            stood = 0
        elif every_elite_ended(colony):
            stood += 1
        anew = ((stands and not gained) or stood == PATIENCE) and parameters[WIPE_OUT] != 0.0  # eq. 4.23

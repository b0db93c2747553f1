"""Bio IK: the memetic evolutionary algorithm of the thesis (Starke 2018), Algorithm 3.

Numbers of equations and lines, here and in bio_ik_*.py, are those of the thesis.

    gene encoding, limits      4.1, 4.2    bio_ik_reproduce.py, constrain
    objective function         4.3 - 4.11  losses.py; bio_ik_objective.py, combine and evaluate
    initialisation             4.12, 4.13  bio_ik_reproduce.py, initialise
    selection of parents       4.14        bio_ik_select.py, select
    selection of survivors     4.15        here: elites and offspring are the next generation
    recombination              4.16        bio_ik_reproduce.py, recombine
    extinction, mutation       4.17, 4.18  bio_ik_reproduce.py, extinguish and mutate
    adoption                   4.19        bio_ik_reproduce.py, adopt
    niching                    4.20        bio_ik_select.py, niche
    gradient, exploitation     4.21, 4.22  bio_ik_gradient.py, bio_ik_exploit.py
    wipe out                   4.23        here: stuck
    termination                4.5.9       bio_ik_objective.py, terminates
    interpolation of weights   5.3         bio_ik_weights.py
    OFKT                       4.24, 4.25  ofkt.py

Every individual draws from a stream of random numbers of its own, so that it does not matter who works out which.
"""

from __future__ import annotations

import math

from memetik.kernels.bio_ik_breed import breed, populate
from memetik.kernels.bio_ik_exploit import exploit, write_strides
from memetik.kernels.bio_ik_history import record
from memetik.kernels.bio_ik_objective import Omega, combine, evaluate
from memetik.kernels.bio_ik_reproduce import extinguish
from memetik.kernels.bio_ik_room import (
    ELITES,
    EXPLOITATION,
    GRADIENT,
    HISTORY,
    INTERPOLATION,
    LOSS,
    OFKT,
    PARAMETERS,
    SATISFIED,
    SIZE,
    SPENT,
    STEPS,
    WIPE_OUT,
    carve_hand,
    carve_population,
    hand_places,
    hand_size,
    population_size,
)  # fmt: skip
from memetik.kernels.bio_ik_select import select_elites, sort_by_fitness
from memetik.kernels.bio_ik_weights import given_weights, interpolate_weights, let_yield
from memetik.kernels.budget import ATTEMPTS, EVALUATIONS, remember, spent
from memetik.kernels.evaluate import count_residuals
from memetik.kernels.jit import jit, jit_inline
from memetik.kernels.ofkt import clear
from memetik.kernels.random import seed_stream

STANDING = 0.01  # a fitness that improves by less than this share stands still


@jit_inline
def search_size(psi, nodes, frames, n, residuals, terms):
    """How many floats the search needs, without its history: two populations, weights, strides and a hand."""
    return 2 * population_size(psi, n, terms) + 3 * terms + 3 * n + hand_size(nodes, frames, n, residuals, terms)


@jit_inline
def search_places(psi, kappa, n):
    """How many integers the search needs: ranks, mating pool, parents, elites, and a hand."""
    return 4 * psi + kappa + hand_places(n)


@jit
def exploit_elite(
    omega, given, parameters, seed, stream, row, allowance, deadline, population, state, hand, e, offspring
):
    """Line 33, for one elite; its place among the survivors is e."""
    x, g, losses = offspring.genes[e], offspring.momentum[e], offspring.losses[e]
    if parameters[EXPLOITATION] != 0.0 and allowance >= 2.0:
        seed_stream(state, seed, stream)
        genes, momentum = population.genes[row], population.momentum[row]
        exploit(
            omega, given, genes, momentum, int(parameters[STEPS]), allowance, deadline, state, hand, x, g, losses
        )  # fmt: skip
        return
    for k in range(x.size):
        x[k], g[k] = population.genes[row, k], population.momentum[row, k]
    for t in range(losses.size):
        losses[t] = population.losses[row, t]


@jit
def rank(omega, weights, population, order):
    """Lines 45 and 46: fitness under the weights of the generation, the order of the individuals and their extinction."""
    for i in range(order.size):
        population.fitness[i] = combine(omega, weights, population.losses[i])
        order[i] = i
    sort_by_fitness(population.fitness, order)
    extinguish(order, population.fitness, population.extinction)


@jit
def update_solution(omega, given, population, count, best, x, outcome, work):
    """Lines 29 and 47: the fittest of `count` individuals, if it is fitter than the solution x. Returns the fitness of x."""
    for i in range(count):
        phi = combine(omega, given, population.losses[i])
        if phi < best:
            best = phi
            remember(population.genes[i], phi, outcome, work)
            for k in range(x.size):
                x[k] = population.genes[i, k]
    return best


@jit
def leave_out(population, count):
    """Individuals that there was no budget for are unfit for anything."""
    for i in range(count, population.losses.shape[0]):
        for t in range(population.losses.shape[1]):
            population.losses[i, t] = math.inf


@jit_inline
def gains(after, before):
    """Whether a fitness is better by more than what counts as standing still."""
    return after < (1.0 - STANDING) * before


@jit
def search(problem, x, seed, most, deadline, parameters, places, room, clock, state, outcome, work):
    """Algorithm 3, from the seed x, in place. An evaluation is one placement of the body, whole or in part (OFKT)."""
    nodes, frames, terms, data, bounds, spans = problem
    n, t = x.size, terms.size
    psi, kappa = int(parameters[SIZE]), int(parameters[ELITES])
    order, pool = places[:psi], places[psi : 2 * psi]
    parents, elites = places[2 * psi : 4 * psi].reshape((psi, 2)), places[4 * psi : 4 * psi + kappa]
    whole = population_size(psi, n, t)
    population, offspring = carve_population(room, psi, n, t), carve_population(room[whole:], psi, n, t)
    at = 2 * whole
    given, weights, ease = room[at : at + t], room[at + t : at + 2 * t], room[at + 2 * t : at + 3 * t]
    at += 3 * t
    strides = room[at : at + 3 * n].reshape((3, n))
    at += 3 * n
    hand = carve_hand(room[at:], places[4 * psi + kappa :], nodes, frames, terms, n)
    history = room[at + hand_size(nodes.size, frames.size, n, count_residuals(terms), t) :]
    yields, motion = parameters[PARAMETERS : PARAMETERS + t], parameters[PARAMETERS + t : PARAMETERS + t + n]
    affects = parameters[PARAMETERS + t + n :].reshape((t, n))
    blocks, may_yield = False, False
    for k in range(t):
        ease[k] = 1.0
        blocks = blocks or not terms[k].soft
        may_yield = may_yield or yields[k] != 0.0
    may_yield = may_yield and blocks  # to whom would guides yield among themselves
    for k in range(n):
        strides[0, k] = 0.0
    clear(hand.tree)
    for i in range(nodes.size):
        for k in range(6):
            hand.wrenches[i, k] = 0.0
    hand.tally[SPENT] = hand.tally[SATISFIED] = 0.0
    omega = Omega(
        problem,
        affects,
        motion,
        strides,
        int(parameters[LOSS]),
        int(parameters[GRADIENT]),
        parameters[OFKT] != 0.0,
        blocks,
    )
    given_weights(terms, ease, given)
    generation, best = 0, math.inf  # best: phi of the solution x*
    anew = True
    while True:
        stream = generation * (psi + kappa + 1)
        seed_stream(state, seed, stream)
        before = best
        stuck = False
        if anew:
            count = populate(omega, given, x, generation == 0, most, deadline, state, hand, population)
            for i in range(psi):
                parents[i, 0] = parents[i, 1] = -1
            if generation == 0:
                write_strides(bounds, strides)
            survivors, anew = 0, False
        else:
            for k in range(t):
                weights[k] = given[k]
            if parameters[INTERPOLATION] != 0.0:
                interpolate_weights(terms, given, state, weights)
            rank(omega, weights, population, order)
            select_elites(order, pool, state, elites)
            allowance = (most - hand.tally[SPENT] - (psi - kappa)) // kappa
            stuck = True
            count = 0
            while count < kappa and hand.tally[SATISFIED] == 0.0:
                row = elites[count]
                exploit_elite(
                    omega, given, parameters, seed, stream + psi + 1 + count, row, allowance, deadline, population, state, hand,
                    count, offspring,
                )  # fmt: skip
                parents[count, 0] = parents[count, 1] = row
                phi = combine(omega, given, population.losses[row])
                stuck = stuck and not gains(combine(omega, given, offspring.losses[count]), phi)
                count += 1
            if hand.tally[SATISFIED] == 0.0:
                count = breed(
                    omega, weights, parameters, seed, stream + 1, population, order, pool, most, deadline, state, hand,
                    parents, offspring,
                )  # fmt: skip
            population, offspring = offspring, population
            survivors = kappa
            outcome[ATTEMPTS] += 1.0
        leave_out(population, count)
        outcome[EVALUATIONS] = hand.tally[SPENT]
        if parameters[HISTORY] != 0.0:
            record(omega, given, generation, population, count, parents, survivors, history)
        if hand.tally[SATISFIED] != 0.0:
            remember(population.genes[count - 1], -1.0, outcome, work)
            return
        best = update_solution(omega, given, population, count, best, x, outcome, work)
        generation += 1
        if spent(outcome, most, deadline, clock):
            return
        stands = not anew and survivors > 0 and not gains(best, before)
        if stands and may_yield and hand.tally[SPENT] + 1.0 < most:
            evaluate(omega, given, x, hand)
            let_yield(terms, data, x, hand.work.residual, yields, ease)
            given_weights(terms, ease, given)
            best = combine(omega, given, hand.losses)
        if stands and not blocks:
            return
        anew = stands and stuck and parameters[WIPE_OUT] != 0.0  # eq. 4.23

"""Bio IK, lines 24 to 27 and 34 to 43 of Algorithm 3: a fresh population, and the offspring of one."""

from __future__ import annotations

from memetik.kernels.bio_ik_exploit import SAMPLES, add_effects
from memetik.kernels.bio_ik_objective import evaluate, terminates
from memetik.kernels.bio_ik_reproduce import adopt, constrain, initialise, mutate, recombine
from memetik.kernels.bio_ik_room import ADOPTION, ELITES, MOMENTUM, NICHING, SATISFIED, SPENT
from memetik.kernels.bio_ik_select import niche, select
from memetik.kernels.clock import now
from memetik.kernels.jit import jit, jit_inline
from memetik.kernels.random import seed_stream


@jit_inline
def over(most, deadline, hand):
    """Whether the budget is used up."""
    return hand.tally[SPENT] >= most or (deadline > 0.0 and now(hand.clock) >= deadline)


@jit
def judge(omega, weights, i, hand, population):
    """Evaluate an individual and keep its losses and fitness. Whether it satisfies all terms, as the tally then tells."""
    x = population.genes[i]
    population.fitness[i] = evaluate(omega, weights, x, hand)
    for t in range(hand.losses.size):
        population.losses[i, t] = hand.losses[t]
    if terminates(omega, x, hand):
        hand.tally[SATISFIED] = 1.0
        return True
    return False


@jit
def populate(omega, weights, x, first, most, deadline, state, hand, population):
    """The seed x and random individuals, eq. 4.12, evaluated until one satisfies all. Returns how many there are.

    The `first` population of a search shows how strong the effects of genes are.
    """
    bounds = omega.problem[4]
    for i in range(population.genes.shape[0]):
        if i > 0 and over(most, deadline, hand):
            return i
        genes = population.genes[i]
        initialise(bounds, state, genes, population.momentum[i])
        if i == 0:
            for k in range(x.size):
                genes[k] = x[k]
        if judge(omega, weights, i, hand, population):
            return i + 1
        if first and i < SAMPLES and hand.tally[SPENT] + x.size < most:
            add_effects(omega, weights, genes, population.fitness[i], hand, omega.strides)
    return population.genes.shape[0]


@jit
def reproduce(omega, parameters, population, first, second, prototype, state, x, g):
    """A child of two parents and a prototype."""
    bounds, genes, momentum = omega.problem[4], population.genes, population.momentum
    inherits = parameters[MOMENTUM] != 0.0
    recombine(genes[first], genes[second], momentum[first], momentum[second], inherits, state, x, g)
    mutate(0.5 * (population.extinction[first] + population.extinction[second]), bounds, state, x, g)
    if parameters[ADOPTION] != 0.0:
        adopt(genes[first], genes[second], genes[prototype], state, x, g)
    constrain(bounds, x)


@jit
def breed(
    omega, weights, parameters, seed, stream, population, order, pool, most, deadline, state, hand, parents, offspring
):
    """All offspring, from place kappa on, until one satisfies all. Returns the first place that is not filled."""
    size = order.size
    for i in range(order.size):
        pool[i] = order[i]
    for i in range(int(parameters[ELITES]), order.size):
        if over(most, deadline, hand):
            return i
        x, g = offspring.genes[i], offspring.momentum[i]
        seed_stream(state, seed, stream + i)
        parents[i, 0] = parents[i, 1] = -1
        if size > 0:
            first, second, prototype = pool[select(size, state)], pool[select(size, state)], pool[select(size, state)]
            reproduce(omega, parameters, population, first, second, prototype, state, x, g)
            parents[i, 0], parents[i, 1] = first, second
        else:
            initialise(omega.problem[4], state, x, g)
        if judge(omega, weights, i, hand, offspring):
            return i + 1
        if parents[i, 0] >= 0 and parameters[NICHING] != 0.0:
            size = niche(pool, size, offspring.fitness[i], parents[i, 0], parents[i, 1], population.fitness)
    return order.size

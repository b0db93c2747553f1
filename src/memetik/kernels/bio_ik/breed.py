"""Bio IK, lines 24 to 27 and 34 to 43 of Algorithm 3: a fresh population, and the offspring of one."""

from __future__ import annotations

from memetik.kernels.bio_ik.exploit import SAMPLES, write_strides
from memetik.kernels.bio_ik.function_pointers import call_look
from memetik.kernels.bio_ik.reproduce import adopt, constrain, initialise, mutate, recombine
from memetik.kernels.bio_ik.scratch import ADOPTION, ELITES, LOOK, MOMENTUM, NICHING, SATISFIED, SPENT
from memetik.kernels.bio_ik.select import niche, select
from memetik.kernels.compiler.cancel import cancelled
from memetik.kernels.compiler.clock import now
from memetik.kernels.compiler.jit import jit_part
from memetik.kernels.compiler.random import seed_stream


@jit_part
def over(most, deadline, worker):
    """Whether the budget is used up, or the search cancelled."""
    if worker.tally[SPENT] >= most or (deadline > 0.0 and now(worker.clock) >= deadline):
        return True
    return cancelled(worker.clock)


@jit_part
def populate(problem, parameters, places, room, x, shared, most, deadline, state, worker):
    """The seed x and random individuals, eq. 4.12, as offspring, until one satisfies all. Returns how many there are."""
    genes, momentum = shared.offspring.genes, shared.offspring.momentum
    losses = shared.offspring.losses
    for i in range(genes.shape[0]):
        shared.parents[i, 0] = shared.parents[i, 1] = -1
        initialise(problem.variables, state, genes[i], momentum[i])
        if i == 0:
            for k in range(x.size):
                genes[0, k] = x[k]
        elif over(most, deadline, worker):
            return i
        call_look(places[LOOK], problem, parameters, places, room, 0, shared.given, genes[i], 0)
        for t in range(worker.losses.size):
            losses[i, t] = worker.losses[t]
        if worker.tally[SATISFIED] != 0.0:
            return i + 1
    return genes.shape[0]


@jit_part
def survey(problem, parameters, places, room, shared, most, deadline, worker):
    """Find the strides of genes from the gradients at some individuals of the population (exploit.py)."""
    genes, strides = shared.population.genes, shared.strides
    n = genes.shape[1]
    for k in range(n):
        strides[0, k] = 0.0
    for i in range(min(SAMPLES, genes.shape[0])):
        if worker.tally[SPENT] + 1.0 + n > most or over(most, deadline, worker):
            break
        call_look(places[LOOK], problem, parameters, places, room, 0, shared.given, genes[i], 1)
        for k in range(n):
            slope = worker.gradient[k]
            if slope * slope < 1e300:  # neither infinite nor no number
                strides[0, k] += slope * slope
    write_strides(problem.variables, strides)


@jit_part
def reproduce(variables, parameters, population, first, second, prototype, state, x, g):
    """Lines 36 and 37: a child of two parents and a prototype."""
    genes, momentum = population.genes, population.momentum
    inherits = parameters[MOMENTUM] != 0.0
    recombine(genes[first], genes[second], momentum[first], momentum[second], inherits, state, x, g)
    mutate(0.5 * (population.extinction[first] + population.extinction[second]), variables, state, x, g)
    if parameters[ADOPTION] != 0.0:
        adopt(genes[first], genes[second], genes[prototype], state, x, g)
    constrain(variables, x)


@jit_part
def breed(problem, parameters, places, room, shared, seed, stream, most, deadline, state, worker):
    """All offspring, from place kappa on, until one satisfies all. Returns the first place that is not filled."""
    population, offspring, pool, parents = shared.population, shared.offspring, shared.pool, shared.parents
    size = pool.size
    for i in range(size):
        pool[i] = shared.order[i]
    for i in range(int(parameters[ELITES]), pool.size):
        if over(most, deadline, worker):
            return i
        x, g = offspring.genes[i], offspring.momentum[i]
        seed_stream(state, seed, stream + i)
        parents[i, 0] = parents[i, 1] = -1
        if size > 0:
            first, second, prototype = pool[select(size, state)], pool[select(size, state)], pool[select(size, state)]
            reproduce(problem.variables, parameters, population, first, second, prototype, state, x, g)
            parents[i, 0], parents[i, 1] = first, second
        else:
            initialise(problem.variables, state, x, g)
        fitness = call_look(places[LOOK], problem, parameters, places, room, 0, shared.weights, x, 0)
        for t in range(worker.losses.size):
            offspring.losses[i, t] = worker.losses[t]
        if worker.tally[SATISFIED] != 0.0:
            return i + 1
        if parents[i, 0] >= 0 and parameters[NICHING] != 0.0:
            size = niche(pool, size, fitness, parents[i, 0], parents[i, 1], population.fitness)
    return pool.size

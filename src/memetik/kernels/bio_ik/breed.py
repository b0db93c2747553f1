"""Bio IK, lines 24 to 27 and 34 to 43 of Algorithm 3: a fresh population, and the offspring of one."""

from memetik.kernels.bio_ik.exploit import SAMPLES, write_strides
from memetik.kernels.bio_ik.function_pointers import call_look
from memetik.kernels.bio_ik.reproduce import adopt, constrain, initialise, mutate, recombine
from memetik.kernels.bio_ik.select import niche, select
from memetik.kernels.compiler.jit import jit_part
from memetik.kernels.problem.budget import EVALUATIONS, spent
from memetik.kernels.runtime.random import seed_stream


@jit_part
def over(run, scratch):
    """Whether the budget is used up, or the search cancelled."""
    run.outcome[EVALUATIONS] = scratch.tally[0].spent
    return spent(run)


@jit_part
def populate(variables, settings, own, x, offspring, shared, run, scratch):
    """The seed x and random individuals, eq. 4.12, as offspring, until one satisfies all. Returns how many there are."""
    genes, tally = offspring.genes, scratch.tally[0]
    for i in range(genes.shape[0]):
        shared.parents[i, 0] = shared.parents[i, 1] = -1
        initialise(variables, run.state, genes[i], offspring.momentum[i])
        if i == 0:
            for k in range(x.size):
                genes[i, k] = x[k]
        elif over(run, scratch):
            return i
        call_look(settings.look, own, shared.given, genes[i], 0)
        for t in range(scratch.losses.size):
            offspring.losses[i, t] = scratch.losses[t]
        if tally.satisfied != 0:
            return i + 1
    return genes.shape[0]


@jit_part
def survey(variables, settings, own, genes, shared, run, scratch):
    """Find the strides of genes from the gradients at some individuals of the population (exploit.py); one unless wanted."""
    squares, n = shared.stride, genes.shape[1]  # of the effects
    for k in range(n):
        squares[k] = 0.0
    for i in range(min(SAMPLES, genes.shape[0]) if settings.strides else 0):
        if scratch.tally[0].spent + 1 + n > run.most or over(run, scratch):
            break
        call_look(settings.look, own, shared.given, genes[i], 1)
        for k in range(n):
            slope = scratch.gradient[k]
            if slope * slope < 1e300:  # neither infinite nor no number
                squares[k] += slope * slope
    write_strides(variables, settings.whole_turns, shared.stride, shared.lower, shared.upper)


@jit_part
def reproduce(variables, settings, population, first, second, prototype, state, x, g):
    """Lines 36 and 37: a child of two parents and a prototype."""
    genes, momentum = population.genes, population.momentum
    recombine(genes[first], genes[second], momentum[first], momentum[second], settings.momentum, state, x, g)
    mutate(0.5 * (population.extinction[first] + population.extinction[second]), variables, state, x, g)
    if settings.adoption:
        adopt(genes[first], genes[second], genes[prototype], state, x, g)
    constrain(variables, x)


@jit_part
def breed(variables, settings, own, population, offspring, shared, stream, run, scratch):
    """All offspring, from place kappa on, until one satisfies all. Returns the first place that is not filled."""
    pool, parents, state = shared.pool, shared.parents, run.state
    size = pool.size
    for i in range(size):
        pool[i] = shared.order[i]
    for i in range(shared.elites.size, pool.size):
        if over(run, scratch):
            return i
        x, g = offspring.genes[i], offspring.momentum[i]
        seed_stream(state, run.seed, stream + i)
        parents[i, 0] = parents[i, 1] = -1
        if size > 0:
            first, second, prototype = pool[select(size, state)], pool[select(size, state)], pool[select(size, state)]
            reproduce(variables, settings, population, first, second, prototype, state, x, g)
            parents[i, 0], parents[i, 1] = first, second
        else:
            initialise(variables, state, x, g)
        fitness = call_look(settings.look, own, shared.weights, x, 0)
        for t in range(scratch.losses.size):
            offspring.losses[i, t] = scratch.losses[t]
        if scratch.tally[0].satisfied != 0:
            return i + 1
        if parents[i, 0] >= 0 and settings.niching:
            size = niche(pool, size, fitness, parents[i, 0], parents[i, 1], population.fitness)
    return pool.size

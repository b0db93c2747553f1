"""The generations of genetic algorithm, differential evolution and particle swarm; see solvers/evolution.py."""

import math
from typing import NamedTuple

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.evolution.evolve import EvolutionRecord, draw_genes
from memetik.kernels.evolution.fitness import appraise
from memetik.kernels.problem.limits import bring_within, clamp
from memetik.kernels.runtime.random import uniform
from memetik.kernels.runtime.record import Array, floats, reader

PRECISION = 20.0  # the smallest mutation is 2^-20 of the largest
BOUNCE = 0.5  # what is left of the speed of a particle that meets a limit, and turns back


class GaRecord(NamedTuple):
    """The genetic algorithm."""

    evolution: EvolutionRecord
    tournament: int  # individuals drawn for one parent
    blend: float  # how far beyond its parents a child may lie, as a share of their distance
    mutation: float  # genes of a child that mutate on average
    reach: float  # of the largest mutation, as a share of the range of the joint
    children: Array = floats("population", "variables")
    children_fitness: Array = floats("population")


class DeRecord(NamedTuple):
    """Differential evolution."""

    evolution: EvolutionRecord
    difference: float  # the least factor F
    crossover: float  # CR
    from_best: bool  # differences are added to the best individual, else to one that is drawn


class PsoRecord(NamedTuple):
    """The swarm; the genes and the fitness of the evolution are those of the best postures of the particles."""

    evolution: EvolutionRecord
    inertia: float
    memory: float
    social: float
    neighbours: int  # whom a particle knows to either side in the ring, 0 for all
    posture: Array = floats("population", "variables")  # where the particles are
    speed: Array = floats("population", "variables")


read_ga, read_de, read_pso = reader(GaRecord), reader(DeRecord), reader(PsoRecord)


@jit
def choose(fitness, rounds, state):
    """Tournament: the fittest of so many individuals that are drawn."""
    best = int(fitness.size * uniform(state))
    for _ in range(rounds - 1):
        i = int(fitness.size * uniform(state))
        if fitness[i] < fitness[best]:
            best = i
    return best


@jit
def beget(first, second, blend, mutation, reach, variables, state, child):
    """Cross two parents and mutate the child, within the limits. Between two angles lies the shorter way, where it may."""
    n = child.size
    for k in range(n):
        share = (1.0 + 2.0 * blend) * uniform(state) - blend
        difference = second[k] - first[k]
        if variables[k].whole_turn:
            difference -= 2.0 * math.pi * round(difference / (2.0 * math.pi))
        gene = first[k] + share * difference
        if uniform(state) * n < mutation:
            step = (
                reach * (variables[k].sample_upper - variables[k].sample_lower) * 2.0 ** (-PRECISION * uniform(state))
            )
            gene += step if uniform(state) < 0.5 else -step
        child[k] = bring_within(gene, variables[k])


@jit
def breed_ga(problem, run, generation, best, ease, own, work):
    """The fittest as it is, and children (BREED in evolve.py)."""
    ga = read_ga(own)
    genes, fitness, children = ga.evolution.genes, ga.evolution.fitness, ga.children
    for k in range(genes.shape[1]):
        children[0, k] = genes[best, k]
    ga.children_fitness[0] = fitness[best]
    for i in range(1, fitness.size):
        first, second = choose(fitness, ga.tournament, run.state), choose(fitness, ga.tournament, run.state)
        beget(genes[first], genes[second], ga.blend, ga.mutation, ga.reach, problem.variables, run.state, children[i])
        ga.children_fitness[i], over = appraise(problem, run, children[i], ease, work)
        if over:
            return True
    for i in range(fitness.size):
        fitness[i] = ga.children_fitness[i]
        for k in range(genes.shape[1]):
            genes[i, k] = children[i, k]
    return False


@jit
def others(i, size, state):
    """Three individuals that are drawn; none is i or twice the same."""
    a = b = c = i
    while a == i:
        a = int(size * uniform(state))
    while b in (i, a):
        b = int(size * uniform(state))
    while c in (i, a, b):
        c = int(size * uniform(state))
    return a, b, c


@jit
def propose(parent, base, first, second, factor, crossover, variables, state, trial):
    """u = base + F (first - second) in genes chosen at random, one at least; the others are those of the parent.

    Where whole turns do not matter, the difference is the shorter way round. What leaves the limits is drawn again between
    the limit and the base.
    """
    sure = int(trial.size * uniform(state))
    for k in range(trial.size):
        trial[k] = parent[k]
        if uniform(state) < crossover or k == sure:
            difference = first[k] - second[k]
            if variables[k].whole_turn:
                difference -= 2.0 * math.pi * round(difference / (2.0 * math.pi))
            gene = base[k] + factor * difference
            if gene < variables[k].lower:
                gene = variables[k].lower + uniform(state) * (base[k] - variables[k].lower)
            elif gene > variables[k].upper:
                gene = variables[k].upper + uniform(state) * (base[k] - variables[k].upper)
            trial[k] = gene


@jit
def breed_de(problem, run, generation, best, ease, own, work):
    """A trial replaces its parent at once if it is no less fit (BREED in evolve.py)."""
    de, state, trial = read_de(own), run.state, work.trial
    genes, fitness = de.evolution.genes, de.evolution.fitness
    for i in range(fitness.size):
        first, second, base = others(i, fitness.size, state)
        if de.from_best:
            base = best
        factor = de.difference + (1.0 - de.difference) * uniform(state)
        propose(
            genes[i], genes[base], genes[first], genes[second], factor, de.crossover, problem.variables, state, trial
        )
        found, over = appraise(problem, run, trial, ease, work)
        if over:
            return True
        if found <= fitness[i]:
            fitness[i] = found
            for k in range(trial.size):
                genes[i, k] = trial[k]
    return False


@jit
def leader(fitness, i, neighbours, best):
    """The fittest of those whom particle i knows: so many to either side in the ring, or all."""
    if neighbours == 0:
        return best
    known = i
    for step in range(1, neighbours + 1):
        for j in ((i + step) % fitness.size, (i - step) % fitness.size):
            if fitness[j] < fitness[known]:
                known = j
    return known


@jit
def fly(x, speed, own_best, led, swarm, variables, state):
    """v' = w v + c1 U (own best - x) + c2 U (leader's best - x), then x' = x + v', within the limits."""
    w, c1, c2 = swarm.inertia, swarm.memory, swarm.social
    for k in range(x.size):
        v = w * speed[k] + c1 * uniform(state) * (own_best[k] - x[k]) + c2 * uniform(state) * (led[k] - x[k])
        gene = x[k] + v
        inside = clamp(gene, variables[k])
        speed[k] = v if gene == inside else -BOUNCE * v
        x[k] = inside


@jit_part
def start_flight(swarm, variables, state):
    """Particles set out from where they were drawn, half way towards a posture that is drawn for each."""
    bests, posture, speed = swarm.evolution.genes, swarm.posture, swarm.speed
    for i in range(posture.shape[0]):
        draw_genes(speed[i], variables, state)
        for k in range(posture.shape[1]):
            posture[i, k] = bests[i, k]
            speed[i, k] = 0.5 * (speed[i, k] - posture[i, k])


@jit
def breed_pso(problem, run, generation, best, ease, own, work):
    """One move of the whole swarm (BREED in evolve.py)."""
    swarm = read_pso(own)
    bests, fitness, posture = swarm.evolution.genes, swarm.evolution.fitness, swarm.posture
    if generation == 0:
        start_flight(swarm, problem.variables, run.state)
    for i in range(fitness.size):
        led = leader(fitness, i, swarm.neighbours, best)
        fly(posture[i], swarm.speed[i], bests[i], bests[led], swarm, problem.variables, run.state)
        found, over = appraise(problem, run, posture[i], ease, work)
        if over:
            return True
        if found < fitness[i]:
            fitness[i] = found
            for k in range(posture.shape[1]):
                bests[i, k] = posture[i, k]
    return False

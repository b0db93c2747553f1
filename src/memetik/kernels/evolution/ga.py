"""The generations of a genetic algorithm; see solvers/evolution/ga.py for the method."""

from __future__ import annotations

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.compiler.random import uniform
from memetik.kernels.evolution.fitness import (
    FADING,
    OWN,
    PATIENCE,
    SIZE,
    Setting,
    anything_blocks,
    appraise,
    fittest,
    populate,
    wait,
)
from memetik.kernels.problem.whole_turns import bring_within

TOURNAMENT, BLEND, MUTATION, REACH = OWN, OWN + 1, OWN + 2, OWN + 3

PRECISION = 20.0  # the smallest mutation is 2^-20 of the largest


def room_size(size: int, n: int) -> int:
    """How many floats two generations need."""
    return 2 * size * (n + 1)


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
        child[k] = bring_within(gene, variables, k)


@jit_part
def breed(setting, parameters, genes, fitness, best, ease, offspring, offspring_fitness):
    """The next generation: the fittest as it is, and children. Whether the search is over."""
    variables, state = setting.problem.variables, setting.state
    rounds = int(parameters[TOURNAMENT])
    for k in range(genes.shape[1]):
        offspring[0, k] = genes[best, k]
    offspring_fitness[0] = fitness[best]
    for i in range(1, fitness.size):
        first, second = choose(fitness, rounds, state), choose(fitness, rounds, state)
        beget(
            genes[first], genes[second], parameters[BLEND], parameters[MUTATION], parameters[REACH], variables, state,
            offspring[i],
        )  # fmt: skip
        offspring_fitness[i], over = appraise(setting, offspring[i], ease)
        if over:
            return True
    return False


@jit
def search(problem, x, seed, most, deadline, parameters, places, room, clock, state, outcome, work):
    """Generations until all is satisfied; a fresh population whenever there was no progress for long."""
    setting = Setting(problem, most, deadline, clock, state, outcome, work)
    n, size = x.size, int(parameters[SIZE])
    at = size * n
    genes, offspring = room[:at].reshape((size, n)), room[at : 2 * at].reshape((size, n))
    fitness, offspring_fitness = room[2 * at : 2 * at + size], room[2 * at + size : 2 * at + 2 * size]
    blocks = anything_blocks(problem.terms)
    while True:
        if populate(setting, x, seed, genes, fitness):
            return
        record, waited, ease = math.inf, 0, 1.0
        while waited < parameters[PATIENCE]:
            ease *= FADING if blocks else 1.0
            best = fittest(fitness)
            record, waited = wait(fitness[best], record, waited)
            if breed(setting, parameters, genes, fitness, best, ease, offspring, offspring_fitness):
                return
            genes, offspring = offspring, genes
            fitness, offspring_fitness = offspring_fitness, fitness
        if not blocks:
            return

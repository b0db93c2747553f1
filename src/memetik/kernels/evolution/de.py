"""The generations of differential evolution; see solvers/evolution/de.py for the method."""

from __future__ import annotations

import math

from memetik.kernels.compiler.jit import jit
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

DIFFERENCE, CROSSOVER, BY_BEST = OWN, OWN + 1, OWN + 2


def room_size(size: int, n: int) -> int:
    """How many floats a generation needs."""
    return size * (n + 1)


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
def evolve(setting, parameters, genes, fitness, best, ease):
    """One generation, in place: a trial replaces its parent at once if it is no less fit. Whether the search is over."""
    variables, state, trial = setting.problem.variables, setting.state, setting.work.trial
    least = parameters[DIFFERENCE]
    for i in range(fitness.size):
        first, second, base = others(i, fitness.size, state)
        if parameters[BY_BEST] != 0.0:
            base = best
        factor = least + (1.0 - least) * uniform(state)
        propose(
            genes[i], genes[base], genes[first], genes[second], factor, parameters[CROSSOVER], variables, state, trial
        )
        found, over = appraise(setting, trial, ease)
        if over:
            return True
        if found <= fitness[i]:
            fitness[i] = found
            for k in range(trial.size):
                genes[i, k] = trial[k]
    return False


@jit
def search(problem, x, seed, most, deadline, parameters, places, room, clock, state, outcome, work):
    """Generations until all is satisfied; a fresh population whenever there was no progress for long."""
    setting = Setting(problem, most, deadline, clock, state, outcome, work)
    n, size = x.size, int(parameters[SIZE])
    genes, fitness = room[: size * n].reshape((size, n)), room[size * n : size * n + size]
    blocks = anything_blocks(problem.terms)
    while True:
        if populate(setting, x, seed, genes, fitness):
            return
        record, waited, ease = math.inf, 0, 1.0
        while waited < parameters[PATIENCE]:
            ease *= FADING if blocks else 1.0
            best = fittest(fitness)
            record, waited = wait(fitness[best], record, waited)
            if evolve(setting, parameters, genes, fitness, best, ease):
                return
        if not blocks:
            return

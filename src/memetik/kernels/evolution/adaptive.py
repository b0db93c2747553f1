"""Differential evolution whose factors adapt themselves (Brest et al. 2006); see solvers/evolution.py."""

from typing import NamedTuple

from memetik.kernels.compiler.jit import jit
from memetik.kernels.evolution.evolve import EvolutionRecord
from memetik.kernels.evolution.fitness import appraise
from memetik.kernels.evolution.generations import others, propose
from memetik.kernels.runtime.random import uniform
from memetik.kernels.runtime.record import Array, floats, reader

# How often an individual tries another factor and another rate, the factors it draws from, and with what it begins.
RENEWAL, LEAST_FACTOR, MOST_FACTOR = 0.1, 0.1, 1.0
FIRST_FACTOR, FIRST_RATE = 0.5, 0.9


class AdaptiveRecord(NamedTuple):
    """Adaptive differential evolution."""

    evolution: EvolutionRecord
    factors: Array = floats("population")  # F of each individual
    rates: Array = floats("population")  # CR of each individual


read_adaptive = reader(AdaptiveRecord)


@jit
def breed_adaptive(problem, run, generation, best, ease, own, work):
    """A trial replaces its parent at once if it is no less fit, with the factor and the rate it had (BREED in evolve.py)."""
    de, state, trial = read_adaptive(own), run.state, work.trial
    genes, fitness, factors, rates = de.evolution.genes, de.evolution.fitness, de.factors, de.rates
    if generation == 0:
        for i in range(factors.size):
            factors[i], rates[i] = FIRST_FACTOR, FIRST_RATE
    for i in range(fitness.size):
        factor, rate = factors[i], rates[i]
        if uniform(state) < RENEWAL:
            factor = LEAST_FACTOR + (MOST_FACTOR - LEAST_FACTOR) * uniform(state)
        if uniform(state) < RENEWAL:
            rate = uniform(state)
        first, second, base = others(i, fitness.size, state)
        propose(genes[i], genes[base], genes[first], genes[second], factor, rate, problem.variables, state, trial)
        found, over = appraise(problem, run, trial, ease, work)
        if over:
            return True
        if found <= fitness[i]:
            fitness[i], factors[i], rates[i] = found, factor, rate
            for k in range(trial.size):
                genes[i, k] = trial[k]
    return False

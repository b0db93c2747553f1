"""The loop of all evolutionary methods: generations until all is satisfied, a fresh population where they gain nothing.

A method is one kernel (BREED below) that replaces a population by the next generation, and a record that begins with an
EvolutionRecord.
"""

import math
from typing import NamedTuple

from numba.core import types

from memetik.kernels.compiler.function_pointers import caller
from memetik.kernels.compiler.jit import jit
from memetik.kernels.compiler.random import seed_stream
from memetik.kernels.compiler.record import Array, floats, reader
from memetik.kernels.evolution.fitness import appraise
from memetik.kernels.problem.budget import ATTEMPTS
from memetik.kernels.problem.function_pointers import PROBLEM, RUN, TABLE, WORKSPACE
from memetik.kernels.problem.limits import sample

# (problem, run, generation, best, ease, own, work): the next generation of a population whose fittest individual is
# `best`, with guides at `ease`; generation 0 is the first of a fresh population. Whether the search is over.
BREED = types.boolean(PROBLEM, RUN, types.int64, types.int64, types.float64, TABLE, WORKSPACE)
call_breed = caller(BREED)

FADING = 0.9  # what is left of the pull of guides in the next generation
GAIN = 0.05  # a smaller share of the best fitness is no progress


class EvolutionRecord(NamedTuple):
    """What all methods have in common, first in the record of each."""

    breed: int  # address of the kernel that makes the method
    patience: int  # so many generations in a row without progress end a population
    blocks: bool  # some term can be missed
    genes: Array = floats("population", "variables")  # individuals as rows
    fitness: Array = floats("population")


read_evolution = reader(EvolutionRecord)


@jit
def draw_genes(genes, variables, state):
    """A posture drawn evenly within the limits; a joint without limits has a finite span instead."""
    for k in range(genes.size):
        genes[k] = sample(variables[k], state)


@jit
def populate(problem, run, genes, fitness, work):
    """A fresh population, from the next stream of the seed; the first has the start. Whether the search is over."""
    attempt = run.outcome[ATTEMPTS]
    run.outcome[ATTEMPTS] += 1.0
    seed_stream(run.state, run.seed, int(attempt))
    for i in range(genes.shape[0]):
        draw_genes(genes[i], problem.variables, run.state)
        if attempt == 0.0 and i == 0:
            for k in range(genes.shape[1]):
                genes[i, k] = work.x[k]
        fitness[i], over = appraise(problem, run, genes[i], 1.0, work)
        if over:
            return True
    return False


@jit
def wait(best, record, waited):
    """Count generations without progress. The fitness that the next ones are measured by, and how many there were."""
    if best < (1.0 - GAIN) * record:
        return best, 0
    return record, waited + 1


@jit
def evolve(problem, run, own, work):
    """The search (SEARCH in problem/function_pointers.py) of all methods. Where nothing can be missed, nothing fades."""
    evolution = read_evolution(own)
    genes, fitness = evolution.genes, evolution.fitness
    while not populate(problem, run, genes, fitness, work):
        record, waited, ease, generation = math.inf, 0, 1.0, 0
        while waited < evolution.patience:
            ease *= FADING if evolution.blocks else 1.0
            best = fitness.argmin()
            record, waited = wait(fitness[best], record, waited)
            if call_breed(evolution.breed, problem, run, generation, best, ease, own, work):
                return
            generation += 1
        if not evolution.blocks:
            return

"""The loop of all evolutionary methods: generations until all is satisfied, a fresh population where they gain nothing.

A method is one kernel (BREED below) that replaces a population by the next generation, and a record that begins with an
EvolutionRecord.
"""

import math
from typing import NamedTuple

from numba.core import types

from memetik.kernels.compiler.function_pointers import caller
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.evolution.fitness import appraise
from memetik.kernels.lbfgsb.search import Descents
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS
from memetik.kernels.problem.function_pointers import PROBLEM, RUN, TABLE, WORKSPACE, call_search
from memetik.kernels.problem.limits import sample
from memetik.kernels.problem.problem_record import Run
from memetik.kernels.runtime.random import seed_stream
from memetik.kernels.runtime.record import Array, floats, integers, reader

# (problem, run, generation, best, ease, own, work): the next generation of a population whose fittest individual is
# `best`, with guides at `ease`; generation 0 is the first of a fresh population. Whether the search is over.
BREED = types.boolean(PROBLEM, RUN, types.int64, types.int64, types.float64, TABLE, WORKSPACE)
call_breed = caller(BREED)

FADING = 0.9  # what is left of the pull of guides in the next generation
GAIN = 0.05  # a smaller share of the best fitness is no progress, ...
SPREAD_GAIN = 0.01  # ... or of the spread of the population, where the fitness of a solution is not known to be zero
COLLAPSED = 1e-10  # a spread that is a smaller share of the best fitness: all individuals are the same
LEARNING = 20  # a memetic method lets its fittest individual learn once in so many generations, ...
LESSON = 100  # ... and at the end, from so many gradients at most


class EvolutionRecord(NamedTuple):
    """What all methods have in common, first in the record of each."""

    descents: Descents  # of a memetic method; the local search reads the table from here
    breed: int  # address of the kernel that makes the method
    patience: int  # so many generations in a row without progress end a population
    blocks: bool  # some term can be missed
    by_spread: bool  # how progress is measured
    learn: int  # address of the local search (SEARCH) of a memetic method, else 0
    most: Array = integers(1)  # generations that the budget allows, 0 for any number
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
def wait_by_spread(best, fitness, record, waited, patience):
    """The same by the spread of the population, the mean fitness less the best; over at once where there is none."""
    total = 0.0
    for value in fitness:
        total += value
    spread = total / fitness.size - best
    if spread <= COLLAPSED * best:
        return record, patience
    if best < record - SPREAD_GAIN * spread:
        return best, 0
    return record, waited + 1


@jit_part
def learn(problem, run, evolution, best, ease, own, work):
    """What an individual learns in its life it passes on: the local search takes it to its minimum. Whether all is over."""
    genes = evolution.genes[best]
    for k in range(genes.size):
        work.x[k] = genes[k]
    most = min(run.most, int(run.outcome[EVALUATIONS]) + LESSON * (genes.size + 1))
    lesson = Run(run.seed, most, run.deadline, run.clock, run.state, run.outcome)
    call_search(evolution.learn, problem, lesson, own, work)
    fitness, over = appraise(problem, run, work.x, ease, work)
    if fitness < evolution.fitness[best]:
        evolution.fitness[best] = fitness
        for k in range(genes.size):
            genes[k] = work.x[k]
    return over


@jit
def evolve(problem, run, own, work):
    """The search (SEARCH in problem/function_pointers.py) of all methods. Where nothing can be missed, nothing fades."""
    evolution = read_evolution(own)
    genes, fitness, bred = evolution.genes, evolution.fitness, 0
    while not populate(problem, run, genes, fitness, work):
        record, waited, ease, generation = math.inf, 0, 1.0, 0
        learnt = math.inf  # the fitness of whoever learnt last
        while waited < evolution.patience:
            ease *= FADING if evolution.blocks else 1.0
            best = fitness.argmin()
            if evolution.by_spread:
                record, waited = wait_by_spread(fitness[best], fitness, record, waited, evolution.patience)
            else:
                record, waited = wait(fitness[best], record, waited)
            if call_breed(evolution.breed, problem, run, generation, best, ease, own, work):
                return
            generation += 1
            if evolution.learn != 0 and (generation % LEARNING == 0 or waited >= evolution.patience):
                best = fitness.argmin()
                if fitness[best] < learnt:
                    if learn(problem, run, evolution, best, ease, own, work):
                        return
                    learnt = fitness[best]
            bred += 1
            if bred == evolution.most[0]:
                return
        if not evolution.blocks:
            return

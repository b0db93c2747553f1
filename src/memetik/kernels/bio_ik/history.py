"""Bio IK, what became of whom: every individual of every generation, for pictures of the evolution."""

from __future__ import annotations

from memetik.kernels.bio_ik.objective import combine
from memetik.kernels.compiler.jit import jit_part

# A row: generation, place in it, places of the parents in the generation before (-1 for none), 1 for an elite, fitness
# under the given weights, then the genes. Before the first row stands how many there are.
GENERATION, PLACE, FIRST, SECOND, ELITE, FITNESS, GENES = 0, 1, 2, 3, 4, 5, 6


@jit_part
def record(terms, parameters, shared, generation, count, elites, history):
    """Add the first `count` individuals of the population, of which the first are elites, as far as there is room."""
    population, n = shared.population, shared.population.genes.shape[1]
    wide = GENES + n
    rows = int(history[0])
    for i in range(count):
        at = 1 + rows * wide
        if at + wide > history.size:
            break
        history[at + GENERATION] = generation
        history[at + PLACE] = i
        history[at + FIRST] = shared.parents[i, 0]
        history[at + SECOND] = shared.parents[i, 1]
        history[at + ELITE] = 1.0 if i < elites else 0.0
        history[at + FITNESS] = combine(terms, parameters, shared.given, population.losses[i])
        for k in range(n):
            history[at + GENES + k] = population.genes[i, k]
        rows += 1
    history[0] = rows

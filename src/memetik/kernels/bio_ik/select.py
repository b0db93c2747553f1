"""Bio IK, who is chosen: selection by rank, elites, and niching (sections 4.5.2, 4.5.6 and 4.5.7 of the thesis).

Individuals stand in the order of their fitness, the fittest first. The mating pool is a list of individuals in that
order; its first `size` places count.
"""

import math

from memetik.kernels.compiler.jit import jit
from memetik.kernels.runtime.random import uniform


@jit
def sort_by_fitness(fitness, order):
    """Bring the list of individuals into the order of their fitness; it is nearly so already, and ties stay as they are."""
    for i in range(1, order.size):
        moved = order[i]
        k = i
        while k > 0 and fitness[order[k - 1]] > fitness[moved]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = moved


@jit
def select(size, state):
    """Eq. 4.14: a rank from 0 on, with the probability p(i) = (size - i) / (1 + 2 + ... + size).

    The first i ranks together have i (2 size + 1 - i) of size (size + 1) parts; solved for i, no table is needed.
    """
    ends = 2.0 * size + 1.0
    i = int(0.5 * (ends - math.sqrt(ends * ends - 4.0 * size * (size + 1.0) * uniform(state))))
    return min(i, size - 1)


@jit
def remove(pool, size, place):
    """Take the individual at a place out of the pool; the others close up in their order. Returns the new size."""
    for i in range(place, size - 1):
        pool[i] = pool[i + 1]
    return size - 1


@jit
def select_elites(order, pool, state, elites):
    """The fittest, and others by their rank, none twice. `pool` is scratch."""
    for i in range(order.size):
        pool[i] = order[i]
    elites[0] = order[0]
    size = remove(pool, order.size, 0)
    for e in range(1, elites.size):
        place = select(size, state)
        elites[e] = pool[place]
        size = remove(pool, size, place)


@jit
def niche(pool, size, child, first, second, fitness):
    """Eq. 4.20: a parent whose offspring is fitter leaves the pool, so that others get their turn. Returns the new size."""
    for parent in (first, second):
        if child < fitness[parent]:
            for place in range(size):
                if pool[place] == parent:
                    size = remove(pool, size, place)
                    break
    return size

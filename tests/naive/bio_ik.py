"""Twin of Bio IK's evolution: the equations of the thesis, chapter 4, one after the other, on lists of individuals.

`draw()` gives the next random number in [0, 1). Exploitation (4.22) is left out: its twin is L-BFGS-B of SciPy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

GOLDEN = 0x9E3779B97F4A7C15


class Stream:
    """SplitMix64 in Python's own integers: stream k of a seed."""

    def __init__(self, seed, stream):
        first = (self.mixed((seed + GOLDEN) % 2**64) + stream * GOLDEN) % 2**64
        self.state = self.mixed(first)

    @staticmethod
    def mixed(z):
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
        return z ^ (z >> 31)

    def __call__(self):
        self.state = (self.state + GOLDEN) % 2**64
        return (self.mixed(self.state) >> 11) / 2**53


@dataclass(eq=False)
class Individual:
    x: np.ndarray
    g: np.ndarray
    losses: np.ndarray = field(default_factory=lambda: np.zeros(0))
    fitness: float = math.inf
    extinction: float = 0.0
    parents: tuple = (-1, -1)


def interpolation(a, b, c):
    """I_c(a, b)."""
    return a + c * (b - a)


def random_individual(lower, upper, draw):
    """Eq. 4.12 and 4.13."""
    x = np.array([low + (high - low) * draw() for low, high in zip(lower, upper, strict=True)])
    return Individual(x, np.zeros(len(x)))


def probabilities(size):
    """Eq. 4.14 for the ranks i = 1 ... size."""
    whole = sum(range(1, size + 1))
    return [(size - i + 1) / whole for i in range(1, size + 1)]


def select(size, draw):
    """A rank, from 0 on, by the table of eq. 4.14."""
    share = draw()
    for rank, reached in enumerate(np.cumsum(probabilities(size))):
        if share < reached:
            return rank
    return size - 1


def select_elites(ranked, count, draw):
    """The fittest, and count - 1 others by rank; none twice."""
    others = list(ranked[1:])
    return [ranked[0], *(others.pop(select(len(others), draw)) for _ in range(count - 1))]


def recombine(first, second, draw):
    """Eq. 4.16; a gene draws for the momenta first."""
    x, g = [], []
    for i in range(len(first.x)):
        g.append(draw() * first.g[i] + draw() * second.g[i])
        x.append(interpolation(first.x[i], second.x[i], draw()) + g[i])
    return Individual(np.array(x), np.array(g))


def extinctions(fitness):
    """Eq. 4.17 for fitness values in the order of ranks."""
    least, most, size = min(fitness), max(fitness), len(fitness)
    return [(phi + least * (i / (size - 1) - 1)) / most for i, phi in enumerate(fitness)]


def mutate(child, first, second, lower, upper, draw):
    """Eq. 4.18; a gene draws once to learn whether it mutates, and again if so."""
    n = len(child.x)
    mean = (first.extinction + second.extinction) / 2
    p = (mean * (n - 1) + 1) / n
    for i in range(n):
        if draw() < p:
            x = child.x[i] + (2 * draw() - 1) * mean * (upper[i] - lower[i])
            child.g[i] += x - child.x[i]
            child.x[i] = x


def adopt(child, first, second, prototype, draw):
    """Eq. 4.19."""
    for i in range(len(child.x)):
        middle = (first.x[i] + second.x[i]) / 2
        a, b = draw() * (middle - child.x[i]), draw() * (prototype.x[i] - child.x[i])
        x = child.x[i] + interpolation(a, b, draw())
        child.g[i] += x - child.x[i]
        child.x[i] = x


def constrain(child, lower, upper):
    """Eq. 4.2."""
    child.x = np.clip(child.x, lower, upper)


def niche(pool, child, first, second):
    """Eq. 4.20: the mating pool without the parents that were outdone."""
    return [other for other in pool if not (other in (first, second) and child.fitness < other.fitness)]


class Evolution:
    """Algorithm 3 without lines 32 and 33: elites only survive.

    `losses(x)` are those of the objectives, `weights` theirs; limits are those for clipping, `spans` those for drawing.
    """

    def __init__(self, losses, weights, limits, spans, size, elites, seed):
        self.losses, self.weights, self.size, self.elites, self.seed = losses, np.array(weights), size, elites, seed
        self.limits, self.spans = limits, spans

    def judge(self, individual, weights):
        individual.losses = np.array(self.losses(individual.x))
        individual.fitness = self.fitness(individual, weights)

    def fitness(self, individual, weights):
        """Eq. 4.3."""
        return math.sqrt(np.mean(weights * individual.losses**2))

    def stream(self, generation, place):
        return Stream(self.seed, generation * (self.size + self.elites + 1) + place)

    def begin(self, x):
        """Lines 24 to 27."""
        draw = self.stream(0, 0)
        population = [random_individual(*self.spans, draw) for _ in range(self.size)]
        population[0].x = np.array(x)
        for individual in population:
            self.judge(individual, self.weights)
        return population

    def evolve(self, population, generation):
        """Lines 31 to 47: the next generation, elites first."""
        draw = self.stream(generation, 0)
        weights = np.array([weight * draw() for weight in self.weights])
        for individual in population:
            individual.fitness = self.fitness(individual, weights)
        ranked = sorted(population, key=lambda individual: individual.fitness)
        for individual, extinction in zip(ranked, extinctions([i.fitness for i in ranked]), strict=True):
            individual.extinction = extinction
        survivors = select_elites(ranked, self.elites, draw)
        pool = list(ranked)
        following = [
            Individual(e.x.copy(), e.g.copy(), e.losses, parents=(where(e, population),) * 2) for e in survivors
        ]
        for place in range(self.elites, self.size):
            draw = self.stream(generation, 1 + place)
            if pool:
                first, second, prototype = (pool[select(len(pool), draw)] for _ in range(3))
                child = recombine(first, second, draw)
                mutate(child, first, second, *self.spans, draw)
                adopt(child, first, second, prototype, draw)
                constrain(child, *self.limits)
                child.parents = (where(first, population), where(second, population))
            else:
                child = random_individual(*self.spans, draw)
            self.judge(child, weights)
            if pool:
                pool = niche(pool, child, first, second)
            following.append(child)
        return following


def where(individual, population):
    return next(place for place, other in enumerate(population) if other is individual)

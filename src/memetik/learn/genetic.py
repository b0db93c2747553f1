"""Training by a genetic algorithm: many networks, the better of which have offspring, without a derivative.

A network is the vector of its weights. Two parents, each the best of a few drawn at random, pass on whole units, since what one
unit says is of use only with all of its weights; then some weights are changed a little. The best networks live on.
For small networks alone: every weight is found by trial.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from memetik.learn.training import CHECK, GAIN, Lesson, Telling
from memetik.types import Array

POPULATION, ELITES, RIVALS = 60, 4, 3
MUTATED = 0.3  # share of the weights of a child that are changed
FIRST_CHANGE, LAST_CHANGE = 0.5, 0.01  # standard deviation of a change, in the first generation and in the last


def train_by_genes(
    population: Array,
    units: Array,
    value: Callable[[Array], float],
    check: Callable[[Array], float],
    *,
    generations: int,
    patience: int,
    label: str,
    rng: np.random.Generator,
) -> tuple[Array, Lesson]:
    """The weights with the least error on the validation set, and how it went; patience and the rest as for `train`.

    population (networks, weights): where to begin. units (weights,): which unit each weight belongs to.
    """
    errors = np.array([value(weights) for weights in population])
    best, lesson = population[errors.argmin()].copy(), Lesson(np.inf, np.inf, 0)
    mark, gained, telling = np.inf, 0, Telling(label, "generation", generations)
    for generation in range(generations + 1):
        order = errors.argsort(kind="stable")
        population, errors = population[order], errors[order]
        if generation % CHECK == 0 or generation == generations:
            validation = check(population[0])
            if validation < lesson.validation_error:
                best, lesson = population[0].copy(), Lesson(float(errors[0]), validation, generation)
            if validation < (1.0 - GAIN) * mark:
                mark, gained = validation, generation
            if generation - gained >= patience or generation == generations:
                break
            telling.tell(generation, validation)
        change = FIRST_CHANGE * (LAST_CHANGE / FIRST_CHANGE) ** (generation / generations)
        children = _offspring(population, units, change, rng)
        errors = np.concatenate([errors[:ELITES], [value(weights) for weights in children]])
        population = np.concatenate([population[:ELITES], children])
    telling.end()
    return best, lesson


def _offspring(population: Array, units: Array, change: float, rng: np.random.Generator) -> Array:
    """As many children as take the place of all but the elites; the population is sorted, the best first."""
    count = len(population) - ELITES
    mothers, fathers = rng.integers(len(population), size=(2, count, RIVALS)).min(axis=2)
    from_father = rng.random((count, int(units.max()) + 1)) < 0.5
    children: Array = np.where(from_father[:, units], population[fathers], population[mothers])
    touched = rng.random(children.shape) < MUTATED
    children += touched * rng.normal(0.0, change, children.shape)
    return children

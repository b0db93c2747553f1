"""Twins of the evolutionary operators: the formulas of the methods on lists, with random numbers from a given stream."""

from __future__ import annotations

import math


def clamp(value, low, high):
    """The value, or the end of the interval that it passed."""
    return low if value < low else high if value > high else value


def fitness(losses, weights, eased, ease):
    """Eq. 4.3 with `ease` times the square of the losses that are eased."""
    squares = [w * loss**2 * (ease if light else 1.0) for loss, w, light in zip(losses, weights, eased, strict=True)]
    return (sum(squares) / len(squares)) ** 0.5


def differential_trial(parent, base, first, second, factor, crossover, variables, draw):
    """DE: base + F (first - second) where a coin says so; what leaves the limits is drawn between limit and base."""
    lower, upper, turns = variables["lower"], variables["upper"], variables["whole_turn"]
    sure = int(len(parent) * draw())
    trial = []
    for k, (old, b, one, two) in enumerate(zip(parent, base, first, second, strict=True)):
        if not (draw() < crossover or k == sure):
            trial.append(old)
            continue
        difference = math.remainder(one - two, 2.0 * math.pi) if turns[k] else one - two
        gene = b + factor * difference
        if gene < lower[k]:
            gene = lower[k] + draw() * (b - lower[k])
        elif gene > upper[k]:
            gene = upper[k] + draw() * (b - upper[k])
        trial.append(gene)
    return trial


def child(first, second, blend, mutation, reach, variables, precision, draw):
    """GA: between the parents or a little beyond, then a step of a random power of two."""
    genes = []
    for k, (one, two) in enumerate(zip(first, second, strict=True)):
        v = variables[k]
        apart = math.remainder(two - one, 2.0 * math.pi) if v.whole_turn else two - one
        gene = one + ((1.0 + 2.0 * blend) * draw() - blend) * apart
        if draw() * len(first) < mutation:
            step = reach * (v.sample_upper - v.sample_lower) * 2.0 ** (-precision * draw())
            gene += step if draw() < 0.5 else -step
        if v.whole_turn and v.upper - v.lower >= 2.0 * math.pi:
            while gene > v.upper:
                gene -= 2.0 * math.pi
            while gene < v.lower:
                gene += 2.0 * math.pi
        genes.append(clamp(gene, v.lower, v.upper))
    return genes


def flight(x, speed, own, led, inertia, memory, social, lower, upper, bounce, draw):
    """PSO: where a particle is after one move, and its speed."""
    places, speeds = [], []
    for k in range(len(x)):
        v = inertia * speed[k] + memory * draw() * (own[k] - x[k])
        v += social * draw() * (led[k] - x[k])
        place = clamp(x[k] + v, lower[k], upper[k])
        places.append(place)
        speeds.append(v if place == x[k] + v else -bounce * v)
    return places, speeds

"""Paths to learn from: smooth motions of the joints, and the targets that they show on the way."""

from __future__ import annotations

import numpy as np

from memetik.learn.domain import Domain, require_targets
from memetik.learn.samples import Samples, inputs_of
from memetik.problem import Problem


def draw_paths(problem: Problem, count: int, steps: int, rng: np.random.Generator) -> Samples:
    """Sequences (count, steps, numbers) for training, and as many for validation.

    Each runs from one posture drawn uniformly within the limits to another, x = a + (b - a) (3 t^2 - 2 t^3).
    """
    require_targets(problem)
    c = problem.compiled
    n = c.active.size
    ends = rng.uniform(c.variables["sample_lower"], c.variables["sample_upper"], (2, 2 * count, 1, n))
    t = np.linspace(0.0, 1.0, steps)[:, np.newaxis]
    postures = ends[0] + (ends[1] - ends[0]) * (3.0 * t**2 - 2.0 * t**3)
    inputs = inputs_of(problem, postures.reshape(-1, n))
    domain = Domain.of(problem, inputs[: count * steps])
    inputs = ((inputs - domain.low) * domain.gain).reshape(2 * count, steps, -1)
    outputs = (postures - domain.lower) / np.where(domain.span > 0.0, domain.span, 1.0)
    return Samples(domain, inputs[:count], outputs[:count], inputs[count:], outputs[count:])

"""What is learned from: postures or smooth motions of the joints, and the targets that they answer."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from memetik.errors import ProblemError, shown
from memetik.kernels.learned.encoding import show_all
from memetik.kernels.math.pose import compose, inverse, load
from memetik.kernels.problem.evaluate import place
from memetik.kernels.terms.records import POINT, ROTATION
from memetik.learn.domain import Domain, input_count, require_targets
from memetik.problem import Problem
from memetik.solution import Solution
from memetik.types import Array


class Teacher(Protocol):
    """A solver whose answers are learned instead of the postures that were drawn."""

    def solve(self, problem: Problem, start: ArrayLike | None = None) -> Solution:
        """The solution from `start`."""


class Samples(NamedTuple):
    """Inputs and wanted outputs between 0 and 1, a row a sample, for training and, apart from it, for validation."""

    domain: Domain
    inputs: Array
    outputs: Array
    check_inputs: Array
    check_outputs: Array


def draw_samples(
    problem: Problem, count: int, rng: np.random.Generator, teacher: Teacher | None = None, share: float = 0.0
) -> Samples:
    """As many samples for validation as for training: postures drawn uniformly within the limits.

    With a teacher, every target is solved from the body's home, and the posture to learn is that solution: one posture
    for a target that has many, instead of the mean of all. Targets that the teacher misses keep the posture drawn.

    With a share, the inputs are followed by a posture that is within this share of each joint's range of the answer.
    """
    require_targets(problem)
    if teacher is not None and (isinstance(teacher, type) or not callable(getattr(teacher, "solve", None))):
        raise ProblemError(f"teacher is {shown(teacher)}; give a solver, such as mk.solvers.Memetic(), or None.")
    c = problem.compiled
    postures = rng.uniform(c.variables["sample_lower"], c.variables["sample_upper"], (2 * count, c.active.size))
    if teacher is not None:
        taught(problem, postures, teacher)
    if not share:
        return _halves(problem, postures)
    lower, upper = c.variables["sample_lower"], c.variables["sample_upper"]
    heard = postures + share * (upper - lower) * rng.uniform(-1.0, 1.0, postures.shape)
    return _halves(problem, postures, np.clip(heard, lower, upper))


def draw_paths(problem: Problem, count: int, steps: int, rng: np.random.Generator) -> Samples:
    """Sequences (count, steps, numbers) for training, and as many for validation.

    Each runs from one posture drawn uniformly within the limits to another, x = a + (b - a) (3 t^2 - 2 t^3).
    """
    require_targets(problem)
    c = problem.compiled
    ends = rng.uniform(c.variables["sample_lower"], c.variables["sample_upper"], (2, 2 * count, 1, c.active.size))
    t = np.linspace(0.0, 1.0, steps)[:, np.newaxis]
    return _halves(problem, ends[0] + (ends[1] - ends[0]) * (3.0 * t**2 - 2.0 * t**3))


def _halves(problem: Problem, postures: Array, heard: Array | None = None) -> Samples:
    """Postures (samples, ..., joints) and what they show, scaled by the first half, which is for training."""
    count = len(postures) // 2
    inputs = inputs_of(problem, postures.reshape(-1, postures.shape[-1]))
    if heard is not None:
        inputs = np.hstack([inputs, heard])
    domain = Domain.of(problem, inputs[: len(inputs) // 2])
    inputs = ((inputs - domain.low) * domain.gain).reshape(*postures.shape[:-1], -1)
    outputs = (postures - domain.lower) / np.where(domain.span > 0.0, domain.span, 1.0)
    return Samples(domain, inputs[:count], outputs[:count], inputs[count:], outputs[count:])


def inputs_of(problem: Problem, postures: Array) -> Array:
    """The inputs that each posture answers, before they are scaled."""
    c = problem.compiled
    inputs = np.empty((len(postures), input_count(c)))
    poses, world = np.empty((c.nodes.size, 7)), np.empty((c.frames.size, 7))
    show_all(c.nodes, c.frames, c.terms, postures, poses, world, inputs)
    return inputs


def taught(problem: Problem, postures: Array, teacher: Teacher) -> None:
    """Replace postures by what the teacher answers to the targets that they show."""
    c = problem.compiled
    poses, world, kept = np.empty((c.nodes.size, 7)), np.empty((c.frames.size, 7)), c.data.copy()
    try:
        for x in postures:
            place(c.nodes, c.frames, x, poses, world)
            for term in c.terms:
                if term["goal"] not in (POINT, ROTATION):
                    continue
                pose = load(world, term["frame"], 0)
                if term["other"] >= 0:
                    pose = compose(inverse(load(world, term["other"], 0)), pose)
                part = slice(4, 7) if term["goal"] == POINT else slice(0, 4)
                c.data[term["target"] :][part] = pose[part]
            solution = teacher.solve(problem, problem.body.home)
            if solution.success:
                x[:] = solution.q[c.active]
    finally:
        c.data[:] = kept  # the objectives keep the targets they had

"""How far apart solids are, by a naive twin and as solvers report it."""

import numpy as np

from memetik import Shape
from memetik.problem import Problem
from memetik.solvers import Budget, Memetic
from tests.naive.distance import shape_distance
from tests.objectives.finite_differences import Evaluated, posture


def link_distance(body, poses, one, other):
    """Between the nearest solids of two links, or of a link and a shape of the world."""
    shapes = (other,) if isinstance(other, Shape) else body.links[other].shapes
    place = np.eye(4) if isinstance(other, Shape) else poses[other]
    return min(shape_distance(a, poses[one], b, place) for a in body.links[one].shapes for b in shapes)


def residuals(problem, q):
    """The residuals of a problem at a joint vector."""
    return Evaluated(problem, posture(problem, q)).residual


def error_at(objective, body, q):
    """The error that a solver reports, for a posture that it cannot leave."""
    problem = Problem(body, [objective])
    return Memetic().solve(problem, q, Budget(evaluations=1)).errors[objective]

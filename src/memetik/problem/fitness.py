"""The fitness of Bio IK (eq. 4.3 of the thesis) for any posture, apart from every search."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from memetik.kernels.problem.losses import write_fitness
from memetik.kernels.problem.workspace import Workspace
from memetik.kernels.runtime.record import allocate
from memetik.problem.problem import Problem
from memetik.types import Array


def fitness(problem: Problem, postures: ArrayLike) -> Array:
    """sqrt(1/k sum_j w_j L_j^2) over the losses of the objectives, for each row of joint values; 0 is best."""
    c = problem.compiled
    genes = np.ascontiguousarray(np.atleast_2d(np.asarray(postures, dtype=np.float64))[:, c.active])
    found, losses, weights = np.empty(len(genes)), np.empty(c.terms.size), c.terms["weight"].copy()
    write_fitness(c.placed(), genes, weights, losses, allocate(Workspace, c.sizes), found)
    return found

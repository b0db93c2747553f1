"""The fitness of Bio IK (eq. 4.3 of the thesis) for any posture, apart from every search."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.evaluate import count_residuals, place
from memetik.kernels.problem.losses import average, write_losses
from memetik.problem import Problem
from memetik.types import Array


def fitness(problem: Problem, postures: ArrayLike) -> Array:
    """sqrt(1/k sum_j w_j L_j^2) over the losses of the objectives, for each row of joint values; 0 is best."""
    c = problem.compiled
    nodes, frames, terms, data = c.record[:4]
    genes = np.atleast_2d(np.asarray(postures, dtype=np.float64))[:, c.active]
    found = np.empty(len(genes))
    _fitness(
        nodes, frames, terms, data, np.ascontiguousarray(genes), np.empty((nodes.size, 7)), np.empty((frames.size, 7)),
        np.empty(count_residuals(terms)), np.empty(terms.size), terms["weight"].copy(), found,
    )  # fmt: skip
    return found


@jit
def _fitness(nodes, frames, terms, data, genes, poses, world, residual, losses, weights, found):  # type: ignore[no-untyped-def]
    for i in range(found.size):
        place(nodes, frames, genes[i], poses, world)
        write_losses(terms, data, world, genes[i], residual, losses)
        found[i] = average(terms, losses, weights, True)

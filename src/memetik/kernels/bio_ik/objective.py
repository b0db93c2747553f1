"""Bio IK, the objective function: from genes to losses to fitness (section 4.4), and when to stop (4.5.9)."""

from __future__ import annotations

import math

from memetik.kernels.bio_ik.place import place_body
from memetik.kernels.bio_ik.scratch import LOSS, RMSE, SPENT
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.problem.evaluate import term_error
from memetik.kernels.problem.losses import average, write_losses


@jit_part
def combine(terms, parameters, weights, losses):
    """The fitness phi of losses, eq. 4.3 or the mean error; what is not a number is as bad as can be."""
    phi = average(terms, losses, weights, parameters[LOSS] == RMSE)
    return phi if phi < math.inf else math.inf


@jit
def evaluate(problem, parameters, weights, x, worker):
    """Omega(x): place the body, write worker.losses and return the fitness. This is one evaluation."""
    nodes, frames, terms, data = problem.nodes, problem.frames, problem.terms, problem.data
    place_body(nodes, frames, parameters, x, worker.tree, worker.poses, worker.world)
    worker.tally[SPENT] += 1.0
    write_losses(terms, data, worker.world, x, worker.residual, worker.losses)
    return combine(terms, parameters, weights, worker.losses)


@jit_part
def terminates(terms, data, x, residual):
    """Whether the posture that was just evaluated satisfies every term that can block, each by its own tolerance.

    No threshold of the fitness could say that. Where all terms are guides, nothing is ever reached.
    """
    blocks = False
    for t in range(terms.size):
        if not terms[t].soft:
            blocks = True
            if not term_error(terms[t], data, x, residual)[1]:
                return False
    return blocks

"""Bio IK, the objective function: from genes to losses to fitness (section 4.4), and when to stop (4.5.9)."""

from __future__ import annotations

import math

from memetik.kernels.bio_ik_room import LOSS, OFKT, RMSE, SPENT
from memetik.kernels.evaluate import place, term_error
from memetik.kernels.jit import jit, jit_inline
from memetik.kernels.losses import mean, root_mean_square, write_losses
from memetik.kernels.ofkt import REFERENCE, update
from memetik.kernels.pose import compose, constant, load, store


@jit_inline
def combine(terms, parameters, weights, losses):
    """The fitness phi of losses, eq. 4.3 or the mean error; what is not a number is as bad as can be."""
    phi = mean(terms, losses, weights)
    if parameters[LOSS] == RMSE:
        phi = root_mean_square(terms, losses, weights)
    return phi if phi < math.inf else math.inf


@jit_inline
def place_by_tree(nodes, frames, x, tree, world):
    """Forward kinematics through the OFKT, of all frames that the terms read."""
    update(nodes, x, tree, None)
    for f in range(frames.size):
        pose = constant(frames[f])
        if frames[f].node >= 0:
            pose = compose(load(tree, frames[f].node, REFERENCE), pose)
        store(pose, world, f, 0)


@jit
def evaluate(problem, parameters, weights, x, hand):
    """Omega(x): place the body, write hand.losses and return the fitness. This is one evaluation."""
    nodes, frames, terms, data, bounds, spans = problem
    if parameters[OFKT] != 0.0:
        place_by_tree(nodes, frames, x, hand.tree, hand.work.world)
    else:
        place(nodes, frames, x, hand.work.poses, hand.work.world)
    hand.tally[SPENT] += 1.0
    write_losses(terms, data, hand.work.world, x, hand.work.residual, hand.losses)
    return combine(terms, parameters, weights, hand.losses)


@jit
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

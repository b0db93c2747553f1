"""Bio IK, the objective function: from genes to losses to fitness (section 4.4), and when to stop (4.5.9)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from memetik.kernels.bio_ik_room import RMSE, SPENT
from memetik.kernels.evaluate import place, term_error
from memetik.kernels.jit import jit, jit_inline
from memetik.kernels.losses import mean, root_mean_square, write_losses
from memetik.kernels.ofkt import REFERENCE, update
from memetik.kernels.pose import compose, constant, load, store


class Omega(NamedTuple):
    """The objective function; the weights of a generation come with each call."""

    problem: Any  # nodes, frames, terms, data, bounds, spans
    affects: np.ndarray  # (terms, n) 1 where a variable moves a term
    motion: np.ndarray  # (n,) the one node that a variable drives, -1 if there is none or several
    strides: np.ndarray  # (3, n) how far a gene goes at once, and its limits in such strides (bio_ik_exploit.py)
    loss: int  # RMSE or MEAN
    gradient: int  # ANALYTIC, PREDICTED or PLAIN
    ofkt: bool  # bodies are placed through the OFKT
    blocks: bool  # some term can be missed


@jit_inline
def combine(omega, weights, losses):
    """The fitness phi of losses, eq. 4.3 or the mean error; what is not a number is as bad as can be."""
    terms = omega.problem[2]
    phi = root_mean_square(terms, losses, weights) if omega.loss == RMSE else mean(terms, losses, weights)
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
def evaluate(omega, weights, x, hand):
    """Omega(x): place the body, write hand.losses and return the fitness. This is one evaluation."""
    nodes, frames, terms, data, bounds, spans = omega.problem
    if omega.ofkt:
        place_by_tree(nodes, frames, x, hand.tree, hand.work.world)
    else:
        place(nodes, frames, x, hand.work.poses, hand.work.world)
    hand.tally[SPENT] += 1.0
    write_losses(terms, data, hand.work.world, x, hand.work.residual, hand.losses)
    return combine(omega, weights, hand.losses)


@jit
def terminates(omega, x, hand):
    """Whether the posture that was just evaluated satisfies every term that can block, each by its own tolerance.

    No threshold of the fitness could say that. Where all terms are guides, nothing is ever reached.
    """
    terms, data = omega.problem[2], omega.problem[3]
    for t in range(terms.size):
        if not terms[t].soft and not term_error(terms[t], data, x, hand.work.residual)[1]:
            return False
    return omega.blocks

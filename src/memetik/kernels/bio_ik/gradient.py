"""Bio IK, the gradient of the objective function (eq. 4.21), by the chain rule or by differences.

All ways begin with the slopes, the derivative of the fitness by each loss:

    RMSE   d phi / d L_j = w_j L_j / (k phi)        mean   d phi / d L_j = w_j / k

By differences, one gene after the other changes by a very small value, and the losses that it moves are computed
again: in a body placed anew, or in one that the OFKT predicts, R_parent L' R^-1 for all that the joint carries.
By the chain rule, a loss is a function of the residuals of its term, whose Jacobian the objectives know.
"""

from __future__ import annotations

import math

from memetik.kernels.bio_ik.place import place_changes
from memetik.kernels.bio_ik.scratch import GRADIENT, LOSS, MEAN, PARAMETERS, PLAIN, SPENT, carve_hand
from memetik.kernels.bio_ik.wrench import hand_down, is_wrench, position_slopes, put, put_loss
from memetik.kernels.body.ofkt import clear, move_frames
from memetik.kernels.compiler.function_pointers import call_jacobian
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.twist import write_axes
from memetik.kernels.problem.losses import measured_loss, residual_length
from memetik.kernels.terms.records import (
    DISTANCE,
    DISTANCE_MARGIN,
    PROJECTION,
    SPRING_DATA,
    SPRING_STIFFNESS,
    SPRING_VARIABLE,
    SPRINGS,
)
from memetik.kernels.terms.springs import stretch

CHANGE = 1e-8  # rad or m


@jit
def moves(parameters, terms, n, k, t):
    """Whether variable k of n moves term t of all terms."""
    return parameters[PARAMETERS + terms + n + t * n + k] != 0.0


@jit_part
def write_slopes(terms, parameters, weights, fitness, losses, slopes):
    """d phi / d L for every term. The two terms of a projection have one loss between them, and half its slope each."""
    count = terms.size
    for t in range(terms.size):
        slopes[t] = losses[t]
        if t > 0 and terms[t - 1].kind == PROJECTION:
            count -= 1
            slopes[t] = slopes[t - 1] = 0.5 * (losses[t - 1] + losses[t])
    for t in range(terms.size):
        share = weights[t] / count
        if terms[t].kind == PROJECTION or (t > 0 and terms[t - 1].kind == PROJECTION):
            share *= 0.5
        if parameters[LOSS] == MEAN:
            slopes[t] = share
        else:
            slopes[t] = share * slopes[t] / fitness if fitness > 0.0 else 0.0


# ---- By the chain rule ---------------------------------------------------------------------------------------


@jit_part
def spread_slope(term, slope, data, world, residual, by_residual):
    """Turn the slope by the loss of a term into slopes by its residuals. A projection loses as a position does (4.11)."""
    if term.kind == DISTANCE:
        margin = data[term.numbers + DISTANCE_MARGIN]
        for i in range(term.row, term.row + term.rows):
            near = margin / (margin - residual[i]) if residual[i] < margin else 0.0
            by_residual[i] = slope * near * near if residual[i] > 0.0 else 0.0
        return
    length = residual_length(term, residual)
    if length > 0.0 and term.kind == PROJECTION:
        px, py, pz = world[term.frame, 4], world[term.frame, 5], world[term.frame, 6]
        slope *= position_slopes(length, term.reach, math.sqrt(px * px + py * py + pz * pz))[0]
    for i in range(term.row, term.row + term.rows):
        by_residual[i] = slope * residual[i] / length if length > 0.0 else 0.0


@jit_part
def put_extent(term, slope, frames, world, residual, wrenches):
    """The part of the loss of a projection that grows with lambda, the distance of its frame from the root."""
    px, py, pz = world[term.frame, 4], world[term.frame, 5], world[term.frame, 6]
    length, extent = residual_length(term, residual), math.sqrt(px * px + py * py + pz * pz)
    if length > 0.0 and extent > 0.0:
        outward = slope * position_slopes(length, term.reach, extent)[1] / extent
        put(wrenches, frames[term.frame].node, outward * px, outward * py, outward * pz, 0.0, 0.0, 0.0)


@jit_part
def add_springs(term, data, x, slope, gradient):
    """Springs have no Jacobian: the derivative of the mean of stiffness times stretch."""
    for s in range(term.count):
        k = term.numbers + s * SPRING_DATA
        pull = stretch(data, k, x)
        if pull != 0.0:
            change = slope * data[k + SPRING_STIFFNESS] / term.count
            gradient[int(data[k + SPRING_VARIABLE])] += change if pull > 0.0 else -change


@jit_part
def by_chain_rule(problem, parameters, places, room, h, weights, x, fitness):
    """Eq. 4.21, d phi / dx, for the posture that was just evaluated.

    Positions and orientations go by wrenches (wrench.py), all others by the Jacobian of their residuals.
    """
    nodes, frames, terms, data, bounds, spans = problem
    hand = carve_hand(problem, parameters, places, room, h)
    wrenches, gradient = hand.wrenches, hand.gradient
    write_slopes(terms, parameters, weights, fitness, hand.losses, hand.slopes)
    write_axes(nodes, hand.poses, hand.axes)
    for k in range(x.size):
        gradient[k] = 0.0
    for t in range(terms.size):
        term, slope = terms[t], hand.slopes[t]
        if term.kind == SPRINGS:
            add_springs(term, data, x, slope, gradient)
        elif is_wrench(term, data):
            put_loss(term, slope, frames, data, hand.world, hand.residual, wrenches)
        else:
            spread_slope(term, slope, data, hand.world, hand.residual, hand.right)
            if term.kind == PROJECTION:
                put_extent(term, slope, frames, hand.world, hand.residual, wrenches)
            add_by_jacobian(problem, parameters, t, x, hand)
    hand_down(nodes, hand.poses, hand.axes, wrenches, gradient)


@jit_part
def add_by_jacobian(problem, parameters, t, x, hand):
    """Add the slopes by the residuals of a term times their Jacobian."""
    nodes, frames, terms, data, bounds, spans = problem
    term = terms[t]
    for k in range(x.size):
        if moves(parameters, terms.size, x.size, k, t):
            for i in range(term.row, term.row + term.rows):
                hand.jacobian[k, i] = 0.0
    call_jacobian(term.jacobian, term, data, hand.world, x, nodes, frames, hand.poses, hand.axes, 1.0, hand.jacobian)
    for k in range(x.size):
        if moves(parameters, terms.size, x.size, k, t):
            for i in range(term.row, term.row + term.rows):
                hand.gradient[k] += hand.jacobian[k, i] * hand.right[i]


# ---- By differences ------------------------------------------------------------------------------------------


@jit_part
def by_differences(problem, parameters, places, room, h, weights, x, fitness):
    """Eq. 4.21 from the change of the losses, for the posture that was just evaluated.

    Every gene takes an evaluation of the body, whole or predicted.
    """
    nodes, frames, terms, data, bounds, spans = problem
    hand = carve_hand(problem, parameters, places, room, h)
    write_slopes(terms, parameters, weights, fitness, hand.losses, hand.slopes)
    copy_frames(hand.world, hand.moved)
    for k in range(x.size):
        here = x[k]
        x[k] = here + CHANGE if here + CHANGE <= bounds[1, k] else here - CHANGE
        motion = int(parameters[PARAMETERS + terms.size + k])
        predicts = motion >= 0 and parameters[GRADIENT] != PLAIN
        if predicts:
            move_frames(nodes, frames, motion, x[k], hand.poses, 0, hand.world, hand.moved)
        else:
            if parameters[GRADIENT] == PLAIN:
                clear(hand.tree)
            place_changes(nodes, frames, x, hand.tree, hand.poses, hand.moved)
        hand.tally[SPENT] += 1.0
        total = 0.0
        for t in range(terms.size):
            if moves(parameters, terms.size, x.size, k, t):
                loss = measured_loss(terms[t], data, hand.moved, x, hand.right)
                total += hand.slopes[t] * (loss - hand.losses[t])
        hand.gradient[k] = total / (x[k] - here)
        x[k] = here
        if not predicts and parameters[GRADIENT] != PLAIN:  # back, for the predictions that follow
            place_changes(nodes, frames, x, hand.tree, hand.poses, hand.moved)
        copy_frames(hand.world, hand.moved)


@jit_part
def copy_frames(world, moved):
    for f in range(world.shape[0]):
        for i in range(7):
            moved[f, i] = world[f, i]

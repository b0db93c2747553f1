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
from memetik.kernels.bio_ik.scratch import GRADIENT, LOSS, MEAN, PARAMETERS, PLAIN, SPENT, carve_worker
from memetik.kernels.bio_ik.wrench import hand_down, is_wrench, position_slopes, put, put_loss
from memetik.kernels.body.ofkt import clear, move_frames
from memetik.kernels.compiler.function_pointers import call_jacobian
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.twist import write_axes
from memetik.kernels.problem.losses import measured_loss, residual_length
from memetik.kernels.terms.distance import DISTANCE_MARGIN
from memetik.kernels.terms.records import CONTACT, POSITION_LOSS
from memetik.kernels.terms.springs import SPRING_DATA, SPRING_STIFFNESS, SPRING_VARIABLE, stretch

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
        if t > 0 and terms[t - 1].paired:
            count -= 1
            slopes[t] = slopes[t - 1] = 0.5 * (losses[t - 1] + losses[t])
    for t in range(terms.size):
        share = weights[t] / count
        if terms[t].paired or (t > 0 and terms[t - 1].paired):
            share *= 0.5
        if parameters[LOSS] == MEAN:
            slopes[t] = share
        else:
            slopes[t] = share * slopes[t] / fitness if fitness > 0.0 else 0.0


# ---- By the chain rule ---------------------------------------------------------------------------------------


@jit_part
def spread_slope(term, slope, data, world, residual, by_residual):
    """Turn the slope by the loss of a term into slopes by its residuals. A projection loses as a position does (4.11)."""
    if term.loss == CONTACT:
        margin = data[term.numbers + DISTANCE_MARGIN]
        for i in range(term.row, term.row + term.rows):
            near = margin / (margin - residual[i]) if residual[i] < margin else 0.0
            by_residual[i] = slope * near * near if residual[i] > 0.0 else 0.0
        return
    length = residual_length(term, residual)
    if length > 0.0 and term.loss == POSITION_LOSS:
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
    nodes, frames, terms, data = problem.nodes, problem.frames, problem.terms, problem.data
    worker = carve_worker(problem, parameters, places, room, h)
    wrenches, gradient = worker.wrenches, worker.gradient
    write_slopes(terms, parameters, weights, fitness, worker.losses, worker.slopes)
    write_axes(nodes, worker.poses, worker.axes)
    for k in range(x.size):
        gradient[k] = 0.0
    for t in range(terms.size):
        term, slope = terms[t], worker.slopes[t]
        if term.rows == 0:
            add_springs(term, data, x, slope, gradient)
        elif is_wrench(term, data):
            put_loss(term, slope, frames, data, worker.world, worker.residual, wrenches)
        else:
            spread_slope(term, slope, data, worker.world, worker.residual, worker.right)
            if term.loss == POSITION_LOSS:
                put_extent(term, slope, frames, worker.world, worker.residual, wrenches)
            add_by_jacobian(problem, parameters, t, x, worker)
    hand_down(nodes, worker.poses, worker.axes, wrenches, gradient)


@jit_part
def add_by_jacobian(problem, parameters, t, x, worker):
    """Add the slopes by the residuals of a term times their Jacobian."""
    nodes, frames, terms, data = problem.nodes, problem.frames, problem.terms, problem.data
    term = terms[t]
    for k in range(x.size):
        if moves(parameters, terms.size, x.size, k, t):
            for i in range(term.row, term.row + term.rows):
                worker.jacobian[k, i] = 0.0
    call_jacobian(
        term.jacobian, term, data, worker.world, x, nodes, frames, worker.poses, worker.axes, 1.0, worker.jacobian
    )
    for k in range(x.size):
        if moves(parameters, terms.size, x.size, k, t):
            for i in range(term.row, term.row + term.rows):
                worker.gradient[k] += worker.jacobian[k, i] * worker.right[i]


# ---- By differences ------------------------------------------------------------------------------------------


@jit_part
def by_differences(problem, parameters, places, room, h, weights, x, fitness):
    """Eq. 4.21 from the change of the losses, for the posture that was just evaluated.

    Every gene takes an evaluation of the body, whole or predicted.
    """
    nodes, frames, terms, data, variables = (
        problem.nodes,
        problem.frames,
        problem.terms,
        problem.data,
        problem.variables,
    )
    worker = carve_worker(problem, parameters, places, room, h)
    write_slopes(terms, parameters, weights, fitness, worker.losses, worker.slopes)
    copy_frames(worker.world, worker.moved)
    for k in range(x.size):
        here = x[k]
        x[k] = here + CHANGE if here + CHANGE <= variables[k].upper else here - CHANGE
        motion = int(parameters[PARAMETERS + terms.size + k])
        predicts = motion >= 0 and parameters[GRADIENT] != PLAIN
        if predicts:
            move_frames(nodes, frames, motion, x[k], worker.poses, 0, worker.world, worker.moved)
        else:
            if parameters[GRADIENT] == PLAIN:
                clear(worker.tree)
            place_changes(nodes, frames, x, worker.tree, worker.poses, worker.moved)
        worker.tally[SPENT] += 1.0
        total = 0.0
        for t in range(terms.size):
            if moves(parameters, terms.size, x.size, k, t):
                loss = measured_loss(terms[t], data, worker.moved, x, worker.right)
                total += worker.slopes[t] * (loss - worker.losses[t])
        worker.gradient[k] = total / (x[k] - here)
        x[k] = here
        if not predicts and parameters[GRADIENT] != PLAIN:  # back, for the predictions that follow
            place_changes(nodes, frames, x, worker.tree, worker.poses, worker.moved)
        copy_frames(worker.world, worker.moved)


@jit_part
def copy_frames(world, moved):
    for f in range(world.shape[0]):
        for i in range(7):
            moved[f, i] = world[f, i]

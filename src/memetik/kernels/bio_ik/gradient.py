"""Bio IK, the gradient of the objective function (eq. 4.21), by the chain rule or by differences.

All ways begin with the slopes, the derivative of the fitness by each loss:

    RMSE   d phi / d L_j = w_j L_j / (k phi)        mean   d phi / d L_j = w_j / k

A projection is L_j = (L_p + L_o) / 2, or with SMOOTH the root mean square of both (problem/losses.py).

By differences, one gene after the other changes by a very small value, and the losses that it moves are computed
again: in a body placed again, or in one that the OFKT predicts, R_parent L' R^-1 for all that the joint carries.
By the chain rule, a loss is a function of the residuals of its term, whose Jacobian the objectives know.
"""

import math

from memetik.kernels.bio_ik.bio_ik_record import PLAIN, read_worker
from memetik.kernels.bio_ik.objective import place_changes
from memetik.kernels.bio_ik.wrench import backpropagate, is_wrench, position_slopes, put, put_loss
from memetik.kernels.body.motion import write_axes
from memetik.kernels.body.ofkt import clear, move_frames
from memetik.kernels.compiler.jit import jit_part
from memetik.kernels.math.vector import dot
from memetik.kernels.problem.losses import MEAN, SMOOTH, measured_loss, residual_length
from memetik.kernels.terms.distance import DISTANCE_MARGIN
from memetik.kernels.terms.function_pointers import call_jacobian
from memetik.kernels.terms.records import CONTACT, HYPERBOLA, POSITION_LOSS
from memetik.kernels.terms.springs import (
    SPRING_BALL,
    SPRING_DATA,
    SPRING_STIFFNESS,
    SPRING_VARIABLE,
    along_turns,
    stretch,
    turn_from_rest,
)

CHANGE = 1e-8  # rad or m


@jit_part
def write_slopes(terms, norm, weights, fitness, losses, slopes):
    """d phi / d L for every term. The two terms of a projection have one loss between them, and half its slope each."""
    count = terms.size
    for t in range(terms.size):
        slopes[t] = losses[t]
        if t > 0 and terms[t - 1].paired:
            count -= 1
            if norm != SMOOTH:
                slopes[t] = slopes[t - 1] = 0.5 * (losses[t - 1] + losses[t])
    for t in range(terms.size):
        share = weights[t] / count
        if terms[t].paired or (t > 0 and terms[t - 1].paired):
            share *= 0.5
        if norm == MEAN:
            slopes[t] = share
        else:
            slopes[t] = share * slopes[t] / fitness if fitness > 0.0 else 0.0


# ---- By the chain rule ---------------------------------------------------------------------------------------


@jit_part
def spread_slope(term, slope, data, world, residual, by_residual):
    """Turn the slope by the loss of a term into slopes by its residuals. A projection loses as a position does (4.11)."""
    if term.loss == CONTACT or term.loss == HYPERBOLA:
        margin = data[term.numbers + DISTANCE_MARGIN]
        unit = margin if term.loss == CONTACT else 1.0
        for i in range(term.row, term.row + term.rows):
            near = unit / (margin - residual[i]) if residual[i] < margin else 0.0
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
    for s in range(term.count):
        k = term.numbers + s * SPRING_DATA
        if data[k + SPRING_BALL] != 0.0:
            v = turn_from_rest(data, k, x)
            pulls, angle = along_turns(v, data, k, x, False), math.sqrt(dot(v, v))
            change = slope * abs(data[k + SPRING_BALL]) / term.count
            for j in range(3):
                gradient[int(data[k + SPRING_VARIABLE]) + j] += change * pulls[j] / angle if angle > 0.0 else 0.0


@jit_part
def by_chain_rule(table, weights, x, fitness):
    """Eq. 4.21, d phi / dx, for the posture that was just evaluated.

    Positions and orientations go by wrenches (wrench.py), all others by the Jacobian of their residuals.
    """
    worker = read_worker(table)
    problem, scratch = worker.problem, worker.scratch
    frames, terms, data, world = problem.frames, problem.terms, problem.data, scratch.world
    residual, wrenches, gradient = scratch.residual, scratch.wrenches, scratch.gradient
    write_slopes(terms, worker.settings.norm, weights, fitness, scratch.losses, scratch.slopes)
    write_axes(problem.nodes, scratch.poses, scratch.axes)
    for k in range(x.size):
        gradient[k] = 0.0
    for t in range(terms.size):
        term, slope = terms[t], scratch.slopes[t]
        if term.rows == 0:
            add_springs(term, data, x, slope, gradient)
        elif is_wrench(term, data):
            put_loss(term, slope, frames, data, world, residual, wrenches)
        else:
            spread_slope(term, slope, data, world, residual, scratch.right)
            if term.loss == POSITION_LOSS:
                put_extent(term, slope, frames, world, residual, wrenches)
            add_by_jacobian(problem, t, x, scratch)
    backpropagate(problem.nodes, scratch.poses, scratch.axes, wrenches, gradient)


@jit_part
def add_by_jacobian(problem, t, x, scratch):
    """Add the slopes by the residuals of a term times their Jacobian."""
    term, affects, jacobian = problem.terms[t], problem.affects, scratch.jacobian
    for k in range(x.size):
        if affects[t, k]:
            for i in range(term.row, term.row + term.rows):
                jacobian[k, i] = 0.0
    call_jacobian(
        term.jacobian, term, problem.data, scratch.world, x, problem.nodes, problem.frames, scratch.poses, scratch.axes, 1.0,
        jacobian,
    )  # fmt: skip
    for k in range(x.size):
        if affects[t, k]:
            for i in range(term.row, term.row + term.rows):
                scratch.gradient[k] += jacobian[k, i] * scratch.right[i]


# ---- By differences ------------------------------------------------------------------------------------------


@jit_part
def by_differences(table, weights, x, fitness):
    """Eq. 4.21 from the change of the losses, for the posture that was just evaluated.

    Every gene takes an evaluation of the body, whole or predicted.
    """
    worker = read_worker(table)
    problem, scratch, plain = worker.problem, worker.scratch, worker.settings.gradient == PLAIN
    nodes, frames, terms = problem.nodes, problem.frames, problem.terms
    write_slopes(terms, worker.settings.norm, weights, fitness, scratch.losses, scratch.slopes)
    copy_frames(scratch.world, scratch.moved)
    for k in range(x.size):
        here = x[k]
        x[k] = here + CHANGE if here + CHANGE <= problem.variables[k].upper else here - CHANGE
        motion = worker.shared.motions[k]
        predicts = motion >= 0 and not plain
        if predicts:
            move_frames(nodes, frames, motion, x[k], scratch.poses, 0, scratch.world, scratch.moved)
        else:
            if plain:
                clear(scratch.tree)
            place_changes(problem, x, scratch, scratch.moved)
        scratch.tally[0].spent += 1
        total = 0.0
        for t in range(terms.size):
            if problem.affects[t, k]:
                loss = measured_loss(terms[t], problem.data, scratch.moved, x, scratch.right)
                total += scratch.slopes[t] * (loss - scratch.losses[t])
        scratch.gradient[k] = total / (x[k] - here)
        x[k] = here
        if not predicts and not plain:  # back, for the predictions that follow
            place_changes(problem, x, scratch, scratch.moved)
        copy_frames(scratch.world, scratch.moved)


@jit_part
def copy_frames(world, moved):
    for f in range(world.shape[0]):
        for i in range(7):
            moved[f, i] = world[f, i]

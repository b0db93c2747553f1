"""From variables to residuals, Jacobians and errors: every term of a problem at one posture."""

import math

from memetik.kernels.body.balls import write_ball_axes
from memetik.kernels.body.forward import forward, frame_pose
from memetik.kernels.body.motion import write_axes
from memetik.kernels.compiler.jit import jit
from memetik.kernels.math.pose import store
from memetik.kernels.terms.distance import penetration
from memetik.kernels.terms.function_pointers import call_jacobian, call_residual
from memetik.kernels.terms.pose import pose_error
from memetik.kernels.terms.records import CONTACT, POINT, ROTATION
from memetik.kernels.terms.springs import springs_cost, springs_error, springs_gradient


@jit
def place(nodes, frames, x, poses, world):
    """Forward kinematics: the poses of all nodes and of all frames that the terms read."""
    forward(nodes, x, poses)
    for f in range(frames.size):
        store(frame_pose(frames[f], poses), world, f, 0)


@jit
def count_residuals(terms):
    """How many residuals the terms have together."""
    m = 0
    for t in range(terms.size):
        m = max(m, terms[t].row + terms[t].rows)
    return m


@jit
def term_error(term, data, x, residual):
    """The error of one term in its own unit, and whether it is within tolerance."""
    if term.goal == POINT or term.goal == ROTATION:
        return pose_error(term, data, residual)
    if term.rows == 0:
        error = springs_error(term, data, x)
        return error, error <= term.tolerance
    if term.loss == CONTACT:
        error = penetration(term, data, residual)
        return error, error <= term.tolerance
    total = 0.0
    for i in range(term.row, term.row + term.rows):
        total += residual[i] * residual[i]
    error = math.sqrt(total)
    return error, error <= term.tolerance


@jit
def measure(terms, data, world, x, softness, residual):
    """Write all residuals. Returns the squared error of all terms, of those that can block, and if these are satisfied.

    A squared error is the sum of squares of scaled residuals; soft terms count `softness` times in the first.
    """
    soft, hard = 0.0, 0.0
    satisfied = True
    for t in range(terms.size):
        term = terms[t]
        if term.soft and softness == 0.0:
            continue
        if term.rows == 0:
            square = springs_cost(term, data, x)
        else:
            call_residual(term.residual, term, data, world, x, residual)
            square = 0.0
            for i in range(term.row, term.row + term.rows):
                square += residual[i] * residual[i]
        square *= term.scale * term.scale
        if term.soft:
            soft += square
        else:
            hard += square
            satisfied = satisfied and term_error(term, data, x, residual)[1]
    return hard + softness * soft, hard, satisfied


@jit
def linearise(problem, x, softness, work):
    """Scale the residuals that `measure` wrote, and write their Jacobian, the gradient and the springs' diagonal.

    All are by the entries of a step: for a ball those of balls.py, which are no changes of its values.
    """
    nodes, terms, data = problem.nodes, problem.terms, problem.data
    residual, jacobian = work.residual, work.jacobian
    n, m = jacobian.shape
    for k in range(n):
        work.gradient[k] = 0.0
        work.diagonal[k] = 0.0
        for i in range(m):
            jacobian[k, i] = 0.0
    write_axes(nodes, work.poses, work.axes)
    write_ball_axes(problem.balls, work.axes)
    root = math.sqrt(softness)
    for t in range(terms.size):
        term = terms[t]
        scale = term.scale * root if term.soft else term.scale
        if scale == 0.0:
            for i in range(term.row, term.row + term.rows):
                residual[i] = 0.0
        elif term.rows == 0:
            springs_gradient(term, data, x, scale, problem.balls.size > 0, work.gradient, work.diagonal)
        else:
            for i in range(term.row, term.row + term.rows):
                residual[i] *= scale
            call_jacobian(
                term.jacobian, term, data, work.world, x, nodes, problem.frames, work.poses, work.axes, scale, jacobian
            )

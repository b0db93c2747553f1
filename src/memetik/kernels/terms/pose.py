"""POSITION and ORIENTATION: where a frame is and how it is turned, against a target in the world or on another frame.

With the target pose T (position t, rotation A) and the frame at p with rotation R, in the axes of the target:

    position      e = A^T (p - t)
    orientation   e = log(A^T R)

A mask of zero frees an axis, one below 1 lets it yield to the others. Derivatives by velocity v and angular velocity w
of the frame (v_o, w_o, p_o of the frame that the target rides on):

    position      A^T (v - v_o - w_o × (p - p_o))
    orientation   J_l^-1(e) A^T (w - w_o), with the inverse left Jacobian of the rotation group
"""

import math

from memetik.kernels.body.motion import twist
from memetik.kernels.body.records import SLIDE
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import compose, load
from memetik.kernels.math.rotation import axes_of, left_inverse, rotation_vector, turn_back
from memetik.kernels.math.vector import dot, plus, times
from memetik.kernels.terms.records import POINT, POSITION_LOSS, ROTATION, TermKind, declare

# Target: a pose. Data: mask of three axes (0 free, 1 full), tolerance of each axis; `count` is 1 if these are what is judged.
MASK, AXIS_TOLERANCE = 0, 3


@jit_part
def target_pose(term, data, world):
    """The target in the world."""
    k = term.target
    target = (data[k], data[k + 1], data[k + 2], data[k + 3], data[k + 4], data[k + 5], data[k + 6])
    if term.other < 0:
        return target
    return compose(load(world, term.other, 0), target)


@jit_part
def put_three(out, row, x, y, z):
    """Write three residuals."""
    out[row], out[row + 1], out[row + 2] = x, y, z


@jit_part
def add_three(jacobian, k, row, x, y, z):
    """Add to the derivatives of three residuals by variable k."""
    jacobian[k, row] += x
    jacobian[k, row + 1] += y
    jacobian[k, row + 2] += z


@jit_part
def add_along(i, p, n, pull, row, nodes, poses, axes, jacobian):
    """Add n·v times `pull`, for the velocity v of the point p as fixed to node i."""
    while i >= 0:
        vx, vy, vz, _, _, _ = twist(nodes, poses, axes, i, p[0], p[1], p[2])
        jacobian[nodes[i].variable, row] += pull * (n[0] * vx + n[1] * vy + n[2] * vz)
        i = nodes[i].parent


@jit_part
def position_residual(term, data, world, x, out):
    t = target_pose(term, data, world)
    ex, ey, ez = turn_back(t, world[term.frame, 4] - t[4], world[term.frame, 5] - t[5], world[term.frame, 6] - t[6])
    m = term.numbers + MASK
    put_three(out, term.row, data[m] * ex, data[m + 1] * ey, data[m + 2] * ez)


@jit_part
def orientation_residual(term, data, world, x, out):
    ex, ey, ez = rotation_vector(target_pose(term, data, world), load(world, term.frame, 0))
    m = term.numbers + MASK
    put_three(out, term.row, data[m] * ex, data[m + 1] * ey, data[m + 2] * ez)


@jit_part
def position_jacobian(term, data, world, x, nodes, frames, poses, axes, scale, jacobian):
    """Add to `jacobian` (variables, residuals); the frame and the target each hang on a node."""
    tx, ty, tz = axes_of(target_pose(term, data, world))
    px, py, pz = world[term.frame, 4], world[term.frame, 5], world[term.frame, 6]
    m = term.numbers + MASK
    a, b, c = times(scale * data[m], tx), times(scale * data[m + 1], ty), times(scale * data[m + 2], tz)
    i = frames[term.frame].node
    for _ in range(2):
        while i >= 0:
            # For the target's carrier, the point p itself is moved: v_o + w_o × (p - p_o).
            v = twist(nodes, poses, axes, i, px, py, pz)
            add_three(jacobian, nodes[i].variable, term.row, dot(a, v), dot(b, v), dot(c, v))
            i = nodes[i].parent
        if term.other < 0:
            break
        i = frames[term.other].node
        a, b, c = times(-1.0, a), times(-1.0, b), times(-1.0, c)


@jit_part
def orientation_jacobian(term, data, world, x, nodes, frames, poses, axes, scale, jacobian):
    t = target_pose(term, data, world)
    tx, ty, tz = axes_of(t)
    ex, ey, ez = left_inverse(t, load(world, term.frame, 0))
    m = term.numbers + MASK
    a, b, c = scale * data[m], scale * data[m + 1], scale * data[m + 2]
    # The rows of J_l^-1 A^T, masked and scaled.
    a = plus(plus(times(a * ex[0], tx), times(a * ey[0], ty)), times(a * ez[0], tz))
    b = plus(plus(times(b * ex[1], tx), times(b * ey[1], ty)), times(b * ez[1], tz))
    c = plus(plus(times(c * ex[2], tx), times(c * ey[2], ty)), times(c * ez[2], tz))
    i = frames[term.frame].node
    for _ in range(2):
        while i >= 0:
            if nodes[i].motion != SLIDE:
                w = axes[i, 0], axes[i, 1], axes[i, 2]
                add_three(jacobian, nodes[i].variable, term.row, dot(a, w), dot(b, w), dot(c, w))
            i = nodes[i].parent
        if term.other < 0:
            break
        i = frames[term.other].node
        a, b, c = times(-1.0, a), times(-1.0, b), times(-1.0, c)


@jit
def pose_error(term, data, out):
    """The error [m or rad] and whether it is within tolerance: of the length, or of each axis where asked for."""
    row = term.row
    if term.count == 0:
        error = math.sqrt(out[row] * out[row] + out[row + 1] * out[row + 1] + out[row + 2] * out[row + 2])
        return error, error <= term.tolerance
    total, good = 0.0, True
    for i in range(3):
        gain = data[term.numbers + MASK + i]
        if gain != 0.0:
            off = abs(out[row + i]) / gain
            total += off * off
            good = good and off <= data[term.numbers + AXIS_TOLERANCE + i]
    return math.sqrt(total), good


# Where the frame is, in the axes of the target, and the rotation vector from the target to the frame.
POSITION = declare(
    TermKind(0, "position", "m", 3, position_residual, position_jacobian, "position", goal=POINT, loss=POSITION_LOSS)
)
ORIENTATION = declare(
    TermKind(1, "orientation", "rad", 3, orientation_residual, orientation_jacobian, "orientation", goal=ROTATION)
)

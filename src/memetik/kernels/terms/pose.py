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
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import compose, load, turn
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


@jit
def turn_back(pose, x, y, z):
    """Rotate a vector by the inverse of the pose's rotation."""
    return turn((pose[0], -pose[1], -pose[2], -pose[3]), x, y, z)


@jit
def rotation_vector(t, r):
    """log(T^-1 R) for the rotations of two poses: angle up to pi, accurate near zero (2 atan2(|v|, |w|))."""
    w = t[0] * r[0] + t[1] * r[1] + t[2] * r[2] + t[3] * r[3]
    x = t[0] * r[1] - t[1] * r[0] - t[2] * r[3] + t[3] * r[2]
    y = t[0] * r[2] + t[1] * r[3] - t[2] * r[0] - t[3] * r[1]
    z = t[0] * r[3] - t[1] * r[2] + t[2] * r[1] - t[3] * r[0]
    if w < 0.0:  # q and -q are one rotation; take the short way
        w, x, y, z = -w, -x, -y, -z
    s = math.sqrt(x * x + y * y + z * z)
    k = 2.0 * math.atan2(s, w) / s if s > 1e-9 else 2.0
    return k * x, k * y, k * z


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


@jit
def position_residual(term, data, world, x, out):
    t = target_pose(term, data, world)
    ex, ey, ez = turn_back(t, world[term.frame, 4] - t[4], world[term.frame, 5] - t[5], world[term.frame, 6] - t[6])
    m = term.numbers + MASK
    put_three(out, term.row, data[m] * ex, data[m + 1] * ey, data[m + 2] * ez)


@jit
def orientation_residual(term, data, world, x, out):
    ex, ey, ez = rotation_vector(target_pose(term, data, world), load(world, term.frame, 0))
    m = term.numbers + MASK
    put_three(out, term.row, data[m] * ex, data[m + 1] * ey, data[m + 2] * ez)


@jit
def position_jacobian(term, data, world, x, nodes, frames, poses, axes, scale, jacobian):
    """Add to `jacobian` (variables, residuals); the frame and the target each hang on a node."""
    t = target_pose(term, data, world)
    px, py, pz = world[term.frame, 4], world[term.frame, 5], world[term.frame, 6]
    m = term.numbers + MASK
    a, b, c = scale * data[m], scale * data[m + 1], scale * data[m + 2]
    upright = t[0] == 1.0  # most targets stand in world axes
    sign = 1.0
    i = frames[term.frame].node
    for _ in range(2):
        while i >= 0:
            # For the target's carrier, the point p itself is moved: v_o + w_o × (p - p_o).
            vx, vy, vz, _, _, _ = twist(nodes, poses, axes, i, px, py, pz)
            if not upright:
                vx, vy, vz = turn_back(t, vx, vy, vz)
            add_three(jacobian, nodes[i].variable, term.row, sign * a * vx, sign * b * vy, sign * c * vz)
            i = nodes[i].parent
        if term.other < 0:
            break
        i = frames[term.other].node
        sign = -1.0


@jit
def orientation_jacobian(term, data, world, x, nodes, frames, poses, axes, scale, jacobian):
    t = target_pose(term, data, world)
    ex, ey, ez = rotation_vector(t, load(world, term.frame, 0))
    # J_l^-1(e) = I - [e]/2 + c [e]^2 with c = (1 - (|e|/2) cot(|e|/2)) / |e|^2
    square = ex * ex + ey * ey + ez * ez
    c = 1.0 / 12.0
    if square > 1e-6:
        half = 0.5 * math.sqrt(square)
        c = (1.0 - half * math.cos(half) / math.sin(half)) / square
    m = term.numbers + MASK
    a, b, d = scale * data[m], scale * data[m + 1], scale * data[m + 2]
    sign = 1.0
    i = frames[term.frame].node
    for _ in range(2):
        while i >= 0:
            _, _, _, wx, wy, wz = twist(nodes, poses, axes, i, 0.0, 0.0, 0.0)
            wx, wy, wz = turn_back(t, wx, wy, wz)
            fx, fy, fz = ey * wz - ez * wy, ez * wx - ex * wz, ex * wy - ey * wx
            gx, gy, gz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
            wx, wy, wz = wx - 0.5 * fx + c * gx, wy - 0.5 * fy + c * gy, wz - 0.5 * fz + c * gz
            add_three(jacobian, nodes[i].variable, term.row, sign * a * wx, sign * b * wy, sign * d * wz)
            i = nodes[i].parent
        if term.other < 0:
            break
        i = frames[term.other].node
        sign = -1.0


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

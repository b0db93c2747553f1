"""Bio IK, the gradient of poses: what a loss asks of a frame is a force and a moment on it; joints feel what they carry.

A loss that falls by F·dp when the point p moves, and by m·w when the frame turns, puts the wrench (F, p × F + m) on the node
of the frame, with the moment about the root. One pass from the tips to the root hands every node the sum of what it
carries, (F, M), and its variable the derivative

    turn   u·(M - p_i × F)        slide   u·F        screw   both, the latter times the pitch

for the axis u through p_i. So all poses of a body together cost one pass, and no Jacobian is written.
"""

import math

from memetik.kernels.body.records import SCREW, SLIDE
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import turn
from memetik.kernels.problem.losses import residual_length
from memetik.kernels.terms.pose import MASK, target_pose
from memetik.kernels.terms.records import POINT, ROTATION


@jit_part
def is_wrench(term, data):
    """Whether the loss of a term is a wrench, the fast path: a position, or an orientation that is asked for in full."""
    if term.goal == ROTATION:
        m = term.numbers + MASK
        return data[m] == 1.0 and data[m + 1] == 1.0 and data[m + 2] == 1.0
    return term.goal == POINT


@jit_part
def position_slopes(distance, length, extent):
    """Derivatives of eq. 4.4 by the distance d and by the extent lambda, for d > 0."""
    far, out = length + distance, extent + distance
    root = math.sqrt(far * out)
    bent = 0.5 * math.pi * distance / (root * far * out)
    return math.pi / root - bent * (far + out), -bent * far


@jit
def put(wrenches, node, fx, fy, fz, mx, my, mz):
    """Add a wrench to those of a node; the root feels nothing."""
    if node >= 0:
        wrenches[node, 0] += fx
        wrenches[node, 1] += fy
        wrenches[node, 2] += fz
        wrenches[node, 3] += mx
        wrenches[node, 4] += my
        wrenches[node, 5] += mz


@jit_part
def put_loss(term, slope, frames, data, world, residual, wrenches):
    """The wrench of a position or orientation whose loss counts `slope`; its opposite on what carries the target."""
    length = residual_length(term, residual)
    if length == 0.0:
        return
    row, pull = term.row, slope / length
    a, b, c = residual[row], residual[row + 1], residual[row + 2]
    px, py, pz = world[term.frame, 4], world[term.frame, 5], world[term.frame, 6]
    target = target_pose(term, data, world)
    node = frames[term.frame].node
    if term.goal == ROTATION:
        fx, fy, fz = 0.0, 0.0, 0.0
        mx, my, mz = turn(target, pull * a, pull * b, pull * c)
    else:
        extent = math.sqrt(px * px + py * py + pz * pz)
        along, extended = position_slopes(length, term.reach, extent)
        m, pull = term.numbers + MASK, pull * along
        fx, fy, fz = turn(target, pull * data[m] * a, pull * data[m + 1] * b, pull * data[m + 2] * c)
        mx, my, mz = py * fz - pz * fy, pz * fx - px * fz, px * fy - py * fx
        if extent > 0.0:  # lambda grows along p, which has no moment about the root
            outward = slope * extended / extent
            put(wrenches, node, outward * px, outward * py, outward * pz, 0.0, 0.0, 0.0)
    put(wrenches, node, fx, fy, fz, mx, my, mz)
    if term.other >= 0:
        put(wrenches, frames[term.other].node, -fx, -fy, -fz, -mx, -my, -mz)


@jit_part
def backpropagate(nodes, poses, axes, wrenches, gradient):
    """From the tips to the root: add to the gradient what every joint feels. Leaves the wrenches zero."""
    for back in range(nodes.size):
        i = nodes.size - 1 - back
        node = nodes[i]
        fx, fy, fz = wrenches[i, 0], wrenches[i, 1], wrenches[i, 2]
        mx, my, mz = wrenches[i, 3], wrenches[i, 4], wrenches[i, 5]
        put(wrenches, node.parent, fx, fy, fz, mx, my, mz)
        for j in range(6):
            wrenches[i, j] = 0.0
        ux, uy, uz = axes[i, 0], axes[i, 1], axes[i, 2]
        if node.motion == SLIDE:
            gradient[node.variable] += ux * fx + uy * fy + uz * fz
            continue
        px, py, pz = poses[i, 4], poses[i, 5], poses[i, 6]
        mx, my, mz = mx - (py * fz - pz * fy), my - (pz * fx - px * fz), mz - (px * fy - py * fx)
        if node.motion == SCREW:
            mx, my, mz = mx + node.pitch * fx, my + node.pitch * fy, mz + node.pitch * fz
        gradient[node.variable] += ux * mx + uy * my + uz * mz

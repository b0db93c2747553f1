"""The error of a term as something that joints can pull at: a pair of points, a pair of directions, or a rotation.

    position      |p - y|^2           the frame at p, wanted at y
    direction     |a - d|^2           two unit vectors: 2 (1 - cos), about the square of the angle between them
    gaze          |p + l a - y|^2 / l^2   a rod of the length l = |y - p| along the axis should end at the point y
    orientation   4 (1 - w^2)         w of the quaternion from target to frame: about the square of the angle

All of them agree with the squared residuals of the terms as these go to zero.
"""

from __future__ import annotations

import math

from memetik.kernels.body.records import SCREW, SLIDE
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import load, store, turn
from memetik.kernels.math.sincos import sincos
from memetik.kernels.sweeps.wanted import product, wanted_direction, wanted_point, wanted_turn
from memetik.kernels.terms.records import POINT, ROTATION


@jit
def weight(term, softness):
    """How much the squared error of a term counts; terms that guide count `softness` times as much."""
    return term.scale * term.scale * softness if term.soft else term.scale * term.scale


@jit
def carries(nodes, i, frame):
    """Whether node i moves the frame."""
    return i <= frame.node <= nodes[i].last


@jit
def pair(term, data, world):
    """Of a POSITION or AIM: whether it is a pair of directions, its share, what the frame carries, and where to bring it."""
    pose = load(world, term.frame, 0)
    if term.goal == POINT:
        x, y, z = wanted_point(term, data, pose, world)
        return False, 1.0, pose[4], pose[5], pose[6], x, y, z
    ax, ay, az, dx, dy, dz, length = wanted_direction(term, data, world)
    if length == math.inf:
        return True, 1.0, ax, ay, az, dx, dy, dz
    px, py, pz = pose[4], pose[5], pose[6]
    return (
        False, 1.0 / (length * length),
        px + length * ax, py + length * ay, pz + length * az, px + length * dx, py + length * dy, pz + length * dz,
    )  # fmt: skip


@jit_part
def misturn(term, data, world):
    """Of an ORIENTATION: the quaternion R A^-1 that leads from the target to the frame, in world axes, with w >= 0."""
    pose = load(world, term.frame, 0)
    t = wanted_turn(term, data, pose, world)
    w, x, y, z = product(pose, (t[0], -t[1], -t[2], -t[3]))
    return (w, x, y, z) if w >= 0.0 else (-w, -x, -y, -z)


@jit
def total_loss(terms, data, world, softness):
    """The weighted sum that joints reduce one by one."""
    total = 0.0
    for t in range(terms.size):
        term = terms[t]
        if term.goal == ROTATION:
            _, x, y, z = misturn(term, data, world)
            total += weight(term, softness) * 4.0 * (x * x + y * y + z * z)
        else:
            _, share, px, py, pz, yx, yy, yz = pair(term, data, world)
            total += weight(term, softness) * share * ((px - yx) ** 2 + (py - yy) ** 2 + (pz - yz) ** 2)
    return total


@jit
def split(node, change):
    """The turn and the slide that a change of a node's motion consists of."""
    if node.motion == SLIDE:
        return 0.0, change
    return change, node.pitch * change if node.motion == SCREW else 0.0


@jit_part
def move_frame(world, f, ux, uy, uz, cx, cy, cz, angle, slide):
    """Turn a frame by `angle` about the axis u through c and slide it along u."""
    pose = load(world, f, 0)
    s, c = sincos(0.5 * angle)
    spin = (c, s * ux, s * uy, s * uz)
    x, y, z = turn(spin, pose[4] - cx, pose[5] - cy, pose[6] - cz)
    w, i, j, k = product(spin, pose)
    store((w, i, j, k, cx + x + slide * ux, cy + y + slide * uy, cz + z + slide * uz), world, f, 0)

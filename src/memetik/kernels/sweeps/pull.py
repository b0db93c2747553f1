"""The error of a term as something that joints can pull at: a pair of points, a pair of directions, or a rotation.

    position      |p - y|^2           the frame at p, wanted at y
    direction     |a - d|^2           two unit vectors: 2 (1 - cos), about the square of the angle between them
    gaze          |p + l a - y|^2 / l^2   a rod of the length l = |y - p| along the axis should end at the point y
    orientation   4 (1 - w^2)         w of the quaternion from target to frame: about the square of the angle

All of them agree with the squared residuals of the terms as these go to zero.
"""

import math

from memetik.kernels.body.records import SCREW, SLIDE
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import axis, load, store, turn
from memetik.kernels.math.sincos import sincos
from memetik.kernels.math.vector import dot, minus, plus, times
from memetik.kernels.sweeps.wanted import conjugate, product, wanted_direction, wanted_point, wanted_turn
from memetik.kernels.terms.records import POINT, ROTATION


@jit
def weight(term, softness):
    """How much the squared error of a term counts; terms that guide count `softness` times as much."""
    return term.scale * term.scale * softness if term.soft else term.scale * term.scale


@jit
def carries(nodes, i, frame):
    """Whether node i moves the frame."""
    return i <= frame.node <= nodes[i].last


@jit_part
def pair(term, data, world):
    """POINT or DIRECTION: whether it is a pair of directions, its share, what the frame carries, and where to bring it."""
    pose = load(world, term.frame, 0)
    p = pose[4:]
    if term.goal == POINT:
        return False, 1.0, p, wanted_point(term, data, pose, world)
    a, d, distance = wanted_direction(term, data, world)
    if distance == math.inf:
        return True, 1.0, a, d
    return False, 1.0 / (distance * distance), plus(p, times(distance, a)), plus(p, times(distance, d))


@jit_part
def misturn(term, data, world):
    """Of the goal ROTATION: the quaternion R A^-1 that leads from the target to the frame, in world axes, with w >= 0."""
    pose = load(world, term.frame, 0)
    w, x, y, z = product(pose, conjugate(wanted_turn(term, data, pose, world)))
    return (w, x, y, z) if w >= 0.0 else (-w, -x, -y, -z)


@jit
def total_loss(terms, data, world, softness):
    """The weighted sum that joints reduce one by one."""
    total = 0.0
    for t in range(terms.size):
        term = terms[t]
        if term.goal == ROTATION:
            v = misturn(term, data, world)[1:]
            total += weight(term, softness) * 4.0 * dot(v, v)
        else:
            _, share, p, y = pair(term, data, world)
            off = minus(p, y)
            total += weight(term, softness) * share * dot(off, off)
    return total


@jit
def split(node, change):
    """The turn and the slide that a change of a node's motion consists of."""
    if node.motion == SLIDE:
        return 0.0, change
    return change, node.pitch * change if node.motion == SCREW else 0.0


@jit_part
def move_frames(problem, i, change, poses, world):
    """Turn and slide the frames that node i carries as a change of its motion does."""
    node_pose = load(poses, i, 0)
    u, c = axis(node_pose), node_pose[4:]
    angle, slide = split(problem.nodes[i], change)
    sine, cosine = sincos(0.5 * angle)
    spin = (cosine, sine * u[0], sine * u[1], sine * u[2])
    for f in range(problem.frames.size):
        if carries(problem.nodes, i, problem.frames[f]):
            pose = load(world, f, 0)
            x, y, z = turn(spin, *minus(pose[4:], c))
            x, y, z = c[0] + x + slide * u[0], c[1] + y + slide * u[1], c[2] + z + slide * u[2]
            store((*product(spin, pose), x, y, z), world, f, 0)

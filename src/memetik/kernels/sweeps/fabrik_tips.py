"""The beginning of a FABRIK sweep: each tip jumps to its target and asks the link that carries it to come along.

Rows of `swept`, one for each node, hold the pose of its link during the sweep, and the weight of all objectives beyond
it. While a link is still being asked for, they hold weighted sums: of the rotations asked for, of the points that carry
a branch or tip, in the world and on the link, and of the weights; and how many branches ask. A link with a target of its own
goes by that alone: the branches beyond it have to follow.
"""

from __future__ import annotations

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import load
from memetik.kernels.sweeps.wanted import product, wanted_direction, wanted_point, wanted_turn
from memetik.kernels.terms.records import POINT, ROTATION

PLACE, WEIGHT, ATTACHED, BRANCHES, BOUND, LOAD, SWEPT = 4, 7, 8, 11, 12, 13, 14  # from 0: rotation or pose

ONE_POINT = 1e-9  # m; points nearer to each other than this are one


@jit
def strength(term, softness):
    """How much a term counts where branches meet."""
    return term.weight * softness if term.soft else term.weight


@jit
def swing(px, py, pz, qx, qy, qz):
    """The quaternion of the shortest turn from one direction to another; none if they are opposite or have no length."""
    length = math.sqrt((px * px + py * py + pz * pz) * (qx * qx + qy * qy + qz * qz))
    w = length + px * qx + py * qy + pz * qz
    x, y, z = py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx
    s = math.sqrt(w * w + x * x + y * y + z * z)
    if not s > 1e-12 * length:
        return 1.0, 0.0, 0.0, 0.0
    return w / s, x / s, y / s, z / s


@jit
def sign(a, b):
    """-1 if the quaternions a and b are on opposite sides, so that their sum would cancel out, else 1."""
    return 1.0 if a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] >= 0.0 else -1.0


@jit
def ask(swept, i, weight, rotation, old, x, y, z, at):
    """Ask link i, now at `old`, to turn to `rotation` and to have its point `at` (of a record) at (x, y, z)."""
    side = weight * sign(rotation, old)
    for k in range(4):
        swept[i, k] += side * rotation[k]
    swept[i, PLACE] += weight * x
    swept[i, PLACE + 1] += weight * y
    swept[i, PLACE + 2] += weight * z
    swept[i, ATTACHED] += weight * at.px
    swept[i, ATTACHED + 1] += weight * at.py
    swept[i, ATTACHED + 2] += weight * at.pz
    swept[i, WEIGHT] += weight


@jit
def stretched(x, y, z, far, poses):
    """A target `far` times as far from the root as it is."""
    rx, ry, rz = poses[0, 4], poses[0, 5], poses[0, 6]
    return rx + far * (x - rx), ry + far * (y - ry), rz + far * (z - rz)


@jit_part
def wish_for_place(problem, f, softness, far, pose, poses, world):
    """The weighted mean of the points where terms want frame f, and its weight; where it is if none does."""
    terms, data = problem.terms, problem.data
    total, x, y, z = 0.0, 0.0, 0.0, 0.0
    for t in range(terms.size):
        if terms[t].frame == f and terms[t].goal == POINT:
            weight = strength(terms[t], softness)
            tx, ty, tz = wanted_point(terms[t], data, pose, world)
            tx, ty, tz = stretched(tx, ty, tz, far, poses)
            total, x, y, z = total + weight, x + weight * tx, y + weight * ty, z + weight * tz
    if total == 0.0:
        return 0.0, pose[4], pose[5], pose[6]
    return total, x / total, y / total, z / total


@jit_part
def wish_for_turn(problem, f, softness, pose, world):
    """The mean of the rotations that terms want of frame f, as a quaternion, and its weight; 0 if none does."""
    terms, data = problem.terms, problem.data
    total, a, b, c, d = 0.0, 0.0, 0.0, 0.0, 0.0
    for t in range(terms.size):
        if terms[t].frame != f or terms[t].goal == POINT:
            continue
        if terms[t].goal == ROTATION:
            r = wanted_turn(terms[t], data, pose, world)
        else:
            ax, ay, az, dx, dy, dz, _ = wanted_direction(terms[t], data, world)
            r = product(swing(ax, ay, az, dx, dy, dz), pose)
        weight = strength(terms[t], softness)
        side = weight * sign(r, pose)
        total, a, b, c, d = total + weight, a + side * r[0], b + side * r[1], c + side * r[2], d + side * r[3]
    length = math.sqrt(a * a + b * b + c * c + d * d)
    if total == 0.0 or length == 0.0:
        return 0.0, (pose[0], pose[1], pose[2], pose[3])
    return total, (a / length, b / length, c / length, d / length)


@jit_part
def place_tip(problem, f, softness, far, poses, world, swept):
    """Ask the link of frame f to bring it where its terms want it.

    Without a wish for its orientation the link turns about the target until it points to where the joint before it was,
    as the last bone does in the textbook. `far` stretches the way from the root to the target; 1 leaves it.
    """
    nodes, frames, terms = problem.nodes, problem.frames, problem.terms
    i, frame, pose = frames[f].node, frames[f], load(world, f, 0)
    points, x, y, z = wish_for_place(problem, f, softness, far, pose, poses, world)
    turns, rotation = wish_for_turn(problem, f, softness, pose, world)
    if points + turns == 0.0:
        return
    j = i
    while turns == 0.0 and j >= 0:
        ax, ay, az = poses[j, 4] - pose[4], poses[j, 5] - pose[5], poses[j, 6] - pose[6]
        if ax * ax + ay * ay + az * az > ONE_POINT * ONE_POINT:
            rotation = product(swing(ax, ay, az, poses[j, 4] - x, poses[j, 5] - y, poses[j, 6] - z), pose)
            break
        j = nodes[j].parent
    link = product(rotation, (frame.w, -frame.x, -frame.y, -frame.z))
    ask(swept, i, max(points, turns), link, load(poses, i, 0), x, y, z, frame)
    swept[i, LOAD] += max(points, turns)
    for t in range(terms.size):
        if terms[t].frame == f and not terms[t].soft:
            swept[i, BOUND] = 1.0

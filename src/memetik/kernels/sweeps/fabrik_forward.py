"""The first half of a FABRIK sweep: the tips jump to their targets and draw the body after them, tips to root.

Textbook FABRIK moves bare points. Here links move as rigid bodies on their real joints: with a link in its new place, its
joint takes the value, within its limits, that brings what lies between it and the root nearest to where that was. The
root comes off its place, which the second half mends. Where branches meet, the link goes to the centroid of what they ask.
"""

from __future__ import annotations

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import axis, load, local, turn
from memetik.kernels.problem.limits import clamp
from memetik.kernels.sweeps.align import play
from memetik.kernels.sweeps.fabrik_tips import (
    ATTACHED,
    BOUND,
    BRANCHES,
    LOAD,
    ONE_POINT,
    PLACE,
    SWEPT,
    WEIGHT,
    ask,
    place_tip,
    swing,
)
from memetik.kernels.sweeps.moments import add_all_unturned, add_point, best_for_all, clear
from memetik.kernels.sweeps.pull import split
from memetik.kernels.sweeps.wanted import product


@jit_part
def gather_way_home(nodes, ahead, poses, moments):
    """For each node the points on the way to the root: the next counts in full, the one after it `ahead` times, and so on."""
    clear(moments)
    for i in range(nodes.size):
        p = nodes[i].parent
        if p >= 0:
            x, y, z = poses[p, 4] - poses[i, 4], poses[p, 5] - poses[i, 5], poses[p, 6] - poses[i, 6]
            apart = x * x + y * y + z * z > ONE_POINT * ONE_POINT
            add_all_unturned(moments, i, p, ahead if apart else 1.0, x, y, z)
            if apart:
                add_point(moments, i, 1.0, x, y, z, x, y, z)


@jit_part
def settle_link(swept, i, old):
    """Turn the sums of row i into a pose: the mean rotation, with what is attached to the link at its centroid.

    A link that several branches ask for also turns about this centroid until it points to where its joint was.
    """
    total = swept[i, WEIGHT]
    x, y, z = swept[i, PLACE] / total, swept[i, PLACE + 1] / total, swept[i, PLACE + 2] / total
    q = load(swept, i, 0)
    length = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    r = (q[0] / length, q[1] / length, q[2] / length, q[3] / length)
    ax, ay, az = swept[i, ATTACHED] / total, swept[i, ATTACHED + 1] / total, swept[i, ATTACHED + 2] / total
    tx, ty, tz = turn(r, ax, ay, az)
    if swept[i, BRANCHES] > 1.0:
        r = product(swing(-tx, -ty, -tz, old[4] - x, old[5] - y, old[6] - z), r)
        tx, ty, tz = turn(r, ax, ay, az)
    for k in range(4):
        swept[i, k] = r[k]
    swept[i, PLACE], swept[i, PLACE + 1], swept[i, PLACE + 2] = x - tx, y - ty, z - tz


@jit
def sweep_forward(problem, x, softness, ahead, far, deepest, above, poses, world, swept, moments):
    """Write the links to `swept`, where the tips draw them, and the values of the joints between them to x.

    A variable with several motions keeps its value.
    """
    nodes, frames, variables = problem.nodes, problem.frames, problem.variables
    for i in range(nodes.size):
        for k in range(SWEPT):
            swept[i, k] = 0.0
    for f in range(frames.size):
        place_tip(problem, f, softness, far, poses, world, swept)
    gather_way_home(nodes, ahead, poses, moments)
    for i in range(nodes.size - 1, -1, -1):
        if swept[i, WEIGHT] == 0.0:
            continue
        node, old = nodes[i], load(poses, i, 0)
        settle_link(swept, i, old)
        p, k = node.parent, node.variable
        if p < 0:
            continue
        new = load(swept, i, 0)
        value = node.ratio * x[k] + node.offset
        ux, uy, uz = axis(new)
        if node.ratio != 0.0 and above[i] < 0 and deepest[k] == i:
            spin = product(new, (old[0], -old[1], -old[2], -old[3]))
            ox, oy, oz = old[4] - new[4], old[5] - new[5], old[6] - new[6]
            low, high = play(node, x[k], variables[k].lower, variables[k].upper)
            # What moves is the way to the root, so the joint goes the other way.
            value -= best_for_all(node, moments, i, spin, ox, oy, oz, ux, uy, uz, -high, -low)
            x[k] = clamp((value - node.offset) / node.ratio, variables[k])
        swept[p, LOAD] += swept[i, LOAD]
        if swept[p, BOUND] == 0.0:
            here = local(node, value)
            _, slide = split(node, value)
            rotation = product(new, (here[0], -here[1], -here[2], -here[3]))
            tx, ty, tz = new[4] - slide * ux, new[5] - slide * uy, new[6] - slide * uz
            ask(swept, p, swept[i, LOAD], rotation, load(poses, p, 0), tx, ty, tz, node)
            swept[p, BRANCHES] += 1.0

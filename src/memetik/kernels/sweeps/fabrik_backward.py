"""The second half of a FABRIK sweep: the root goes back to its place and the body follows the swept links, root to tips.

With its parent placed, each joint takes the value, within its limits, that brings what it carries nearest to where the
first half left it. The joints are the real ones, so what comes out is a posture of the body, and this half is also the
way back from points to joint values.
"""

from __future__ import annotations

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import axis, compose, load, local, store, turn
from memetik.kernels.math.sincos import sincos
from memetik.kernels.problem.limits import clamp
from memetik.kernels.sweeps.align import play
from memetik.kernels.sweeps.fabrik_tips import BOUND, LOAD, ONE_POINT, strength, stretched
from memetik.kernels.sweeps.moments import add_all, add_point, add_product, best_for_all, clear
from memetik.kernels.sweeps.pull import split
from memetik.kernels.sweeps.wanted import wanted_direction, wanted_point, wanted_turn
from memetik.kernels.terms.aim import AIM_AXIS
from memetik.kernels.terms.records import POINT, ROTATION

TIP = 4.0  # a tip counts as much as so many joints
BEYOND = 0.02  # what a link with a target of its own leaves of the wishes of branches beyond it
LEVER = 0.2  # an orientation counts as points about the tip, this share of the longest reach away


@jit_part
def add_orientation(moments, i, w, frame, wanted):
    """The three axes of a frame on link i as directions, with where they should point."""
    for k in range(3):
        x, y, z = 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0
        rx, ry, rz = turn(frame, x, y, z)
        dx, dy, dz = turn(wanted, w * x, w * y, w * z)
        add_product(moments, i, rx, ry, rz, dx, dy, dz)


@jit_part
def gather_tips(problem, softness, far, poses, world, swept, moments):
    """For each node the tips on its link, in the axes of the link, with their targets, seen from where it was swept to."""
    frames, terms, data = problem.frames, problem.terms, problem.data
    clear(moments)
    lever = 0.0
    for t in range(terms.size):
        lever = max(lever, LEVER * terms[t].reach)
    for t in range(terms.size):
        term, frame = terms[t], frames[terms[t].frame]
        i, pose = frame.node, load(world, term.frame, 0)
        weight = TIP * strength(term, softness)
        if term.goal == POINT:
            x, y, z = wanted_point(term, data, pose, world)
            x, y, z = stretched(x, y, z, far, poses)
            x, y, z = x - swept[i, 4], y - swept[i, 5], z - swept[i, 6]
            add_point(moments, i, weight, frame.px, frame.py, frame.pz, x, y, z)
            continue
        weight *= lever * lever
        turned = (frame.w, frame.x, frame.y, frame.z)
        if term.goal == ROTATION:
            add_orientation(moments, i, 0.5 * weight, turned, wanted_turn(term, data, pose, world))
        else:
            k = term.numbers + AIM_AXIS
            rx, ry, rz = turn(turned, data[k], data[k + 1], data[k + 2])
            _, _, _, dx, dy, dz, _ = wanted_direction(term, data, world)
            add_product(moments, i, rx, ry, rz, weight * dx, weight * dy, weight * dz)


@jit_part
def gather_carried(nodes, x, ahead, swept, moments):
    """Add the nodes that each node carries: the next counts in full, the one after it `ahead` times, and so on.

    The shape is that of the joint values, the places are those of the swept links; they differ where branches could not
    agree about a link.
    """
    for i in range(nodes.size - 1, 0, -1):
        node = nodes[i]
        p = node.parent
        if p >= 0 and swept[i, LOAD] > 0.0:
            link = local(node, node.ratio * x[node.variable] + node.offset)
            tx, ty, tz = link[4], link[5], link[6]
            sx, sy, sz = swept[i, 4] - swept[p, 4], swept[i, 5] - swept[p, 5], swept[i, 6] - swept[p, 6]
            apart = tx * tx + ty * ty + tz * tz > ONE_POINT * ONE_POINT
            share = BEYOND if swept[p, BOUND] != 0.0 else 1.0
            add_all(moments, p, i, share * (ahead if apart else 1.0), link, tx, ty, tz, sx, sy, sz)
            if apart:
                add_point(moments, p, share * swept[i, LOAD], tx, ty, tz, sx, sy, sz)


@jit_part
def moved_on(node, pose, change):
    """The pose of a node after a change of its motion: turned about its own z axis and moved along it."""
    angle, slide = split(node, change)
    ux, uy, uz = axis(pose)
    s, c = sincos(0.5 * angle)
    w, x, y, z = pose[0], pose[1], pose[2], pose[3]
    return (
        w * c - z * s, x * c + y * s, y * c - x * s, z * c + w * s,
        pose[4] + slide * ux, pose[5] + slide * uy, pose[6] + slide * uz,
    )  # fmt: skip


@jit
def sweep_backward(problem, x, softness, ahead, far, deepest, above, poses, world, swept, moments):
    """Write joint values to x that follow the swept links as well as the joints can, and to `poses` where they lead.

    A variable with several motions keeps its value.
    """
    nodes, variables = problem.nodes, problem.variables
    gather_tips(problem, softness, far, poses, world, swept, moments)
    gather_carried(nodes, x, ahead, swept, moments)
    for i in range(nodes.size):
        node = nodes[i]
        k = node.variable
        value = node.ratio * x[k] + node.offset
        pose = local(node, value)
        if node.parent >= 0:
            pose = compose(load(poses, node.parent, 0), pose)
        if swept[i, LOAD] > 0.0 and node.ratio != 0.0 and above[i] < 0 and deepest[k] == i:
            add_point(moments, i, swept[i, LOAD], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # its own place, which a slide moves
            ux, uy, uz = axis(pose)
            ox, oy, oz = swept[i, 4] - pose[4], swept[i, 5] - pose[5], swept[i, 6] - pose[6]
            low, high = play(node, x[k], variables[k].lower, variables[k].upper)
            change = best_for_all(node, moments, i, pose, ox, oy, oz, ux, uy, uz, low, high)
            x[k] = clamp((value + change - node.offset) / node.ratio, variables[k])
            pose = moved_on(node, pose, change)
        store(pose, poses, i, 0)

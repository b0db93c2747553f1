"""Variables that drive several motions, as mimic joints have them: a Gauss-Newton step that must pay.

A list through the nodes tells which of them a variable drives, the deepest first. A change of the variable turns the
deepest about its present axis and then the others in this order, so that each axis still stands where it stood: that
moves the frames exactly as forward kinematics would, without placing what lies between.
"""

import math

from memetik.kernels.body.motion import local, twist
from memetik.kernels.body.records import SLIDE
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import axis, compose, load, store
from memetik.kernels.problem.limits import clamp
from memetik.kernels.sweeps.pull import carries, misturn, move_frames, pair, total_loss, weight
from memetik.kernels.terms.records import ROTATION

HALVINGS = 6  # of a step that does not pay, before the variable is left as it is
FAINT = 1e-9  # a motion below this share of what it could be is rounding: the points lie on the axes


@jit
def link_variables(nodes, deepest, above):
    """For each variable its deepest node, for each node the next one above it that the same variable drives; -1: none."""
    for k in range(deepest.size):
        deepest[k] = -1
    for i in range(nodes.size):
        k = nodes[i].variable
        above[i] = deepest[k]
        deepest[k] = i


@jit_part
def drives_alone(nodes, i, sweeps):
    """Whether node i moves with its variable, and no other node does."""
    return nodes[i].ratio != 0.0 and sweeps.above[i] < 0 and sweeps.deepest[nodes[i].variable] == i


@jit_part
def place_rows(nodes, x, poses, first, last):
    """Forward kinematics of some rows, whose parents are placed."""
    for i in range(first, last + 1):
        pose = local(nodes[i], nodes[i].ratio * x[nodes[i].variable] + nodes[i].offset)
        if nodes[i].parent >= 0:
            pose = compose(load(poses, nodes[i].parent, 0), pose)
        store(pose, poses, i, 0)


@jit_part
def slope(problem, softness, i, above, work):
    """Half the derivative of the loss by the variable behind node i, half its second derivative, about, and its size at most."""
    nodes, frames, terms, data = problem.nodes, problem.frames, problem.terms, problem.data
    gradient, curvature, size = 0.0, 0.0, 0.0
    for t in range(terms.size):
        term = terms[t]
        strength = weight(term, softness)
        bare, share, px, py, pz, yx, yy, yz = False, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        if term.goal != ROTATION:
            bare, share, (px, py, pz), (yx, yy, yz) = pair(term, data, work.world)
        vx, vy, vz, wx, wy, wz, arm = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        j = i
        while j >= 0:
            if carries(nodes, j, frames[term.frame]):
                tx, ty, tz, rx, ry, rz = twist(nodes, work.poses, work.axes, j, px, py, pz)
                vx, vy, vz, wx, wy, wz = vx + tx, vy + ty, vz + tz, wx + rx, wy + ry, wz + rz
                cx, cy, cz = load(work.poses, j, 0)[4:]
                arm += abs(nodes[j].ratio) * (1.0 + abs(px) + abs(py) + abs(pz) + abs(cx) + abs(cy) + abs(cz))
            j = above[j]
        if term.goal == ROTATION:
            w, x, y, z = misturn(term, data, work.world)
            gradient += strength * 2.0 * w * (wx * x + wy * y + wz * z)
            curvature += strength * (wx * wx + wy * wy + wz * wz)
            size += strength * arm * arm
            continue
        if bare:
            vx, vy, vz = wy * pz - wz * py, wz * px - wx * pz, wx * py - wy * px
        gradient += strength * share * (vx * (px - yx) + vy * (py - yy) + vz * (pz - yz))
        curvature += strength * share * (vx * vx + vy * vy + vz * vz)
        size += strength * share * arm * arm
    return gradient, curvature, size


@jit
def move_driven(problem, i, change, sweeps, work):
    """Write into sweeps.moved where the frames are after a change of the variable whose deepest node is i."""
    for f in range(problem.frames.size):
        store(load(work.world, f, 0), sweeps.moved, f, 0)
    while i >= 0:
        move_frames(problem, i, problem.nodes[i].ratio * change, work.poses, sweeps.moved)
        i = sweeps.above[i]


@jit_part
def move_coupled(problem, x, i, sweeps, work):
    """Improve the variable whose deepest node is i; frames and the rows down to i stand where it leads."""
    nodes, terms, data = problem.nodes, problem.terms, problem.data
    softness, k = sweeps.progress[0].softness, nodes[i].variable
    if sweeps.weights[k] == 0.0:
        return
    first, turning, j = i, 0.0, i
    while j >= 0:
        ux, uy, uz = axis(load(work.poses, j, 0))
        ratio = nodes[j].ratio
        work.axes[j, 0], work.axes[j, 1], work.axes[j, 2] = ratio * ux, ratio * uy, ratio * uz
        if nodes[j].motion != SLIDE:
            turning = max(turning, abs(ratio))
        first, j = j, sweeps.above[j]
    gradient, curvature, size = slope(problem, softness, i, sweeps.above, work)
    if not curvature > FAINT * FAINT * size:
        return
    longest = sweeps.longest if turning == 0.0 else min(sweeps.longest, math.pi / turning)  # half a turn at most
    step = sweeps.weights[k] * min(max(-gradient / curvature, -longest), longest)
    before = total_loss(terms, data, work.world, softness)
    for _ in range(HALVINGS):
        value = clamp(x[k] + step, problem.variables[k])
        move_driven(problem, i, value - x[k], sweeps, work)
        if total_loss(terms, data, sweeps.moved, softness) < before:
            x[k] = value
            for f in range(problem.frames.size):
                store(load(sweeps.moved, f, 0), work.world, f, 0)
            place_rows(nodes, x, work.poses, first, i)
            return
        step *= 0.5

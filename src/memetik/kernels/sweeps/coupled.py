"""Variables that drive several motions, as mimic joints have them: a Gauss-Newton step that must pay.

A list through the nodes tells which of them a variable drives, the deepest first. A change of the variable turns the
deepest about its present axis and then the others in this order, so that each axis still stands where it stood: that
moves the frames exactly as forward kinematics would, without placing what lies between.
"""

from __future__ import annotations

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import axis, compose, load, local, store
from memetik.kernels.math.twist import twist
from memetik.kernels.problem.limits import clamp
from memetik.kernels.sweeps.pull import carries, misturn, move_frame, pair, split, total_loss, weight
from memetik.kernels.terms.records import ROTATION

HALVINGS = 6  # of a step that does not pay, before the variable is left as it is


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
def place_rows(nodes, x, poses, first, last):
    """Forward kinematics of some rows, whose parents are placed."""
    for i in range(first, last + 1):
        pose = local(nodes[i], nodes[i].ratio * x[nodes[i].variable] + nodes[i].offset)
        if nodes[i].parent >= 0:
            pose = compose(load(poses, nodes[i].parent, 0), pose)
        store(pose, poses, i, 0)


@jit
def slope(problem, softness, i, above, poses, axes, world):
    """Half the derivative of the loss by the variable behind node i, and half its second derivative, about."""
    nodes, frames, terms, data = problem.nodes, problem.frames, problem.terms, problem.data
    gradient, curvature = 0.0, 0.0
    for t in range(terms.size):
        term = terms[t]
        strength = weight(term, softness)
        bare, share, px, py, pz, yx, yy, yz = False, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        if term.goal != ROTATION:
            bare, share, px, py, pz, yx, yy, yz = pair(term, data, world)
        vx, vy, vz, wx, wy, wz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        j = i
        while j >= 0:
            if carries(nodes, j, frames[term.frame]):
                tx, ty, tz, rx, ry, rz = twist(nodes, poses, axes, j, px, py, pz)
                vx, vy, vz, wx, wy, wz = vx + tx, vy + ty, vz + tz, wx + rx, wy + ry, wz + rz
            j = above[j]
        if term.goal == ROTATION:
            w, x, y, z = misturn(term, data, world)
            gradient += strength * 2.0 * w * (wx * x + wy * y + wz * z)
            curvature += strength * (wx * wx + wy * wy + wz * wz)
            continue
        if bare:
            vx, vy, vz = wy * pz - wz * py, wz * px - wx * pz, wx * py - wy * px
        gradient += strength * share * (vx * (px - yx) + vy * (py - yy) + vz * (pz - yz))
        curvature += strength * share * (vx * vx + vy * vy + vz * vz)
    return gradient, curvature


@jit
def move_driven(nodes, frames, i, above, change, poses, world, moved):
    """Write into `moved` where the frames of `world` are after a change of the variable behind node i."""
    for f in range(frames.size):
        store(load(world, f, 0), moved, f, 0)
    while i >= 0:
        ux, uy, uz = axis(load(poses, i, 0))
        angle, slide = split(nodes[i], nodes[i].ratio * change)
        for f in range(frames.size):
            if carries(nodes, i, frames[f]):
                move_frame(moved, f, ux, uy, uz, poses[i, 4], poses[i, 5], poses[i, 6], angle, slide)
        i = above[i]


@jit_part
def move_coupled(problem, x, softness, longest, i, above, work, moved):
    """Improve the variable whose deepest node is i; frames and the rows down to i stand where it leads."""
    nodes, frames, terms, data, variables = (
        problem.nodes,
        problem.frames,
        problem.terms,
        problem.data,
        problem.variables,
    )
    poses, axes, world = work.poses, work.axes, work.world
    k = nodes[i].variable
    first = j = i
    while j >= 0:
        ux, uy, uz = axis(load(poses, j, 0))
        axes[j, 0], axes[j, 1], axes[j, 2] = nodes[j].ratio * ux, nodes[j].ratio * uy, nodes[j].ratio * uz
        first, j = j, above[j]
    gradient, curvature = slope(problem, softness, i, above, poses, axes, world)
    if not curvature > 0.0:
        return
    step = min(max(-gradient / curvature, -longest), longest)
    before = total_loss(terms, data, world, softness)
    for _ in range(HALVINGS):
        value = clamp(x[k] + step, variables[k])
        move_driven(nodes, frames, i, above, value - x[k], poses, world, moved)
        if total_loss(terms, data, moved, softness) < before:
            x[k] = value
            for f in range(frames.size):
                store(load(moved, f, 0), world, f, 0)
            place_rows(nodes, x, poses, first, i)
            return
        step *= 0.5

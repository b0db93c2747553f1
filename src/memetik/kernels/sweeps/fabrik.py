"""FABRIK, forward and backward reaching: tips to root on rigid links, root to tips on real joints, again and again.

The first half of a sweep is in fabrik_forward.py. In the second half the root goes back to its place and the body follows
the swept links. With its parent placed, each joint takes the value, within its limits, that brings what it carries nearest
to where the first half left it. The joints are the real ones, so what comes out is a posture of the body, and this half is
also the way back from points to joint values.
"""

from memetik.kernels.body.forward import frame_pose
from memetik.kernels.body.motion import local
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import axis, compose, constant, load, store, turn
from memetik.kernels.math.sincos import sincos
from memetik.kernels.math.vector import minus, times
from memetik.kernels.problem.limits import clamp
from memetik.kernels.sweeps.align import play
from memetik.kernels.sweeps.coupled import drives_alone, move_coupled
from memetik.kernels.sweeps.fabrik_forward import apart, strength, stretched, sweep_forward
from memetik.kernels.sweeps.moments import add_all, add_point, add_product, best_for_all, clear
from memetik.kernels.sweeps.pull import split
from memetik.kernels.sweeps.restart import begin, over
from memetik.kernels.sweeps.sweep_record import read_reaching
from memetik.kernels.sweeps.wanted import wanted_direction, wanted_point, wanted_turn
from memetik.kernels.terms.aim import AIM_AXIS
from memetik.kernels.terms.records import POINT, ROTATION

TIP = 4.0  # a tip counts as much as so many joints
BEYOND = 0.02  # what a link with a target of its own leaves of the wishes of branches beyond it
LEVER = 0.2  # an orientation counts as points about the tip, this share of the longest reach away
ORIGIN = (0.0, 0.0, 0.0)
# Seen from a target this many times as far away, bones that look at the next point alone turn into the line towards it.
FAR = 1e4


@jit_part
def add_orientation(moments, i, w, frame, wanted):
    """The three axes of a frame on link i as directions, with where they should point."""
    for k in range(3):
        x, y, z = 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0
        add_product(moments, i, turn(frame, x, y, z), turn(wanted, w * x, w * y, w * z))


@jit_part
def gather_tips(problem, far, own, work):
    """For each node the tips on its link, in the axes of the link, with their targets, seen from where it was swept to."""
    terms, data, moments = problem.terms, problem.data, own.moments
    softness = own.sweeps.progress[0].softness
    clear(moments)
    lever = 0.0
    for t in range(terms.size):
        lever = max(lever, LEVER * terms[t].reach)
    for t in range(terms.size):
        term, frame = terms[t], problem.frames[terms[t].frame]
        i, on_link, pose = frame.node, constant(frame), load(work.world, term.frame, 0)
        weight = TIP * strength(term, softness)
        if term.goal == POINT:
            point = stretched(wanted_point(term, data, pose, work.world), far, work.poses)
            add_point(moments, i, weight, on_link[4:], minus(point, load(own.swept, i, 0)[4:]))
            continue
        weight *= lever * lever
        if term.goal == ROTATION:
            add_orientation(moments, i, 0.5 * weight, on_link, wanted_turn(term, data, pose, work.world))
        else:
            k = term.numbers + AIM_AXIS
            _, direction, _ = wanted_direction(term, data, work.world)
            add_product(moments, i, turn(on_link, data[k], data[k + 1], data[k + 2]), times(weight, direction))


@jit_part
def gather_carried(nodes, x, ahead, own):
    """Add the nodes that each node carries: the next counts in full, the one after it `ahead` times, and so on.

    The shape is that of the joint values, the places are those of the swept links; they differ where branches could not
    agree about a link.
    """
    swept, moments = own.swept, own.moments
    for i in range(nodes.size - 1, 0, -1):
        node = nodes[i]
        p = node.parent
        if p >= 0 and own.load[i] > 0.0:
            link = local(node, node.ratio * x[node.variable] + node.offset)
            t, s = link[4:], minus(load(swept, i, 0)[4:], load(swept, p, 0)[4:])
            share = BEYOND if own.bound[p] else 1.0
            add_all(moments, p, i, share * (ahead if apart(t) else 1.0), link, t, s)
            if apart(t):
                add_point(moments, p, share * own.load[i], t, s)


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
def sweep_backward(problem, x, ahead, far, own, work):
    """Write joint values to x that follow the swept links as well as the joints can, and to work.poses where they lead.

    A variable with several motions keeps its value.
    """
    nodes, poses, moments = problem.nodes, work.poses, own.moments
    gather_tips(problem, far, own, work)
    gather_carried(nodes, x, ahead, own)
    for i in range(nodes.size):
        node = nodes[i]
        k = node.variable
        value = node.ratio * x[k] + node.offset
        pose = local(node, value)
        if node.parent >= 0:
            pose = compose(load(poses, node.parent, 0), pose)
        if own.load[i] > 0.0 and drives_alone(nodes, i, own.sweeps):
            variable = problem.variables[k]
            add_point(moments, i, own.load[i], ORIGIN, ORIGIN)  # its own place, which a slide moves
            off = minus(load(own.swept, i, 0)[4:], pose[4:])
            low, high = play(node, x[k], variable.lower, variable.upper)
            change = best_for_all(node, moments, i, pose, off, axis(pose), low, high)
            x[k] = clamp((value + change - node.offset) / node.ratio, variable)
            pose = moved_on(node, pose, change)
        store(pose, poses, i, 0)


@jit_part
def improve_coupled(problem, x, sweeps, work):
    """Variables with several motions have no link of their own to follow: they take a step of coordinate descent."""
    nodes, frames = problem.nodes, problem.frames
    for f in range(frames.size):
        store(frame_pose(frames[f], work.poses), work.world, f, 0)
    for i in range(nodes.size - 1, -1, -1):
        if sweeps.above[i] >= 0 and sweeps.deepest[nodes[i].variable] == i:
            move_coupled(problem, x, i, sweeps, work)


@jit
def search(problem, run, own, work):
    """Sweep after sweep from work.x until one satisfies all terms, nothing more is gained, or the budget is spent.

    A single tip with a target beyond its reach is stretched towards it by the first sweep.
    """
    reaching, x = read_reaching(own), work.x
    sweeps = reaching.sweeps
    far = FAR if begin(problem, run, sweeps) else 1.0
    while not over(problem, x, run, sweeps, work):
        ahead = reaching.ahead if far == 1.0 else 0.0
        sweep_forward(problem, x, ahead, far, reaching, work)
        sweep_backward(problem, x, ahead, far, reaching, work)
        improve_coupled(problem, x, sweeps, work)
        far = 1.0

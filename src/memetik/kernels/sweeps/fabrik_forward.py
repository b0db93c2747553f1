"""The first half of a FABRIK sweep: the tips jump to their targets and draw the body after them, tips to root.

Textbook FABRIK moves bare points. Here links move as rigid bodies on their real joints: with a link in its new place, its
joint takes the value, within its limits, that brings what lies between it and the root nearest to where that was. The
root comes off its place, which the second half mends. Where branches meet, the link goes to the centroid of what they ask.

A tip asks the link that carries it, and a link the one before it. While a link is still being asked for, its row of `swept`
holds weighted sums (Reaching in sweep_record.py). A link with a target of its own goes by that alone: the branches beyond it have
to follow.
"""

import math

from memetik.kernels.body.motion import local
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import axis, constant, load, store, turn
from memetik.kernels.math.vector import dot, minus, plus, times
from memetik.kernels.problem.limits import clamp
from memetik.kernels.sweeps.align import play
from memetik.kernels.sweeps.coupled import drives_alone
from memetik.kernels.sweeps.moments import add_all, add_point, best_for_all, clear
from memetik.kernels.sweeps.pull import split
from memetik.kernels.sweeps.wanted import conjugate, product, wanted_direction, wanted_point, wanted_turn
from memetik.kernels.terms.records import POINT, ROTATION

ONE_POINT = 1e-9  # m; points nearer to each other than this are one


@jit
def apart(way):
    """Whether the way between two points is more than rounding."""
    return dot(way, way) > ONE_POINT * ONE_POINT


@jit
def strength(term, softness):
    """How much a term counts where branches meet."""
    return term.weight * softness if term.soft else term.weight


@jit
def swing(p, q):
    """The quaternion of the shortest turn from one direction to another; none if they are opposite or have no length."""
    px, py, pz = p
    qx, qy, qz = q
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


@jit_part
def ask(own, i, weight, rotation, point, record, poses):
    """Ask link i to turn to `rotation` and to have its point of a NODE or FRAME record at `point`."""
    side, at = weight * sign(rotation, load(poses, i, 0)), constant(record)[4:]
    for k in range(4):
        own.swept[i, k] += side * rotation[k]
    for k in range(3):
        own.swept[i, 4 + k] += weight * point[k]
        own.attached[i, k] += weight * at[k]
    own.weight[i] += weight


@jit_part
def stretched(point, far, poses):
    """A target `far` times as far from the root as it is."""
    root = load(poses, 0, 0)[4:]
    return plus(root, times(far, minus(point, root)))


@jit_part
def wish_for_place(problem, f, softness, far, pose, work):
    """The weighted mean of the points where terms want frame f, and its weight; where it is if none does."""
    terms, data = problem.terms, problem.data
    total, x, y, z = 0.0, 0.0, 0.0, 0.0
    for t in range(terms.size):
        if terms[t].frame == f and terms[t].goal == POINT:
            weight = strength(terms[t], softness)
            tx, ty, tz = stretched(wanted_point(terms[t], data, pose, work.world), far, work.poses)
            total, x, y, z = total + weight, x + weight * tx, y + weight * ty, z + weight * tz
    if total == 0.0:
        return 0.0, pose[4:]
    return total, (x / total, y / total, z / total)


@jit_part
def wish_for_turn(problem, f, softness, pose, work):
    """The mean of the rotations that terms want of frame f, as a quaternion, and its weight; 0 if none does."""
    terms, data = problem.terms, problem.data
    total, a, b, c, d = 0.0, 0.0, 0.0, 0.0, 0.0
    for t in range(terms.size):
        if terms[t].frame != f or terms[t].goal == POINT:
            continue
        if terms[t].goal == ROTATION:
            r = wanted_turn(terms[t], data, pose, work.world)
        else:
            pointing, direction, _ = wanted_direction(terms[t], data, work.world)
            r = product(swing(pointing, direction), pose)
        weight = strength(terms[t], softness)
        side = weight * sign(r, pose)
        total, a, b, c, d = total + weight, a + side * r[0], b + side * r[1], c + side * r[2], d + side * r[3]
    length = math.sqrt(a * a + b * b + c * c + d * d)
    if total == 0.0 or length == 0.0:
        return 0.0, pose[:4]
    return total, (a / length, b / length, c / length, d / length)


@jit_part
def place_tip(problem, f, far, own, work):
    """Ask the link of frame f to bring it where its terms want it.

    Without a wish for its orientation the link turns about the target until it points to where the joint before it was,
    as the last bone does in the textbook. `far` stretches the way from the root to the target; 1 leaves it.
    """
    terms, frame, pose = problem.terms, problem.frames[f], load(work.world, f, 0)
    softness, i = own.sweeps.progress[0].softness, frame.node
    points, target = wish_for_place(problem, f, softness, far, pose, work)
    turns, rotation = wish_for_turn(problem, f, softness, pose, work)
    if points + turns == 0.0:
        return
    j = i
    while turns == 0.0 and j >= 0:
        joint = load(work.poses, j, 0)[4:]
        way = minus(joint, pose[4:])
        if apart(way):
            rotation = product(swing(way, minus(joint, target)), pose)
            break
        j = problem.nodes[j].parent
    ask(own, i, max(points, turns), product(rotation, conjugate(constant(frame))), target, frame, work.poses)
    own.load[i] += max(points, turns)
    for t in range(terms.size):
        if terms[t].frame == f and not terms[t].soft:
            own.bound[i] = 1


@jit_part
def gather_way_home(nodes, ahead, poses, moments):
    """For each node the points on the way to the root: the next counts in full, the one after it `ahead` times, and so on."""
    clear(moments)
    for i in range(nodes.size):
        p = nodes[i].parent
        if p >= 0:
            way = minus(load(poses, p, 0)[4:], load(poses, i, 0)[4:])
            far = apart(way)
            add_all(moments, i, p, ahead if far else 1.0, None, way, way)
            if far:
                add_point(moments, i, 1.0, way, way)


@jit_part
def settle_link(own, i, old):
    """Turn the sums of row i into a pose: the mean rotation, with what is attached to the link at its centroid.

    A link that several branches ask for also turns about this centroid until it points to where its joint was.
    """
    total, q, attached = own.weight[i], load(own.swept, i, 0), own.attached
    center = (q[4] / total, q[5] / total, q[6] / total)
    length = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    r = (q[0] / length, q[1] / length, q[2] / length, q[3] / length)
    on_link = (attached[i, 0] / total, attached[i, 1] / total, attached[i, 2] / total)
    x, y, z = turn(r, *on_link)
    if own.branches[i] > 1:
        r = product(swing((-x, -y, -z), minus(old[4:], center)), r)
        x, y, z = turn(r, *on_link)
    store((*r, *minus(center, (x, y, z))), own.swept, i, 0)


@jit
def sweep_forward(problem, x, ahead, far, own, work):
    """Write the links to `swept`, where the tips draw them, and the values of the joints between them to x.

    A variable with several motions keeps its value.
    """
    nodes, poses = problem.nodes, work.poses
    own.swept[:] = 0.0
    own.attached[:] = 0.0
    own.weight[:] = 0.0
    own.load[:] = 0.0
    own.branches[:] = 0
    own.bound[:] = 0
    for f in range(problem.frames.size):
        place_tip(problem, f, far, own, work)
    gather_way_home(nodes, ahead, poses, own.moments)
    for i in range(nodes.size - 1, -1, -1):
        if own.weight[i] == 0.0:
            continue
        node, old = nodes[i], load(poses, i, 0)
        settle_link(own, i, old)
        p, k = node.parent, node.variable
        if p < 0:
            continue
        new = load(own.swept, i, 0)
        value = node.ratio * x[k] + node.offset
        u = axis(new)
        if drives_alone(nodes, i, own.sweeps):
            variable = problem.variables[k]
            spin, off = product(new, conjugate(old)), minus(old[4:], new[4:])
            low, high = play(node, x[k], variable.lower, variable.upper)
            # What moves is the way to the root, so the joint goes the other way.
            value -= best_for_all(node, own.moments, i, spin, off, u, -high, -low)
            x[k] = clamp((value - node.offset) / node.ratio, variable)
        own.load[p] += own.load[i]
        if not own.bound[p]:
            here, (_, slide) = local(node, value), split(node, value)
            rotation, point = product(new, conjugate(here)), minus(new[4:], times(slide, u))
            ask(own, p, own.load[i], rotation, point, node, poses)
            own.branches[p] += 1

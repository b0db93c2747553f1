"""CCD, cyclic coordinate descent: one joint after the other takes the value that is best while all others rest.

What is minimised is the weighted sum of the errors in pull.py. Over one turn of a joint each of them is a constant less a
wave, 2 (a cos t + b sin t), so their sum is one too, and its best angle is known in closed form (align.py). An
orientation with the quaternion (w, v) from target to frame has a = w^2 - s^2 and b = -2 w s, with s = u·v for the axis u.

A joint costs a constant effort for each term, however long the chain: joints are visited in an order in which the cached
poses of those to come stay true, and the frames move along with each joint instead of being computed again.
"""

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import axis, load
from memetik.kernels.math.vector import dot
from memetik.kernels.problem.limits import clamp
from memetik.kernels.sweeps.align import best_change, circle, play
from memetik.kernels.sweeps.coupled import move_coupled, place_rows
from memetik.kernels.sweeps.pull import carries, misturn, move_frames, pair, weight
from memetik.kernels.sweeps.restart import begin, over
from memetik.kernels.sweeps.sweep_record import read_descent
from memetik.kernels.terms.records import ROTATION


@jit_part
def best_alone(problem, softness, i, low, high, work):
    """The change of the motion of node i, from `low` to `high`, that is best while all others rest."""
    nodes, frames, terms, data = problem.nodes, problem.frames, problem.terms, problem.data
    pose = load(work.poses, i, 0)
    ux, uy, uz = u = axis(pose)
    cx, cy, cz = pose[4:]
    a, b, size, along, total = 0.0, 0.0, 0.0, 0.0, 0.0
    for t in range(terms.size):
        term = terms[t]
        if not carries(nodes, i, frames[term.frame]):
            continue
        strength = weight(term, softness)
        if term.goal == ROTATION:
            q = misturn(term, data, work.world)
            w, s = q[0], dot(u, q[1:])
            a += strength * (w * w - s * s)
            b -= strength * 2.0 * w * s
            size += strength
            continue
        bare, share, (px, py, pz), (yx, yy, yz) = pair(term, data, work.world)
        strength *= share
        if not bare:
            px, py, pz, yx, yy, yz = px - cx, py - cy, pz - cz, yx - cx, yy - cy, yz - cz
            along += strength * (ux * (yx - px) + uy * (yy - py) + uz * (yz - pz))
            total += strength
        one, other = circle((px, py, pz), (yx, yy, yz), (ux, uy, uz))
        a += strength * one
        b += strength * other
        size += strength * (px * px + py * py + pz * pz + yx * yx + yy * yy + yz * yz)
    return best_change(nodes[i], a, b, size, along, total, low, high)


@jit_part
def move_alone(problem, x, i, sweeps, work):
    """Give the variable that drives node i and no other its best value; the frames move along, the node does not."""
    node = problem.nodes[i]
    if node.ratio == 0.0:
        return
    k = node.variable
    if sweeps.weights[k] == 0.0:
        return
    variable, longest = problem.variables[k], sweeps.longest
    low, high = play(node, x[k], max(variable.lower, x[k] - longest), min(variable.upper, x[k] + longest))
    change = sweeps.weights[k] * best_alone(problem, sweeps.progress[0].softness, i, low, high, work)
    if change == 0.0:
        return
    x[k] = clamp(x[k] + change / node.ratio, variable)
    move_frames(problem, i, change, work.poses, work.world)


@jit
def sweep_to_root(problem, x, sweeps, work):
    """Every variable once, from the tips to the root: what a joint moves lies behind, so the poses ahead stay true.

    A variable with several motions is met at the deepest of them.
    """
    nodes = problem.nodes
    for i in range(nodes.size - 1, -1, -1):
        if sweeps.deepest[nodes[i].variable] != i:
            continue
        if sweeps.above[i] >= 0:
            move_coupled(problem, x, i, sweeps, work)
        else:
            move_alone(problem, x, i, sweeps, work)


@jit
def sweep_to_tips(problem, x, sweeps, work):
    """Every variable once, from the root to the tips: each node is placed when the sweep comes to it.

    A variable with several motions is met at the first of them, and those between are placed ahead of time.
    """
    nodes = problem.nodes
    for i in range(nodes.size):
        last = sweeps.deepest[nodes[i].variable]
        place_rows(nodes, x, work.poses, i, i)
        if sweeps.above[i] >= 0:
            continue
        if last == i:
            move_alone(problem, x, i, sweeps, work)
            place_rows(nodes, x, work.poses, i, i)
        else:
            place_rows(nodes, x, work.poses, i + 1, last)
            move_coupled(problem, x, last, sweeps, work)


@jit
def search(problem, run, own, work):
    """Sweep after sweep from work.x until one satisfies all terms, nothing more is gained, or the budget is spent."""
    descent, x = read_descent(own), work.x
    begin(problem, run, descent.sweeps)
    while not over(problem, x, run, descent.sweeps, work):
        if descent.to_root:
            sweep_to_root(problem, x, descent.sweeps, work)
        else:
            sweep_to_tips(problem, x, descent.sweeps, work)

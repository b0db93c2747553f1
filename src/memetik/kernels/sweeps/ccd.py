"""CCD, cyclic coordinate descent: one joint after the other takes the value that is best while all others rest.

What is minimised is the weighted sum of the errors in pull.py. Over one turn of a joint each of them is a constant less a
wave, 2 (a cos t + b sin t), so their sum is one too, and its best angle is known in closed form (align.py). An
orientation with the quaternion (w, v) from target to frame has a = w^2 - s^2 and b = -2 w s, with s = u·v for the axis u.

A joint costs a constant effort for each term, however long the chain: joints are visited in an order in which the cached
poses of those to come stay true, and the frames move along with each joint instead of being computed again.
"""

from __future__ import annotations

from memetik.kernels.body.records import SLIDE, TURN
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import axis, load
from memetik.kernels.problem.limits import clamp
from memetik.kernels.sweeps.align import best_screw, best_slide, best_turn, circle, play
from memetik.kernels.sweeps.coupled import link_variables, move_coupled, place_rows
from memetik.kernels.sweeps.pull import carries, misturn, move_frame, pair, split, weight
from memetik.kernels.sweeps.restart import MEMORY, SOFTNESS, begin, beyond_reach, over
from memetik.kernels.terms.records import ROTATION

# The parameters of the search.
TO_ROOT, LONGEST_STEP, RESTARTS = 0, 1, 2


def places(nodes: int, variables: int) -> int:
    """How many integers the search needs."""
    return variables + nodes


def room(frames: int) -> int:
    """How many numbers the search needs."""
    return MEMORY + 7 * frames


@jit_part
def best_alone(problem, softness, i, low, high, poses, world):
    """The change of the motion of node i, from `low` to `high`, that is best while all others rest."""
    nodes, frames, terms, data = problem.nodes, problem.frames, problem.terms, problem.data
    ux, uy, uz = axis(load(poses, i, 0))
    cx, cy, cz = poses[i, 4], poses[i, 5], poses[i, 6]
    a, b, size, along, total = 0.0, 0.0, 0.0, 0.0, 0.0
    for t in range(terms.size):
        term = terms[t]
        if not carries(nodes, i, frames[term.frame]):
            continue
        strength = weight(term, softness)
        if term.goal == ROTATION:
            w, x, y, z = misturn(term, data, world)
            s = ux * x + uy * y + uz * z
            a += strength * (w * w - s * s)
            b -= strength * 2.0 * w * s
            size += strength
            continue
        bare, share, px, py, pz, yx, yy, yz = pair(term, data, world)
        strength *= share
        if not bare:
            px, py, pz, yx, yy, yz = px - cx, py - cy, pz - cz, yx - cx, yy - cy, yz - cz
            along += strength * (ux * (yx - px) + uy * (yy - py) + uz * (yz - pz))
            total += strength
        one, other = circle(px, py, pz, yx, yy, yz, ux, uy, uz)
        a += strength * one
        b += strength * other
        size += strength * (px * px + py * py + pz * pz + yx * yx + yy * yy + yz * yz)
    if nodes[i].motion == SLIDE:
        return best_slide(along, total, low, high)
    if nodes[i].motion == TURN:
        return best_turn(a, b, size, low, high)
    return best_screw(a, b, size, along, total, nodes[i].pitch, low, high)


@jit_part
def move_alone(problem, x, softness, longest, i, work):
    """Give the variable that drives node i and no other its best value; the frames move along, the node does not."""
    nodes, frames, variables = problem.nodes, problem.frames, problem.variables
    poses, world, node = work.poses, work.world, nodes[i]
    k = node.variable
    if node.ratio == 0.0:
        return
    low, high = play(node, x[k], max(variables[k].lower, x[k] - longest), min(variables[k].upper, x[k] + longest))
    change = best_alone(problem, softness, i, low, high, poses, world)
    if change == 0.0:
        return
    x[k] = clamp(x[k] + change / node.ratio, variables[k])
    ux, uy, uz = axis(load(poses, i, 0))
    angle, slide = split(node, change)
    for f in range(frames.size):
        if carries(nodes, i, frames[f]):
            move_frame(world, f, ux, uy, uz, poses[i, 4], poses[i, 5], poses[i, 6], angle, slide)


@jit
def sweep_to_root(problem, x, softness, longest, deepest, above, work, moved):
    """Every variable once, from the tips to the root: what a joint moves lies behind, so the poses ahead stay true.

    A variable with several motions is met at the deepest of them.
    """
    nodes = problem.nodes
    for i in range(nodes.size - 1, -1, -1):
        if above[i] >= 0 and deepest[nodes[i].variable] == i:
            move_coupled(problem, x, softness, longest, i, above, work, moved)
        elif deepest[nodes[i].variable] == i:
            move_alone(problem, x, softness, longest, i, work)


@jit
def sweep_to_tips(problem, x, softness, longest, deepest, above, work, moved):
    """Every variable once, from the root to the tips: each node is placed when the sweep comes to it.

    A variable with several motions is met at the first of them, and those between are placed ahead of time.
    """
    nodes = problem.nodes
    for i in range(nodes.size):
        last = deepest[nodes[i].variable]
        place_rows(nodes, x, work.poses, i, i)
        if last == i and above[i] < 0:
            move_alone(problem, x, softness, longest, i, work)
            place_rows(nodes, x, work.poses, i, i)
        elif above[i] < 0:
            place_rows(nodes, x, work.poses, i + 1, last)
            move_coupled(problem, x, softness, longest, last, above, work, moved)


@jit
def search(problem, x, seed, most, deadline, parameters, places, room, clock, state, outcome, work):
    """Sweep after sweep from x until one satisfies all terms, nothing more is gained, or the budget is spent."""
    nodes, frames, terms = problem.nodes, problem.frames, problem.terms
    deepest, above = places[: x.size], places[x.size :]
    memory, moved = room[:MEMORY], room[MEMORY:].reshape((frames.size, 7))
    link_variables(nodes, deepest, above)
    begin(terms, seed, state, memory, outcome)
    restarts = parameters[RESTARTS] != 0.0 and not beyond_reach(problem)
    longest = parameters[LONGEST_STEP]
    while not over(problem, x, restarts, most, deadline, clock, state, memory, outcome, work):
        if parameters[TO_ROOT] != 0.0:
            sweep_to_root(problem, x, memory[SOFTNESS], longest, deepest, above, work, moved)
        else:
            sweep_to_tips(problem, x, memory[SOFTNESS], longest, deepest, above, work, moved)

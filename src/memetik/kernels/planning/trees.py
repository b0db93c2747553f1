"""RRT-Connect: a tree from the start and one from the goals grow towards random postures and towards each other.

Kuffner and LaValle 2000, RRT-Connect: an efficient approach to single-query path planning. A node from which a motion was
blocked is grown towards near postures only (Yershova, Jaillet, Simeon and LaValle 2005, Dynamic-domain RRTs), and the smaller
tree grows.
"""

import math

import numpy as np

from memetik.kernels.compiler.jit import jit, jit_free, jit_part
from memetik.kernels.compiler.lanes import LANES, put, select, spread, take
from memetik.kernels.planning.planning_record import (
    CONNECTED,
    DRAWN,
    FULL,
    GOAL,
    GOALS_BLOCKED,
    GROWING,
    POSTURES,
    SPENT,
    START,
    START_BLOCKED,
    TIMED_OUT,
    planning_of,
)
from memetik.kernels.planning.proof import is_free, look_at_those_that_move, prepare_proofs
from memetik.kernels.runtime.cancel import CAUGHT
from memetik.kernels.runtime.clock import now
from memetik.kernels.runtime.random import seed_stream, uniform

FIRST = 0  # row
NOWHERE = 1e100  # where nodes are that a tree does not have yet


@jit_part
def node_of(plan, t, i, q):
    """Copy a node of a tree."""
    for k in range(q.size):
        q[k] = plan.tree[t, i // LANES, k, i % LANES]


@jit_part
def add_node(plan, t, q, parent):
    """Add a node to a tree. Returns its number."""
    i = plan.size[t]
    if i % LANES == 0:
        for k in range(q.size):
            for lane in range(LANES):
                plan.tree[t, i // LANES, k, lane] = NOWHERE
    for k in range(q.size):
        plan.tree[t, i // LANES, k, i % LANES] = q[k]
    plan.parent[t, i], plan.radius[t, i] = parent, math.inf
    plan.size[t] = i + 1
    return i


@jit_part
def nearest(plan, t, q):
    """The node of a tree that is nearest to a posture, and how far it is."""
    n = q.size
    first = t * plan.tree.shape[1] * n
    best, where = spread(math.inf), spread(0.0)
    for block in range((plan.size[t] + LANES - 1) // LANES):
        total = spread(0.0)
        for k in range(n):
            way = take(plan.tree, first + block * n + k) - q[k]
            total += way * way
        closer = total < best
        best, where = select(closer, total, best), select(closer, float(block), where)
    put(plan.best, 0, best)
    put(plan.where, 0, where)
    least, node = math.inf, 0
    for lane in range(LANES):
        if plan.best[FIRST, lane] < least:
            least, node = plan.best[FIRST, lane], int(plan.where[FIRST, lane]) * LANES + lane
    return node, math.sqrt(least)


@jit_part
def distance(a, b):
    """How far two postures are apart."""
    total = 0.0
    for k in range(a.size):
        total += (a[k] - b[k]) ** 2
    return math.sqrt(total)


@jit_part
def write_path(plan, one, other):
    """Write the path to a node of the start's tree, from there to a node of the goal's, and on to its root."""
    rows, node = 0, one
    while node >= 0:
        rows += 1
        node = plan.parent[START, node]
    node, row = one, rows - 1
    while node >= 0:
        node_of(plan, START, node, plan.path[row])
        row -= 1
        node = plan.parent[START, node]
    node = other
    while node >= 0:
        node_of(plan, GOAL, node, plan.path[rows])
        rows += 1
        node = plan.parent[GOAL, node]
    plan.rows[0] = rows


@jit_part
def grow(plan, limits, t):
    """Grow one tree towards a random posture, then towards the other tree: whether they met."""
    a, b, c = plan.a, plan.b, plan.c
    plan.spent[DRAWN] += 1
    for k in range(b.size):
        b[k] = plan.lower[k] + (plan.upper[k] - plan.lower[k]) * uniform(plan.state)
    node, way = nearest(plan, t, b)
    if way == 0.0 or plan.radius[t, node] < way:
        return False
    node_of(plan, t, node, a)
    share = min(limits.range / way, 1.0)
    for k in range(b.size):
        b[k] = a[k] + share * (b[k] - a[k])
    if not is_free(plan, limits):
        plan.radius[t, node] = limits.near
        return False
    new = add_node(plan, t, b, node)
    other, way = nearest(plan, 1 - t, b)
    node_of(plan, 1 - t, other, c)
    steps = max(int(np.ceil(way / limits.range)), 1)
    for step in range(steps):
        for k in range(b.size):
            a[k] = b[k]
            b[k] = a[k] + (c[k] - a[k]) / (steps - step)
        if not is_free(plan, limits):
            return False
        if step + 1 < steps:
            if plan.size[t] + 2 >= plan.parent.shape[1]:
                return False
            new = add_node(plan, t, b, new)
    if t == START:
        write_path(plan, new, other)
    else:
        write_path(plan, other, new)
    return True


@jit_free
def begin_planning(table, limits, start, goals):
    """Plant the trees where start and goals are free: CONNECTED if the straight way to a goal is free, which then is the path."""
    plan = planning_of(table)
    prepare_proofs(plan, limits.resolution)
    seed_stream(plan.state, limits.seed, 0)
    for k in range(plan.spent.size):
        plan.spent[k] = 0
    plan.size[START], plan.size[GOAL] = 0, 0
    for k in range(start.size):
        plan.a[k] = plan.b[k] = start[k]
    if not is_free(plan, limits):
        return START_BLOCKED
    look_at_those_that_move(plan)
    add_node(plan, START, start, -1)
    for g in range(goals.shape[0]):
        for k in range(start.size):
            plan.a[k] = plan.b[k] = goals[g, k]
        if is_free(plan, limits):
            add_node(plan, GOAL, plan.b, -1)
    if plan.size[GOAL] == 0:
        return GOALS_BLOCKED
    for g in range(plan.size[GOAL]):
        node_of(plan, GOAL, g, plan.b)
        for k in range(start.size):
            plan.a[k] = start[k]
        if is_free(plan, limits):
            for k in range(start.size):
                plan.path[FIRST, k], plan.path[FIRST + 1, k] = start[k], plan.b[k]
            plan.rows[0] = 2
            return CONNECTED
    return GROWING


@jit_free
def grow_trees(table, limits, until):
    """Grow the trees: CONNECTED when they meet, FULL, SPENT, or TIMED_OUT at the time `until` and when cancelled."""
    plan = planning_of(table)
    while True:
        if plan.spent[POSTURES] >= limits.evaluations:
            return SPENT
        if max(plan.size[START], plan.size[GOAL]) + 2 >= plan.parent.shape[1]:
            return FULL
        if now(plan.clock) >= until or plan.clock[CAUGHT] != 0:
            return TIMED_OUT
        t = START if plan.size[START] <= plan.size[GOAL] else GOAL
        if grow(plan, limits, t):
            return CONNECTED


@jit_free
def prove_motion(table, limits, one, two):
    """Whether the straight motion between two postures is proved to be free, once planning has begun."""
    plan = planning_of(table)
    for k in range(one.size):
        plan.a[k], plan.b[k] = one[k], two[k]
    return is_free(plan, limits)


@jit
def clock_of(table):
    """The time on the clock that `until` is on."""
    return now(planning_of(table).clock)

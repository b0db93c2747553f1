"""Shorter paths: ways that leave out postures, and ways between random places on the path, as long as they are proved free."""

import math

from memetik.kernels.compiler.jit import jit_free, jit_part
from memetik.kernels.planning.planning_record import planning_of
from memetik.kernels.planning.proof import is_free
from memetik.kernels.planning.trees import distance
from memetik.kernels.runtime.clock import now
from memetik.kernels.runtime.random import seed_stream, uniform

WORTH = 1e-3  # a cut must save this share of the path


@jit_part
def is_way_free(plan, limits, i, j):
    """Whether the straight way from row i of the path to row j is free."""
    for k in range(plan.a.size):
        plan.a[k], plan.b[k] = plan.path[i, k], plan.path[j, k]
    return is_free(plan, limits)


@jit_part
def move_rows(plan, first, to):
    """Move the rows of the path from `first` on, so that they begin at row `to`."""
    count, n = plan.rows[0], plan.a.size
    if to < first:
        for row in range(first, count):
            for k in range(n):
                plan.path[row + to - first, k] = plan.path[row, k]
    else:
        for row in range(count - 1, first - 1, -1):
            for k in range(n):
                plan.path[row + to - first, k] = plan.path[row, k]
    plan.rows[0] = count + to - first


@jit_part
def leave_out(plan, limits, until):
    """Go from each posture to the farthest one that the straight way leads to."""
    i = 0
    while i < plan.rows[0] - 2:
        j = plan.rows[0] - 1
        while j > i + 1:
            if now(plan.clock) >= until:
                return
            if is_way_free(plan, limits, i, j):
                move_rows(plan, j, i + 1)
                break
            j -= 1
        i += 1


@jit_part
def place_on_path(plan, at, q):
    """The posture after so much of the path, and the row before it."""
    row = 0
    while row < plan.rows[0] - 2:
        way = distance(plan.path[row], plan.path[row + 1])
        if at <= way:
            break
        at -= way
        row += 1
    way = distance(plan.path[row], plan.path[row + 1])
    share = min(at / way, 1.0) if way > 0.0 else 0.0
    for k in range(q.size):
        q[k] = plan.path[row, k] + share * (plan.path[row + 1, k] - plan.path[row, k])
    return row


@jit_part
def length_of(plan):
    """The length of the path."""
    total = 0.0
    for row in range(plan.rows[0] - 1):
        total += distance(plan.path[row], plan.path[row + 1])
    return total


@jit_part
def cut(plan, limits, first, last):
    """Go straight from one place on the path to another one, given by what of the path lies before them: whether it is free."""
    i = place_on_path(plan, first, plan.a)
    j = place_on_path(plan, last, plan.b)
    if i == j:
        return False
    way = distance(plan.a, plan.b)
    if last - first - way < WORTH * last or plan.rows[0] + 2 > plan.path.shape[0] or not is_free(plan, limits):
        return False
    # Rows i + 1 to j give way to two new ones; one that stands there already is not doubled.
    move_rows(plan, j + 1, i + 3)
    for k in range(plan.a.size):
        plan.path[i + 1, k], plan.path[i + 2, k] = plan.a[k], plan.b[k]
    for row in (i + 2, i + 1):
        before, behind = distance(plan.path[row - 1], plan.path[row]), distance(plan.path[row], plan.path[row + 1])
        if before == 0.0 or behind == 0.0:
            move_rows(plan, row + 1, row)
    return True


@jit_free
def shorten_path(table, limits, tries, until):
    """Make the path shorter, with so many tries to cut it between random places, or until a time. Returns its length."""
    plan = planning_of(table)
    seed_stream(plan.state, limits.seed, 1)
    if plan.rows[0] > 2:
        leave_out(plan, limits, until)
    idle = 0
    for _ in range(tries):
        if plan.rows[0] < 3 or idle >= tries // 4 + 1 or now(plan.clock) >= until:
            break
        total = length_of(plan)
        one, two = total * uniform(plan.state), total * uniform(plan.state)
        idle = 0 if cut(plan, limits, min(one, two), max(one, two)) else idle + 1
    if plan.rows[0] > 2:
        leave_out(plan, limits, math.inf)
    return length_of(plan)

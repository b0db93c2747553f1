"""DISTANCE: solids keep apart, those of links from those of other links or of the world.

Each pair of groups that comes closer than the margin has one residual. With the signed distance d between the surfaces
of its two nearest solids, less the clearance that is asked for, at the points a and b of these, and the unit vector n
from b to a,

    e = max(0, margin - d)        de = -n·(v_a - v_b) where e > 0

with the velocities of a and b as fixed to their solids: the points slide over the surfaces as well, but only square to
n. The search aims at the margin; what is judged is how far d is below zero, max(0, -d) = max(0, e - margin).

Of many pairs only few are close at a time. Balls say which: one around each group, whose frame stands at its centre, so
that it is placed with the body, and one around all that hangs on a link and stays near it, such as the fingers of a
hand. Close pairs take the rows in turn, so that a body of a thousand pairs needs no thousand rows; should they be more,
the deepest of the rest has the last row.
"""

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import compose, load, turn
from memetik.kernels.terms.geometry.solids import (
    NOWHERE,
    SOLID_BALL,
    SOLID_BOX,
    SOLID_DATA,
    SOLID_DISC,
    apart,
    radius,
)
from memetik.kernels.terms.pose import add_along, turn_back
from memetik.kernels.terms.records import CONTACT, TermKind, declare

# Data: margin and clearance [m], then `count` lists of pairs.
DISTANCE_MARGIN, DISTANCE_CLEARANCE, DISTANCE_LISTS = 0, 1, 2
# A list: the places of two balls around all that is in it (none: -1), of a group, how many others it pairs with, and these.
LIST_FIRST, LIST_SECOND, LIST_GROUP, LIST_COUNT, LIST_OTHERS = 0, 1, 2, 3, 4
# A ball: the row of the frame at its centre (-1: the world, then the centre), and its radius.
BALL_FRAME, BALL_CENTER, BALL_RADIUS, BALL_DATA = 0, 1, 4, 5
# A group of solids on one frame: the ball around all, how many, the solids.
GROUP_FRAME, GROUP_CENTER, GROUP_RADIUS, GROUP_COUNT, GROUP_SOLIDS = BALL_FRAME, BALL_CENTER, BALL_RADIUS, 5, 6


@jit_part
def group_pose(data, world, g):
    """Where the frame of a group is."""
    frame = int(data[g + GROUP_FRAME])
    if frame < 0:
        return 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    return load(world, frame, 0)


@jit_part
def ball_center(data, world, b):
    """Where the centre of a ball is."""
    frame = int(data[b + BALL_FRAME])
    if frame < 0:
        return data[b + BALL_CENTER], data[b + BALL_CENTER + 1], data[b + BALL_CENTER + 2]
    return world[frame, 4], world[frame, 5], world[frame, 6]


@jit_part
def balls_apart(data, world, first, second, enough):
    """Whether two balls are at least so far apart."""
    ax, ay, az = ball_center(data, world, first)
    bx, by, bz = ball_center(data, world, second)
    free = enough + data[first + BALL_RADIUS] + data[second + BALL_RADIUS]
    return (ax - bx) ** 2 + (ay - by) ** 2 + (az - bz) ** 2 >= free * free


@jit_part
def solid_pose(data, group, s):
    """Where a solid of a group at this pose is."""
    return compose(group, (data[s], data[s + 1], data[s + 2], data[s + 3], data[s + 4], data[s + 5], data[s + 6]))


@jit_part
def from_point(data, q, t, p):
    """From a point in the world to the solid data[t:] at q, with its disc as a square: never more than to the solid."""
    x, y, z = turn_back(q, p[4] - q[4], p[5] - q[5], p[6] - q[6])
    disc = data[t + SOLID_DISC]
    x = max(abs(x) - data[t + SOLID_BOX] - disc, 0.0)
    y = max(abs(y) - data[t + SOLID_BOX + 1] - disc, 0.0)
    z = max(abs(z) - data[t + SOLID_BOX + 2], 0.0)
    return math.sqrt(x * x + y * y + z * z) - data[t + SOLID_BALL]


@jit_part
def solid_center(data, group, s):
    """Where the middle of a solid of a group at this pose is."""
    x, y, z = turn(group, data[s + 4], data[s + 5], data[s + 6])
    return x + group[4], y + group[5], z + group[6]


@jit
def nearest(data, world, first, second, enough):
    """The nearest solids of two groups: signed distance, a, b, n; from `enough` on, nothing is looked at."""
    best = enough, NOWHERE, NOWHERE, NOWHERE
    frame, other = group_pose(data, world, first), group_pose(data, world, second)
    bx, by, bz = ball_center(data, world, second)
    beyond = data[second + GROUP_RADIUS]
    for i in range(int(data[first + GROUP_COUNT])):
        s = first + GROUP_SOLIDS + i * SOLID_DATA
        ax, ay, az = solid_center(data, frame, s)
        around = radius(data, s)
        free = max(best[0] + around + beyond, 0.0)
        if (ax - bx) ** 2 + (ay - by) ** 2 + (az - bz) ** 2 >= free * free:
            continue
        p = solid_pose(data, frame, s)
        for j in range(int(data[second + GROUP_COUNT])):
            t = second + GROUP_SOLIDS + j * SOLID_DATA
            x, y, z = solid_center(data, other, t)
            wide = radius(data, t)
            free = max(best[0] + around + wide, 0.0)
            if (ax - x) ** 2 + (ay - y) ** 2 + (az - z) ** 2 >= free * free:
                continue
            q = solid_pose(data, other, t)
            if from_point(data, q, t, p) - around < best[0] and from_point(data, p, s, q) - wide < best[0]:
                found = apart(data, p, s, q, t, best[0])
                if found[0] < best[0]:
                    best = found
    return best


@jit
def distance_residual(term, data, world, x, out):
    enough = data[term.numbers + DISTANCE_MARGIN] + data[term.numbers + DISTANCE_CLEARANCE]
    last = term.row + term.rows - 1
    for i in range(term.row, term.row + term.rows):
        out[i] = 0.0
    row, k = term.row, term.numbers + DISTANCE_LISTS
    for _ in range(term.count):
        group, begin, end = int(data[k + LIST_GROUP]), k + LIST_OTHERS, k + LIST_OTHERS + int(data[k + LIST_COUNT])
        first, second = int(data[k + LIST_FIRST]), int(data[k + LIST_SECOND])
        k = end
        if first >= 0 and balls_apart(data, world, first, second, enough):
            continue
        for other in range(begin, end):
            if balls_apart(data, world, group, int(data[other]), enough):
                continue
            d = nearest(data, world, group, int(data[other]), enough)[0]
            if d < enough:
                out[row] = max(out[row], enough - d)
                row = min(row + 1, last)


@jit
def distance_jacobian(term, data, world, x, nodes, frames, poses, axes, scale, jacobian):
    enough = data[term.numbers + DISTANCE_MARGIN] + data[term.numbers + DISTANCE_CLEARANCE]
    last = term.row + term.rows - 1
    row, k = term.row, term.numbers + DISTANCE_LISTS
    deepest = enough, NOWHERE, NOWHERE, NOWHERE  # of the pairs that share the last row
    one = two = -1
    for _ in range(term.count):
        group, begin, end = int(data[k + LIST_GROUP]), k + LIST_OTHERS, k + LIST_OTHERS + int(data[k + LIST_COUNT])
        first, second = int(data[k + LIST_FIRST]), int(data[k + LIST_SECOND])
        k = end
        if first >= 0 and balls_apart(data, world, first, second, enough):
            continue
        for place in range(begin, end):
            other = int(data[place])
            if balls_apart(data, world, group, other, enough):
                continue
            found = nearest(data, world, group, other, enough)
            if found[0] < enough and row < last:
                add_row(data, (group, other), found, row, nodes, frames, poses, axes, scale, jacobian)
                row += 1
            elif found[0] < deepest[0]:
                deepest, one, two = found, group, other
    if one >= 0:
        add_row(data, (one, two), deepest, last, nodes, frames, poses, axes, scale, jacobian)


@jit_part
def add_row(data, pair, contact, row, nodes, frames, poses, axes, scale, jacobian):
    """Add -n·(v_a - v_b) times the scale, for a pair of groups at their points a and b."""
    _, a, b, n = contact
    frame, other = int(data[pair[0] + GROUP_FRAME]), int(data[pair[1] + GROUP_FRAME])
    if frame >= 0:
        add_along(frames[frame].node, a, n, -scale, row, nodes, poses, axes, jacobian)
    if other >= 0:
        add_along(frames[other].node, b, n, scale, row, nodes, poses, axes, jacobian)


@jit
def penetration(term, data, out):
    """How deep the deepest pair is [m]."""
    deepest = 0.0
    for i in range(term.row, term.row + term.rows):
        deepest = max(deepest, out[i] - data[term.numbers + DISTANCE_MARGIN])
    return deepest


DISTANCE = declare(TermKind(4, "distance", "m", None, distance_residual, distance_jacobian, loss=CONTACT))
# The same with hulls among the solids: graphics cards, which call nothing by address, compile what these need for it alone.
HULL_DISTANCE = declare(TermKind(22, "hull distance", "m", None, distance_residual, distance_jacobian, loss=CONTACT))
# And with height fields or grids of distances, whose samples only the processor finds by their address.
FIELD_DISTANCE = declare(TermKind(30, "field distance", "m", None, distance_residual, distance_jacobian, loss=CONTACT))

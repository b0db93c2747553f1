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
from memetik.kernels.geometry.closest import clamp
from memetik.kernels.geometry.solids import (
    NOWHERE,
    SOLID_BALL,
    SOLID_BOX,
    SOLID_DATA,
    SOLID_DISC,
    apart,
    moved,
    radius,
    three,
)
from memetik.kernels.math.pose import compose, inverse, load, turn
from memetik.kernels.math.rotation import turn_back
from memetik.kernels.terms.pose import add_along
from memetik.kernels.terms.records import CONTACT, TermKind, declare

# Data: margin and clearance [m]; where the same numbers stand with contacts in place of lists, to which the residual writes what
# it finds (0: nowhere); how many contacts follow (-1: lists); and these, or `count` lists of pairs.
DISTANCE_MARGIN, DISTANCE_CLEARANCE, DISTANCE_FOUND, DISTANCE_CONTACTS, DISTANCE_LISTS = 0, 1, 2, 3, 4
# A list: the places of two balls around all that is in it (none: -1), of a group, how many others it pairs with, and these.
LIST_FIRST, LIST_SECOND, LIST_GROUP, LIST_COUNT, LIST_OTHERS = 0, 1, 2, 3, 4
# A ball: the row of the frame at its centre (-1: the world, then the centre), and its radius.
BALL_FRAME, BALL_CENTER, BALL_RADIUS, BALL_DATA = 0, 1, 4, 5
# A group of solids on one frame: the ball around all, how many, the half sizes of a box around all, about the middle of the ball
# and along the axes of the frame (not looked at in the world, where obstacles turn), and the solids.
GROUP_FRAME, GROUP_CENTER, GROUP_RADIUS, GROUP_COUNT, GROUP_BOX = BALL_FRAME, BALL_CENTER, BALL_RADIUS, 5, 6
GROUP_SOLIDS = 9
# A contact: the places of the groups, d, a, b, n.
CONTACT_GROUP, CONTACT_OTHER, CONTACT_DISTANCE, CONTACT_A, CONTACT_B, CONTACT_N, CONTACT_DATA = 0, 1, 2, 3, 6, 9, 12


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
def middle_of(data, g):
    """Where the middle of the ball around a group is, in the axes of its frame."""
    if data[g + GROUP_FRAME] < 0.0:
        return data[g + GROUP_CENTER], data[g + GROUP_CENTER + 1], data[g + GROUP_CENTER + 2]
    return 0.0, 0.0, 0.0


@jit_part
def boxes_apart(data, first, second, seen, enough):
    """Whether the box around a group on a frame tells that another one, with its frame at `seen` from there, is so far away."""
    if data[first + GROUP_FRAME] < 0.0:
        return False
    x, y, z = moved(seen, middle_of(data, second))
    x -= clamp(x, data[first + GROUP_BOX])
    y -= clamp(y, data[first + GROUP_BOX + 1])
    z -= clamp(z, data[first + GROUP_BOX + 2])
    way = math.sqrt(x * x + y * y + z * z)
    if way - data[second + GROUP_RADIUS] >= enough:
        return True
    if way == 0.0 or data[second + GROUP_FRAME] < 0.0:
        return False
    x, y, z = turn_back(seen, x, y, z)
    k = second + GROUP_BOX
    return way * (way - enough) >= data[k] * abs(x) + data[k + 1] * abs(y) + data[k + 2] * abs(z)


@jit_part
def solid_pose(data, group, s):
    """Where a solid of a group at this pose is."""
    return compose(group, (data[s], data[s + 1], data[s + 2], data[s + 3], data[s + 4], data[s + 5], data[s + 6]))


@jit_part
def half_width(data, s, x, y, z):
    """How far a solid extends from its middle along a unit vector in its own axes: a cylinder as its capsule and box do."""
    box = data[s + SOLID_BOX] * abs(x) + data[s + SOLID_BOX + 1] * abs(y) + data[s + SOLID_BOX + 2] * abs(z)
    return box + data[s + SOLID_DISC] * min(1.0, abs(x) + abs(y)) + data[s + SOLID_BALL]


@jit_part
def beyond_box(data, q, t, p, s, around, enough):
    """A lower bound of the distance from the solid data[t:] at q to data[s:] at p, which has a ball of radius `around`.

    It is that along the shortest way from the box of the one, with its disc as a square, to the middle of the other: first
    to the ball of the other and, if that is less than `enough`, to where the other ends on this way.
    """
    x, y, z = turn_back(q, p[4] - q[4], p[5] - q[5], p[6] - q[6])
    disc = data[t + SOLID_DISC]
    x -= clamp(x, data[t + SOLID_BOX] + disc)
    y -= clamp(y, data[t + SOLID_BOX + 1] + disc)
    z -= clamp(z, data[t + SOLID_BOX + 2])
    way = math.sqrt(x * x + y * y + z * z)
    d = way - data[t + SOLID_BALL]
    if way == 0.0 or d - around >= enough:
        return d - around
    x, y, z = turn(q, x / way, y / way, z / way)
    x, y, z = turn_back(p, x, y, z)
    return d - half_width(data, s, x, y, z)


@jit
def nearest(data, world, first, second, enough):
    """The nearest solids of two groups: signed distance, a, b, n; from `enough` on, nothing is looked at.

    All is measured as seen from the frame of the first group, where its solids are as they stand in the data.
    """
    best = enough, NOWHERE, NOWHERE, NOWHERE
    frame = group_pose(data, world, first)
    seen = compose(inverse(frame), group_pose(data, world, second))
    if boxes_apart(data, first, second, seen, enough) or boxes_apart(data, second, first, inverse(seen), enough):
        return best
    mx, my, mz = middle_of(data, first)
    for j in range(int(data[second + GROUP_COUNT])):
        t = second + GROUP_SOLIDS + j * SOLID_DATA
        x, y, z = moved(seen, (data[t + 4], data[t + 5], data[t + 6]))
        wide = radius(data, t)
        free = max(best[0] + wide + data[first + GROUP_RADIUS], 0.0)
        if (x - mx) ** 2 + (y - my) ** 2 + (z - mz) ** 2 >= free * free:
            continue
        q = solid_pose(data, seen, t)
        for i in range(int(data[first + GROUP_COUNT])):
            s = first + GROUP_SOLIDS + i * SOLID_DATA
            around = radius(data, s)
            free = max(best[0] + around + wide, 0.0)
            if (data[s + 4] - x) ** 2 + (data[s + 5] - y) ** 2 + (data[s + 6] - z) ** 2 >= free * free:
                continue
            p = (data[s], data[s + 1], data[s + 2], data[s + 3], data[s + 4], data[s + 5], data[s + 6])
            if (
                beyond_box(data, q, t, p, s, around, best[0]) < best[0]
                and beyond_box(data, p, s, q, t, wide, best[0]) < best[0]
            ):
                found = apart(data, p, s, q, t, best[0])
                if found[0] < best[0]:
                    best = found
    if best[0] >= enough:
        return best
    d, a, b, n = best
    return d, moved(frame, a), moved(frame, b), turn(frame, n[0], n[1], n[2])


@jit_part
def distance_residual(term, data, world, x, out):
    enough = data[term.numbers + DISTANCE_MARGIN] + data[term.numbers + DISTANCE_CLEARANCE]
    last = term.row + term.rows - 1
    for i in range(term.row, term.row + term.rows):
        out[i] = 0.0
    row, k = term.row, term.numbers + DISTANCE_LISTS
    to, contacts = int(data[term.numbers + DISTANCE_FOUND]), 0
    for _ in range(term.count):
        group, begin, end = int(data[k + LIST_GROUP]), k + LIST_OTHERS, k + LIST_OTHERS + int(data[k + LIST_COUNT])
        first, second = int(data[k + LIST_FIRST]), int(data[k + LIST_SECOND])
        k = end
        if first >= 0 and balls_apart(data, world, first, second, enough):
            continue
        for other in range(begin, end):
            if balls_apart(data, world, group, int(data[other]), enough):
                continue
            found = nearest(data, world, group, int(data[other]), enough)
            if found[0] < enough:
                if to > 0 and enough - found[0] > out[row]:
                    contacts = row - term.row + 1
                    write_contact(data, to + DISTANCE_LISTS + (contacts - 1) * CONTACT_DATA, group, data[other], found)
                out[row] = max(out[row], enough - found[0])
                row = min(row + 1, last)
    if to > 0:
        data[to + DISTANCE_CONTACTS] = contacts


@jit_part
def write_contact(data, k, group, other, contact):
    """Write what the Jacobian needs of a close pair."""
    d, a, b, n = contact
    data[k + CONTACT_GROUP], data[k + CONTACT_OTHER], data[k + CONTACT_DISTANCE] = group, other, d
    for i in range(3):
        data[k + CONTACT_A + i], data[k + CONTACT_B + i], data[k + CONTACT_N + i] = a[i], b[i], n[i]


@jit_part
def near_lists(term, data, world, slack, k):
    """Write lists of the pairs whose balls are nearer than that, at data[k:]. Returns how many, and where they end.

    As long as no ball has moved by more than half the slack, all other pairs are as far apart as is asked for.
    """
    enough = data[term.numbers + DISTANCE_MARGIN] + data[term.numbers + DISTANCE_CLEARANCE] + slack
    lists, source = 0, term.numbers + DISTANCE_LISTS
    for _ in range(term.count):
        group, first, second = int(data[source + LIST_GROUP]), int(data[source]), int(data[source + LIST_SECOND])
        begin, end = source + LIST_OTHERS, source + LIST_OTHERS + int(data[source + LIST_COUNT])
        source = end
        if first >= 0 and balls_apart(data, world, first, second, enough):
            continue
        to = k + LIST_OTHERS
        for other in range(begin, end):
            if not balls_apart(data, world, group, int(data[other]), enough):
                data[to] = data[other]
                to += 1
        if to > k + LIST_OTHERS:
            data[k + LIST_FIRST] = data[k + LIST_SECOND] = -1.0
            data[k + LIST_GROUP], data[k + LIST_COUNT] = group, to - k - LIST_OTHERS
            lists, k = lists + 1, to
    return lists, k


@jit_part
def distance_jacobian(term, data, world, x, nodes, frames, poses, axes, scale, jacobian):
    enough = data[term.numbers + DISTANCE_MARGIN] + data[term.numbers + DISTANCE_CLEARANCE]
    last = term.row + term.rows - 1
    row, k = term.row, term.numbers + DISTANCE_LISTS
    for _ in range(int(data[term.numbers + DISTANCE_CONTACTS])):
        pair = int(data[k + CONTACT_GROUP]), int(data[k + CONTACT_OTHER])
        a, b, n = three(data, k + CONTACT_A), three(data, k + CONTACT_B), three(data, k + CONTACT_N)
        contact = data[k + CONTACT_DISTANCE], a, b, n
        add_row(data, pair, contact, row, nodes, frames, poses, axes, scale, jacobian)
        row, k = row + 1, k + CONTACT_DATA
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

"""DISTANCE: solids keep apart, those of links from those of other links or of the world.

Each pair of groups that comes closer than the margin has one residual. With the signed distance d between the surfaces
of its two nearest solids, at the points a and b of these, and the unit vector n from b to a,

    e = max(0, margin - d)        de = -n·(v_a - v_b) where e > 0

with the velocities of a and b as fixed to their solids: the points slide over the surfaces as well, but only square to
n. The search aims at the margin; what is judged is the penetration max(0, -d) = max(0, e - margin).

Of many pairs only few are close at a time. They take the rows in turn, so that a body of a thousand pairs needs no
thousand rows; should they be more, the deepest of the rest has the last row.
"""

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import compose, load
from memetik.kernels.terms.geometry.solids import NOWHERE, SOLID_DATA, apart, moved, radius, three
from memetik.kernels.terms.pose import add_along
from memetik.kernels.terms.records import CONTACT, TermKind, declare

# Data: margin [m], then for each of `count` pairs the places of two groups.
DISTANCE_MARGIN, DISTANCE_PAIRS = 0, 1
# A group of solids on one frame: its row (-1: the world), centre and radius of a ball around all, how many, the solids.
GROUP_FRAME, GROUP_CENTER, GROUP_RADIUS, GROUP_COUNT, GROUP_SOLIDS = 0, 1, 4, 5, 6


@jit_part
def group_pose(data, world, g):
    """Where the frame of a group is."""
    frame = int(data[g + GROUP_FRAME])
    if frame < 0:
        return 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    return load(world, frame, 0)


@jit_part
def solid_pose(data, group, s):
    """Where a solid of a group at this pose is."""
    return compose(group, (data[s], data[s + 1], data[s + 2], data[s + 3], data[s + 4], data[s + 5], data[s + 6]))


@jit
def nearest(data, world, first, second, enough):
    """The nearest solids of two groups: signed distance, a, b, n; from `enough` on, nothing is looked at."""
    best = enough, NOWHERE, NOWHERE, NOWHERE
    frame, other = group_pose(data, world, first), group_pose(data, world, second)
    a = moved(frame, three(data, first + GROUP_CENTER))
    b = moved(other, three(data, second + GROUP_CENTER))
    free = enough + data[first + GROUP_RADIUS] + data[second + GROUP_RADIUS]
    if (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2 >= free * free:
        return best
    for i in range(int(data[first + GROUP_COUNT])):
        s = first + GROUP_SOLIDS + i * SOLID_DATA
        p, around = solid_pose(data, frame, s), radius(data, s)
        for j in range(int(data[second + GROUP_COUNT])):
            t = second + GROUP_SOLIDS + j * SOLID_DATA
            q = solid_pose(data, other, t)
            gap = math.sqrt((p[4] - q[4]) ** 2 + (p[5] - q[5]) ** 2 + (p[6] - q[6]) ** 2)
            if gap - around - radius(data, t) < best[0]:
                found = apart(data, p, s, q, t, best[0])
                if found[0] < best[0]:
                    best = found
    return best


@jit
def distance_residual(term, data, world, x, out):
    margin = data[term.numbers + DISTANCE_MARGIN]
    last = term.row + term.rows - 1
    for i in range(term.row, term.row + term.rows):
        out[i] = 0.0
    row = term.row
    for pair in range(term.count):
        k = term.numbers + DISTANCE_PAIRS + 2 * pair
        d = nearest(data, world, int(data[k]), int(data[k + 1]), margin)[0]
        if d < margin:
            out[row] = max(out[row], margin - d)
            row = min(row + 1, last)


@jit
def distance_jacobian(term, data, world, x, nodes, frames, poses, axes, scale, jacobian):
    margin = data[term.numbers + DISTANCE_MARGIN]
    last = term.row + term.rows - 1
    row = term.row
    deepest, of = margin, -1  # of the pairs that share the last row
    for pair in range(term.count):
        k = term.numbers + DISTANCE_PAIRS + 2 * pair
        d, a, b, n = nearest(data, world, int(data[k]), int(data[k + 1]), margin)
        if d < margin and row < last:
            add_row(data, k, (a, b, n), row, nodes, frames, poses, axes, scale, jacobian)
            row += 1
        elif d < deepest:
            deepest, of = d, k
    if of >= 0:
        _, a, b, n = nearest(data, world, int(data[of]), int(data[of + 1]), margin)
        add_row(data, of, (a, b, n), last, nodes, frames, poses, axes, scale, jacobian)


@jit_part
def add_row(data, k, contact, row, nodes, frames, poses, axes, scale, jacobian):
    """Add -n·(v_a - v_b) times the scale, for the pair of groups that data[k] and data[k + 1] name, at points a and b."""
    a, b, n = contact
    p, pull = a, -scale
    for side in range(2):
        frame = int(data[int(data[k + side]) + GROUP_FRAME])
        if frame >= 0:
            add_along(frames[frame].node, p, n, pull, row, nodes, poses, axes, jacobian)
        p, pull = b, scale


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

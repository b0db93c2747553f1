"""Support points: how far a solid reaches in a direction, all that GJK and EPA ask of it.

Of a solid only its core counts, which is what remains without the ball around it: the hull of its points, or the sum of a
box and a disc across z (solids.py). The support point of the sum of two sets is the sum of theirs, and that of

    A - B = {a - b : a in A, b in B}

in the direction u is that of A in the direction u less that of B in the direction -u.
"""

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.geometry.solids import SOLID_BOX, SOLID_DISC, SOLID_POINTS
from memetik.kernels.math.pose import turn
from memetik.kernels.math.rotation import turn_back

# The points of a hull: how many, whether neighbours follow; x, y, z of each. Then for each point where its neighbours begin in
# the list of all neighbours, one number more for its end, and that list.
HULL_COUNT, HULL_LINKED, HULL_POINTS = 0, 1, 2

# A prism in the scratch: the three corners of its top, and how high its level bottom is.
PRISM_BOTTOM, PRISM = 9, 10

# A point w = a - b of A - B in the scratch: w, then a, in the axes of the first solid.
CORNER_A, CORNER = 3, 6


@jit_part
def farthest(data, h, start, x, y, z):
    """The point of a hull that is farthest along (x, y, z).

    With neighbours it climbs from point to point, beginning at `start`: on a convex body whoever has no higher neighbour is
    the highest. A look at every point takes longer from about 24 of them on (tests/stress/hulls.py time).
    """
    points = h + HULL_POINTS
    count = int(data[h + HULL_COUNT])
    best = start
    k = points + 3 * best
    most = data[k] * x + data[k + 1] * y + data[k + 2] * z
    if data[h + HULL_LINKED] == 0.0:
        for i in range(count):
            k = points + 3 * i
            value = data[k] * x + data[k + 1] * y + data[k + 2] * z
            if value > most:
                most, best = value, i
        return best
    ends = points + 3 * count
    links = ends + count + 1
    climbing = True
    while climbing:
        climbing = False
        here = best
        for j in range(links + int(data[ends + here]), links + int(data[ends + here + 1])):
            i = int(data[j])
            k = points + 3 * i
            value = data[k] * x + data[k + 1] * y + data[k + 2] * z
            if value > most:
                most, best = value, i
                climbing = True
    return best


@jit_part
def support(data, s, start, x, y, z):
    """The support point of a solid's core in its own axes, and its number where it is one of a hull's points."""
    behind = int(data[s + SOLID_POINTS])
    if behind > 0:
        best = farthest(data, s + behind, start, x, y, z)
        k = s + behind + HULL_POINTS + 3 * best
        return data[k], data[k + 1], data[k + 2], best
    across = math.sqrt(x * x + y * y)
    disc = data[s + SOLID_DISC] / across if across > 0.0 else 0.0
    return (
        math.copysign(data[s + SOLID_BOX], x) + disc * x,
        math.copysign(data[s + SOLID_BOX + 1], y) + disc * y,
        math.copysign(data[s + SOLID_BOX + 2], z),
        0,
    )


@jit_part
def support_of_prism(room, k, x, y, z):
    """The support point of the prism at room[k:]: on its top, or under it on the bottom."""
    best = k
    up = z if z > 0.0 else 0.0  # corners of the bottom are equally high
    most = room[k] * x + room[k + 1] * y + room[k + 2] * up
    for c in range(k + 3, k + PRISM_BOTTOM, 3):
        value = room[c] * x + room[c + 1] * y + room[c + 2] * up
        if value > most:
            most, best = value, c
    return room[best], room[best + 1], room[best + 2] if z > 0.0 else room[k + PRISM_BOTTOM]


@jit_part
def put_corner(data, solids, pose, starts, u, room, k):
    """Write the support point of A - B in the direction u to room[k:]; the numbers of the points of hulls.

    solids: their places, of B also -k for the prism at room[k:]. pose: of B in the axes of A. starts: the numbers of points to
    begin at.
    """
    ax, ay, az, i = support(data, solids[0], starts[0], u[0], u[1], u[2])
    x, y, z = turn_back(pose, -u[0], -u[1], -u[2])
    j = 0
    if solids[1] < 0:
        x, y, z = support_of_prism(room, -solids[1], x, y, z)
    else:
        x, y, z, j = support(data, solids[1], starts[1], x, y, z)
    x, y, z = turn(pose, x, y, z)
    room[k], room[k + 1], room[k + 2] = ax - x - pose[4], ay - y - pose[5], az - z - pose[6]
    room[k + CORNER_A], room[k + CORNER_A + 1], room[k + CORNER_A + 2] = ax, ay, az
    return i, j


@jit
def corner(room, k):
    """The point w at room[k:]."""
    return room[k], room[k + 1], room[k + 2]


@jit
def corner_a(room, k):
    """The point a of the first solid that w at room[k:] is made of."""
    return room[k + CORNER_A], room[k + CORNER_A + 1], room[k + CORNER_A + 2]

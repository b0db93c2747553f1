"""Signed distances between solids: boxes, segments or hulls of points with a ball around them, placed in the world.

Every function returns the distance d, a point a of the one and b of the other, and the unit vector n from b to a, with
a = b + d n for the boxes, segments and hulls without their balls.

What hulls (hulls.py), height fields (heights.py) and grids of distances (grids.py) need is called by address, which the numbers
of each name: it is compiled for those who have one.
"""

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.geometry.closest import (
    along,
    closest_on_segments,
    direction_apart,
    overlap,
    segment_to_box,
)
from memetik.kernels.geometry.function_pointers import call_apart
from memetik.kernels.math.pose import axis, turn
from memetik.kernels.math.rotation import turn_back
from memetik.kernels.math.vector import dot

# A solid: the sum of a box, a disc across z and a ball. Pose, half sizes of the box, radii of the disc and the ball. A hull has
# points in place of the box, which then is the one around them: how far behind the solid's first number they stand (0: no
# hull), and the address of the kernel for hulls in two halves, so that no bit is lost. A height field or a grid has, as far
# behind as the same number below zero says, where its samples lie: their address in two halves, and how many they are.
SOLID_BOX, SOLID_DISC, SOLID_BALL, SOLID_POINTS, SOLID_KERNEL, SOLID_DATA = 7, 10, 11, 12, 13, 15

NOWHERE = (0.0, 0.0, 0.0)


@jit
def three(data, k):
    return data[k], data[k + 1], data[k + 2]


@jit
def moved(pose, p):
    """The point p of the pose's frame, in the world."""
    x, y, z = turn(pose, p[0], p[1], p[2])
    return x + pose[4], y + pose[5], z + pose[6]


@jit
def middle(pose):
    return pose[4], pose[5], pose[6]


@jit_part
def half_vector(pose, h):
    """From the middle of a segment along z to its end."""
    x, y, z = axis(pose)
    return h[2] * x, h[2] * y, h[2] * z


@jit_part
def from_segment(a, u, b, v):
    """From a segment to a segment, both in the world."""
    s, t = closest_on_segments(a, u, b, v)
    p, q = along(a, u, s), along(b, v, t)
    n = (p[0] - q[0], p[1] - q[1], p[2] - q[2])
    d = math.sqrt(dot(n, n))
    if d < 1e-12:
        return 0.0, p, q, direction_apart(u, v)
    return d, p, q, (n[0] / d, n[1] / d, n[2] / d)


@jit_part
def from_box(a, u, box, h):
    """From a segment in the world to a box at a pose."""
    c = turn_back(box, a[0] - box[4], a[1] - box[5], a[2] - box[6])
    d, p, b, n = segment_to_box(c, turn_back(box, u[0], u[1], u[2]), h)
    return d, moved(box, p), moved(box, b), turn(box, n[0], n[1], n[2])


@jit_part
def edge_of_box(box, h, k):
    """Middle and half vector of edge k of 12: four along x, four along y, four along z."""
    one, two = (h[1], h[2]) if k < 4 else (h[0], h[2]) if k < 8 else (h[0], h[1])
    one, two = (one if k & 1 else -one), (two if k & 2 else -two)
    c, u = (0.0, one, two), (h[0], 0.0, 0.0)
    if k >= 8:
        c, u = (one, two, 0.0), (0.0, 0.0, h[2])
    elif k >= 4:
        c, u = (one, 0.0, two), (0.0, h[1], 0.0)
    return moved(box, c), turn(box, u[0], u[1], u[2])


@jit_part
def from_edges(p, g, q, h):
    """From the nearest edge of a box at p to a box at q."""
    best = math.inf, NOWHERE, NOWHERE, NOWHERE
    for k in range(12):
        a, u = edge_of_box(p, g, k)
        found = from_box(a, u, q, h)
        if found[0] < best[0]:
            best = found
    return best


@jit_part
def between_boxes(p, g, q, h, enough):
    """From a box to a box: the shortest way out or, since boxes are nearest at an edge of one, from all their edges."""
    c = turn_back(q, p[4] - q[4], p[5] - q[5], p[6] - q[6])
    x, y, z = turn(p, g[0], 0.0, 0.0), turn(p, 0.0, g[1], 0.0), turn(p, 0.0, 0.0, g[2])
    sides = (turn_back(q, x[0], x[1], x[2]), turn_back(q, y[0], y[1], y[2]), turn_back(q, z[0], z[1], z[2]))
    depth, a, b, n = overlap(c, sides, h)
    if depth >= 0.0 or -depth >= enough:
        return -depth, moved(q, a), moved(q, b), turn(q, n[0], n[1], n[2])
    one = from_edges(p, g, q, h)
    d, b, a, n = from_edges(q, h, p, g)
    return one if one[0] < d else (d, a, b, (-n[0], -n[1], -n[2]))


@jit_part
def separation(p, g, q, h, enough):
    """From a box or segment to another, with poses p, q and half sizes g, h; inexact if it is more than `enough`."""
    thin, lean = g[0] + g[1] == 0.0, h[0] + h[1] == 0.0
    if thin and lean:
        return from_segment(middle(p), half_vector(p, g), middle(q), half_vector(q, h))
    if thin:
        return from_box(middle(p), half_vector(p, g), q, h)
    if lean:
        d, b, a, n = from_box(middle(q), half_vector(q, h), p, g)
        return d, a, b, (-n[0], -n[1], -n[2])
    return between_boxes(p, g, q, h, enough)


@jit
def view(data, s, boxed):
    """Half sizes and ball of a solid; its disc counts as part of the ball or, `boxed`, as part of the box."""
    x, y, z = three(data, s + SOLID_BOX)
    disc, ball = data[s + SOLID_DISC], data[s + SOLID_BALL]
    return ((x + disc, y + disc, z), ball) if boxed else ((x, y, z), ball + disc)


@jit
def apart(data, p, s, q, t, enough):
    """From the solid data[s:] at the pose p to data[t:] at q; inexact if it is more than `enough`.

    A cylinder lies in its capsule and in its box. So it is at least as far away as either of them; where the capsule is
    nearest by its side, that is the side of the cylinder, and there is no more to look at.
    """
    one, other = data[s + SOLID_POINTS], data[t + SOLID_POINTS]
    if one != 0.0 or other != 0.0:  # fields know hulls, hulls know no fields
        k = (s if one < 0.0 or (one > 0.0 and other >= 0.0) else t) + SOLID_KERNEL
        return call_apart(int(data[k]) * 2**32 + int(data[k + 1]), data, p, s, q, t, enough)
    best = -math.inf, NOWHERE, NOWHERE, NOWHERE
    for i in range(2 if data[s + SOLID_DISC] > 0.0 else 1):
        g, ball = view(data, s, i == 1)
        for j in range(2 if data[t + SOLID_DISC] > 0.0 else 1):
            h, other = view(data, t, j == 1)
            d, a, b, n = separation(p, g, q, h, enough + ball + other)
            d -= ball + other
            if d > best[0]:
                best = d, a, b, n
            if d >= enough or (d > 0.0 and i + j == 0 and by_side(data, p, s, a) and by_side(data, q, t, b)):
                return best
    return best


@jit_part
def by_side(data, p, s, a):
    """Whether the point a of the axis of a cylinder is between its ends, beyond rounding; of other solids it does not matter."""
    if data[s + SOLID_DISC] == 0.0:
        return True
    if data[s + SOLID_BOX] != 0.0 or data[s + SOLID_BOX + 1] != 0.0:
        return False
    x, y, z = a[0] - p[4], a[1] - p[5], a[2] - p[6]
    return x * x + y * y + z * z < (0.999 * data[s + SOLID_BOX + 2]) ** 2


@jit
def radius(data, s):
    """Of a ball around a solid, and around the box of a cylinder."""
    x, y, z = three(data, s + SOLID_BOX)
    return math.sqrt(x * x + y * y + z * z + 2.0 * data[s + SOLID_DISC] ** 2) + data[s + SOLID_BALL]

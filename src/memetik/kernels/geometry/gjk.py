"""The distance between convex solids by the algorithm of Gilbert, Johnson and Keerthi (1988).

Two solids are as far apart as the origin is from A - B, the set of differences of their points. A simplex of up to four
points of that set comes closer and closer to the origin: with v the point of the simplex that is nearest to it, the next
corner w is the point of A - B that is farthest along -v, and corners that v does not need are dropped. Since

    v·w / |v| <= distance <= |v|

the search knows when it is done. Between polytopes it ends at the exact pair of features.
"""

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.geometry.support import CORNER, corner, corner_a, put_corner
from memetik.kernels.math.vector import cross, dot, minus, times

FAR, APART, TOUCHING = 0, 1, 2  # what was found: at least `enough` apart, the distance, or that the cores meet

STEPS = 200  # polytopes take 4 to 12, rounded ones up to 40
GAP = 1e-14  # between the bounds, as a share of the size of A - B, at which the search is done
CONTACT = 1e-10  # the same share of distances at which the normal comes from EPA, because v has lost its direction


@jit
def segment_shares(a, b):
    """Of the corners in the point of a segment that is nearest to the origin."""
    ab = minus(b, a)
    square = dot(ab, ab)
    t = min(max(-dot(a, ab) / square, 0.0), 1.0) if square > 0.0 else 0.0
    return 1.0 - t, t


@jit
def triangle_shares(a, b, c):
    """Of the corners in the point of a triangle that is nearest to the origin: by regions (Ericson 2005, section 5.1.5)."""
    ab, ac = minus(b, a), minus(c, a)
    d1, d2 = -dot(ab, a), -dot(ac, a)
    if d1 <= 0.0 and d2 <= 0.0:
        return 1.0, 0.0, 0.0
    d3, d4 = -dot(ab, b), -dot(ac, b)
    if d3 >= 0.0 and d4 <= d3:
        return 0.0, 1.0, 0.0
    d5, d6 = -dot(ab, c), -dot(ac, c)
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 0.0, 1.0
    # How the origin lies to the three sides: n·(x × y) is more exact than the differences of products of d1 to d6.
    n = cross(ab, ac)
    of_c, of_b, of_a = dot(n, cross(a, b)), dot(n, cross(c, a)), dot(n, cross(b, c))
    if of_c <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        t = d1 / (d1 - d3) if d1 > d3 else 0.0
        return 1.0 - t, t, 0.0
    if of_b <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        t = d2 / (d2 - d6) if d2 > d6 else 0.0
        return 1.0 - t, 0.0, t
    if of_a <= 0.0 and d4 >= d3 and d5 >= d6:
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6)) if (d4 - d3) + (d5 - d6) > 0.0 else 0.0
        return 0.0, 1.0 - t, t
    total = of_a + of_b + of_c
    if total <= 0.0:  # no triangle but a line, by rounding
        return 1.0, 0.0, 0.0
    return of_a / total, of_b / total, of_c / total


@jit_part
def nearest_in_triangle(room, i, j, k):
    """The shares of three corners, their point v, and |v|^2; within the triangle v stands square to it, for more digits."""
    a, b, c = corner(room, i), corner(room, j), corner(room, k)
    shares = triangle_shares(a, b, c)
    v = (
        shares[0] * a[0] + shares[1] * b[0] + shares[2] * c[0],
        shares[0] * a[1] + shares[1] * b[1] + shares[2] * c[1],
        shares[0] * a[2] + shares[1] * b[2] + shares[2] * c[2],
    )
    if shares[0] > 0.0 and shares[1] > 0.0 and shares[2] > 0.0:
        n = cross(minus(b, a), minus(c, a))
        square = dot(n, n)
        if square > 0.0:
            v = times(dot(a, n) / square, n)
    return shares, v, dot(v, v)


@jit_part
def keep(room, k, shares, share, count):
    """Move the corner at room[k:] to the end of those that are kept, if it has a share in v; how many these are."""
    if share <= 0.0:
        return count
    to = count * CORNER
    if to != k:
        for i in range(CORNER):
            room[to + i] = room[k + i]
    room[shares + count] = share
    return count + 1


@jit_part
def keep_three(room, at, shares, values):
    """Keep those of three corners, at growing places, that have a share; how many these are."""
    count = keep(room, at[0], shares, values[0], 0)
    count = keep(room, at[1], shares, values[1], count)
    return keep(room, at[2], shares, values[2], count)


@jit_part
def reduce(room, count, shares):
    """Drop the corners of a simplex that its point nearest to the origin does not need: how many remain, that point.

    Four remain if the origin is inside. The shares of those that remain are written to room[shares:].
    """
    if count == 1:
        room[shares] = 1.0
        return 1, corner(room, 0)
    if count == 2:
        a, b = corner(room, 0), corner(room, CORNER)
        one, two = segment_shares(a, b)
        v = (one * a[0] + two * b[0], one * a[1] + two * b[1], one * a[2] + two * b[2])
        return keep(room, CORNER, shares, two, keep(room, 0, shares, one, 0)), v
    if count == 3:
        values, v, _ = nearest_in_triangle(room, 0, CORNER, 2 * CORNER)
        return keep_three(room, (0, CORNER, 2 * CORNER), shares, values), v
    least, best, values, v = math.inf, -1, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for without in range(4):
        i, j = (CORNER if without < 1 else 0), (2 * CORNER if without < 2 else CORNER)
        k = 3 * CORNER if without < 3 else 2 * CORNER
        a = corner(room, i)
        n = cross(minus(corner(room, j), a), minus(corner(room, k), a))
        outside = -dot(a, n) * dot(minus(corner(room, without * CORNER), a), n)
        if outside <= 0.0:  # not on the side of the fourth corner
            found, point, square = nearest_in_triangle(room, i, j, k)
            if square < least:
                least, best, values, v = square, without, found, point
    if best < 0:
        return 4, (0.0, 0.0, 0.0)
    i, j = (CORNER if best < 1 else 0), (2 * CORNER if best < 2 else CORNER)
    return keep_three(room, (i, j, 3 * CORNER if best < 3 else 2 * CORNER), shares, values), v


@jit_part
def blend(room, count, shares):
    """The point of the first solid that belongs to v."""
    x, y, z = 0.0, 0.0, 0.0
    for i in range(count):
        share, a = room[shares + i], corner_a(room, i * CORNER)
        x, y, z = x + share * a[0], y + share * a[1], z + share * a[2]
    return x, y, z


@jit_part
def is_new(room, count):
    """Whether the corner after the first `count` is none of them."""
    w = corner(room, count * CORNER)
    for i in range(count):
        other = corner(room, i * CORNER)
        if w[0] == other[0] and w[1] == other[1] and w[2] == other[2]:
            return False
    return True


@jit_part
def closest_cores(data, solids, pose, enough, room, shares):
    """What was found (FAR, APART, TOUCHING), d, a, v = a - b, how many corners of the simplex are in room, the size of A - B.

    As put_corner has them, solids are the places of two and pose that of the second in the axes of the first. If they are
    more than `enough` apart, d is a bound below and a and v are not exact.
    """
    v, a, starts = (-pose[4], -pose[5], -pose[6]), (0.0, 0.0, 0.0), (0, 0)
    if dot(v, v) == 0.0:
        v = (1.0, 0.0, 0.0)
    square, size, count = math.inf, 0.0, 0
    for _ in range(STEPS):
        starts = put_corner(data, solids, pose, starts, (-v[0], -v[1], -v[2]), room, count * CORNER)
        w = corner(room, count * CORNER)
        size = max(size, abs(w[0]) + abs(w[1]) + abs(w[2]))
        d, reach = math.sqrt(dot(v, v)), dot(v, w)
        if reach >= enough * d:
            return FAR, reach / d, a, v, count, size
        if count > 0 and (square - reach <= GAP * size * d or not is_new(room, count)):
            return APART, d, a, v, count, size
        count, nearer = reduce(room, count + 1, shares)
        fresh = dot(nearer, nearer)
        if count == 4 or fresh <= (CONTACT * size) ** 2:
            return TOUCHING, 0.0, blend(room, count, shares) if count < 4 else a, v, count, size
        if fresh >= square:  # as near as rounding lets it come
            return APART, math.sqrt(square), a, v, count, size
        v, square, a = nearer, fresh, blend(room, count, shares)
    return APART, math.sqrt(square), a, v, count, size

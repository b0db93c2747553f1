"""Closest points of segments and boxes, the geometry behind keeping apart.

A segment is its middle and half vector, p(t) = c + t u with t from -1 to 1; a point has u = 0. A box has half sizes h
and stands about the origin of its own axes. Distances are signed: positive apart, negative for the shortest way out.
"""

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.vector import cross, dot

POINT = 1e-24  # squared half length [m^2] below which a segment is a point
PARALLEL = 1e-14  # squared sine of the angle below which segments are parallel
TOUCHING = 1e-24  # squared distance [m^2] below which a segment touches a box


@jit
def along(c, u, t):
    """The point c + t u."""
    return c[0] + t * u[0], c[1] + t * u[1], c[2] + t * u[2]


@jit
def clamp(value, most):
    return min(max(value, -most), most)


@jit
def closest_on_segments(a, u, b, v):
    """s and t for which a + s u and b + t v are closest.

    Setting both derivatives of |a + s u - b - t v|^2 to zero gives s; clamping it, then t, then s again, is exact.
    """
    r = (a[0] - b[0], a[1] - b[1], a[2] - b[2])
    uu, vv, uv, ur, vr = dot(u, u), dot(v, v), dot(u, v), dot(u, r), dot(v, r)
    if uu <= POINT:
        return 0.0, 0.0 if vv <= POINT else clamp(vr / vv, 1.0)
    if vv <= POINT:
        return clamp(-ur / uu, 1.0), 0.0
    square = uu * vv - uv * uv
    if square > PARALLEL * uu * vv:
        s = clamp((uv * vr - vv * ur) / square, 1.0)
    else:  # the middle of where they lie side by side
        s = 0.5 * (clamp((-uv - ur) / uu, 1.0) + clamp((uv - ur) / uu, 1.0))
    t = clamp((uv * s + vr) / vv, 1.0)
    return clamp((uv * t - ur) / uu, 1.0), t


@jit
def direction_apart(u, v):
    """A unit vector across two segments that meet: any way out is as short as the other."""
    n = cross(u, v)
    if dot(n, n) <= PARALLEL * dot(u, u) * dot(v, v):
        w = u if dot(u, u) > dot(v, v) else v
        n = (0.0, w[2], -w[1]) if abs(w[0]) < abs(w[1]) + abs(w[2]) else (-w[2], 0.0, w[0])
    length = math.sqrt(dot(n, n))
    if length <= POINT:
        return 0.0, 0.0, 1.0
    return n[0] / length, n[1] / length, n[2] / length


@jit
def slope(c, u, h, t):
    """Half the derivative of the squared distance from p(t) to the box; it grows with t, in straight pieces."""
    total = 0.0
    for i in range(3):
        p = c[i] + t * u[i]
        total += u[i] * (p - clamp(p, h[i]))
    return total


@jit_part
def closest_to_box(c, u, h):
    """The t for which c + t u is closest to the box: where the slope vanishes, else at an end.

    The slope bends only where the segment crosses the plane of a face. So it is enough to look there and at the ends,
    and to interpolate. Where it vanishes on a stretch, because the segment lies along a face, take the middle.
    """
    none = 1e-15 * (dot(u, u) + dot(h, h))
    low, high, at_low, at_high = -1.0, 1.0, 0.0, 0.0
    first, last = 2.0, -2.0  # the stretch
    for k in range(8):
        t = 2.0 * k - 13.0  # the ends, for k = 6 and 7
        if k < 6:
            i = k >> 1
            if u[i] == 0.0:
                continue
            t = ((h[i] if k & 1 else -h[i]) - c[i]) / u[i]
            if not -1.0 < t < 1.0:
                continue
        value = slope(c, u, h, t)
        if abs(value) <= none:
            first, last = min(first, t), max(last, t)
        elif value < 0.0 and t >= low:
            low, at_low = t, value
        elif value > 0.0 and t <= high:
            high, at_high = t, value
    if first <= last:
        return 0.5 * (first + last)
    if at_low == 0.0:
        return -1.0
    if at_high == 0.0:
        return 1.0
    return low - at_low * (high - low) / (at_high - at_low)


@jit
def unit(i):
    """The unit vector along x, y or z, counted round."""
    i = i % 3
    return 1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0


@jit
def sign(value, size):
    """1 or -1; 0 for a value that is nothing but rounding, so that what lies flat is met in its middle."""
    if abs(value) <= 1e-9 * size:
        return 0.0
    return math.copysign(1.0, value)


@jit
def overlap(c, sides, h):
    """How deep a box with the middle c and three half vectors is in the box h: depth, p, b, n with p = b - depth n.

    A segment is a box of which two half vectors are zero. p is the point to move along n, out of the box h at b. The
    shortest way leads square to a face of either box, or to an edge of each: of these 15 directions the one with the
    least overlap. If that is negative, the boxes are apart, at least that far.
    """
    depth, way, n = math.inf, 0, (0.0, 0.0, 1.0)
    for k in range(15):
        if k < 3:
            first, second = unit(k + 1), unit(k + 2)
        elif k < 6:
            first, second = sides[(k + 1) % 3], sides[(k + 2) % 3]
        else:
            first, second = unit(k // 3 - 2), sides[k % 3]
        m = cross(first, second)
        square = dot(m, m)
        if square <= PARALLEL * dot(first, first) * dot(second, second):
            continue
        length = math.copysign(math.sqrt(square), dot(c, m))
        m = (m[0] / length, m[1] / length, m[2] / length)
        extent = h[0] * abs(m[0]) + h[1] * abs(m[1]) + h[2] * abs(m[2]) - dot(c, m)
        extent += abs(dot(sides[0], m)) + abs(dot(sides[1], m)) + abs(dot(sides[2], m))
        if extent < depth - 1e-12:  # faces first: they are what flat contact needs
            depth, way, n = extent, k, m
    p = c
    for side in sides:
        p = along(p, side, -sign(dot(side, n), math.sqrt(dot(side, side))))
    if way < 3:
        return depth, p, along(p, n, depth), n
    b = (h[0] * sign(n[0], 1.0), h[1] * sign(n[1], 1.0), h[2] * sign(n[2], 1.0))
    if way < 6:
        return depth, along(b, n, -depth), b, n
    edge, side = along((0.0, 0.0, 0.0), unit(way // 3 - 2), h[way // 3 - 2]), sides[way % 3]
    s, t = closest_on_segments(p, side, b, edge)
    return depth, along(p, side, s), along(b, edge, t), n


@jit
def segment_to_box(c, u, h):
    """Signed distance d from a segment to a box, the points p and b of each, and the unit vector n with p = b + d n."""
    p = along(c, u, closest_to_box(c, u, h))
    b = (clamp(p[0], h[0]), clamp(p[1], h[1]), clamp(p[2], h[2]))
    n = (p[0] - b[0], p[1] - b[1], p[2] - b[2])
    square = dot(n, n)
    if square <= TOUCHING:
        depth, p, b, n = overlap(c, ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), u), h)
        return -depth, p, b, n
    d = math.sqrt(square)
    return d, p, b, (n[0] / d, n[1] / d, n[2] / d)

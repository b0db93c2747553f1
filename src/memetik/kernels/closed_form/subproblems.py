"""The questions that closed forms are made of (Paden and Kahan; Elias and Wen): which turns take vectors where they belong.

    1   one_turn           R(a, t) p = q
    2   two_turns          R(a, s) R(b, t) p = q
    3   turn_to_distance   |R(a, t) p - q| = d
    4   turn_to_plane      n · R(a, t) p = d
    6   turns_to_planes    two equations, each a sum of a 4 in s and a 4 in t

Subproblem 5, three turns to a point, is in meeting_axes.py. Each has the answer that comes near where none is exact.

Axes are unit vectors, vectors are tuples of three. Where a vector lies on its axis, every angle does; `otherwise` is the
angle to answer then.
"""

import math

from memetik.kernels.closed_form.trigonometric import linear_directions, linear_roots, quadratic_roots, square, sum_of
from memetik.kernels.compiler.jit import jit
from memetik.kernels.math.arctan2 import arctan2
from memetik.kernels.math.pose import turn
from memetik.kernels.math.sincos import sincos
from memetik.kernels.math.vector import cross, dot, length

ON_AXIS = 1e-14  # of a vector's length: what is across the axis is rounding below that
FLAT = 1e-10  # sine between the sides of two equations of size one, below which they are the same but for a factor
SETTLES = 3  # looks at what is left of two equations, with a Newton step between two of them
SETTLED = 1e-30  # square of what may be left


@jit
def about(axis, angle):
    """A turn about an axis through the origin, as a pose."""
    s, c = sincos(0.5 * angle)
    return c, s * axis[0], s * axis[1], s * axis[2], 0.0, 0.0, 0.0


@jit
def about_line(axis, point, angle):
    """A turn about the line through a point, as a pose."""
    s, c = sincos(0.5 * angle)
    x, y, z = turn((c, s * axis[0], s * axis[1], s * axis[2]), point[0], point[1], point[2])
    return c, s * axis[0], s * axis[1], s * axis[2], point[0] - x, point[1] - y, point[2] - z


@jit
def turned_by(axis, s, c, v):
    """The vector v, turned by an angle whose sine and cosine are given (Rodrigues)."""
    x, y, z = cross(axis, v)
    along = (1.0 - c) * dot(axis, v)
    return (
        c * v[0] + s * x + along * axis[0],
        c * v[1] + s * y + along * axis[1],
        c * v[2] + s * z + along * axis[2],
    )


@jit
def turned(axis, angle, v):
    """The vector v, turned."""
    s, c = sincos(angle)
    return turned_by(axis, s, c, v)


@jit
def on_axis(axis, p):
    """Whether a vector lies on an axis."""
    across = cross(axis, p)
    return dot(across, across) <= ON_AXIS * ON_AXIS * dot(p, p)


@jit
def one_turn_direction(axis, p, q, otherwise):
    """Sine and cosine, not of length one, of the angle of `one_turn`."""
    if on_axis(axis, p) or on_axis(axis, q):
        return sincos(otherwise)
    p_across, q_across = cross(axis, p), cross(axis, q)
    return dot(axis, cross(p_across, q_across)), dot(p_across, q_across)


@jit
def one_turn(axis, p, q, otherwise):
    """The angle about `axis` that brings p nearest to q: atan2(axis · (p' × q'), p' · q') of what is across the axis.

    What is across is taken by products with the axis, which keep their digits however near to it p and q are.
    """
    if on_axis(axis, p) or on_axis(axis, q):
        return otherwise
    s, c = one_turn_direction(axis, p, q, otherwise)
    return arctan2(s, c)


@jit
def of_length_one(s, c):
    """A sine and a cosine from a direction: quicker than by way of its angle."""
    scale = 1.0 / math.sqrt(s * s + c * c)
    return scale * s, scale * c


@jit
def two_turns_directions(a, b, p, q, otherwise_a, otherwise_b):
    """Sines and cosines, not of length one, of the angles of `two_turns`.

    Between the turns the vector is z = u a + v b ± w a×b, with the a-part of q and the b-part of p, and as far from either
    axis as they are. Where that asks for w^2 < 0, no turns do it and those with w = 0 come near. The two pairs are then the
    same. The distance from the nearer axis is taken: near to an axis it is known to all digits, the length is not.
    """
    c = dot(a, b)
    n = cross(a, b)
    sine = dot(n, n)  # 1 - c^2
    on_a, on_b = dot(a, q), dot(b, p)
    u, v = (on_a - c * on_b) / sine, (on_b - c * on_a) / sine
    off_a, off_b = cross(a, q), cross(b, p)
    w = math.sqrt(max(min(dot(off_a, off_a) - sine * v * v, dot(off_b, off_b) - sine * u * u), 0.0) / sine)
    x, y, z = u * a[0] + v * b[0], u * a[1] + v * b[1], u * a[2] + v * b[2]
    up = (x + w * n[0], y + w * n[1], z + w * n[2])
    down = (x - w * n[0], y - w * n[1], z - w * n[2])
    s1, c1 = one_turn_direction(a, up, q, otherwise_a)
    s2, c2 = one_turn_direction(b, p, up, otherwise_b)
    s3, c3 = one_turn_direction(a, down, q, otherwise_a)
    s4, c4 = one_turn_direction(b, p, down, otherwise_b)
    return s1, c1, s2, c2, s3, c3, s4, c4


@jit
def two_turns(a, b, p, q, otherwise_a, otherwise_b):
    """Both pairs of angles with turn(a, alpha) turn(b, beta) p = q, for axes that are not parallel."""
    d = two_turns_directions(a, b, p, q, otherwise_a, otherwise_b)
    return arctan2(d[0], d[1]), arctan2(d[2], d[3]), arctan2(d[4], d[5]), arctan2(d[6], d[7])


@jit
def plane_form(a, p, n):
    """n · R(a, t) p as a linear form in t (trigonometric.py)."""
    along = dot(a, p)
    k = dot(n, a) * along
    return k, dot(n, p) - k, dot(n, cross(a, p))


@jit
def turn_to_plane(a, p, n, d, otherwise):
    """Both angles with n · R(a, t) p = d."""
    k, c, s = plane_form(a, p, n)
    return linear_roots(c, s, d - k, length(n) * length(p), otherwise)


@jit
def turn_to_distance_directions(a, p, q, d, otherwise):
    """Sines and cosines, not of length one, of the angles of `turn_to_distance`."""
    k, c, s = plane_form(a, p, q)
    reach = 0.5 * (dot(p, p) + dot(q, q) - d * d)
    return linear_directions(c, s, reach - k, length(q) * length(p), otherwise)


@jit
def turn_to_distance(a, p, q, d, otherwise):
    """Both angles with |R(a, t) p - q| = d: the distance says how far R p reaches along q."""
    s1, c1, s2, c2 = turn_to_distance_directions(a, p, q, d, otherwise)
    return arctan2(s1, c1), arctan2(s2, c2)


@jit
def turns_to_planes(one, other, depth, scratch, otherwise):
    """All pairs of angles (s, t) for two equations one_k · (cos s, sin s) = other_k · (cos t, sin t) + d_k.

    one, other: the coefficients of both equations, (cosine, sine, cosine, sine); depth: d of both. The second equation is
    to be as large as the first, say by dividing it by a length. The pairs are written to scratch.pairs; returns how many.

    In general either side determines the other, whose sine and cosine must fit together: a quadratic. Where one side is
    the same in both equations but for a factor, the other is found alone from what is left without it.
    """
    c, e, f, g = one
    k, l, m, n = other  # noqa: E741
    determined, determining = c * g - e * f, k * n - l * m
    flat = abs(determining) <= FLAT
    # The larger determinant: what is divided by it is as large for either side.
    swap = not flat and (abs(determined) > abs(determining) or abs(determined) <= FLAT)
    if swap:
        one, other, depth, otherwise = other, one, (-depth[0], -depth[1]), (otherwise[1], otherwise[0])
    if flat or abs(determined) <= FLAT:
        count = _by_difference(one, other, depth, scratch, otherwise)
    else:
        count = _by_elimination(one, other, depth, scratch)
    if swap:
        for r in range(count):
            scratch.pairs[r, 0], scratch.pairs[r, 1] = scratch.pairs[r, 1], scratch.pairs[r, 0]
    return count


@jit
def _by_elimination(one, other, depth, scratch):
    """Solve both equations for (cos t, sin t), linear forms in s whose squares add up to 1."""
    c, e, f, g = one
    k, l, m, n = other  # noqa: E741
    scale = 1.0 / (k * n - l * m)
    cosine = scale * (l * depth[1] - n * depth[0]), scale * (n * c - l * f), scale * (n * e - l * g)
    sine = scale * (m * depth[0] - k * depth[1]), scale * (k * f - m * c), scale * (k * g - m * e)
    a, b, p, q, r = sum_of(square(cosine), 1.0, square(sine))
    count = quadratic_roots((a - 1.0, b, p, q, r), scratch.roots, scratch.touches[0])
    for i in range(count):
        s = scratch.roots[i]
        up, out = sincos(s)
        t = arctan2(sine[0] + sine[1] * out + sine[2] * up, cosine[0] + cosine[1] * out + cosine[2] * up)
        scratch.pairs[i, 0], scratch.pairs[i, 1] = _settled(one, other, depth, s, t)
    return count


@jit
def _settled(one, other, depth, s, t):
    """The same angles, by Newton steps while they help: the root of a quadratic has lost digits where another is near."""
    c, e, f, g = one
    k, l, m, n = other  # noqa: E741
    known = math.inf
    best = (s, t)
    for _ in range(SETTLES):
        su, cu = sincos(s)
        sv, cv = sincos(t)
        x = c * cu + e * su - k * cv - l * sv - depth[0]
        y = f * cu + g * su - m * cv - n * sv - depth[1]
        if not x * x + y * y < known:
            break
        known, best = x * x + y * y, (s, t)
        if known <= SETTLED:
            break
        xs, xt = e * cu - c * su, k * sv - l * cv
        ys, yt = g * cu - f * su, m * sv - n * cv
        area = xs * yt - xt * ys
        if area == 0.0:
            break
        s -= (x * yt - xt * y) / area
        t -= (xs * y - x * ys) / area
    return best


@jit
def _by_difference(one, other, depth, scratch, otherwise):
    """The part in t is the same in both equations but for a factor: without it, s is found alone, and then t."""
    c, e, f, g = one
    k, l, m, n = other  # noqa: E741
    x, y = depth
    if m * m + n * n > k * k + l * l:  # the first equation becomes the one with the larger part in t
        c, e, f, g, k, l, m, n, x, y = f, g, c, e, m, n, k, l, y, x  # noqa: E741
    large = k * k + l * l
    factor = (k * m + l * n) / large if large > 0.0 else 0.0
    a, b, d = f - factor * c, g - factor * e, y - factor * x
    first = linear_roots(a, b, d, 1.0, otherwise[0])
    for i in range(2):
        s = first[i]
        up, out = sincos(s)
        second = linear_roots(k, l, c * out + e * up - x, 1.0, otherwise[1])
        for j in range(2):
            scratch.pairs[2 * i + j, 0], scratch.pairs[2 * i + j, 1] = s, second[j]
    return 4

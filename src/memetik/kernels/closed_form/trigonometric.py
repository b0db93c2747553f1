"""Equations in the sine and cosine of one angle t, to which every subproblem comes down.

    linear       a cos t + b sin t = d                                             2 roots at most
    quadratic    f = f0 + f1 cos t + f2 sin t + f3 cos 2t + f4 sin 2t = 0          4 roots at most

A linear form (l0, l1, l2) is l0 + l1 cos t + l2 sin t. The square of one is quadratic.

Where there is no root, the answer is the angle that comes nearest to one. At a double root (a stretched arm) rounding decides
whether there are two roots or none, so an extremum of f that is nearly zero counts as a root: whoever asks verifies.
"""

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.arctan2 import arctan2
from memetik.kernels.math.sincos import sincos

OPEN = 1e-13  # of the terms of an equation: coefficients below that are rounding, and any angle solves it
TOUCHES = 1e-7  # of the largest coefficient: an extremum nearer to zero counts as a double root, at the least
POLISHES = 3  # Newton steps on each root of the quartic, which has lost digits where two roots are near each other


@jit
def linear_directions(a, b, d, size, otherwise):
    """Sine and cosine of both angles with a cos t + b sin t = d, not of length one; see linear_roots.

    (cos t, sin t) r^2 = d (a, b) ± sqrt(r^2 - d^2) (-b, a) with r^2 = a^2 + b^2.
    """
    r = math.sqrt(a * a + b * b)
    if r <= OPEN * size:
        s, c = sincos(otherwise)
        return s, c, s, c
    w = math.sqrt(max((r - d) * (r + d), 0.0))
    return d * b + w * a, d * a - w * b, d * b - w * a, d * a + w * b


@jit
def linear_roots(a, b, d, size, otherwise):
    """Both angles with a cos t + b sin t = d; `otherwise` twice if a and b are nothing against `size`."""
    if a * a + b * b <= OPEN * OPEN * size * size:
        return otherwise, otherwise
    s1, c1, s2, c2 = linear_directions(a, b, d, 0.0, 0.0)
    return arctan2(s1, c1), arctan2(s2, c2)


@jit
def square(form):
    """The square of a linear form, as a quadratic."""
    k, c, s = form
    return k * k + 0.5 * (c * c + s * s), 2.0 * k * c, 2.0 * k * s, 0.5 * (c * c - s * s), c * s


@jit
def sum_of(f, k, g):
    """f + k g."""
    return f[0] + k * g[0], f[1] + k * g[1], f[2] + k * g[2], f[3] + k * g[3], f[4] + k * g[4]


@jit
def _values(f, t):
    """f and its first two derivatives."""
    s, c = sincos(t)
    s2, c2 = 2.0 * s * c, (c - s) * (c + s)
    once = f[2] * c - f[1] * s
    twice = f[4] * c2 - f[3] * s2
    half = f[3] * c2 + f[4] * s2
    return f[0] + f[1] * c + f[2] * s + half, once + 2.0 * twice, -f[1] * c - f[2] * s - 4.0 * half


@jit
def quadratic_roots(f, roots, touches):
    """Write the roots of a quadratic and return how many there are; without any, the extrema nearest to a root.

    touches: an extremum that is nearer to zero than that, in parts of the largest coefficient, counts as a double root.

    tan(t / 2) makes a quartic of it, which is well-behaved where half a turn is no root: the angle is counted from the one
    of five, evenly spaced, where f is largest. Five values of f cannot all be small: they determine it.
    """
    size = max(max(abs(f[0]), abs(f[1])), max(abs(f[2]), max(abs(f[3]), abs(f[4]))))
    if not 0.0 < size < math.inf:
        return 0
    largest, pole = -1.0, 0.0
    for k in range(5):
        angle = 0.4 * math.pi * k
        value = abs(_values(f, angle)[0])
        if value > largest:
            largest, pole = value, angle
    zero = pole + math.pi  # where tan(t / 2) = 0
    s, c = sincos(zero)
    s2, c2 = 2.0 * s * c, (c - s) * (c + s)
    a, b = f[1] * c + f[2] * s, f[2] * c - f[1] * s
    a2, b2 = f[3] * c2 + f[4] * s2, f[4] * c2 - f[3] * s2
    lead = f[0] - a + a2
    real = _quartic_roots((2.0 * b - 4.0 * b2) / lead, (2.0 * f[0] - 6.0 * a2) / lead, (2.0 * b + 4.0 * b2) / lead,
                          (f[0] + a + a2) / lead, roots)  # fmt: skip
    count = 0
    nearest, miss = 0.0, math.inf
    for k in range(4):
        t = zero + 2.0 * arctan2(roots[k], 1.0)
        if k < real:
            t = _polished(f, t)
            roots[count] = t
            count += 1
        elif (k - real) % 2 == 0:  # two complex ones, which stand for an extremum
            t = _extremum(f, t)
            value = abs(_values(f, t)[0])
            if value <= touches * size:
                roots[count] = t
                count += 1
            elif value < miss:
                nearest, miss = t, value
    if count == 0:
        roots[0] = nearest
        return 1
    return count


@jit
def _polished(f, t):
    """The root near t, by Newton steps while they help."""
    value, slope, _ = _values(f, t)
    for _ in range(POLISHES):
        if slope == 0.0:
            break
        near = t - value / slope
        near_value, near_slope, _ = _values(f, near)
        if not abs(near_value) < abs(value):
            break
        t, value, slope = near, near_value, near_slope
    return t


@jit
def _extremum(f, t):
    """The extremum of f near t, by Newton steps on its derivative while they help."""
    _, slope, bend = _values(f, t)
    for _ in range(2 * POLISHES):
        if bend == 0.0:
            break
        near = t - slope / bend
        _, near_slope, near_bend = _values(f, near)
        if not abs(near_slope) < abs(slope):
            break
        t, slope, bend = near, near_slope, near_bend
    return t


@jit_part
def _quartic_roots(b, c, d, e, roots):
    """x^4 + b x^3 + c x^2 + d x + e = 0 (Ferrari): the real roots first; of complex ones their real part, twice each.

    With x = y - b / 4 there is no cubic term, and a root m of the resolvent cubic makes two quadratics of it:

        y^4 + p y^2 + q y + r = (y^2 - w y + u) (y^2 + w y + v),   w^2 = 2 m,   u, v = p / 2 + m ± q / (2 w)
    """
    shift = 0.25 * b
    p = c - 6.0 * shift * shift
    q = d - 2.0 * shift * c + 8.0 * shift * shift * shift
    r = e - shift * (d - shift * (c - 3.0 * shift * shift))
    m = _largest_cubic_root(p, 0.25 * p * p - r, -0.125 * q * q)
    if m > 0.0:
        w = math.sqrt(2.0 * m)
        half = 0.5 * q / w
    else:  # q = 0 as well, and u, v = p / 2 ± sqrt(p^2 / 4 - r)
        w, half = 0.0, math.sqrt(max(0.25 * p * p - r, 0.0))
    first, second = -0.5 * (m + p) - half, -0.5 * (m + p) + half  # the discriminants w^2 / 4 - u and w^2 / 4 - v
    real = 0
    if first >= 0.0:
        root = math.sqrt(first)
        roots[0], roots[1] = 0.5 * w + root - shift, 0.5 * w - root - shift
        real = 2
    if second >= 0.0:
        root = math.sqrt(second)
        roots[real], roots[real + 1] = -0.5 * w + root - shift, -0.5 * w - root - shift
        real += 2
    at = real
    if first < 0.0:
        roots[at], roots[at + 1] = 0.5 * w - shift, 0.5 * w - shift
        at += 2
    if second < 0.0:
        roots[at], roots[at + 1] = -0.5 * w - shift, -0.5 * w - shift
    return real


@jit
def _largest_cubic_root(a, b, c):
    """The largest real root of x^3 + a x^2 + b x + c, by the trigonometric or Cardano's formula and Newton steps."""
    third = a / 3.0
    q = third * third - b / 3.0
    r = third * third * third - 0.5 * third * b + 0.5 * c
    if r * r < q * q * q:
        x = -2.0 * math.sqrt(q) * math.cos((math.acos(r / math.sqrt(q * q * q)) + 2.0 * math.pi) / 3.0) - third
    else:
        s = (abs(r) + math.sqrt(max(r * r - q * q * q, 0.0))) ** (1.0 / 3.0)
        s = -s if r > 0.0 else s
        x = s + (q / s if s != 0.0 else 0.0) - third
    value = ((x + a) * x + b) * x + c
    for _ in range(2):
        slope = (3.0 * x + 2.0 * a) * x + b
        if slope == 0.0:
            break
        near = x - value / slope
        near_value = ((near + a) * near + b) * near + c
        if not abs(near_value) < abs(value):
            break
        x, value = near, near_value
    return x

"""The two questions that closed forms are made of (Paden and Kahan): which turns about given axes take one vector to another.

Axes are unit vectors, vectors are tuples of three. Where a vector lies on its axis, every angle does; `otherwise` is the
angle to answer then.
"""

import math

from memetik.kernels.compiler.jit import jit
from memetik.kernels.math.sincos import sincos
from memetik.kernels.math.vector import cross, dot

ON_AXIS = 1e-14  # of the product of two vectors' lengths: what is across the axis is rounding below that


@jit
def about(axis, angle):
    """A turn about an axis through the origin, as a pose."""
    s, c = sincos(0.5 * angle)
    return c, s * axis[0], s * axis[1], s * axis[2], 0.0, 0.0, 0.0


@jit
def one_turn(axis, p, q, otherwise):
    """The angle about `axis` that brings p nearest to q: atan2(axis · (p' × q'), p' · q') of what is across the axis."""
    along_p, along_q = dot(axis, p), dot(axis, q)
    across = dot(p, q) - along_p * along_q
    side = dot(axis, cross(p, q))
    # across^2 + side^2 = |p'|^2 |q'|^2
    if across * across + side * side <= (ON_AXIS * ON_AXIS) * dot(p, p) * dot(q, q):
        return otherwise
    return math.atan2(side, across)


@jit
def two_turns(a, b, p, q, otherwise_a, otherwise_b):
    """Both pairs of angles with turn(a, alpha) turn(b, beta) p = q, for axes that are not parallel.

    Between the turns the vector is z = u a + v b ± w a×b, with the a-part of q and the b-part of p, and as long as they
    are. Where that asks for w^2 < 0, no turns do it and those with w = 0 come near. The two pairs are then the same.
    """
    c = dot(a, b)
    n = cross(a, b)
    sine = dot(n, n)  # 1 - c^2
    on_a, on_b = dot(a, q), dot(b, p)
    u, v = (on_a - c * on_b) / sine, (on_b - c * on_a) / sine
    w = math.sqrt(max(dot(p, p) - u * u - v * v - 2.0 * u * v * c, 0.0) / sine)
    x, y, z = u * a[0] + v * b[0], u * a[1] + v * b[1], u * a[2] + v * b[2]
    up = (x + w * n[0], y + w * n[1], z + w * n[2])
    down = (x - w * n[0], y - w * n[1], z - w * n[2])
    return (
        one_turn(a, up, q, otherwise_a),
        one_turn(b, p, up, otherwise_b),
        one_turn(a, down, q, otherwise_a),
        one_turn(b, p, down, otherwise_b),
    )

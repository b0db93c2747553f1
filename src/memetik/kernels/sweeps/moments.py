"""Points on their way to places, any number of them in sixteen numbers, as one joint sees them.

A rigid shape of points r, turned by S about a node, should bring each to its place d, both seen from the node. How well
a further turn or slide does it depends on

    W = Σ w        m = Σ w r        n = Σ w d        K = Σ w r d^T

alone. So a chain of any length is summed up once, link by link, and each joint looks at sixteen numbers (Moments in
sweep_record.py, a row for each node). The shape r may be given in axes of its own; S then turns it into the world.
"""

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import turn
from memetik.kernels.math.vector import plus, times
from memetik.kernels.sweeps.align import best_change


@jit
def clear(moments):
    """No points at all."""
    moments.weight[:] = 0.0
    moments.shape[:] = 0.0
    moments.places[:] = 0.0
    moments.products[:] = 0.0


@jit
def add_product(moments, i, r, d):
    """r d^T to K alone: of a direction r that should become d, so that it matters to turns but not to slides."""
    for row in range(3):
        for column in range(3):
            moments.products[i, row, column] += r[row] * d[column]


@jit
def add_point(moments, i, w, r, d):
    """A point r of the shape with its place d."""
    moments.weight[i] += w
    for k in range(3):
        moments.shape[i, k] += w * r[k]
        moments.places[i, k] += w * d[k]
    add_product(moments, i, times(w, r), d)


@jit_part
def row_of(rows, i):
    """The vector in row i."""
    return rows[i, 0], rows[i, 1], rows[i, 2]


@jit
def add_all(moments, i, j, w, spin, t, s):
    """All points of row j, `w` times as heavy, seen from node i: r becomes `spin` r + t, and d becomes d + s.

    The spin is None for points that do not turn.
    """
    W, K = w * moments.weight[j], moments.products
    m, n = times(w, row_of(moments.shape, j)), plus(times(w, row_of(moments.places, j)), times(W, s))
    if spin is not None:
        m = turn(spin, *m)
    moments.weight[i] += W
    for k in range(3):
        moments.shape[i, k] += m[k] + W * t[k]
        moments.places[i, k] += n[k]
        column = (w * K[j, 0, k], w * K[j, 1, k], w * K[j, 2, k])
        if spin is not None:
            column = turn(spin, *column)
        for row in range(3):
            K[i, row, k] += column[row]
    add_product(moments, i, m, s)
    add_product(moments, i, t, n)


@jit
def attraction(moments, i, spin, o, u):
    """What draws the points of row i to their places about the axis u: a, b, and their size (align.py).

    The shape is turned by `spin`, and the places are o further away than they were noted. With C = Σ w S r (d + o)^T =
    S (K + m o^T):  a = tr C - u^T C u,  b = u·(C_yz - C_zy, C_zx - C_xz, C_xy - C_yx).
    """
    (ux, uy, uz), m, K = u, row_of(moments.shape, i), moments.products
    xx, xy, xz = K[i, 0, 0] + m[0] * o[0], K[i, 0, 1] + m[0] * o[1], K[i, 0, 2] + m[0] * o[2]
    yx, yy, yz = K[i, 1, 0] + m[1] * o[0], K[i, 1, 1] + m[1] * o[1], K[i, 1, 2] + m[1] * o[2]
    zx, zy, zz = K[i, 2, 0] + m[2] * o[0], K[i, 2, 1] + m[2] * o[1], K[i, 2, 2] + m[2] * o[2]
    size = math.sqrt(xx * xx + xy * xy + xz * xz + yx * yx + yy * yy + yz * yz + zx * zx + zy * zy + zz * zz)
    xx, yx, zx = turn(spin, xx, yx, zx)
    xy, yy, zy = turn(spin, xy, yy, zy)
    xz, yz, zz = turn(spin, xz, yz, zz)
    a = xx + yy + zz
    a -= ux * (xx * ux + xy * uy + xz * uz) + uy * (yx * ux + yy * uy + yz * uz) + uz * (zx * ux + zy * uy + zz * uz)
    return a, ux * (yz - zy) + uy * (zx - xz) + uz * (xy - yx), size


@jit
def attraction_along(moments, i, spin, o, u):
    """What draws the points of row i to their places along u: Σ w u·(d + o - S r)."""
    (x, y, z), w, n = turn(spin, *row_of(moments.shape, i)), moments.weight[i], moments.places
    return u[0] * (n[i, 0] + w * o[0] - x) + u[1] * (n[i, 1] + w * o[1] - y) + u[2] * (n[i, 2] + w * o[2] - z)


@jit_part
def best_for_all(node, moments, i, spin, o, u, low, high):
    """The change of a node's motion, from `low` to `high`, that brings the points of row i nearest to their places."""
    a, b, size = attraction(moments, i, spin, o, u)
    along = attraction_along(moments, i, spin, o, u)
    return best_change(node, a, b, size, along, moments.weight[i], low, high)

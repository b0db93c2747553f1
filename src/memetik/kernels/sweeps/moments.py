"""Points on their way to places, any number of them in sixteen numbers, as one joint sees them.

A rigid shape of points r, turned by S about a node, should bring each to its place d, both seen from the node. How well
a further turn or slide does it depends on

    W = Σ w        m = Σ w r        n = Σ w d        K = Σ w r d^T

alone. So a chain of any length is summed up once, link by link, and each joint looks at sixteen numbers. Rows of a moments
array: W, m (3), n (3), K row by row (9). The shape r may be given in axes of its own; S then turns it into the world.
"""

from __future__ import annotations

import math

from memetik.kernels.body.records import SLIDE, TURN
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import turn
from memetik.kernels.sweeps.align import best_screw, best_slide, best_turn

MOMENTS = 16


@jit
def clear(moments):
    """No points at all."""
    for i in range(moments.shape[0]):
        for k in range(MOMENTS):
            moments[i, k] = 0.0


@jit
def add_product(moments, i, rx, ry, rz, dx, dy, dz):
    """r d^T to K alone: of a direction r that should become d, so that it matters to turns but not to slides."""
    moments[i, 7] += rx * dx
    moments[i, 8] += rx * dy
    moments[i, 9] += rx * dz
    moments[i, 10] += ry * dx
    moments[i, 11] += ry * dy
    moments[i, 12] += ry * dz
    moments[i, 13] += rz * dx
    moments[i, 14] += rz * dy
    moments[i, 15] += rz * dz


@jit
def add_point(moments, i, w, rx, ry, rz, dx, dy, dz):
    """A point r of the shape with its place d."""
    moments[i, 0] += w
    moments[i, 1] += w * rx
    moments[i, 2] += w * ry
    moments[i, 3] += w * rz
    moments[i, 4] += w * dx
    moments[i, 5] += w * dy
    moments[i, 6] += w * dz
    add_product(moments, i, w * rx, w * ry, w * rz, dx, dy, dz)


@jit
def add_all(moments, i, j, w, spin, tx, ty, tz, sx, sy, sz):
    """All points of row j, `w` times as heavy, seen from node i: r becomes `spin` r + t, and d becomes d + s."""
    W = w * moments[j, 0]
    mx, my, mz = turn(spin, w * moments[j, 1], w * moments[j, 2], w * moments[j, 3])
    nx, ny, nz = w * moments[j, 4] + W * sx, w * moments[j, 5] + W * sy, w * moments[j, 6] + W * sz
    moments[i, 0] += W
    moments[i, 1] += mx + W * tx
    moments[i, 2] += my + W * ty
    moments[i, 3] += mz + W * tz
    moments[i, 4] += nx
    moments[i, 5] += ny
    moments[i, 6] += nz
    for column in range(3):
        x, y, z = turn(spin, w * moments[j, 7 + column], w * moments[j, 10 + column], w * moments[j, 13 + column])
        moments[i, 7 + column] += x
        moments[i, 10 + column] += y
        moments[i, 13 + column] += z
    add_product(moments, i, mx, my, mz, sx, sy, sz)
    add_product(moments, i, tx, ty, tz, nx, ny, nz)


@jit
def add_all_unturned(moments, i, j, w, x, y, z):
    """As add_all with no spin, and with the same shift (x, y, z) for the shape and its places."""
    W = w * moments[j, 0]
    mx, my, mz = w * moments[j, 1], w * moments[j, 2], w * moments[j, 3]
    nx, ny, nz = w * moments[j, 4] + W * x, w * moments[j, 5] + W * y, w * moments[j, 6] + W * z
    moments[i, 0] += W
    moments[i, 1] += mx + W * x
    moments[i, 2] += my + W * y
    moments[i, 3] += mz + W * z
    moments[i, 4] += nx
    moments[i, 5] += ny
    moments[i, 6] += nz
    for k in range(7, MOMENTS):
        moments[i, k] += w * moments[j, k]
    add_product(moments, i, mx, my, mz, x, y, z)
    add_product(moments, i, x, y, z, nx, ny, nz)


@jit
def attraction(moments, i, spin, ox, oy, oz, ux, uy, uz):
    """What draws the points of row i to their places about the axis u: a, b, and their size (align.py).

    The shape is turned by `spin`, and the places are o further away than they were noted. With C = Σ w S r (d + o)^T =
    S (K + m o^T):  a = tr C - u^T C u,  b = u·(C_yz - C_zy, C_zx - C_xz, C_xy - C_yx).
    """
    mx, my, mz = moments[i, 1], moments[i, 2], moments[i, 3]
    k = moments[i]
    xx, xy, xz = k[7] + mx * ox, k[8] + mx * oy, k[9] + mx * oz
    yx, yy, yz = k[10] + my * ox, k[11] + my * oy, k[12] + my * oz
    zx, zy, zz = k[13] + mz * ox, k[14] + mz * oy, k[15] + mz * oz
    size = math.sqrt(xx * xx + xy * xy + xz * xz + yx * yx + yy * yy + yz * yz + zx * zx + zy * zy + zz * zz)
    xx, yx, zx = turn(spin, xx, yx, zx)
    xy, yy, zy = turn(spin, xy, yy, zy)
    xz, yz, zz = turn(spin, xz, yz, zz)
    a = xx + yy + zz
    a -= ux * (xx * ux + xy * uy + xz * uz) + uy * (yx * ux + yy * uy + yz * uz) + uz * (zx * ux + zy * uy + zz * uz)
    b = ux * (yz - zy) + uy * (zx - xz) + uz * (xy - yx)
    return a, b, size


@jit
def attraction_along(moments, i, spin, ox, oy, oz, ux, uy, uz):
    """What draws the points of row i to their places along u: Σ w u·(d + o - S r)."""
    k = moments[i]
    x, y, z = turn(spin, k[1], k[2], k[3])
    return ux * (k[4] + k[0] * ox - x) + uy * (k[5] + k[0] * oy - y) + uz * (k[6] + k[0] * oz - z)


@jit_part
def best_for_all(node, moments, i, spin, ox, oy, oz, ux, uy, uz, low, high):
    """The change of a node's motion, from `low` to `high`, that brings the points of row i nearest to their places."""
    if node.motion == SLIDE:
        return best_slide(attraction_along(moments, i, spin, ox, oy, oz, ux, uy, uz), moments[i, 0], low, high)
    a, b, size = attraction(moments, i, spin, ox, oy, oz, ux, uy, uz)
    if node.motion == TURN:
        return best_turn(a, b, size, low, high)
    along = attraction_along(moments, i, spin, ox, oy, oz, ux, uy, uz)
    return best_screw(a, b, size, along, moments[i, 0], node.pitch, low, high)

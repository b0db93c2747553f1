"""BALANCE: the centre of mass of a body stands over a convex polygon on the ground.

Each mass rides on a frame at its own centre, with its share of the whole mass, so in the plane of x and y

    c = sum_i (m_i / M) c_i        dc = sum_i (m_i / M) v_i        e = c - nearest point of the polygon

with v_i the velocity of c_i. e is zero over the polygon; beside an edge with the unit normal n it is n n·(c - a), so
de = n n·dc; beside a corner de = dc.
"""

import math

from memetik.kernels.body.motion import twist
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.terms.records import TermKind, declare

# Target: number of corners, x and y of each. Data, for each of `count`: row of the frame at the centre of a mass, its share
# of the whole mass.
MASS_FRAME, MASS_SHARE, MASS_DATA = 0, 1, 2


@jit
def center(term, data, world):
    """x and y of the centre of mass."""
    x, y = 0.0, 0.0
    for item in range(term.count):
        k = term.numbers + item * MASS_DATA
        f = int(data[k + MASS_FRAME])
        x += data[k + MASS_SHARE] * world[f, 4]
        y += data[k + MASS_SHARE] * world[f, 5]
    return x, y


@jit
def outside(term, data, x, y):
    """The way to (x, y) from the nearest point of the polygon, and the projection (xx, xy, yy) that acts there.

    n n^T beside an edge, the identity beside a corner, zero inside. The polygon is its number of corners, then x and y
    of each, anticlockwise.
    """
    corners = int(data[term.target])
    first = term.target + 1
    ax, ay = data[first + 2 * corners - 2], data[first + 2 * corners - 1]
    best, ex, ey, xx, xy, yy = math.inf, 0.0, 0.0, 0.0, 0.0, 0.0
    for item in range(corners):
        bx, by = data[first + 2 * item], data[first + 2 * item + 1]
        gx, gy = bx - ax, by - ay
        sx, sy = x - ax, y - ay
        if gx * sy - gy * sx < 0.0:  # on the outer side of this edge
            length = gx * gx + gy * gy
            share = min(max((gx * sx + gy * sy) / length, 0.0), 1.0)
            rx, ry = sx - share * gx, sy - share * gy
            square = rx * rx + ry * ry
            if square < best:
                best, ex, ey = square, rx, ry
                xx, xy, yy = 1.0, 0.0, 1.0
                if 0.0 < share < 1.0:
                    xx, xy, yy = gy * gy / length, -gx * gy / length, gx * gx / length
        ax, ay = bx, by
    return ex, ey, xx, xy, yy


@jit_part
def balance_residual(term, data, world, x, out):
    cx, cy = center(term, data, world)
    ex, ey, _, _, _ = outside(term, data, cx, cy)
    out[term.row] = ex
    out[term.row + 1] = ey


@jit_part
def balance_jacobian(term, data, world, x, nodes, frames, poses, axes, scale, jacobian):
    cx, cy = center(term, data, world)
    _, _, xx, xy, yy = outside(term, data, cx, cy)
    if xx + yy == 0.0:
        return
    row = term.row
    for item in range(term.count):
        k = term.numbers + item * MASS_DATA
        f = int(data[k + MASS_FRAME])
        share = scale * data[k + MASS_SHARE]
        i = frames[f].node
        while i >= 0:
            vx, vy, _, _, _, _ = twist(nodes, poses, axes, i, world[f, 4], world[f, 5], world[f, 6])
            k = nodes[i].variable
            jacobian[k, row] += share * (xx * vx + xy * vy)
            jacobian[k, row + 1] += share * (xy * vx + yy * vy)
            i = nodes[i].parent


BALANCE = declare(TermKind(14, "balance", "m", 2, balance_residual, balance_jacobian))

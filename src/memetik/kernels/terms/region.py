"""RANGE and PLANE: a frame near or far from a point, solids on or above a plane.

RANGE, for the frame at p and the point y, with d = |p - y| and n = (p - y) / d:

    e = max(0, least - d, d - most)        de = -n·(v_p - v_y) if too near, n·(v_p - v_y) if too far

PLANE, for the plane through y with the unit normal n and the lowest point l of the solids along n:

    h = n·(l - y)        dh = n·(v_l - v_y)        e = h, or max(0, -h) where above is as good as on

with v_l and v_y the velocities of l as fixed to the solids and to the plane. A solid at c, with the half sizes b of its
box, the radii of its disc and ball, and n in its own axes, has its lowest point at n·c - b·|n| - disc |n_xy| - ball.
"""

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.geometry.solids import SOLID_BALL, SOLID_BOX, SOLID_DATA, SOLID_DISC, SOLID_POINTS
from memetik.kernels.geometry.support import HULL_POINTS, farthest
from memetik.kernels.math.pose import compose, load, turn
from memetik.kernels.math.rotation import turn_back
from memetik.kernels.terms.pose import add_along
from memetik.kernels.terms.records import TermKind, declare

# RANGE. Target: a point, the least and the greatest distance.
RANGE_LEAST, RANGE_MOST, RANGE_TARGET = 3, 4, 5
# PLANE. Target: a point and the normal. Data: 1 if above is as good as on it, then `count` solids.
PLANE_NORMAL, PLANE_TARGET = 3, 6
PLANE_ABOVE, PLANE_SOLIDS = 0, 1


@jit_part
def target_point(term, data, world):
    """The point of the target in the world."""
    k = term.target
    x, y, z = data[k], data[k + 1], data[k + 2]
    if term.other >= 0:
        other = load(world, term.other, 0)
        x, y, z = turn(other, x, y, z)
        x, y, z = x + other[4], y + other[5], z + other[6]
    return x, y, z


@jit_part
def target_normal(term, data, world):
    """The normal of the plane in the world."""
    k = term.target + PLANE_NORMAL
    if term.other < 0:
        return data[k], data[k + 1], data[k + 2]
    return turn(load(world, term.other, 0), data[k], data[k + 1], data[k + 2])


@jit_part
def from_point(term, data, world):
    """The point, the distance of the frame from it and the direction in which the frame lies."""
    x, y, z = target_point(term, data, world)
    nx, ny, nz = world[term.frame, 4] - x, world[term.frame, 5] - y, world[term.frame, 6] - z
    d = math.sqrt(nx * nx + ny * ny + nz * nz)
    if d < 1e-12:  # any direction leads away
        return x, y, z, d, 0.0, 0.0, 1.0
    return x, y, z, d, nx / d, ny / d, nz / d


@jit_part
def range_residual(term, data, world, x, out):
    _, _, _, d, _, _, _ = from_point(term, data, world)
    out[term.row] = max(0.0, data[term.target + RANGE_LEAST] - d, d - data[term.target + RANGE_MOST])


@jit_part
def range_jacobian(term, data, world, x, nodes, frames, poses, axes, scale, jacobian):
    yx, yy, yz, d, nx, ny, nz = from_point(term, data, world)
    if d < data[term.target + RANGE_LEAST]:
        scale = -scale
    elif d <= data[term.target + RANGE_MOST]:
        return
    px, py, pz = world[term.frame, 4], world[term.frame, 5], world[term.frame, 6]
    add_apart(term, (nx, ny, nz), (px, py, pz), (yx, yy, yz), nodes, frames, poses, axes, scale, jacobian)


@jit
def lowest(term, data, world):
    """The height of the lowest point of the solids above the plane, the point and the normal."""
    px, py, pz = target_point(term, data, world)
    nx, ny, nz = target_normal(term, data, world)
    frame = load(world, term.frame, 0)
    height, lx, ly, lz = math.inf, 0.0, 0.0, 0.0
    for item in range(term.count):
        k = term.numbers + PLANE_SOLIDS + item * SOLID_DATA
        solid = compose(frame, (data[k], data[k + 1], data[k + 2], data[k + 3], data[k + 4], data[k + 5], data[k + 6]))
        mx, my, mz = turn_back(solid, nx, ny, nz)
        ball = data[k + SOLID_BALL]
        across = math.sqrt(mx * mx + my * my)
        disc = data[k + SOLID_DISC] / across if across > 1e-12 else 0.0
        x = -toward(mx, data[k + SOLID_BOX]) - (disc + ball) * mx
        y = -toward(my, data[k + SOLID_BOX + 1]) - (disc + ball) * my
        z = -toward(mz, data[k + SOLID_BOX + 2]) - ball * mz
        if data[k + SOLID_POINTS] > 0.0:
            hull = k + int(data[k + SOLID_POINTS])
            corner = hull + HULL_POINTS + 3 * farthest(data, hull, 0, -mx, -my, -mz)
            x, y, z = data[corner] - ball * mx, data[corner + 1] - ball * my, data[corner + 2] - ball * mz
        x, y, z = turn(solid, x, y, z)
        x, y, z = x + solid[4], y + solid[5], z + solid[6]
        h = nx * (x - px) + ny * (y - py) + nz * (z - pz)
        if h < height:
            height, lx, ly, lz = h, x, y, z
    return height, (lx, ly, lz), (nx, ny, nz)


@jit_part
def toward(direction, size):
    """`size` with the sign of the direction; the middle if it lies flat."""
    if abs(direction) < 1e-12:
        return 0.0
    return math.copysign(size, direction)


@jit_part
def plane_residual(term, data, world, x, out):
    height = lowest(term, data, world)[0]
    out[term.row] = height if data[term.numbers + PLANE_ABOVE] == 0.0 else max(0.0, -height)


@jit_part
def plane_jacobian(term, data, world, x, nodes, frames, poses, axes, scale, jacobian):
    height, point, normal = lowest(term, data, world)
    if data[term.numbers + PLANE_ABOVE] != 0.0:
        if height >= 0.0:
            return
        scale = -scale
    add_apart(term, normal, point, point, nodes, frames, poses, axes, scale, jacobian)


@jit_part
def add_apart(term, n, p, y, nodes, frames, poses, axes, scale, jacobian):
    """Add n·(v_p - v_y) times the scale, with p fixed to the term's frame and y to the frame of its target."""
    add_along(frames[term.frame].node, p, n, scale, term.row, nodes, poses, axes, jacobian)
    if term.other >= 0:
        add_along(frames[term.other].node, y, n, -scale, term.row, nodes, poses, axes, jacobian)


RANGE = declare(TermKind(5, "range", "m", 1, range_residual, range_jacobian))
PLANE = declare(TermKind(6, "plane", "m", 1, plane_residual, plane_jacobian))

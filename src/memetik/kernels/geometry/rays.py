"""Where a ray meets a surface, and the point of a surface next to a given point.

A surface is a run of numbers in the data array, its kind first:

    GROUND        a point of the plane, its unit normal
    HEIGHT_FIELD  x and y of the first corner, spacing in x and y, corners in x and y, lowest and highest height, then
                  the heights, y running fastest; a cell is split from its first corner to its last into two facets
    TRIANGLES     triangles in a tree of boxes (triangles.py)

Facets have a front, the side of their normal, and a ray passes through them from behind: a ray that starts inside a
solid leaves it unhindered and meets what comes after.
"""

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.geometry.triangles import EDGE, INSET, beside_triangles, cast_on_triangles

GROUND, HEIGHT_FIELD, TRIANGLES = 0, 1, 2

GROUND_POINT, GROUND_NORMAL = 1, 4
FIELD_X, FIELD_Y, FIELD_DX, FIELD_DY, FIELD_NX, FIELD_NY = 1, 2, 3, 4, 5, 6
FIELD_LOW, FIELD_HIGH, FIELD_HEIGHTS = 7, 8, 9


@jit_part
def _below(data, surface, x, y, z):
    """The normal of the ground, and how far a point is below it."""
    n, k = surface + GROUND_NORMAL, surface + GROUND_POINT
    nx, ny, nz = data[n], data[n + 1], data[n + 2]
    return nx, ny, nz, nx * (data[k] - x) + ny * (data[k + 1] - y) + nz * (data[k + 2] - z)


@jit
def cast(data, surface, ox, oy, oz, dx, dy, dz):
    """The first facet that the ray o + t d, t >= 0, hits on its front: t (infinite if none) and the unit normal."""
    if data[surface] == GROUND:
        nx, ny, nz, t = _below(data, surface, ox, oy, oz)
        facing = nx * dx + ny * dy + nz * dz
        if facing < 0.0 and t <= 0.0:
            return t / facing, nx, ny, nz
        return math.inf, nx, ny, nz
    if data[surface] == HEIGHT_FIELD:
        return _cast_on_field(data, surface, ox, oy, oz, dx, dy, dz)
    return cast_on_triangles(data, surface, ox, oy, oz, dx, dy, dz)


@jit
def beside(data, surface, px, py, pz):
    """A point c of the surface next to p, the unit normal there, and whether c slides along the facet as p moves.

    Ground and triangles: the nearest point. Height field: the point straight above or below, after the shortest
    way into the field. c keeps off the rim by a hundredth of a facet, so that whoever goes there arrives on the
    surface; there it does not slide.
    """
    if data[surface] == GROUND:
        nx, ny, nz, s = _below(data, surface, px, py, pz)
        return px + s * nx, py + s * ny, pz + s * nz, nx, ny, nz, True
    if data[surface] == HEIGHT_FIELD:
        return _beside_field(data, surface, px, py, pz)
    return beside_triangles(data, surface, px, py, pz)


@jit_part
def _slab(origin, direction, low, high, near, far):
    """Narrow [near, far] to where origin + t direction lies in [low, high]; empty (near > far) if nowhere."""
    if direction == 0.0:
        return near, far if low <= origin <= high else -1.0
    a, b = (low - origin) / direction, (high - origin) / direction
    return max(near, min(a, b)), min(far, max(a, b))


@jit_part
def _facet(data, surface, i, j, first):
    """Height of the corner of cell (i, j), and the slopes per cell in x and y of its first (x >= y) or second facet."""
    ny = int(data[surface + FIELD_NY])
    k = surface + FIELD_HEIGHTS + i * ny + j
    h00, h01, h10, h11 = data[k], data[k + 1], data[k + ny], data[k + ny + 1]
    if first:
        return h00, h10 - h00, h11 - h10
    return h00, h11 - h01, h01 - h00


@jit_part
def _field_normal(data, surface, a, b):
    """The unit normal of a facet with slopes a and b per cell."""
    x, y = -a / data[surface + FIELD_DX], -b / data[surface + FIELD_DY]
    length = math.sqrt(x * x + y * y + 1.0)
    return x / length, y / length, 1.0 / length


@jit_part
def _cast_on_field(data, surface, ox, oy, oz, dx, dy, dz):
    """Walk from cell to cell and watch the height above the field: linear over each facet, continuous between them."""
    nx, ny = int(data[surface + FIELD_NX]), int(data[surface + FIELD_NY])
    # In units of cells corners stand at whole numbers.
    width, depth = data[surface + FIELD_DX], data[surface + FIELD_DY]
    x, y = (ox - data[surface + FIELD_X]) / width, (oy - data[surface + FIELD_Y]) / depth
    ux, uy = dx / width, dy / depth
    low, high = data[surface + FIELD_LOW], data[surface + FIELD_HIGH]
    slack = EDGE * (1.0 + abs(low) + abs(high))
    near, far = _slab(x, ux, 0.0, nx - 1.0, 0.0, math.inf)
    near, far = _slab(y, uy, 0.0, ny - 1.0, near, far)
    near, far = _slab(oz, dz, low - slack, high + slack, near, far)
    if not near <= far:
        return math.inf, 0.0, 0.0, 1.0
    i = min(max(math.floor(x + near * ux), 0), nx - 2)
    j = min(max(math.floor(y + near * uy), 0), ny - 2)
    t = near
    begun, above = False, False
    while 0 <= i < nx - 1 and 0 <= j < ny - 1 and t <= far:
        leave_x = (i + (1.0 if ux > 0.0 else 0.0) - x) / ux if ux != 0.0 else math.inf
        leave_y = (j + (1.0 if uy > 0.0 else 0.0) - y) / uy if uy != 0.0 else math.inf
        leave = max(min(leave_x, leave_y, far), t)
        fx, fy = x - i, y - j
        split = (fy - fx) / (ux - uy) if ux != uy else math.inf  # where the ray crosses the diagonal
        for piece in range(2):
            stop = split if piece == 0 and t < split < leave else leave
            middle = 0.5 * (t + stop)
            h, a, b = _facet(data, surface, i, j, fx + middle * ux >= fy + middle * uy)
            start, rate = oz - (h + a * fx + b * fy), dz - a * ux - b * uy
            if not begun:
                begun, above = True, start + rate * t >= 0.0
            end = start + rate * stop
            if above and end <= 0.0:
                hit = min(max(-start / rate, t), stop) if rate < 0.0 else t
                normal_x, normal_y, normal_z = _field_normal(data, surface, a, b)
                return hit, normal_x, normal_y, normal_z
            above = end > 0.0
            t = stop
            if stop == leave:
                break
        if leave >= far:
            break
        if leave_x <= leave_y:
            i += 1 if ux > 0.0 else -1
        else:
            j += 1 if uy > 0.0 else -1
    return math.inf, 0.0, 0.0, 1.0


@jit_part
def _beside_field(data, surface, px, py, pz):
    nx, ny = int(data[surface + FIELD_NX]), int(data[surface + FIELD_NY])
    x0, width = data[surface + FIELD_X], data[surface + FIELD_DX]
    y0, depth = data[surface + FIELD_Y], data[surface + FIELD_DY]
    u, v = (px - x0) / width, (py - y0) / depth
    x, y = min(max(u, INSET), nx - 1.0 - INSET), min(max(v, INSET), ny - 1.0 - INSET)
    i, j = int(x), int(y)
    h, a, b = _facet(data, surface, i, j, x - i >= y - j)
    normal_x, normal_y, normal_z = _field_normal(data, surface, a, b)
    z = h + a * (x - i) + b * (y - j)
    return x0 + x * width, y0 + y * depth, z, normal_x, normal_y, normal_z, x == u and y == v

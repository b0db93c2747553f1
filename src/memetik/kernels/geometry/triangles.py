"""Rays and nearest points on many triangles, which stand in a tree of boxes.

The numbers of such a surface, after its kind: how many boxes, the boxes, the triangles (a corner and the two edges that
leave it). The boxes stand in depth-first order and each knows where to go on if it is skipped, so a walk over the tree
needs no stack: the next box, or the one after all that is inside.
"""

import math

from memetik.kernels.compiler.jit import jit_part

BOX_COUNT, BOXES = 1, 2
# A box: lower and upper corner, the box to go on with if it is skipped, first triangle and how many (0: boxes inside).
BOX_SKIP, BOX_FIRST, BOX_ITEMS, BOX_DATA = 6, 7, 8, 9
TRIANGLE_DATA = 9

EDGE = 1e-9  # share of a facet by which its edges overlap, so that no ray slips through between two
INSET = 0.01  # share of a facet by which the point beside something stays off the rim


@jit_part
def _cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@jit_part
def _triangle_normal(data, k):
    x, y, z = _cross(data[k + 3], data[k + 4], data[k + 5], data[k + 6], data[k + 7], data[k + 8])
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


@jit_part
def _cast_on_triangle(data, k, ox, oy, oz, dx, dy, dz):
    """Möller and Trumbore: solve o + t d = corner + u e + v f; infinite unless the front is hit inside the edges."""
    ex, ey, ez, fx, fy, fz = data[k + 3], data[k + 4], data[k + 5], data[k + 6], data[k + 7], data[k + 8]
    px, py, pz = _cross(dx, dy, dz, fx, fy, fz)
    volume = ex * px + ey * py + ez * pz
    if volume <= 0.0:
        return math.inf
    sx, sy, sz = ox - data[k], oy - data[k + 1], oz - data[k + 2]
    u = (sx * px + sy * py + sz * pz) / volume
    if u < -EDGE or u > 1.0 + EDGE:
        return math.inf
    qx, qy, qz = _cross(sx, sy, sz, ex, ey, ez)
    v = (dx * qx + dy * qy + dz * qz) / volume
    if v < -EDGE or u + v > 1.0 + EDGE:
        return math.inf
    t = (fx * qx + fy * qy + fz * qz) / volume
    return t if t >= 0.0 else math.inf


@jit_part
def _inverse(d):
    """1 / d, finite where a ray runs along a face of a box, so that 0 times it is 0."""
    return 1.0 / d if abs(d) > 1e-30 else math.copysign(1e30, d)


@jit_part
def cast_on_triangles(data, surface, ox, oy, oz, dx, dy, dz):
    count = int(data[surface + BOX_COUNT])
    triangles = surface + BOXES + count * BOX_DATA
    rx, ry, rz = _inverse(dx), _inverse(dy), _inverse(dz)
    best, at = math.inf, -1
    box = 0
    while box < count:
        k = surface + BOXES + box * BOX_DATA
        ax, bx = (data[k] - ox) * rx, (data[k + 3] - ox) * rx
        ay, by = (data[k + 1] - oy) * ry, (data[k + 4] - oy) * ry
        az, bz = (data[k + 2] - oz) * rz, (data[k + 5] - oz) * rz
        near = max(max(min(ax, bx), min(ay, by)), max(min(az, bz), 0.0))
        far = min(min(max(ax, bx), max(ay, by)), min(max(az, bz), best))
        if near > far:
            box = int(data[k + BOX_SKIP])
            continue
        first = triangles + int(data[k + BOX_FIRST]) * TRIANGLE_DATA
        for item in range(int(data[k + BOX_ITEMS])):
            t = _cast_on_triangle(data, first + item * TRIANGLE_DATA, ox, oy, oz, dx, dy, dz)
            if t < best:
                best, at = t, first + item * TRIANGLE_DATA
        box += 1
    if at < 0:
        return math.inf, 0.0, 0.0, 1.0
    nx, ny, nz = _triangle_normal(data, at)
    return best, nx, ny, nz


@jit_part
def _share(dot, square):
    """The parameter of the nearest point of an edge."""
    return min(max(dot / square, 0.0), 1.0)


@jit_part
def _on_triangle(data, k, px, py, pz):
    """Parameters (u, v) of the point corner + u e + v f of a triangle that is nearest to p."""
    ex, ey, ez, fx, fy, fz = data[k + 3], data[k + 4], data[k + 5], data[k + 6], data[k + 7], data[k + 8]
    sx, sy, sz = px - data[k], py - data[k + 1], pz - data[k + 2]
    ee, ff, ef = ex * ex + ey * ey + ez * ez, fx * fx + fy * fy + fz * fz, ex * fx + ey * fy + ez * fz
    es, fs = ex * sx + ey * sy + ez * sz, fx * sx + fy * sy + fz * sz
    area = ee * ff - ef * ef
    u, v = (ff * es - ef * fs) / area, (ee * fs - ef * es) / area
    if u >= 0.0 and v >= 0.0 and u + v <= 1.0:
        return u, v
    # Outside: the nearest point of the three edges.
    a, b = _share(es, ee), _share(fs, ff)
    c = _share(ee - ef - es + fs, ee + ff - 2.0 * ef)  # from e to f
    on_e, on_f = a * (a * ee - 2.0 * es), b * (b * ff - 2.0 * fs)
    u, v = 1.0 - c, c
    on_last = u * u * ee + v * v * ff + 2.0 * u * v * ef - 2.0 * (u * es + v * fs)
    if on_e <= on_f and on_e <= on_last:
        return a, 0.0
    if on_f <= on_last:
        return 0.0, b
    return u, v


@jit_part
def _point(data, k, u, v):
    """The point of a triangle at these parameters."""
    return (
        data[k] + u * data[k + 3] + v * data[k + 6],
        data[k + 1] + u * data[k + 4] + v * data[k + 7],
        data[k + 2] + u * data[k + 5] + v * data[k + 8],
    )


@jit_part
def _gap(data, k, px, py, pz):
    """Squared distance from p to the box at k."""
    x = max(max(data[k] - px, px - data[k + 3]), 0.0)
    y = max(max(data[k + 1] - py, py - data[k + 4]), 0.0)
    z = max(max(data[k + 2] - pz, pz - data[k + 5]), 0.0)
    return x * x + y * y + z * z


@jit_part
def _nearest_inside(data, k, triangles, px, py, pz, best, at, u, v):
    """The better of what is known and the triangles in the box at k: squared distance, triangle, its parameters."""
    first = triangles + int(data[k + BOX_FIRST]) * TRIANGLE_DATA
    for item in range(int(data[k + BOX_ITEMS])):
        c = first + item * TRIANGLE_DATA
        a, b = _on_triangle(data, c, px, py, pz)
        x, y, z = _point(data, c, a, b)
        x, y, z = x - px, y - py, z - pz
        square = x * x + y * y + z * z
        if square < best:
            best, at, u, v = square, c, a, b
    return best, at, u, v


@jit_part
def nearest_triangle(data, surface, px, py, pz):
    """The squared distance from p to the nearest triangle, that triangle, and the parameters of the nearest point of it."""
    count = int(data[surface + BOX_COUNT])
    triangles = surface + BOXES + count * BOX_DATA
    # Straight down to a near box first: with a good bound the walk over the others is short.
    box = 0
    while data[surface + BOXES + box * BOX_DATA + BOX_ITEMS] == 0.0:
        one = surface + BOXES + (box + 1) * BOX_DATA
        other = int(data[one + BOX_SKIP])
        nearer = _gap(data, one, px, py, pz) <= _gap(data, surface + BOXES + other * BOX_DATA, px, py, pz)
        box = box + 1 if nearer else other
    k = surface + BOXES + box * BOX_DATA
    best, at, u, v = _nearest_inside(data, k, triangles, px, py, pz, math.inf, triangles, 0.0, 0.0)
    box = 0
    while box < count:
        k = surface + BOXES + box * BOX_DATA
        if _gap(data, k, px, py, pz) >= best:
            box = int(data[k + BOX_SKIP])
            continue
        best, at, u, v = _nearest_inside(data, k, triangles, px, py, pz, best, at, u, v)
        box += 1
    return best, at, u, v


@jit_part
def beside_triangles(data, surface, px, py, pz):
    """The nearest point, off the rim of its triangle, the normal there, and whether the rim was far enough away."""
    _, at, u, v = nearest_triangle(data, surface, px, py, pz)
    slides = min(u, v, 1.0 - u - v) >= INSET
    if not slides:
        u, v, w = max(u, INSET), max(v, INSET), max(1.0 - u - v, INSET)
        u, v = u / (u + v + w), v / (u + v + w)
    x, y, z = _point(data, at, u, v)
    nx, ny, nz = _triangle_normal(data, at)
    return x, y, z, nx, ny, nz, slides

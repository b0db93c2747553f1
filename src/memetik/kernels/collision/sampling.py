"""Signed distances of points from a surface of triangles, and from a grid of such distances: for those who make or ask grids."""

import math

from memetik.kernels.compiler.jit import jit_free
from memetik.kernels.geometry.grids import distance_at
from memetik.kernels.geometry.triangles import BOX_COUNT, BOX_DATA, BOXES, TRIANGLE_DATA, nearest_triangle


@jit_free
def distances_from_triangles(data, points, out):
    """How far points (n, 3) are from the nearest of some triangles, which stand in data as triangles.py has them."""
    for k in range(points.shape[0]):
        out[k] = math.sqrt(nearest_triangle(data, 0, points[k, 0], points[k, 1], points[k, 2])[0])


@jit_free
def winding_numbers(data, points, out):
    """How often the triangles wind around each point: 1 inside of a closed surface, 0 outside, and between where it has holes.

    Each triangle adds the solid angle under which it is seen (van Oosterom and Strackee 1983), over 4 pi.
    """
    first = BOXES + int(data[BOX_COUNT]) * BOX_DATA
    for k in range(points.shape[0]):
        total = 0.0
        for t in range(first, data.size, TRIANGLE_DATA):
            ax, ay, az = data[t] - points[k, 0], data[t + 1] - points[k, 1], data[t + 2] - points[k, 2]
            bx, by, bz = ax + data[t + 3], ay + data[t + 4], az + data[t + 5]
            cx, cy, cz = ax + data[t + 6], ay + data[t + 7], az + data[t + 8]
            a = math.sqrt(ax * ax + ay * ay + az * az)
            b = math.sqrt(bx * bx + by * by + bz * bz)
            c = math.sqrt(cx * cx + cy * cy + cz * cz)
            volume = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
            ab, bc, ca = ax * bx + ay * by + az * bz, bx * cx + by * cy + bz * cz, cx * ax + cy * ay + cz * az
            total += math.atan2(volume, a * b * c + ab * c + bc * a + ca * b)
        out[k] = total / (2.0 * math.pi)


@jit_free
def distances_from_grid(samples, points, out):
    """The lower bounds of a grid at points (n, 3), seen from its middle."""
    for k in range(points.shape[0]):
        out[k] = distance_at(samples, points[k, 0], points[k, 1], points[k, 2])[0]

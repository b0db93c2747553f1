"""Twins of the distance kernels: every solid is the hull of its corners, thickened by a radius.

The signed distance of two hulls is that of the origin from the hull of all differences of their corners.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.optimize import nnls
from scipy.spatial import ConvexHull, QhullError


def segment(length):
    """The ends of a segment along z."""
    return np.array([[0.0, 0.0, -length / 2.0], [0.0, 0.0, length / 2.0]])


def box(x, y, z):
    """The eight corners of a box."""
    return np.array(list(itertools.product((-x / 2.0, x / 2.0), (-y / 2.0, y / 2.0), (-z / 2.0, z / 2.0))))


def views(shape):
    """Pairs (corners, radius) of hulls that contain a shape: one that is the shape itself, or two for a cylinder."""
    if shape.kind == "sphere":
        return [(np.zeros((1, 3)), shape.size[0])]
    if shape.kind == "box":
        return [(box(*shape.size), 0.0)]
    if shape.kind == "hull":
        return [(shape.points, shape.size[0])]
    radius, length = shape.size
    capsule = (segment(length), radius)
    return [capsule] if shape.kind == "capsule" else [capsule, (box(2.0 * radius, 2.0 * radius, length), 0.0)]


def moved(T, points):
    """Points of a frame, in the world."""
    return np.asarray(points) @ T[:3, :3].T + T[:3, 3]


def hull_distance(a, b):
    """Signed distance between the hulls of two sets of points: negative is the shortest way out."""
    differences = (a[:, None, :] - b[None, :, :]).reshape(-1, 3)
    try:
        hull = ConvexHull(differences)
        depth = -hull.equations[:, 3].max()  # the origin is inside if it lies below every facet
        if depth > 0.0:
            return -depth
        return min(from_triangle(*differences[corners]) for corners in hull.simplices)
    except QhullError:
        pass  # flat: there is no inside
    # min |sum_i w_i d_i| with w >= 0 and, by a heavy last row, sum_i w_i = 1
    heavy = 1e4
    system = np.vstack([differences.T, np.full(len(differences), heavy)])
    weights, _ = nnls(system, np.array([0.0, 0.0, 0.0, heavy]), maxiter=1000)
    return float(np.linalg.norm(weights @ differences / weights.sum()))


def from_triangle(a, b, c):
    """Distance of the origin from a triangle: of its foot on the plane if that lies inside, else of the nearest edge."""
    edges = np.stack([b - a, c - a], axis=1)
    u, v = np.linalg.lstsq(edges, -a, rcond=None)[0]
    if u >= 0.0 and v >= 0.0 and u + v <= 1.0:
        return float(np.linalg.norm(a + edges @ (u, v)))
    feet = [p + np.clip(-p @ (q - p) / ((q - p) @ (q - p)), 0.0, 1.0) * (q - p) for p, q in ((a, b), (b, c), (c, a))]
    return float(min(np.linalg.norm(foot) for foot in feet))


def shape_distance(one, world_from_one, other, world_from_other):
    """Signed distance between two shapes that ride on these frames."""
    T, U = world_from_one @ one.link_from_shape, world_from_other @ other.link_from_shape
    return max(hull_distance(moved(T, a), moved(U, b)) - r - s for a, r in views(one) for b, s in views(other))


def surface(shape, count=60):
    """Points all over the surface of a shape in its own frame, by the plain formula of each."""
    angles = np.linspace(0.0, 2.0 * math.pi, count, endpoint=False)
    circle = np.array([np.cos(angles), np.sin(angles), 0.0 * angles]).T
    if shape.kind == "box":
        steps = np.linspace(-0.5, 0.5, 9)
        grid = np.array(list(itertools.product(steps, steps, steps)))
        return grid[np.abs(grid).max(axis=1) == 0.5] * shape.size
    if shape.kind == "cylinder":
        radius, length = shape.size
        rings = [(1.0, z) for z in np.linspace(-0.5, 0.5, 5)] + [
            (share, z) for share in (0.0, 0.5) for z in (-0.5, 0.5)
        ]
        return np.vstack([share * radius * circle + [0.0, 0.0, z * length] for share, z in rings])
    tilts = np.linspace(0.0, math.pi / 2.0, 20)
    ball = np.vstack([math.cos(t) * circle + [0.0, 0.0, s * math.sin(t)] for t in tilts for s in (-1.0, 1.0)])
    ends = np.zeros((1, 3)) if shape.kind == "sphere" else segment(shape.size[1])
    return np.vstack([shape.size[0] * ball + end for end in ends])

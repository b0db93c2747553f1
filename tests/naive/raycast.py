"""Rays and nearest points on surfaces, one facet after the other."""

from __future__ import annotations

import numpy as np


def triangles_of(heights, spacing, origin):
    """The facets of a height field (m, 3, 3): each cell is divided from its first corner to its last."""
    nx, ny = np.shape(heights)

    def corner(i, j):
        return [origin[0] + i * spacing, origin[1] + j * spacing, heights[i][j]]

    facets = []
    for i in range(nx - 1):
        for j in range(ny - 1):
            first, last = corner(i, j), corner(i + 1, j + 1)
            facets.append([first, corner(i + 1, j), last])
            facets.append([first, last, corner(i, j + 1)])
    return np.array(facets)


def normals_of(triangles):
    """The unit normals on the side from which the corners run anticlockwise."""
    n = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    return n / np.sqrt((n * n).sum(axis=1))[:, None]


def over(triangles, points):
    """For each triangle, whether its point lies straight above or below it: to the left of all edges."""
    n = normals_of(triangles)
    edges = np.roll(triangles, -1, axis=1) - triangles
    left = np.cross(edges, points[:, None] - triangles)
    return (np.einsum("fej,fj->fe", left, n) >= 0.0).all(axis=1)


def cast(triangles, origin, direction):
    """Distance and normal of the first facet that is hit on its front; (inf, None) if none is."""
    n = normals_of(triangles)
    front = n @ direction < 0.0
    triangles, n = triangles[front], n[front]
    t = ((triangles[:, 0] - origin) * n).sum(axis=1) / (n @ direction)
    t[~over(triangles, origin + t[:, None] * direction) | (t < 0.0)] = np.inf
    if np.isinf(t).all():
        return np.inf, None
    return t.min(), n[t.argmin()]


def distance(triangles, point):
    """To the nearest facet: straight to its plane if that ends inside, otherwise to the nearest of its edges."""
    straight = np.abs(((point - triangles[:, 0]) * normals_of(triangles)).sum(axis=1))
    edges = distance_to_edges(triangles, np.roll(triangles, -1, axis=1), point).min(axis=1)
    return np.where(over(triangles, np.broadcast_to(point, (len(triangles), 3))), straight, edges).min()


def distance_to_edges(a, b, point):
    """The distances from a point to the segments from a to b, in any number of dimensions."""
    share = ((b - a) * (point - a)).sum(axis=-1) / ((b - a) ** 2).sum(axis=-1)
    gap = point - a - np.clip(share, 0.0, 1.0)[..., None] * (b - a)
    return np.sqrt((gap * gap).sum(axis=-1))

"""Slow twins of height fields and grids: a field as convex prisms, a grid sample by sample."""

from __future__ import annotations

import numpy as np

from memetik import Shape
from tests.naive import coal


def prisms(field):
    """The solid under each facet of a height field, as hulls in the world."""
    heights, (dx, dy, depth) = field.values, field.size
    bottom = heights.min() - depth
    found = []
    for i in range(heights.shape[0] - 1):
        for j in range(heights.shape[1] - 1):
            for corners in (((0, 0), (1, 0), (1, 1)), ((0, 0), (1, 1), (0, 1))):
                top = [((i + a) * dx, (j + b) * dy, heights[i + a, j + b]) for a, b in corners]
                points = np.array([*top, *((x, y, bottom) for x, y, _ in top)])
                found.append(Shape("hull", (), field.link_from_shape, points=points))
    return found


def field_distance(shape, field):
    """The least distance of a shape from the prisms of a field, by coal."""
    return min(coal.distance(shape, prism)[0] for prism in prisms(field))


def interpolated(values, spacing, point):
    """Trilinearly, at a point given from the first sample on, within the grid: the mean of eight corners, by opposite volumes."""
    place = np.asarray(point) / spacing
    first = np.minimum(place.astype(int), np.array(values.shape) - 2)
    share = place - first
    total = 0.0
    for corner in np.ndindex(2, 2, 2):
        weight = np.prod(np.where(np.array(corner) == 1, share, 1.0 - share))
        total += weight * values[tuple(first + corner)]
    return total


def error_bound(value, spacing):
    """What an interpolated distance can be above the true one."""
    half = 0.5 * np.linalg.norm(spacing)
    return min(half, half**2 / (2.0 * (value - 3.0 * half))) if value > 3.0 * half else half

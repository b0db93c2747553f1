"""The surface of a link: triangles, points that stand for them, and what a plane makes of them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from memetik.kernels.covers import outermost as kernel
from memetik.types import Array

Places = NDArray[np.int64]  # of points in an array

SAMPLES = 1200  # points that stand for a surface while its parts are sought
VERTICES = 1200  # of its corners that stand for all of them, beside the outermost
DIRECTIONS = 162  # in which the outermost points are kept


def directions(count: int) -> Array:
    """Directions spread evenly over the sphere (count, 3), along a spiral."""
    k = np.arange(count) + 0.5
    z = 1.0 - 2.0 * k / count
    angle = math.pi * (1.0 + math.sqrt(5.0)) * k
    wide = np.sqrt(1.0 - z * z)
    return np.stack([wide * np.cos(angle), wide * np.sin(angle), z], axis=1)


def outermost(points: Array, members: Places, towards: Array) -> Array:
    """Those of the points (n, 3), of which `members` lists some, that are outermost in at least one of the directions."""
    if len(members) <= len(towards):
        return np.ascontiguousarray(points[members])
    found = np.empty(len(towards), dtype=np.int64)
    kernel.outermost(points, members, towards, np.empty(len(towards)), found)
    return np.ascontiguousarray(points[np.unique(found)])


def samples(triangles: Array) -> Array:
    """Points (n, 3) that stand for a surface: spread over its area, some of its corners, and the outermost ones."""
    corners = np.unique(triangles.reshape(-1, 3), axis=0)
    some = corners[:: max(1, math.ceil(len(corners) / VERTICES))]
    edge, other = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    area = np.cumsum(np.linalg.norm(np.cross(edge, other), axis=1))
    if area[-1] <= 0.0:  # all of it is lines and points
        return corners if len(corners) <= VERTICES else some
    k = np.arange(SAMPLES)
    chosen = np.minimum(np.searchsorted(area, area[-1] * (k + 0.5) / SAMPLES), len(triangles) - 1)
    # Numbers that fill the square evenly (Roberts 2018), folded onto the triangle.
    u, v = (0.5 + k * 0.7548776662466927) % 1.0, (0.5 + k * 0.5698402909980532) % 1.0
    outside = u + v > 1.0
    u, v = np.where(outside, 1.0 - u, u), np.where(outside, 1.0 - v, v)
    inner = triangles[chosen, 0] + u[:, None] * edge[chosen] + v[:, None] * other[chosen]
    outer = outermost(corners, np.arange(len(corners)), directions(DIRECTIONS))
    return np.concatenate([inner, some, outer])


def split(triangles: Array, normal: Array, offset: float) -> tuple[Array, Array]:
    """The triangles on either side of the plane normal · x = offset: below it and above it; those it crosses are cut."""
    heights = triangles @ normal - offset
    below, above = (heights <= 0.0).all(axis=1), (heights >= 0.0).all(axis=1)
    crossed = ~(below | above)
    parts = [[triangles[below]], [triangles[above & ~below]]]
    cut, high = triangles[crossed], heights[crossed]
    # Turn the corners of each so that the first one is alone on its side.
    side = high > 0.0
    alone = np.where((side[:, 1] == side[:, 2]), 0, np.where(side[:, 0] == side[:, 2], 1, 2))
    order = (alone[:, None] + np.arange(3)) % 3
    cut, high = np.take_along_axis(cut, order[:, :, None], axis=1), np.take_along_axis(high, order, axis=1)
    a, b, c = cut[:, 0], cut[:, 1], cut[:, 2]
    ab = a + (b - a) * (high[:, :1] / (high[:, :1] - high[:, 1:2]))
    ac = a + (c - a) * (high[:, :1] / (high[:, :1] - high[:, 2:3]))
    tip = np.stack([a, ab, ac], axis=1)
    rest = np.concatenate([np.stack([ab, b, c], axis=1), np.stack([ab, c, ac], axis=1)])
    up = high[:, 0] > 0.0
    parts[1] += [tip[up], rest[np.tile(~up, 2)]]
    parts[0] += [tip[~up], rest[np.tile(up, 2)]]
    return np.concatenate(parts[0]), np.concatenate(parts[1])

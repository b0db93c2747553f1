"""The cover of one link: one to a few simple shapes that hold all of its surface."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from memetik.body import Shape
from memetik.collision.fit import KINDS, Kinds, choose, least_around_all, union
from memetik.collision.partition import Divider, corners
from memetik.geometry import to_quaternion, transform
from memetik.kernels.covers.solid_sizes import MIDDLE, SIZE, SOLID_ROW, TURN, VOLUME, volume
from memetik.types import Array

VERSION = 1  # of the way covers are made: others are not used again
COUNTED = 4096  # points by which unions are compared in the end
REPORTED = 65536  # points by which the volume of a cover is told
GRAIN = 1e-6  # m; sizes are rounded up to it, and places to it
DIGITS = 6  # of places and quaternions
SAFE = 1e-8  # m, for the rounding of what is written to files and of what others compute from the shape


class Style(NamedTuple):
    """How a link is covered."""

    most: int = 4  # shapes
    kinds: tuple[str, ...] = ("capsule", "sphere", "box")
    gain: float = 0.03  # share of the volume that another shape has to save


def cover_surface(triangles: Array, style: Style) -> tuple[tuple[Shape, ...], float]:
    """Shapes that hold all of the triangles (n, 3, 3) [m], and their volume together [m^3].

    The surface is cut into parts by planes, and each part gets the least shape that holds it. Of the covers by 1, 2, ...
    shapes the one with the least volume / (1 - gain)^shapes is taken.
    """
    low, high = triangles.min(axis=(0, 1)), triangles.max(axis=(0, 1))
    middle, size = 0.5 * (low + high), max(float(np.max(high - low)), GRAIN)
    scaled = (triangles - middle) / size
    kinds = np.array([KINDS[kind] for kind in style.kinds])
    best, least = None, math.inf
    for partition in Divider(scaled, kinds).partitions(style.most):
        cut = zip(partition.cut(scaled), corners(partition.planes, scaled), strict=True)
        parts = [np.concatenate([part.reshape(-1, 3), corner]) for part, corner in cut if len(part)]
        rows = [least_around_all(part, kinds) for part in parts]
        chosen, together = choose(kinds, rows, COUNTED)
        cost = together / (1.0 - style.gain) ** len(parts)
        if cost < least or best is None:
            best, least = (parts, rows, chosen), cost
    assert best is not None  # the partition into one part is always there
    parts, rows, chosen = best
    shapes = tuple(
        finished(style.kinds[k], row[k], size * part + middle, size, middle)
        for part, row, k in zip(parts, rows, chosen, strict=True)
    )
    return shapes, shapes_volume(shapes)


def finished(kind: str, row: Array, points: Array, size: float, middle: Array) -> Shape:
    """A solid of the scaled surface as a shape in metres, with few digits, that holds the points (n, 3) for certain.

    The place is rounded first, then the size is what the points need there, rounded up.
    """
    place = transform(
        np.round(size * row[MIDDLE : MIDDLE + 3] + middle, DIGITS),
        np.round(to_quaternion(_nearest_rotation(row[TURN : TURN + 9].reshape(3, 3))), DIGITS),
    )
    local = np.abs((points - place[:3, 3]) @ place[:3, :3])
    if kind == "box":
        return Shape(kind, tuple(2.0 * _up(half) for half in local.max(axis=0).tolist()), place)
    across = local[:, 0] ** 2 + local[:, 1] ** 2
    if kind == "cylinder":
        return Shape(kind, (_up(math.sqrt(across.max())), 2.0 * _up(float(local[:, 2].max()))), place)
    length = 0.0 if kind == "sphere" else 2.0 * _up(0.5 * size * float(row[SIZE + 1]))
    beyond = np.maximum(local[:, 2] - 0.5 * length, 0.0)
    radius = _up(math.sqrt(float((across + beyond**2).max())))
    return Shape(kind, (radius,) if kind == "sphere" else (radius, length), place)


def shapes_volume(shapes: tuple[Shape, ...]) -> float:
    """The volume of simple shapes together [m^3]."""
    kinds: Kinds = np.array([KINDS[shape.kind] for shape in shapes])
    rows = np.zeros((len(shapes), SOLID_ROW))
    for row, kind, shape in zip(rows, kinds.tolist(), shapes, strict=True):
        row[TURN : TURN + 9] = shape.link_from_shape[:3, :3].ravel()
        row[MIDDLE : MIDDLE + 3] = shape.link_from_shape[:3, 3]
        row[SIZE : SIZE + len(shape.size)] = shape.size
        row[VOLUME] = volume(kind, row[SIZE : SIZE + 3])
    return union(kinds, rows, REPORTED)


def _up(length: float) -> float:
    """A length rounded up [m]."""
    return round(math.ceil((length + SAFE) / GRAIN) * GRAIN, DIGITS)


def _nearest_rotation(turn: Array) -> Array:
    """Hundreds of small turns leave a matrix that is a rotation but for rounding."""
    u, _, v = np.linalg.svd(turn)
    return np.asarray(u @ v)

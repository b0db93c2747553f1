"""Triangles of simple shapes, for files that show meshes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.body.link import Shape
from memetik.types import Array

AROUND = 12  # corners of a ring
RINGS = 3  # of each cap of a capsule, beside its pole
WAIST = 0.1  # of an octahedron along a bone: where it is widest, and how wide, as shares of its length


class Surface(NamedTuple):
    """Triangles, counter-clockwise as seen from outside."""

    vertices: Array  # (n, 3) [m]
    faces: NDArray[np.int64]  # (m, 3)


def surface_of(shape: Shape) -> Surface | None:
    """The surface of a shape in its link; None of meshes, whose files are not read, and of fields."""
    if shape.kind == "mesh" or shape.is_field:
        return None
    if shape.kind == "hull":
        vertices, faces = np.asarray(shape.hull.vertices, dtype=float), np.asarray(shape.hull.faces, dtype=np.int64)
    elif shape.kind == "box":
        signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
        vertices = 0.5 * signs * shape.size
        quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        faces = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))], dtype=np.int64)
    else:
        vertices, faces = _turned(_profile(shape))
    return Surface(vertices @ shape.link_from_shape[:3, :3].T + shape.link_from_shape[:3, 3], faces)


def octahedron(start: Array, end: Array) -> Surface:
    """A bone as Blender draws it, from one point to another."""
    way = end - start
    length = float(np.linalg.norm(way))
    least = np.eye(3)[int(np.abs(way).argmin())]
    one = np.cross(way, least)
    one *= WAIST * length / max(float(np.linalg.norm(one)), 1e-12)
    other = np.cross(way, one) / max(length, 1e-12)
    middle = start + WAIST * way
    vertices = np.array([start, middle + one, middle + other, middle - one, middle - other, end])
    rim = [(1, 2), (2, 3), (3, 4), (4, 1)]
    return Surface(vertices, np.array([*((0, b, a) for a, b in rim), *((5, a, b) for a, b in rim)], dtype=np.int64))


def _profile(shape: Shape) -> list[tuple[float, float]]:
    """Radius and height of the rings of a sphere, capsule or cylinder, from below; the first and the last are points."""
    radius, half = shape.size[0], 0.5 * shape.size[1] if len(shape.size) > 1 else 0.0
    if shape.kind == "cylinder":
        return [(0.0, -half), (radius, -half), (radius, half), (0.0, half)]
    steps = np.linspace(0.0, 0.5 * np.pi, RINGS + 1)
    cap = [(radius * float(np.sin(t)), half + radius * float(np.cos(t))) for t in steps]
    above = cap[::-1] if half > 0.0 else cap[-2::-1]
    return [*((r, -z) for r, z in cap), *above]


def _turned(profile: list[tuple[float, float]]) -> tuple[Array, NDArray[np.int64]]:
    """The surface of a profile that turns about z."""
    angles = 2.0 * np.pi * np.arange(AROUND) / AROUND
    rings = [[(r * np.cos(t), r * np.sin(t), z) for t in angles] for r, z in profile[1:-1]]
    vertices = np.array([(0.0, 0.0, profile[0][1]), *(p for ring in rings for p in ring), (0.0, 0.0, profile[-1][1])])
    last, faces = len(vertices) - 1, []
    for j in range(AROUND):
        n = (j + 1) % AROUND
        faces.append((0, 1 + n, 1 + j))
        for i in range(len(rings) - 1):
            a, b = 1 + i * AROUND, 1 + (i + 1) * AROUND
            faces += [(a + j, a + n, b + n), (a + j, b + n, b + j)]
        top = 1 + (len(rings) - 1) * AROUND
        faces.append((last, top + j, top + n))
    return vertices, np.array(faces, dtype=np.int64)

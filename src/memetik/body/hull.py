"""Convex hulls of points: their corners, and the triangles between them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.errors import BodyError, MissingExtraError
from memetik.types import Array

FLAT = 1e-9  # share of its length that a hull must be wide and thick, else it is a segment or lies in a plane


class Hull(NamedTuple):
    """A convex polytope; one that is flat has its triangles on both sides, a segment or a point has none."""

    vertices: Array  # (n, 3) [m], each a corner
    faces: NDArray[np.int64]  # (m, 3), anticlockwise as seen from outside


def convex_hull(points: Array) -> Hull:
    """The hull of points (n, 3), finite ones: of the same n rows some may not be corners, and some may be equal."""
    distinct = np.unique(points, axis=0)
    middle = distinct.mean(axis=0)
    _, widths, axes = np.linalg.svd(distinct - middle, full_matrices=False)
    rank = int((widths > FLAT * widths[0]).sum()) if widths[0] > 0.0 else 0
    along = (distinct - middle) @ axes[:rank].T
    if rank == 0:
        return Hull(distinct[:1], np.empty((0, 3), np.int64))
    if rank == 1:
        ends = [int(along.argmin()), int(along.argmax())]
        return Hull(distinct[ends], np.empty((0, 3), np.int64))
    found = _qhull(along)
    if rank == 2:
        fan = np.array([(0, k, k + 1) for k in range(1, len(found.vertices) - 1)])
        return Hull(distinct[found.vertices], np.concatenate([fan, fan[:, ::-1]]))
    number = np.full(len(distinct), -1)
    number[found.vertices] = np.arange(len(found.vertices))
    corners, faces = distinct[found.vertices], number[found.simplices].astype(np.int64)
    a, b, c = (corners[faces[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), found.equations[:, :3] @ axes) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return Hull(corners, faces)


def rounded_hull(points: Array, radius: float) -> Hull:
    """The hull of balls of this radius [m] around points, each ball as a polyhedron, for pictures."""
    if radius == 0.0:
        return convex_hull(points)
    corners = np.array(
        [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if (x, y, z) != (0, 0, 0)]
    )
    ball = radius * corners / np.linalg.norm(corners, axis=1, keepdims=True)
    return convex_hull((points[:, None, :] + ball).reshape(-1, 3))


def volume_and_center(hull: Hull) -> tuple[float, Array]:
    """The volume [m3] of a hull and its centre of mass [m]; one that has no volume has its centre among its corners."""
    middle = hull.vertices.mean(axis=0)
    a, b, c = (hull.vertices[hull.faces[:, k]] - middle for k in range(3))
    parts = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0  # tetrahedra from the middle to each face
    total = float(parts.sum())
    if total <= 0.0:
        return 0.0, middle
    return total, middle + parts @ (a + b + c) / (4.0 * total)


def neighbours(hull: Hull) -> list[NDArray[np.int64]]:
    """For each corner those that a face joins it with."""
    pairs = np.concatenate([hull.faces[:, [i, j]] for i in range(3) for j in range(3) if i != j])
    pairs = np.unique(pairs.reshape(-1, 2), axis=0)
    return np.split(pairs[:, 1], np.searchsorted(pairs[:, 0], np.arange(1, len(hull.vertices))))


def _qhull(points: Array) -> Any:
    try:
        from scipy.spatial import ConvexHull, QhullError
    except ImportError as error:
        raise MissingExtraError("scipy", "a convex hull", "meshes") from error
    try:
        return ConvexHull(points)
    except QhullError as reason:
        raise BodyError(
            f"the hull of {len(points)} points cannot be computed: {str(reason).strip().splitlines()[0]}. Leave out points "
            "that lie closer together than a billionth of their extent."
        ) from reason

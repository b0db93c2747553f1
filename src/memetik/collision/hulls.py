"""Convex hulls as shapes: of points, of meshes, and of all meshes of a body."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Body, Link, Shape
from memetik.errors import BodyError, FormatError, MissingExtraError, said, shown
from memetik.geometry.checks import real_array, whole_number
from memetik.kernels.geometry.hulls import hull_apart
from memetik.kernels.geometry.solids import SOLID_DATA, SOLID_POINTS
from memetik.read import resolve_mesh
from memetik.types import Array

Roots = Iterable[str | PathLike[str]]


def hull(
    source: ArrayLike | str | PathLike[str] | Any, link_from_shape: Array | None = None, *, most: int | None = None,
    scale: ArrayLike = 1.0, color: tuple[float, float, float, float] | None = None,
) -> Shape:  # fmt: skip
    """The convex hull of points (n, 3) [m], of a mesh file, or of a mesh that has `vertices`, such as trimesh's, as a shape.

    A hull is exact: distances and normals are those of the hull itself. It takes the place of a mesh that is convex, or
    nearly so; one with hollows is to be divided into several first.

    link_from_shape: where it stands, 4x4, as of every Shape.
    most: keep at most so many points, at least 4, and take a radius that is just large enough that no other point sticks out.
    scale: factors for x, y and z, one number for all.
    """
    factors = real_array(scale, BodyError, "hull: scale must be a number or three")
    if factors.shape not in ((), (3,)) or not np.isfinite(factors).all() or (factors == 0.0).any():
        raise BodyError(f"hull: scale is {shown(scale)}; it must be a number or three, none of them zero.")
    points = _vertices(source)
    place = np.eye(4) if link_from_shape is None else link_from_shape
    whole = Shape("hull", (0.0,), place, color=color, points=points * factors)
    corners = whole.hull.vertices
    radius = 0.0
    if most is not None and len(corners) > whole_number(most, BodyError, "hull: most", least=4):
        corners, radius = _fewer(corners, most)
    return dataclasses.replace(whole, size=(radius,), points=corners)


def with_hulls(body: Body, roots: Roots = (), *, most: int | None = None) -> Body:
    """The body with the convex hulls of its collision meshes in place of these; other shapes stay.

    roots: folders in which the files of meshes are looked up, besides the paths that they were read with.
    most: see `hull`.
    """
    if not isinstance(body, Body):
        raise BodyError(f"with_hulls: {shown(body)} is not a body.")
    links = [dataclasses.replace(link, shapes=_hulls(link, roots, most)) for link in body.links.values()]
    return Body(
        body.name, links, body.joints.values(), home=dict(zip(body.joint_names, body.home.tolist(), strict=True)),
        chains=body.chains, touching=body.touching, postures=body.named_values, loops=body.loops,
    )  # fmt: skip


def hull_of(shape: Shape, roots: Roots = (), *, most: int | None = None) -> Shape:
    """The convex hull of a mesh, scaled and placed as that is."""
    path = resolve_mesh(shape.mesh, roots) or _there(shape.mesh)
    if path is None:
        raise FormatError(
            f"the mesh {shape.mesh!r} is not there. Name the folders that it may be in: body.with_hulls("
            "roots=['models']), or mk.load(file, roots=['models'])."
        )
    return hull(path, shape.link_from_shape, most=most, scale=shape.size, color=shape.color)


def _hulls(link: Link, roots: Roots, most: int | None) -> tuple[Shape, ...]:
    return tuple(hull_of(shape, roots, most=most) if shape.kind == "mesh" else shape for shape in link.shapes)


def _there(name: str) -> Path | None:
    path = Path(name)
    try:
        return path if path.is_file() else None
    except (OSError, ValueError):
        return None


def _vertices(source: Any) -> Array:
    if isinstance(source, (str, PathLike)):
        return _read(Path(source))
    found = getattr(source, "vertices", source)
    points = real_array(
        found, BodyError, "hull: give points (n, 3), a mesh or the name of a file; these are not numbers"
    )
    if points.ndim != 2 or points.shape[1:] != (3,):
        raise BodyError(f"hull: the points have the shape {points.shape}; it must be (n, 3).")
    return points


def _read(path: Path) -> Array:
    try:
        import trimesh
    except ImportError as error:
        raise MissingExtraError("trimesh", "reading a mesh", "meshes") from error
    try:
        mesh: Any = trimesh.load(str(path), force="mesh")
        points = np.array(mesh.vertices, dtype=np.float64)
    except Exception as reason:  # whatever a reader of strangers' files stumbles over
        raise FormatError(
            f"{path}: cannot be read as a mesh: {said(reason)}. STL, OBJ, PLY, DAE and glTF can."
        ) from reason
    if points.ndim != 2 or points.shape[1] != 3 or len(points) == 0:
        raise FormatError(f"{path}: a mesh without vertices.")
    return points


def _fewer(corners: Array, most: int) -> tuple[Array, float]:
    """Corners so that the others are close to their hull, one by one the farthest of those left; and how far that is [m]."""
    chosen = list(dict.fromkeys([*corners.argmin(axis=0).tolist(), *corners.argmax(axis=0).tolist()]))[:most]
    gaps = _gaps(corners, corners[chosen])
    while len(chosen) < most and gaps.max() > 0.0:
        chosen.append(int(gaps.argmax()))
        gaps = _gaps(corners, corners[chosen])
    return corners[chosen], float(max(gaps.max(), 0.0))


def _gaps(points: Array, corners: Array) -> Array:
    """How far each point is outside of the hull of corners [m]."""
    data = np.zeros(2 * SOLID_DATA + 2 + corners.size)
    data[SOLID_POINTS] = 2 * SOLID_DATA
    data[2 * SOLID_DATA] = len(corners)
    data[2 * SOLID_DATA + 2 :] = corners.ravel()
    still = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    rows = points.tolist()
    return np.array([hull_apart(data, still, 0, (1.0, 0.0, 0.0, 0.0, *row), SOLID_DATA, np.inf)[0] for row in rows])

"""Mesh files -> triangles: STL, OBJ, DAE, glTF and PLY, by the package trimesh."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from memetik.body import Shape
from memetik.errors import FormatError, MissingExtraError, said
from memetik.types import Array

FORMATS = (".stl", ".obj", ".dae", ".glb", ".gltf", ".ply")
MOST_BYTES = 512 * 2**20
MOST_TRIANGLES = 4_000_000
FARTHEST = 1e6  # metres from the origin; beyond, squares and cubes lose the digits that matter


def require_trimesh(purpose: str = "reading meshes") -> Any:
    """The package that reads meshes."""
    try:
        import scipy.spatial  # noqa: F401  # for hulls; asked for here, so that one message names the extra
        import trimesh
    except ImportError as error:
        raise MissingExtraError(error.name or "trimesh", purpose, "meshes") from error
    return trimesh


def mesh_triangles(shape: Shape, path: Path, where: str) -> Array:
    """The triangles (n, 3, 3) of a mesh in the frame of its link [m]; `where` begins messages."""
    triangles = read_triangles(path, where) * np.array(shape.size)
    return np.asarray(triangles @ shape.link_from_shape[:3, :3].T + shape.link_from_shape[:3, 3])


def read_triangles(path: Path, where: str) -> Array:
    """The triangles (n, 3, 3) in a file, as they are written there; those of a scene placed as it places them."""
    trimesh = require_trimesh()
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise FormatError(
            f"{where}: {path.name} is no mesh that memetik reads. Convert it to one of {', '.join(FORMATS)}."
        )
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise FormatError(
                f"{where}: {path} has {size / 2**20:.0f} MB, more than {MOST_BYTES // 2**20}. Give the link a coarser "
                "mesh for collision, or simplify this one, for example in MeshLab."
            )
        data = path.read_bytes()
    except OSError as error:
        raise FormatError(f"{where}: the mesh {path} cannot be read: {error.strerror}.") from error
    triangles = _load(trimesh, path, suffix, data, where)
    if len(triangles) == 0:
        raise FormatError(f"{where}: the mesh {path} has no triangles. Export it again, or remove it from the model.")
    if len(triangles) > MOST_TRIANGLES:
        raise FormatError(
            f"{where}: the mesh {path} has {len(triangles):,} triangles, more than {MOST_TRIANGLES:,}. Give the link a "
            "coarser mesh for collision, or simplify this one, for example in MeshLab."
        )
    if not (np.abs(triangles) <= FARTHEST).all():  # nor are NaN and infinite ones
        raise FormatError(
            f"{where}: the mesh {path} has corners that are not finite or further away than {FARTHEST:g} m. Export it again."
        )
    return triangles


def _load(trimesh: Any, path: Path, suffix: str, data: bytes, where: str) -> Array:
    options: dict[str, Any] = {"skip_materials": True} if suffix == ".obj" else {}
    try:
        if suffix == ".gltf":  # its numbers are in files beside it
            scene = trimesh.load_scene(path)
        else:
            scene = trimesh.load_scene(io.BytesIO(data), file_type=suffix[1:], process=False, **options)
        parts = [_triangles(trimesh, geometry) for geometry in scene.dump()]
    except ImportError as error:
        raise MissingExtraError(error.name or "pycollada", f"reading {path.name}", "meshes") from error
    except Exception as error:  # whatever a reader of strangers' files stumbles over
        raise FormatError(
            f"{where}: the mesh {path} cannot be read as {suffix[1:].upper()}: {said(error)}. Export it again."
        ) from error
    return np.concatenate(parts) if parts else np.zeros((0, 3, 3))


def _triangles(trimesh: Any, geometry: Any) -> Array:
    """Of a mesh; lines and points in a scene have none."""
    if not isinstance(geometry, trimesh.Trimesh):
        return np.zeros((0, 3, 3))
    return np.asarray(geometry.vertices, dtype=np.float64)[np.asarray(geometry.faces, dtype=np.int64)]


def hull_volume(triangles: Array) -> float:
    """The volume of the convex hull of triangles [m^3]; zero if they are flat."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return float(ConvexHull(np.unique(triangles.reshape(-1, 3), axis=0)).volume)
    except (QhullError, ValueError):  # flat, a line, or a point
        return 0.0

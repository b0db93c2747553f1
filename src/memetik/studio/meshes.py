"""Meshes of models: triangles of a file inside the folders that may be read, and nothing else of it.

The file is handed on as bytes, so that no material, texture or scene in it can name another file.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.read import resolve_mesh
from memetik.studio import Array
from memetik.types import Array

FORMATS = (".stl", ".obj", ".ply")
MOST_BYTES = 32 * 2**20
MOST_FACES = 100_000  # more would be slow in a browser, and ghosts draw them again


class Mesh(NamedTuple):
    """Triangles; corners are not shared across edges that should look sharp."""

    vertices: Array
    faces: NDArray[np.int64]


def read_mesh(name: str, scale: Sequence[float], roots: Sequence[str]) -> Mesh | None:
    """The mesh that a model names, scaled; None where it cannot be drawn: another format, too large, broken, not there."""
    path = resolve_mesh(name, roots)
    if path is None or path.suffix.lower() not in FORMATS:
        return None
    try:
        found = path.stat()
        return _read(path, found.st_mtime_ns, tuple(scale)) if found.st_size <= MOST_BYTES else None
    except OSError:
        return None


@lru_cache(maxsize=512)
def _read(path: Path, changed: int, scale: tuple[float, ...]) -> Mesh | None:
    """`changed` is when the file was, so that a new version is read anew."""
    import trimesh  # takes a second, and most bodies need none

    try:
        loaded: Any = trimesh.load(io.BytesIO(path.read_bytes()), file_type=path.suffix[1:].lower(), force="mesh")
        vertices, faces = np.array(loaded.vertices, dtype=np.float64), np.array(loaded.faces, dtype=np.int64)
    except Exception:  # whatever a reader of strangers' files stumbles over
        return None
    if not 0 < len(faces) <= MOST_FACES or vertices.shape[1:] != (3,) or not np.isfinite(vertices).all():
        return None
    # A mirrored mesh would show its inside.
    return Mesh(vertices * scale, faces if np.prod(scale) > 0.0 else faces[:, ::-1])

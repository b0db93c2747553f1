"""Meshes of a model as triangles with the colours of their materials, or why one cannot be drawn.

A file is handed to its reader as bytes. The only other files that it may name are the materials of an OBJ and the buffers of a
glTF, in its own folder. What was uploaded is read in a process of its own with limits, all files of a folder together, because a
small file can unpack to more than any machine holds.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import memetik as mk
from memetik.read import distrusted, resolve_mesh, run_limited
from memetik.types import Array

PACKAGE = "package://"
FORMATS = (".stl", ".obj", ".ply", ".dae", ".glb", ".gltf")
NOT_FOUND = "not found"
MOST_BYTES = 32 * 2**20
MOST_FACES = 300_000  # more would be slow in a browser, and ghosts draw them again
MOST_MATERIALS = 64  # of one file, each a mesh of its own


class Mesh(NamedTuple):
    """Triangles; corners are not shared across edges that should look sharp."""

    vertices: Array
    faces: NDArray[np.int64]


class Part(NamedTuple):
    """What has one material: red, green and blue from 0 to 1, None where the file says nothing."""

    mesh: Mesh
    color: tuple[float, float, float] | None


class Loaded(NamedTuple):
    """The parts of a file; none, with the reason, if it cannot be drawn."""

    parts: tuple[Part, ...]
    trouble: str = ""


def read_mesh(name: str, scale: Sequence[float], roots: Sequence[str]) -> Loaded:
    """The mesh that a model names, scaled."""
    path = resolve_mesh(name, roots)
    if path is None:
        return Loaded((), NOT_FOUND)
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        return Loaded((), f"{suffix or 'a file without a suffix'} is not drawn; {', '.join(FORMATS)} are")
    try:
        found = path.stat()
        if found.st_size > MOST_BYTES:
            return Loaded((), f"larger than {MOST_BYTES >> 20} MB")
        return _read(path, found.st_mtime_ns, tuple(scale))
    except OSError as error:
        return Loaded((), error.strerror or "cannot be read")


def seen_meshes(link: mk.build.Link) -> list[mk.Shape]:
    """The meshes that a link is drawn by: of its visuals, or of its shapes if it has no visuals."""
    return [shape for shape in link.visuals or link.shapes if shape.kind == "mesh"]


def missing_meshes(body: mk.Body, roots: Sequence[str]) -> dict[str, str]:
    """The meshes by which a body should be drawn and cannot be, by the name in the model, and the reason for each."""
    found: dict[str, str] = {}
    for link in body.links.values():
        for shape in seen_meshes(link):
            trouble = read_mesh(shape.mesh, shape.size, roots).trouble
            if trouble:
                found[shape.mesh] = trouble
    return found


def remedy(names: Iterable[str]) -> str:
    """How to let meshes be found, for those that were not."""
    packages = sorted({name.removeprefix(PACKAGE).lstrip("/").partition("/")[0] for name in names if PACKAGE in name})
    folder = f"the folder that holds {', '.join(packages[:4])}" if packages else "the folder that the paths begin in"
    return f"Start the studio with --root DIR, {folder}, or upload a .zip of the model with its meshes."


@lru_cache(maxsize=512)
def _read(path: Path, changed: int, scale: tuple[float, ...]) -> Loaded:
    """`changed` is when the file was, so that a new version is read again."""
    loaded = _of_stranger(path) if distrusted(path) else parse(path)
    return loaded._replace(parts=tuple(Part(_scaled(part.mesh, scale), part.color) for part in loaded.parts))


def _scaled(mesh: Mesh, scale: Sequence[float]) -> Mesh:
    # A mirrored mesh would show its inside.
    return Mesh(mesh.vertices * scale, mesh.faces if np.prod(scale) > 0.0 else mesh.faces[:, ::-1])


def parse(path: Path) -> Loaded:
    """The parts of a file as it is written."""
    import trimesh  # takes a second, and most bodies need none

    kind = path.suffix[1:].lower()
    try:
        beside: Any = _Beside(path.parent)
        loaded: Any = trimesh.load(io.BytesIO(path.read_bytes()), file_type=kind, resolver=beside)
        pieces = loaded.dump() if isinstance(loaded, trimesh.Scene) else [loaded]
        parts = _by_material([piece for piece in pieces if isinstance(piece, trimesh.Trimesh)])
    except Exception as error:  # whatever a reader of strangers' files stumbles over
        return Loaded((), f"broken: {' '.join(str(error).split())[:120] or type(error).__name__}")
    count = sum(len(part.mesh.faces) for part in parts)
    if count == 0:
        return Loaded((), "it has no triangles")
    if count > MOST_FACES:
        return Loaded((), f"it has {count} triangles, more than {MOST_FACES}")
    if not all(np.isfinite(part.mesh.vertices).all() for part in parts):
        return Loaded((), "broken: corners that are not finite")
    return Loaded(parts)


# ---- Uploads ---------------------------------------------------------------------------------------------------

_PARSE = """
from memetik_studio.meshes import write_parsed
write_parsed(given[0], given[1:])
"""
MOST_OF_FOLDER = 10 * MOST_FACES


def _of_stranger(path: Path) -> Loaded:
    """A file of an upload, read together with all others of its folder."""
    beside = [each for each in sorted(path.parent.iterdir()) if each.suffix.lower() in FORMATS and each.is_file()]
    files = tuple((each.name, each.stat().st_mtime_ns) for each in beside if each.stat().st_size <= MOST_BYTES)
    return _of_folder(path.parent, files)[path.name]


@lru_cache(maxsize=16)
def _of_folder(folder: Path, files: tuple[tuple[str, int], ...]) -> dict[str, Loaded]:
    """The files of a folder by name; those that the process did not come to have the reason."""
    found = {name: Loaded((), "it, or another mesh of its folder, takes too much time or memory") for name, _ in files}
    with tempfile.TemporaryDirectory(prefix="memetik_meshes_") as target:
        run_limited(_PARSE, [target, *(str(folder / name) for name, _ in files)], Path(target))
        for number, (name, _) in enumerate(files):
            with contextlib.suppress(
                OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile
            ):  # not there, or not whole
                found[name] = _parsed(Path(target) / f"{number}.npz")
    return found


def write_parsed(target: str, paths: Sequence[str]) -> None:
    """Write the parts of files as 0.npz, 1.npz, ... into a folder; for the process of its own."""
    left = MOST_OF_FOLDER
    for number, path in enumerate(paths):
        loaded = parse(Path(path))
        left -= sum(len(part.mesh.faces) for part in loaded.parts)
        if left < 0:
            return
        arrays = {"trouble": np.array(loaded.trouble)}
        for k, (mesh, color) in enumerate(loaded.parts):
            arrays |= {f"v{k}": mesh.vertices, f"f{k}": mesh.faces, f"c{k}": np.array(() if color is None else color)}
        whole = Path(target) / "part"
        with whole.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
        whole.rename(Path(target) / f"{number}.npz")


def _parsed(path: Path) -> Loaded:
    with np.load(path, allow_pickle=False) as file:
        count = sum(name.startswith("v") for name in file.files)
        colors = [tuple(file[f"c{k}"].tolist()) or None for k in range(count)]
        parts = [Part(Mesh(file[f"v{k}"], file[f"f{k}"]), colors[k]) for k in range(count)]
        return Loaded(tuple(parts), str(file["trouble"]))


def _by_material(pieces: Sequence[Any]) -> tuple[Part, ...]:
    """One part for each colour, so that a file of a thousand pieces is a few meshes."""
    groups: dict[tuple[float, float, float] | None, list[Mesh]] = {}
    for piece in pieces:
        vertices, faces = np.array(piece.vertices, dtype=np.float64), np.array(piece.faces, dtype=np.int64)
        color = _color(piece)
        key = color if color in groups or len(groups) < MOST_MATERIALS else None
        groups.setdefault(key, []).append(Mesh(vertices, faces))
    return tuple(Part(_joined(meshes), color) for color, meshes in groups.items())


def _joined(meshes: Sequence[Mesh]) -> Mesh:
    firsts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    faces = [mesh.faces + first for mesh, first in zip(meshes, firsts, strict=True)]
    return Mesh(np.concatenate([mesh.vertices for mesh in meshes]), np.concatenate(faces))


def _color(piece: Any) -> tuple[float, float, float] | None:
    """The plain colour of a piece's material; a texture has none, and a reader's default is no material."""
    material = getattr(piece.visual, "material", None)
    if material is None:
        return None
    given = getattr(material, "baseColorFactor", None) if hasattr(material, "baseColorFactor") else material.diffuse
    if given is None or getattr(material, "name", None) == "":
        return None
    values = np.asarray(given, dtype=np.float64)[:3]
    r, g, b = (values / 255.0 if np.asarray(given).dtype.kind in "ui" else np.clip(values, 0.0, 1.0)).round(3).tolist()
    return r, g, b


class _Beside:
    """What trimesh asks for files that a mesh names: material libraries beside it, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, name: str) -> bytes:
        """The content of a file."""
        path = resolve_mesh(str(name), [self._folder])
        if path is None or path.parent != self._folder or path.suffix.lower() not in (".mtl", ".bin"):
            raise FileNotFoundError(name)
        if path.stat().st_size > MOST_BYTES:
            raise FileNotFoundError(name)
        return path.read_bytes()

    __getitem__ = get

"""A body as many copies of three unit solids (box, ball, tube): a posture is then six arrays, whatever the body.

Sending one message for each link would take longer than solving; sending all poses of a solid at once does not. Meshes
of a model are solids of their own: triangles of a file inside the folders that may be read, and nothing else of it. The
file is handed on as bytes, so that no material, texture or scene in it can name another file.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import memetik as mk
from memetik.geometry import between
from memetik.read import resolve_mesh
from memetik.types import Array
from memetik.write import link_colors

BONE = 0.008  # radius of a bone, as a share of the size of the body
AROUND = 16  # corners of a tube
FORMATS = (".stl", ".obj", ".ply", ".dae", ".glb")
MOST_BYTES = 32 * 2**20
MOST_FACES = 100_000  # more would be slow in a browser, and ghosts draw them again


class Mesh(NamedTuple):
    """Triangles; corners are not shared across edges that should look sharp."""

    vertices: Array
    faces: NDArray[np.int64]


Row = tuple[int, Array, tuple[float, float, float], tuple[float, ...]]  # link, place in it, scale and colour of a copy


class Copies(NamedTuple):
    """Copies of one solid: which link each rides on, where, how large and in which colour."""

    mesh: Mesh
    links: NDArray[np.int64]
    positions: Array  # (n, 3) in the link
    rotations: Array  # (n, 3, 3)
    scales: Array  # (n, 3)
    colors: NDArray[np.uint8]  # (n, 3)

    def place(self, poses: Array) -> tuple[Array, Array]:
        """Positions (n, 3) and quaternions (n, 4) in the world, for the poses (links, 4, 4) of all links."""
        carriers = poses[self.links]
        positions = np.einsum("nij,nj->ni", carriers[:, :3, :3], self.positions) + carriers[:, :3, 3]
        return positions, quaternions(carriers[:, :3, :3] @ self.rotations)


def quaternions(rotations: Array) -> Array:
    """(w, x, y, z) of rotations (n, 3, 3); of four ways to compute it the one with the largest divisor."""
    r = rotations
    xx, yy, zz = r[:, 0, 0], r[:, 1, 1], r[:, 2, 2]
    a, b, c = r[:, 2, 1] - r[:, 1, 2], r[:, 0, 2] - r[:, 2, 0], r[:, 1, 0] - r[:, 0, 1]
    d, e, f = r[:, 0, 1] + r[:, 1, 0], r[:, 0, 2] + r[:, 2, 0], r[:, 1, 2] + r[:, 2, 1]
    ways = np.empty((len(r), 4, 4))
    ways[:, 0] = np.stack([1.0 + xx + yy + zz, a, b, c], axis=1)
    ways[:, 1] = np.stack([a, 1.0 + xx - yy - zz, d, e], axis=1)
    ways[:, 2] = np.stack([b, d, 1.0 - xx + yy - zz, f], axis=1)
    ways[:, 3] = np.stack([c, e, f, 1.0 - xx - yy + zz], axis=1)
    best = ways[np.arange(len(r)), np.argmax(np.einsum("nkk->nk", ways), axis=1)]
    return np.asarray(best / np.linalg.norm(best, axis=1, keepdims=True))


def copies(body: mk.Body, roots: Sequence[str] = ()) -> dict[str, Copies]:
    """The solids of a body: the shapes of its links, meshes that are found in `roots`, and bones where a link has none."""
    solids: dict[str, Mesh] = dict(UNITS)
    rows: dict[str, list[Row]] = {name: [] for name in UNITS}
    colors = link_colors(body)
    size = extent(body)
    order = {link: k for k, link in enumerate(body.links)}
    bare = set()
    for name, link in body.links.items():
        meshes = {
            shape: read_mesh(shape.mesh, shape.size, roots)
            for shape in (*link.visuals, *link.shapes)
            if shape.kind == "mesh"
        }
        meshes |= {
            shape: hull_mesh(shape) for shape in (*link.visuals, *link.shapes) if shape.kind == "hull" or shape.is_field
        }
        drawn = [shape for shape in link.visuals if meshes.get(shape, True) is not None]
        shapes = drawn or [shape for shape in link.shapes if meshes.get(shape, True) is not None]
        for shape in shapes:
            color = shape.color[:3] if shape.color is not None else colors[name]
            mesh = meshes.get(shape)
            if mesh is not None:
                unit = f"mesh {len(solids)}"
                solids[unit], rows[unit] = mesh, [(order[name], shape.link_from_shape, (1.0, 1.0, 1.0), color)]
                continue
            for unit, place, scale in _parts(shape):
                rows[unit].append((order[name], place, scale, color))
        if not shapes and name != body.root:
            bare.add(name)
    if len(bare) == len(body.links) - 1:
        bare.add(body.root)
    for joint in body.joints.values():
        length = float(np.linalg.norm(joint.origin[:3, 3]))
        if joint.parent in bare and length > 1e-3 * size:
            radius = min(BONE * size, 0.4 * length)
            turn = between((0.0, 0.0, 1.0), joint.origin[:3, 3])
            place = mk.transform(0.5 * joint.origin[:3, 3], turn)
            rows["tube"].append((order[joint.parent], place, (radius, radius, length), colors[joint.parent]))
            rows["ball"].append((order[joint.parent], mk.transform(), (1.6 * radius,) * 3, colors[joint.parent]))
    return {unit: _stack(solids[unit], found) for unit, found in rows.items() if found}


def shape_copies(body: mk.Body, links: Sequence[mk.Link]) -> dict[str, Copies]:
    """The simple shapes for keeping distance of a body's links, which may have other shapes than its own."""
    rows: dict[str, list[Row]] = {name: [] for name in UNITS}
    colors, order = link_colors(body), {link: k for k, link in enumerate(body.links)}
    for link in links:
        for shape in (shape for shape in link.shapes if shape.kind != "mesh"):
            for unit, place, scale in _parts(shape):
                rows[unit].append((order[link.name], place, scale, colors[link.name]))
    return {unit: _stack(UNITS[unit], found) for unit, found in rows.items() if found}


def extent(body: mk.Body) -> float:
    """The size of a body at home [m]: the diagonal of the box around its links' origins, at least 5 cm."""
    points = body.forward(body.home).array[:, :3, 3]
    return max(0.05, float(np.linalg.norm(np.ptp(points, axis=0))))


def _parts(shape: mk.Shape) -> list[tuple[str, Array, tuple[float, float, float]]]:
    """The unit solids that make up a shape, each with its place in the link and its scale."""
    place = shape.link_from_shape
    if shape.is_field:  # as the box around it, where no mesh of its own can be shown
        middle, half = shape.field_box
        x, y, z = (2.0 * half).tolist()
        return [("box", place @ mk.translation(*middle), (x, y, z))]
    if shape.kind == "box":
        x, y, z = shape.size
        return [("box", place, (x, y, z))]
    radius = shape.size[0]
    ball = (radius, radius, radius)
    if shape.kind == "sphere":
        return [("ball", place, ball)]
    length = shape.size[1]
    parts = [("tube", place, (radius, radius, length))]
    if shape.kind == "capsule":
        ends = (mk.translation(0.0, 0.0, z) for z in (-0.5 * length, 0.5 * length))
        parts += [("ball", place @ end, ball) for end in ends]
    return parts


def solid_meshes(shape: mk.Shape) -> list[tuple[NDArray[np.float32], NDArray[np.int64], Array]]:
    """The meshes that make up a shape: corners in its size, triangles, and where each is in its frame."""
    if shape.kind == "hull" or shape.is_field:
        mesh = hull_mesh(shape)
        return [] if mesh is None else [(np.asarray(mesh.vertices, dtype=np.float32), mesh.faces, np.eye(4))]
    found = []
    for unit, place, scale in _parts(replace(shape, link_from_shape=np.eye(4))):
        vertices, faces = UNITS[unit]
        found.append((np.asarray(vertices * scale, dtype=np.float32), faces, place))
    return found


def _stack(mesh: Mesh, rows: list[Row]) -> Copies:
    links, places, scales, colors = zip(*rows, strict=True)
    stacked = np.array(places)
    # A solid without thickness cannot be lit, so none is thinner than a hair.
    return Copies(
        mesh,
        np.array(links),
        stacked[:, :3, 3],
        stacked[:, :3, :3],
        np.maximum(np.array(scales), 1e-5),
        np.clip(255.0 * np.array(colors), 0, 255).astype(np.uint8),
    )


# ---- Meshes of a model ---------------------------------------------------------------------------------------


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


def hull_mesh(shape: mk.Shape) -> Mesh | None:
    """The faces of a hull or a field, each with corners of its own so that edges look sharp; None for a segment or a point."""
    vertices, faces = shape.surface if shape.is_field else shape.rounded_hull
    if len(faces) == 0:
        return None
    return Mesh(vertices[faces].reshape(-1, 3), np.arange(faces.size).reshape(-1, 3))


# ---- Unit solids ---------------------------------------------------------------------------------------------


def _box() -> Mesh:
    """A cube of side 1."""
    square = np.array([(-0.5, -0.5, 0.5), (0.5, -0.5, 0.5), (0.5, 0.5, 0.5), (-0.5, 0.5, 0.5)])
    turns = [mk.euler(90.0 * k, 0, 0, degrees=True) for k in range(4)]
    turns += [mk.euler(0, 90.0 * k, 0, degrees=True) for k in (1, 3)]
    vertices = np.concatenate([square @ turn.T for turn in turns])
    faces = np.concatenate([np.array([(0, 1, 2), (0, 2, 3)]) + 4 * k for k in range(6)])
    return Mesh(vertices, faces)


def _ball() -> Mesh:
    """A sphere of radius 1, by latitude and longitude."""
    rings = AROUND // 2
    angles = 2.0 * math.pi * np.arange(AROUND) / AROUND
    polar = math.pi * np.arange(rings + 1) / rings
    points = [(math.sin(p) * math.cos(a), math.sin(p) * math.sin(a), math.cos(p)) for p in polar for a in angles]
    return Mesh(np.array(points), _sheet(rings + 1))


def _tube() -> Mesh:
    """A cylinder of radius 1 and length 1 along z, closed."""
    angles = 2.0 * math.pi * np.arange(AROUND) / AROUND
    ring = np.stack([np.cos(angles), np.sin(angles), np.full(AROUND, 0.5)], axis=1)
    low = ring * (1.0, 1.0, -1.0)
    fan = np.array([(0, k, k + 1) for k in range(1, AROUND - 1)])
    vertices = np.concatenate([ring, low, ring, low])
    faces = np.concatenate([_sheet(2), fan + 2 * AROUND, fan[:, ::-1] + 3 * AROUND])
    return Mesh(vertices, faces)


def _sheet(rings: int) -> NDArray[np.int64]:
    """Triangles between rings of points, seen from outside where the rings go down."""
    faces = []
    for ring in range(rings - 1):
        for k in range(AROUND):
            a, b = ring * AROUND + k, ring * AROUND + (k + 1) % AROUND
            faces += [(a, a + AROUND, b), (b, a + AROUND, b + AROUND)]
    return np.array(faces)


UNITS = {"box": _box(), "ball": _ball(), "tube": _tube()}

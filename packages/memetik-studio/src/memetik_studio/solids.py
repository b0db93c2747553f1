"""A body as many copies of three unit solids (box, ball, tube): a posture is then six arrays, whatever the body.

Sending one message for each link would take longer than solving; sending all poses of a solid at once does not. Meshes
of a model are solids of their own: triangles of a file inside the folders that may be read, one solid for each material.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import memetik as mk
from memetik.geometry import between
from memetik.types import Array
from memetik.write import link_colors
from memetik_studio.meshes import Mesh, Part, read_mesh

BONE = 0.008  # radius of a bone, as a share of the size of the body
AROUND = 16  # corners of a tube


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
        parts = {
            shape: _mesh_parts(shape, roots)
            for shape in (*link.visuals, *link.shapes)
            if shape.kind in ("mesh", "hull") or shape.is_field
        }
        drawn = [shape for shape in link.visuals if parts.get(shape, True)]
        shapes = drawn or [shape for shape in link.shapes if parts.get(shape, True)]
        for shape in shapes:
            color = shape.color[:3] if shape.color is not None else colors[name]
            for mesh, own in parts.get(shape, ()):
                unit = f"mesh {len(solids)}"
                place = shape.link_from_shape
                solids[unit], rows[unit] = mesh, [(order[name], place, (1.0, 1.0, 1.0), own or color)]
            if shape in parts:
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


def _mesh_parts(shape: mk.Shape, roots: Sequence[str]) -> tuple[Part, ...]:
    """The triangles of a mesh, a hull or a field, none if it cannot be drawn."""
    if shape.kind == "mesh":
        return read_mesh(shape.mesh, shape.size, roots).parts
    mesh = hull_mesh(shape)
    return () if mesh is None else (Part(mesh, None),)


def corners(body: mk.Body, roots: Sequence[str], poses: Array) -> Array:
    """Points (n, 3) in the world around all that is seen of a body: the corners of boxes, and the origins of its links."""
    found = [poses[:, :3, 3]]
    for solids in copies(body, roots).values():
        low, high = solids.mesh.vertices.min(axis=0), solids.mesh.vertices.max(axis=0)
        box = np.array([[(low, high)[k][axis] for axis, k in enumerate(at)] for at in np.ndindex(2, 2, 2)])
        local = (
            np.einsum("nij,nkj->nki", solids.rotations, box[None] * solids.scales[:, None]) + solids.positions[:, None]
        )
        carriers = poses[solids.links]
        world = np.einsum("nij,nkj->nki", carriers[:, :3, :3], local) + carriers[:, None, :3, 3]
        found.append(world.reshape(-1, 3))
    return np.concatenate(found)


def shape_copies(body: mk.Body, links: Sequence[mk.build.Link]) -> dict[str, Copies]:
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


# ---- Hulls and fields -----------------------------------------------------------------------------------------


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

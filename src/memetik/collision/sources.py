"""The meshes of a body's links: which they are, where their files lie, and a checksum by which a cover is known again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from memetik.body import Body, Link, Shape
from memetik.collision.link_cover import VERSION, Style
from memetik.collision.meshes import hull_volume, mesh_triangles
from memetik.errors import FormatError
from memetik.read.resources import Roots, mesh_places, resolve_mesh
from memetik.types import Array

MOST_NAMED = 8  # missing meshes in a message
MOST_PLACES = 12  # where each was looked for


class Source(NamedTuple):
    """The meshes of one link, with their files."""

    link: str
    of: str  # "collision" or "visual"
    meshes: tuple[tuple[Shape, Path], ...]

    def key(self, style: Style) -> str:
        """A checksum of the files, of how they are placed, and of the way they are covered."""
        digest = hashlib.sha256(repr((VERSION, self.of, tuple(style))).encode())
        for shape, path in self.meshes:
            digest.update(np.array([*shape.size, *shape.link_from_shape.ravel()]).tobytes())
            try:
                digest.update(hashlib.sha256(path.read_bytes()).digest())
            except OSError as error:
                raise FormatError(f"link {self.link!r}: the mesh {path} cannot be read: {error.strerror}.") from error
        return digest.hexdigest()[:32]

    def triangles(self) -> Array:
        """Of all meshes together, (n, 3, 3) in the frame of the link [m]."""
        return np.concatenate([mesh_triangles(shape, path, f"link {self.link!r}") for shape, path in self.meshes])

    def hull_volume(self) -> float:
        """Of the convex hull of all meshes together [m^3]."""
        return hull_volume(self.triangles())


def find_sources(body: Body, links: Iterable[str], of: str, roots: Roots) -> list[Source]:
    """The meshes of these links; an error names all that are missing."""
    found = []
    missing: dict[str, list[str]] = {}  # the links of each mesh
    for name in links:
        kind, shapes = _meshes(body.links[name], of)
        paths = [(shape, resolve_mesh(shape.mesh, roots, body.file)) for shape in shapes]
        for shape, path in paths:
            if path is None:
                missing.setdefault(shape.mesh, []).append(name)
        if paths:
            found.append(Source(name, kind, tuple((shape, path) for shape, path in paths if path is not None)))
    if missing:
        raise FormatError(_missing(body, missing, roots))
    return found


def _meshes(link: Link, of: str) -> tuple[str, list[Shape]]:
    """Which of its meshes stand for a link: those of `of`, or of the visuals where it has no collision geometry."""
    kind = "visual" if of == "visual" or not link.shapes else "collision"
    shapes = link.visuals if kind == "visual" else link.shapes
    return kind, [shape for shape in shapes if shape.kind == "mesh"]


def _missing(body: Body, missing: dict[str, list[str]], roots: Roots) -> str:
    lines = [f"body {body.name!r}: {len(missing)} of its meshes are not there."]
    for mesh, links in list(missing.items())[:MOST_NAMED]:
        places = [str(place.path) for place in mesh_places(mesh, roots, body.file)]
        more = f" and {len(places) - MOST_PLACES} more places" if len(places) > MOST_PLACES else ""
        looked = (
            "; looked for at " + ", ".join(places[:MOST_PLACES]) + more if places else "; there is no place to look"
        )
        lines.append(f"  {mesh or '(no name)'} of link {', '.join(dict.fromkeys(links))}{looked}")
    if len(missing) > MOST_NAMED:
        lines.append(f"  and {len(missing) - MOST_NAMED} more")
    lines.append(
        "Name the folders that hold them, or the packages that do, with roots=['folder'], here or for mk.load; "
        "ROS_PACKAGE_PATH and AMENT_PREFIX_PATH are searched, too."
    )
    return "\n".join(lines)

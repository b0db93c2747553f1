"""A body with its meshes, and the simple shapes that cover them as glass around these, as an SVG picture."""

from __future__ import annotations

import math
from collections.abc import Iterable
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Link
from memetik.collision import OF, Cover, find_sources
from memetik.errors import FormatError
from memetik.geometry.checks import instance, several
from memetik.types import Array
from memetik.write import scenery, svg
from memetik.write.camera import Camera
from memetik.write.colors import GREY, TRUNK, Color, brightness, shade
from memetik.write.limbs import link_colors
from memetik.write.picture import LINE, TITLE, VIEW, direction_of, file_for_picture, framed, page_of, write_picture
from memetik.write.plots import title_of
from memetik.write.scene import Scene
from memetik.write.solids import Piece, Solid, paint

FINEST = 160  # cells along all that is drawn, to which corners of meshes are moved: finer ones only swell the file
GLASS = 0.38  # opacity of shapes


def draw_cover(
    cover: Cover,
    q: ArrayLike | None = None,
    path: str | PathLike[str] | None = None,
    *,
    view: tuple[float, float] = VIEW,
    size: tuple[float, float] = (800, 800),
    links: Iterable[str] | None = None,
    roots: Iterable[str | PathLike[str]] = (),
    title: str | None = None,
) -> str:
    """Draw the meshes of a body and around them the simple shapes that cover them, as glass; return the SVG, and write it
    to `path` if given.

    cover: what `mk.collision.cover` returns. q: the posture; home unless given. `links`: only these, by name; all unless given.
    `roots`: folders in which meshes are looked for, as for `mk.collision.cover`.
    view [degrees], size [pixels] and title are as in `draw`. Meshes are drawn coarsely: what a picture shows, not what was
    covered.
    """
    body = instance(cover, Cover, FormatError, "a cover. Give what mk.collision.cover returns.").body
    posture = body.vector({}, default=q)
    file, page, direction, title = file_for_picture(path), page_of(size), direction_of(view), title_of(title)
    names = list(body.links) if links is None else list(several(links, FormatError, "links", "['hand']"))
    poses, colors = body.forward(posture), link_colors(body)
    for name in names:
        body.frame(name)
    glass = {name: _glass(body.links[name], poses[name], colors[name]) for name in names}
    fine = {
        source.link: source.triangles() @ poses[source.link][:3, :3].T + poses[source.link][:3, 3]
        for of in OF
        for source in find_sources(cover.original, [n for n in names if _of(cover, n) == of], of, roots)
    }
    meshes = _coarse(fine)
    if not meshes and not any(glass.values()):
        raise FormatError(
            f"body {body.name!r} has neither meshes nor simple shapes in these links, so there is nothing to draw."
        )
    bounds = {name: _bounds(triangles) for name, triangles in meshes.items()}
    scene = Scene(poses, {name: [*glass[name], *bounds.get(name, [])] for name in names})
    unit = math.sqrt(min(page) / 800.0)
    camera, extent, floor = framed([scene], [], direction, page, TITLE * page[1] if title else 0.0)
    definitions = svg.Definitions()
    parts = []
    if direction[1] > 0.0:
        parts.append(scenery.ground(camera, floor, extent, page, definitions, unit))
    solid = [piece for triangles in meshes.values() for piece in _painted(triangles, camera, TRUNK)]
    shapes = [
        piece for own in glass.values() for each in own for piece in paint(each, camera, definitions, LINE * unit)
    ]
    for pieces in (solid, shapes):
        pieces.sort(key=lambda piece: piece.nearness)
        parts.append(svg.element("g", "\n".join(piece.svg for piece in pieces)) if pieces else "")
    parts.append(scenery.compass(camera, page, unit))
    if title:
        parts.append(svg.text(title, x=28.0 * unit, y=44.0 * unit, fill=GREY, font_size=20.0 * unit))
    return write_picture(svg.document(page, title or body.name, definitions, parts), file)


def _of(cover: Cover, link: str) -> str | None:
    """Whose meshes of a link are covered."""
    return cover.links[link].of if link in cover.links else None


def _glass(link: Link, world_from_link: Array, color: Color) -> list[Solid]:
    simple = [shape for shape in link.shapes if shape.kind != "mesh"]
    return [Solid(shape.kind, shape.size, world_from_link @ shape.link_from_shape, color, GLASS) for shape in simple]


def _coarse(fine: dict[str, Array]) -> dict[str, Array]:
    """Triangles with their corners moved to a grid of FINEST cells over all of them, less those that vanish."""
    if not fine:
        return {}
    low = np.min([triangles.min(axis=(0, 1)) for triangles in fine.values()], axis=0)
    high = np.max([triangles.max(axis=(0, 1)) for triangles in fine.values()], axis=0)
    cell = max(float((high - low).max()) / FINEST, 1e-9)
    coarse = {}
    for name, triangles in fine.items():
        grid = np.unique(np.round(triangles / cell).astype(np.int64), axis=0)
        a, b, c = grid[:, 0], grid[:, 1], grid[:, 2]
        coarse[name] = cell * grid[np.cross(b - a, c - a).any(axis=1)].astype(np.float64)
    return coarse


def _bounds(triangles: Array) -> list[Solid]:
    """A box around triangles, for the camera."""
    if not len(triangles):
        return []
    low, high = triangles.min(axis=(0, 1)), triangles.max(axis=(0, 1))
    place = np.eye(4)
    place[:3, 3] = 0.5 * (low + high)
    return [Solid("box", tuple((high - low).tolist()), place, (0.5, 0.5, 0.5))]


def _painted(triangles: Array, camera: Camera, color: Color) -> list[Piece]:
    """Triangles (n, 3, 3) in the world, lit from both sides: meshes do not always say which is outside."""
    seen = camera.see(triangles)
    normals = np.cross(seen[:, 1] - seen[:, 0], seen[:, 2] - seen[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    keep = lengths > 0.0
    seen, normals = seen[keep], normals[keep] / lengths[keep, None]
    normals *= np.where(normals[:, 2:] < 0.0, -1.0, 1.0)
    pages, middles = camera.page(seen), seen.mean(axis=1)
    pieces = []
    for page, normal, middle in zip(pages, normals, middles, strict=True):
        fill = shade(color, brightness(normal))
        text = svg.element("polygon", points=svg.points(page), fill=fill, stroke=fill, stroke_width=0.5)
        pieces.append(Piece(float(middle[2]), text, middle, 0.0))
    return pieces

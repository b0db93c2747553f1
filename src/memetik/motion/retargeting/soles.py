"""Where the soles of a body are: from its meshes or shapes, else estimated from its links, and from which of these.

Collision geometry counts; where a foot has none, what is drawn of it does. Of a foot with neither, the sole is the plane
through the lowest point of its links in the posture at home, the toes' among them, and where no link is below the ankle, at the
height that ankles usually have for the length of a leg.
"""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from memetik.body import Body, Link, Shape
from memetik.body.hull import convex_hull
from memetik.collision.meshes import read_triangles
from memetik.errors import MemetikError
from memetik.motion.retargeting.structure import Tree
from memetik.read.resources import resolve_mesh
from memetik.types import Array

USUAL = 0.08  # height of an ankle above the sole, as a share of the leg from hip to ankle
LOWER = 0.01  # share of a leg; a link that is farther than this below the ankle tells where the sole is
WIDE = 0.3  # width of an estimated sole as a share of its length, and its length as a share of the leg
DIRECTIONS = 512  # in which a round shape has points
FEW = 512  # points of a foot that are all kept; of more, those that are lowest in four times as many tilts
MESHES, SHAPES, LINKS, RATIO = "its meshes", "its shapes", "its links", "the usual height of ankles"


class Sole(NamedTuple):
    """Points under a foot and under each link that moves below it, and what they are from."""

    points: Array  # (n, 3) in the frame of the foot [m]
    toes: tuple[
        tuple[str, Array], ...
    ]  # links that move below the foot, such as toes, and their points in their frames [m]
    source: str


def sole_of(body: Body, link: str, ankle: Array, flat: Array, leg: float) -> Sole:
    """The sole of a foot whose link is turned by `flat` (3, 3) when it stands.

    ankle: a point of the link [m]. leg: the length from hip to ankle [m].
    """
    tree, home = Tree(body), body.forward(body.home)
    rigid = tree.rigid_with(link)
    below = _all_below(tree, rigid[0])
    own = np.vstack(
        [np.empty((0, 3)), *(_in(home[link], home[each], link_points(body, each).points) for each in rigid)]
    )
    moving = {each: link_points(body, each).points for each in below if each not in rigid}
    sources = {link_points(body, each).source for each in below} - {""}
    toes = tuple((each, outermost(points)) for each, points in moving.items() if len(points))
    if len(own):
        return Sole(outermost(own), toes, MESHES if MESHES in sources else SHAPES)
    origins = np.vstack([ankle, *(_in(home[link], home[each], np.zeros((1, 3))) for each in below)])
    ends = [_in(home[link], home[each], points) for each, points in moving.items()]
    heights = (np.vstack([origins, *ends]) - ankle) @ flat[2]
    low = float(heights.min())
    source = (MESHES if MESHES in sources else SHAPES) if toes else LINKS
    if low > -LOWER * leg:
        low, source = -USUAL * leg, RATIO
    ahead = max(float(((origins - ankle) @ flat[0]).max()), WIDE * leg * 0.6)
    half = 0.5 * WIDE * WIDE * leg
    corners = [(x, y, low) for x in (-WIDE * leg * 0.25, ahead) for y in (-half, half)]
    return Sole(ankle + np.array(corners) @ flat, toes, source)


class LinkPoints(NamedTuple):
    """Points of the surface of a link, in its frame (n, 3) [m], and what they are from, empty where there are none."""

    points: Array
    source: str


@lru_cache(maxsize=1024)
def link_points(body: Body, name: str) -> LinkPoints:
    """Points whose hull is that of a link: of its collision geometry, or of what is drawn where it has none."""
    link = body.links[name]
    own = [(shape, _points(shape, body.file)) for shape in link.shapes]
    if not any(len(points) for _, points in own):
        own = [(shape, _points(shape, body.file)) for shape in link.visuals]
    own = [(shape, points) for shape, points in own if len(points)]
    source = "" if not own else MESHES if any(shape.kind == "mesh" for shape, _ in own) else SHAPES
    return LinkPoints(np.vstack([np.empty((0, 3)), *(points for _, points in own)]), source)


def shape_points(link: Link) -> Array:
    """Points whose hull is that of a link's simple shapes, in its frame (n, 3) [m]; meshes are not read."""
    shapes = [shape for shape in link.shapes or link.visuals if shape.kind != "mesh"]
    return np.vstack([np.empty((0, 3)), *(_points(shape, None) for shape in shapes)])


def outermost(points: Array) -> Array:
    """Those of a foot's points (n, 3) that can be its lowest, however it tilts."""
    if len(points) <= FEW:
        return points
    return np.asarray(points[np.unique((points @ _sphere(4 * FEW).T).argmax(axis=0))])


def _all_below(tree: Tree, link: str) -> list[str]:
    found = [link]
    for each in found:
        found += tree.children[each]
    return found


def _in(base: Array, pose: Array, points: Array) -> Array:
    """Points of a link in the frame of another one, by the poses of both."""
    world = points @ pose[:3, :3].T + pose[:3, 3]
    return np.asarray((world - base[:3, 3]) @ base[:3, :3])


def _points(shape: Shape, file: Path | None) -> Array:
    """Points of a shape's surface in the frame of its link; none of a mesh that cannot be read, nor of a field."""
    found = _own_points(shape, file)
    return np.asarray(found @ shape.link_from_shape[:3, :3].T + shape.link_from_shape[:3, 3])


def _own_points(shape: Shape, file: Path | None) -> Array:
    if shape.is_field:
        return np.empty((0, 3))
    if shape.kind == "mesh":
        path = resolve_mesh(shape.mesh, (), file)
        return np.empty((0, 3)) if path is None else _corners(path) * np.array(shape.size)
    if shape.kind == "box":
        half = 0.5 * np.array(shape.size)
        return half * [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    radius, length = shape.size[0], shape.size[1] if len(shape.size) > 1 else 0.0
    if shape.kind == "hull":
        centers: Array = np.asarray(shape.points)
    elif shape.kind == "cylinder":
        angles = np.arange(64) * (2.0 * math.pi / 64.0)
        ring = radius * np.stack([np.cos(angles), np.sin(angles), np.zeros(64)], axis=1)
        cap = np.array((0.0, 0.0, 0.5 * length))
        return np.vstack((ring - cap, ring + cap))
    else:
        centers = np.array([(0.0, 0.0, -0.5 * length), (0.0, 0.0, 0.5 * length)]) if length else np.zeros((1, 3))
    if radius == 0.0:
        return centers
    return np.asarray((centers[:, None] + radius * _sphere(DIRECTIONS)).reshape(-1, 3))


@lru_cache(maxsize=64)
def _corners(path: Path) -> Array:
    """The corners (n, 3) of a mesh's hull, without SciPy of the mesh, as its file has them; none where it cannot be read."""
    try:
        corners = np.unique(read_triangles(path, str(path)).reshape(-1, 3), axis=0)
    except MemetikError:
        return np.empty((0, 3))
    try:
        return np.asarray(convex_hull(corners).vertices if len(corners) else corners)
    except MemetikError:
        return np.asarray(corners)


@lru_cache(maxsize=4)
def _sphere(count: int) -> Array:
    """Points spread evenly over the unit sphere, its poles among them."""
    k = np.arange(count)
    z, turn = 1.0 - 2.0 * k / (count - 1), math.pi * (3.0 - math.sqrt(5.0)) * k
    across = np.sqrt(np.maximum(1.0 - z * z, 0.0))
    return np.stack([across * np.cos(turn), across * np.sin(turn), z], axis=1)

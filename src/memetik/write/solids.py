"""Solids on the page: spheres, capsules, cylinders, boxes and convex hulls as shaded SVG pieces, each with its depth.

Pieces are painted from far to near. One depth for a long solid would put all of it before or behind its
neighbours, so long ones are cut into several pieces.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from memetik.types import Array
from memetik.write.camera import Camera
from memetik.write.colors import LIGHT, Color, brightness, outline, shade
from memetik.write.svg import Definitions, element, number, points

PIECES = 5  # a solid is cut into at most so many
ASPECT = 2.5  # a piece is about this much longer than wide
OVERLAP = 0.4  # pixels by which pieces overlap, so that no seam shows
THIN = 1.5  # pixels; what has a smaller radius is drawn without shading and edge
THINNEST = 0.8  # pixels; what is thinner is drawn with this radius, so that it can be seen
# How much of its thickness a solid counts as nearer than its middle: with all of it a head would hide its
# own eyes, with none a ball inside a limb would show through.
FRONT = 0.3

ACROSS = np.linspace(-1.0, 1.0, 7)  # where a tube's shading is sampled, from edge to edge
CIRCLE = np.stack([np.cos(np.arange(16) * math.pi / 8), np.sin(np.arange(16) * math.pi / 8)], axis=1)
BOX_CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
# The corners of each face in a circle, by the axis it is normal to and the side it is on.
BOX_FACES = {
    (0, -1): (0, 1, 3, 2),
    (0, +1): (4, 6, 7, 5),
    (1, -1): (0, 4, 5, 1),
    (1, +1): (2, 3, 7, 6),
    (2, -1): (0, 2, 6, 4),
    (2, +1): (1, 5, 7, 3),
}


class Solid(NamedTuple):
    """A primitive in the world: kind and size as in `Shape`, its pose (4x4), its colour and opacity, the faces of a hull."""

    kind: str
    size: tuple[float, ...]
    world_from_solid: Array
    color: Color
    opacity: float = 1.0
    hull: Any = None  # its vertices (n, 3) and faces (m, 3), as Shape.hull has them; or those of the surface of a field

    @property
    def ends(self) -> Array:
        """The centres of the caps of a capsule or cylinder, (2, 3)."""
        half = 0.5 * self.size[1] * self.world_from_solid[:3, 2]
        return np.asarray(self.world_from_solid[:3, 3] + [-half, half])

    def balls(self) -> tuple[Array, Array]:
        """Points (n, 3) and radii (n,) whose hull is the solid (for a cylinder, nearly)."""
        rotation, place = self.world_from_solid[:3, :3], self.world_from_solid[:3, 3]
        match self.kind:
            case "box":
                return BOX_CORNERS * self.size @ rotation.T + place, np.zeros(8)
            case "cylinder":
                rim = self.size[0] * CIRCLE @ rotation[:, :2].T
                return (self.ends[:, None] + rim).reshape(-1, 3), np.zeros(2 * len(CIRCLE))
            case "capsule":
                return self.ends, np.full(2, self.size[0])
            case "hull" | "heights" | "grid":
                return self.hull.vertices @ rotation.T + place, np.zeros(len(self.hull.vertices))
            case _:
                return place[None], np.full(1, self.size[0])


class Piece(NamedTuple):
    """Something to paint, as text; the nearest is painted last."""

    nearness: float  # along the line of sight [m]
    svg: str
    middle: Array  # in camera axes [m]
    reach: float  # how far it extends from its middle [m]


class Brush(NamedTuple):
    """What all pieces of a solid share."""

    camera: Camera
    definitions: Definitions
    color: Color
    opacity: float
    line: float  # width of the edge around the solid [pixels]

    def style(self, fill: str) -> dict[str, str | float]:
        """The attributes of a surface."""
        return {"fill": fill} if self.opacity == 1.0 else {"fill": fill, "opacity": self.opacity}

    def pieces(self, middle: Array, reach: float, thickness: float, surface: str, edge: str) -> list[Piece]:
        """A surface, and its dark edge a `thickness` [m] behind it; what can be seen through has no edge."""
        nearness = float(middle[2]) + FRONT * thickness
        pieces = [Piece(nearness, surface, middle, reach)]
        if edge and self.opacity == 1.0:
            pieces.append(Piece(nearness - thickness, edge, middle, reach))
        return pieces


def paint(solid: Solid, camera: Camera, definitions: Definitions, line: float) -> list[Piece]:
    """The pieces of a solid, and behind each of them a darker one that is larger by `line` [pixels].

    What touches the solid covers the darker ones, so that a limb made of many solids looks like one, and
    only its outline against what is further behind remains.
    """
    brush = Brush(camera, definitions, solid.color, solid.opacity, line)
    match solid.kind:
        case "sphere":
            return _ball(brush, camera.see(solid.world_from_solid[:3, 3]), solid.size[0])
        case "capsule" | "cylinder":
            return _tube(brush, solid)
        case "hull":
            return _hull(brush, solid)
        case "heights" | "grid":
            return _facets(brush, solid)
        case _:
            return _box(brush, solid)


# ---- Balls -------------------------------------------------------------------------------------------------


def _ball(brush: Brush, seen: Array, size: float) -> list[Piece]:
    x, y = brush.camera.page(seen)
    radius = max(THINNEST, size * float(brush.camera.scale(seen)))
    fill = _ball_gradient(brush.color, brush.definitions)
    surface = element("circle", cx=x, cy=y, r=radius, **brush.style(fill))
    edge = element("circle", cx=x, cy=y, r=radius + brush.line, fill=outline(brush.color))
    return brush.pieces(seen, size, size, surface, edge if radius > THIN else "")


def _ball_gradient(color: Color, definitions: Definitions) -> str:
    """Rings around the brightest point, with the brightness along the diameter through that point."""
    aside = math.hypot(LIGHT[0], LIGHT[1])
    stops = []
    for share in np.linspace(0.0, 1.0, 6).tolist():
        s = aside - share * (1.0 + aside)  # from the brightest point to the far edge
        normal = np.array([*(s / aside * LIGHT[:2]), math.sqrt(max(0.0, 1.0 - s * s))])
        stops.append((share, shade(color, brightness(normal)), 1.0))
    place = {"cx": 0.5 + 0.5 * LIGHT[0], "cy": 0.5 - 0.5 * LIGHT[1], "r": 0.5 * (1.0 + aside)}
    return definitions.gradient("radialGradient", stops, **place)


# ---- Tubes -------------------------------------------------------------------------------------------------


def _tube(brush: Brush, solid: Solid) -> list[Piece]:
    """A capsule or cylinder, drawn along x from its far end to its near end, then moved into place."""
    camera, capsule = brush.camera, solid.kind == "capsule"
    radius, length = solid.size
    far, near = sorted(camera.see(solid.ends), key=lambda end: float(end[2]))
    start, end = camera.page(far), camera.page(near)
    long_on_page = math.dist(start, end)
    if capsule and long_on_page < 0.3 * radius * float(camera.scale(near)):
        return _ball(brush, near, radius)
    axis = (near - far) / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    along = (end - start) / long_on_page if long_on_page > 0.0 else np.array([1.0, 0.0])
    lights = _tube_lights(axis, along)
    if radius * float(camera.scale(near)) < THIN:
        return [_line(brush, start, end, 0.5 * (far + near), solid.size, shade(solid.color, max(lights)))]
    count = min(PIECES, max(1, round(length / (2.0 * ASPECT * radius))))
    cuts = far + np.linspace(0.0, 1.0, count + 1)[:, None] * (near - far)
    at, radii = camera.page(cuts), radius * camera.scale(cuts)
    tilt = 1.0 if capsule else abs(float(axis[2]))
    fill = _tube_gradient(lights, solid.color, brush.definitions)
    cap = shade(solid.color, brightness(axis))
    pieces = []
    for k in range(count):
        profile = Profile(math.dist(at[k], at[k + 1]), radii[k], radii[k + 1], tilt, k == 0, k == count - 1, capsule)
        place = f"translate({points([at[k]])})rotate({number(math.degrees(math.atan2(along[1], along[0])))})"
        surface = element("path", d=profile.path(0.0), transform=place, **brush.style(fill))
        if profile.last and not capsule:
            disc = {"cx": profile.width, "rx": tilt * profile.front, "ry": profile.front}
            surface += element("ellipse", transform=place, **disc, **brush.style(cap))
        edge = element("path", d=profile.path(brush.line), transform=place, fill=outline(solid.color))
        thickness = radius if capsule else min(radius, 0.5 * length)
        reach = radius + 0.5 * length / count
        pieces += brush.pieces(0.5 * (cuts[k] + cuts[k + 1]), reach, thickness, surface, edge)
    return pieces


def _line(brush: Brush, start: Array, end: Array, middle: Array, size: tuple[float, ...], stroke: str) -> Piece:
    radius, length = size
    width = 2.0 * max(THINNEST, radius * float(brush.camera.scale(middle)))
    (x1, y1), (x2, y2) = start, end
    style = {**brush.style("none"), "stroke": stroke, "stroke_width": width, "stroke_linecap": "round"}
    line = element("line", x1=x1, y1=y1, x2=x2, y2=y2, **style)
    return Piece(float(middle[2]), line, middle, radius + 0.5 * length)


class Profile(NamedTuple):
    """The outline of a tube's piece along x, on the page."""

    width: float
    back: float  # radius at x = 0
    front: float  # radius at x = width
    tilt: float  # how wide an end is for its height: 1 for a ball, less for a disc seen at an angle
    first: bool
    last: bool
    capsule: bool

    def path(self, more: float) -> str:
        """As the `d` of a path, larger by `more` except where the piece was cut from its neighbour."""
        r0, r1 = self.back + more, self.front + more
        hidden = -OVERLAP if more > 0.0 else 0.0  # at a cut the dark edge must not show
        bulge0 = max(0.0, self.tilt * self.back + (more if self.first else hidden))
        bulge1 = max(0.0, self.tilt * self.front + (more if self.last else hidden))
        end = f"A{number(bulge1)} {number(r1)} 0 0 1 {number(self.width)},{number(r1)}"
        start = f"A{number(bulge0)} {number(r0)} 0 0 1 0,{number(-r0)}"
        cut = f"h{number(OVERLAP + hidden)}V{number(r1)}"
        sides = f"M0,{number(-r0)}L{number(self.width)},{number(-r1)}", f"L0,{number(r0)}"
        flat_back, flat_front = self.capsule and not self.first, self.capsule and not self.last
        return f"{sides[0]}{cut if flat_front else end}{sides[1]}{'' if flat_back else start}Z"


def _tube_lights(axis: Array, along: Array) -> list[float]:
    """How bright a tube is across its width, as its normal turns from one edge to the other."""
    # Half the tilt of the axis: with all of it, a capsule that points at the viewer would show no bright cap.
    facing = np.array([0.0, 0.0, 1.0]) - 0.5 * axis[2] * axis
    facing /= np.linalg.norm(facing)
    sideways = np.array([-along[1], -along[0], 0.0])  # y of the piece as it is drawn, in camera axes
    return [round(brightness(t * sideways + math.sqrt(1.0 - t * t) * facing), 2) for t in ACROSS.tolist()]


def _tube_gradient(lights: list[float], color: Color, definitions: Definitions) -> str:
    offsets = (0.5 + 0.5 * ACROSS).tolist()
    stops = [(offset, shade(color, light), 1.0) for offset, light in zip(offsets, lights, strict=True)]
    return definitions.gradient("linearGradient", stops, x1=0, y1=0, x2=0, y2=1)


# ---- Boxes -------------------------------------------------------------------------------------------------


def _box(brush: Brush, solid: Solid) -> list[Piece]:
    """A box, cut across its longest side if that is long."""
    longest = int(np.argmax(solid.size))
    width = sorted(solid.size)[1]
    count = min(PIECES, max(1, round(solid.size[longest] / (ASPECT * max(width, 1e-9)))))
    cuts = np.linspace(-0.5, 0.5, count + 1)
    rotation, place = solid.world_from_solid[:3, :3], solid.world_from_solid[:3, 3]
    pieces = []
    for k in range(count):
        corners = BOX_CORNERS.copy()
        corners[:, longest] = np.where(corners[:, longest] < 0.0, cuts[k], cuts[k + 1])
        seen = brush.camera.see(corners * solid.size @ rotation.T + place)
        cut = np.where(np.abs(corners[:, longest]) < 0.5 - 1e-9, corners[:, longest], math.inf)
        surface, edge = _faces(brush, seen, brush.camera.axes @ rotation, cut)
        middle = seen.mean(axis=0)
        pieces += brush.pieces(middle, math.dist(middle, seen[0]), 0.5 * min(solid.size), surface, edge)
    return pieces


def _faces(brush: Brush, seen: Array, normals: Array, cut: Array) -> tuple[str, str]:
    """The faces that can be seen and the line around them; neither where the box was cut.

    `seen` are the corners, the columns of `normals` the directions of the positive faces, in camera axes; `cut` says for each
    corner at which cut it lies, infinite for none.
    """
    eye = np.array([0.0, 0.0, brush.camera.distance])
    page = brush.camera.page(seen)
    surface, sides = "", []
    for (axis, sign), face in BOX_FACES.items():
        corners, normal = list(face), sign * normals[:, axis]
        if normal @ (eye - seen[corners[0]]) <= 0.0 or _on_one(cut[corners]):
            continue
        fill = shade(brush.color, brightness(normal))
        style = {"stroke": fill, "stroke_width": 2.0 * OVERLAP, **brush.style(fill)}
        surface += element("polygon", points=points(page[corners]), **style)
        sides += [frozenset(side) for side in zip(face, (*face[1:], face[0]), strict=True)]
    # A side that belongs to one face that is seen and one that is not is part of the outline.
    rim = [sorted(side) for side in sides if sides.count(side) == 1]
    lines = "".join(f"M{points(page[side])}" for side in rim if not _on_one(cut[side]))
    style = {"fill": "none", "stroke": outline(brush.color), "stroke_width": 2.0 * brush.line}
    return element("g", surface), element("path", d=lines, stroke_linecap="round", **style)


def _on_one(cut: Array) -> bool:
    """Whether all corners lie on one cut; a side along the box runs from one cut to the next."""
    return bool(math.isfinite(cut[0]) and (cut == cut[0]).all())


# ---- Hulls -------------------------------------------------------------------------------------------------


def _hull(brush: Brush, solid: Solid) -> list[Piece]:
    """The faces of a convex hull that can be seen, those of equal brightness as one path, and the line around them."""
    seen = brush.camera.see(solid.balls()[0])
    page, faces = brush.camera.page(seen), solid.hull.faces
    a, b, c = (seen[faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    eye = np.array([0.0, 0.0, brush.camera.distance])
    front = np.flatnonzero(np.einsum("ij,ij->i", normals, eye - a) > 0.0)
    paths: dict[str, str] = {}
    sides: set[tuple[int, int]] = set()
    for k in front.tolist():
        fill = shade(brush.color, round(brightness(normals[k] / np.linalg.norm(normals[k])), 2))
        paths[fill] = f"{paths.get(fill, '')}M{points(page[faces[k]])}Z"
        i, j, m = faces[k].tolist()
        sides |= {(i, j), (j, m), (m, i)}
    surface = "".join(
        element("path", d=d, stroke=fill, stroke_width=2.0 * OVERLAP, **brush.style(fill)) for fill, d in paths.items()
    )
    # A side that only one of the faces that are seen has is part of the outline.
    lines = "".join(f"M{points(page[list(side)])}" for side in sides if side[::-1] not in sides)
    style: dict[str, str | float] = {"fill": "none", "stroke": outline(brush.color), "stroke_width": 2.0 * brush.line}
    edge = element("path", d=lines, stroke_linecap="round", **style)
    middle = 0.5 * (seen.min(axis=0) + seen.max(axis=0))
    thickness = 0.5 * float(np.ptp(solid.hull.vertices, axis=0).min())
    reach = float(np.linalg.norm(seen - middle, axis=1).max())
    return brush.pieces(middle, reach, thickness, element("g", surface), edge)


def _facets(brush: Brush, solid: Solid) -> list[Piece]:
    """The faces of a height field or a grid that can be seen, each a piece of its own, since others may stand between them."""
    seen = brush.camera.see(solid.balls()[0])
    page, faces = brush.camera.page(seen), solid.hull.faces
    corners = seen[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    eye = np.array([0.0, 0.0, brush.camera.distance])
    pieces = []
    for k in np.flatnonzero(np.einsum("ij,ij->i", normals, eye - corners[:, 0]) > 0.0).tolist():
        fill = shade(brush.color, round(brightness(normals[k] / np.linalg.norm(normals[k])), 2))
        path = element(
            "path", d=f"M{points(page[faces[k]])}Z", stroke=fill, stroke_width=2.0 * OVERLAP, **brush.style(fill)
        )
        middle = corners[k].mean(axis=0)
        reach = float(np.linalg.norm(corners[k] - middle, axis=1).max())
        pieces.append(Piece(float(middle[2]), path, middle, reach))
    return pieces

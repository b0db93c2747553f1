"""A motion as a film strip, as postures along its way, or as a moving picture: one SVG, by numpy alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from memetik.body import LinkPoses, Shape
from memetik.errors import FormatError, shown
from memetik.geometry.checks import flag, instance, several, whole_number
from memetik.motion import Motion
from memetik.objectives import HeightField, Surface, TriangleMesh
from memetik.types import Array
from memetik.write import scenery, svg
from memetik.write.camera import Camera, look
from memetik.write.colors import GREY, TARGET, brightness, from_hex, shade
from memetik.write.limbs import link_colors
from memetik.write.picture import LINE, MARGIN, TITLE, VIEW, direction_of, file_for_picture, page_of, write_picture
from memetik.write.plots import title_of
from memetik.write.scene import Scene, build_scene
from memetik.write.solids import Piece, Solid, paint

Layout = Literal["strip", "path", "film"]

EARTH = from_hex("#9aa58c")
PROP = from_hex(TARGET)
APART = 1.15  # widths of the body from one posture of a strip to the next
MOST = 500  # postures in a picture


class Shot(NamedTuple):
    """One posture of the picture."""

    scene: Scene
    props: list[Solid]
    time: float


def draw_motion(
    motion: Motion,
    path: str | PathLike[str] | None = None,
    *,
    frame_count: int = 8,
    layout: Layout = "strip",
    terrain: Surface | None = None,
    props: Sequence[Shape] = (),
    view: tuple[float, float] = VIEW,
    size: tuple[float, float] = (1200, 400),
    show_skeleton: bool = False,
    title: str | None = None,
) -> str:
    """Draw a motion; return the SVG, and write it to `path` if given: as .svg, as .png, or a film as .gif (these two need
    Pillow: pip install "memetik[plots]").

    frame_count: how many postures, from the first to the last, evenly in time.
    layout: "strip" sets them side by side, "path" where they are in the world, and "film" shows one after the other, in
        the time that they take, again and again: a moving picture for browsers and web pages.
    terrain: a height field or triangles to draw with "path" and "film".
    props: solids of the world, mk.Shape with its place in the world.
    view, size: as in mk.draw, in degrees and pixels. show_skeleton: dots and bones, too, where links have shapes.
    """
    clip = instance(motion, Motion, FormatError, "a motion. Give mk.Motion(...) or mk.read_motion(...).")
    count = whole_number(frame_count, FormatError, "frame_count", least=1, most=MOST)
    if not isinstance(layout, str) or layout not in ("strip", "path", "film"):
        raise FormatError(f"layout is {shown(layout)}. Give 'strip', 'path' or 'film'.")
    if terrain is not None:
        instance(
            terrain,
            Surface,
            FormatError,
            "a surface. Give mk.objectives.HeightField(...) or mk.objectives.TriangleMesh(...).",
        )
    title, file, page, direction = title_of(title), _file(path, layout), page_of(size), direction_of(view)
    things = several(props, FormatError, "props", "[mk.Shape('box', (0.2, 0.2, 0.2))]")
    for thing in things:
        instance(thing, Shape, FormatError, "a shape. Give mk.Shape('box', (0.2, 0.2, 0.2), place).")
    bones = flag(show_skeleton, FormatError, "show_skeleton")
    shots = _shots(clip, min(count, len(clip)) if len(clip) == 1 else count, layout, direction, things, bones)
    unit = math.sqrt(min(page) / 800.0)
    ground = [] if terrain is None or layout == "strip" else _facets(terrain, shots)
    camera, extent, floor = _frame(shots, ground, direction, page, TITLE * page[1] if title else 0.0)
    definitions = svg.Definitions()
    parts = []
    if ground:
        parts.append(_terrain(ground, camera))
    elif direction[1] > 0.0:
        parts.append(scenery.ground(camera, floor, extent, page, definitions, unit))
    shadows, figures = [], []
    for shot in shots:
        solids = [*shot.scene.all_solids(), *shot.props]
        figures.append([piece for solid in solids for piece in paint(solid, camera, definitions, LINE * unit)])
        flat = not ground and direction[1] > 0.0
        shadows.append(scenery.shadow(camera, floor, solids, definitions, unit) if flat else "")
    if layout == "film":
        parts += _film(
            [under + _painted(pieces) for under, pieces in zip(shadows, figures, strict=True)], clip.duration
        )
    else:  # what is nearer covers what is farther, of whichever posture it is
        parts += [*shadows, _painted([piece for pieces in figures for piece in pieces])]
    if title:
        parts.append(svg.text(title, x=28.0 * unit, y=44.0 * unit, fill=GREY, font_size=20.0 * unit))
    picture = svg.document(page, title or clip.name or clip.body.name, definitions, parts)
    return write_picture(picture, file)


def _file(path: str | PathLike[str] | None, layout: Layout) -> Path | None:
    """Where the picture goes. What moves is no .png, and what does not is no .gif."""
    return file_for_picture(path, (".svg", ".gif") if layout == "film" else (".svg", ".png"))


def _shots(
    clip: Motion, count: int, layout: Layout, view: tuple[float, float], props: Sequence[Shape], bones: bool
) -> list[Shot]:
    """The postures of the picture, each where it is drawn."""
    times = np.linspace(clip.start, clip.end, count) if count > 1 else np.array([clip.start])
    if layout == "film" and count > 1:  # the last frame of a loop would be seen twice
        times = np.linspace(clip.start, clip.end, count, endpoint=False)
    body, colors = clip.body, link_colors(clip.body)
    shots = []
    rows = {link: k for k, link in enumerate(body.links)}
    every = body.forward(clip.at(times)).array
    azimuth = math.radians(view[0])
    right = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
    apart = 0.0
    for k, (time, poses) in enumerate(zip(times, every, strict=True)):
        shift = np.zeros(3)
        if layout == "strip":
            middle = poses[1:].mean(axis=0)[:3, 3] if len(poses) > 1 else poses[0, :3, 3]
            shift = -middle * (1.0, 1.0, 0.0)
            if k == 0:
                spans = (every[:, 1:, :3, 3] - every[:, 1:, :3, 3].mean(axis=1, keepdims=True)) @ right
                apart = APART * float(np.ptp(spans)) if spans.size else 1.0
            shift = shift + k * apart * right
        moved = poses.copy()
        moved[:, :3, 3] += shift
        scene = build_scene(body, LinkPoses(rows, moved), colors, skeleton=bones or not _has_shapes(clip))
        shots.append(Shot(scene, [_prop(shape, shift) for shape in props], float(time)))
    return shots


def _has_shapes(clip: Motion) -> bool:
    return any(link.shapes or link.visuals for link in clip.body.links.values())


def _prop(shape: Shape, shift: Array) -> Solid:
    place = shape.link_from_shape.copy()
    place[:3, 3] += shift
    color = PROP if shape.color is None else shape.color[:3]
    return Solid(shape.kind, shape.size, place, color)


def _facets(terrain: Surface, shots: list[Shot]) -> list[Array]:
    """The cells or triangles of a surface that are about the figure, each its corners (n, 3)."""
    if isinstance(terrain, HeightField):
        nx, ny = terrain.heights.shape
        x, y = (terrain.origin[k] + terrain.spacing[k] * np.arange(n) for k, n in enumerate((nx, ny)))
        grid = np.stack([*np.meshgrid(x, y, indexing="ij"), terrain.heights], axis=-1)
        cells = np.stack([grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]], axis=2).reshape(-1, 4, 3)
    elif isinstance(terrain, TriangleMesh):
        cells = terrain.vertices[terrain.faces]
    else:
        return []
    points = np.concatenate([shot.scene.balls()[0] for shot in shots])
    size = float(np.linalg.norm(np.ptp(shots[0].scene.balls()[0], axis=0)))
    low, high = points.min(axis=0) - 0.5 * size, points.max(axis=0) + 0.5 * size
    middle = cells.mean(axis=1)
    near = ((middle > low) & (middle < high))[:, :2].all(axis=1)
    return list(cells[near])


def _terrain(facets: list[Array], camera: Camera) -> str:
    """The facets from far to near; the figure is drawn over them."""
    drawn = []
    for corners in facets:
        seen = camera.see(corners)
        normal = np.cross(seen[1] - seen[0], seen[-1] - seen[0])
        length = float(np.linalg.norm(normal))
        if length == 0.0:
            continue
        fill = shade(EARTH, brightness(normal / length))
        style: dict[str, str | float] = {"fill": fill, "stroke": fill, "stroke_width": 0.6}
        drawn.append((float(seen[:, 2].mean()), svg.element("polygon", points=svg.points(camera.page(seen)), **style)))
    drawn.sort(key=lambda item: item[0])
    return svg.element("g", "".join(text for _, text in drawn))


def _painted(pieces: list[Piece]) -> str:
    """Pieces from far to near."""
    return svg.element("g", "\n".join(piece.svg for piece in sorted(pieces, key=lambda piece: piece.nearness)))


def _film(pictures: list[str], duration: float) -> list[str]:
    """Each picture is seen for its share of the time, then the next; the first one by viewers that show no animation."""
    count = len(pictures)
    seconds = max(duration, 0.1)
    parts = []
    for k, picture in enumerate(pictures):
        keys, values = [0.0], ["inline" if k == 0 else "none"]
        if k > 0:
            keys.append(k / count)
            values.append("inline")
        if k < count - 1:
            keys.append((k + 1) / count)
            values.append("none")
        timing = ";".join(f"{key:.4f}".rstrip("0").rstrip(".") for key in keys)
        change = svg.element(
            "animate", attributeName="display", values=";".join(values), keyTimes=timing, dur=f"{seconds:.3f}s",
            calcMode="discrete", repeatCount="indefinite",
        )  # fmt: skip
        parts.append(svg.element("g", change + picture, display="inline" if k == 0 else "none"))
    return parts


def _frame(
    shots: list[Shot], ground: list[Array], view: tuple[float, float], page: tuple[float, float], top: float
) -> tuple[Camera, float, float]:
    """The camera that sees everything, half the size of what is seen [m], and its lowest height [m]."""
    balls = [shot.scene.balls() for shot in shots] + [prop.balls() for shot in shots for prop in shot.props]
    points, radii = np.concatenate([p for p, _ in balls]), np.concatenate([r for _, r in balls])
    low, high = (points - radii[:, None]).min(axis=0), (points + radii[:, None]).max(axis=0)
    corners = np.concatenate(ground) if ground else points * (1.0, 1.0, 0.0) + (0.0, 0.0, low[2])
    everything = np.concatenate([points, corners])
    margins = np.array([0.0, top, 0.0, 0.0]) + 0.6 * MARGIN * min(page)
    camera = look(everything, np.concatenate([radii, np.zeros(len(corners))]), view, page, margins)
    return camera, 0.5 * float(np.linalg.norm(high - low)), float(low[2])

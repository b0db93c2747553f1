"""A body in a posture as an SVG picture, for a README, a paper or a quick look; needs nothing but numpy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Body, LinkPoses
from memetik.collision.world import World
from memetik.errors import FormatError
from memetik.geometry import TransformLike, as_transform
from memetik.geometry.checks import finite_array, flag, instance, real_array, several
from memetik.types import Array
from memetik.write import raster, scenery, svg
from memetik.write.camera import SMALLEST, Camera, look
from memetik.write.colors import GREY
from memetik.write.limbs import link_colors
from memetik.write.plots import file_of, require_body, title_of
from memetik.write.scene import Scene, build_scene, split_backdrop
from memetik.write.solids import Piece, paint

Targets = Sequence[TransformLike] | Array
Goal = tuple[Array, bool]  # world_from_target, and whether its orientation counts

VIEW = (35.0, 18.0)  # from the front, a little from the left and above, for bodies that face along x
MARGIN = 0.1  # of the page, on every side
TITLE = 0.06  # of the page, at the top
GHOSTS = (0.20, 0.45)  # opacity of the first posture and of the last but one
# On a page of 800 pixels:
DOT = 3.4  # radius of a joint's dot
LINE = 0.9  # width of the edge around a solid


class Picture(str):
    """The text of an SVG picture; a notebook shows the picture itself."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return f"<Picture: {len(self) / 1000:.1f} kB of SVG>"


def draw(
    body: Body,
    q: ArrayLike | None = None,
    path: str | PathLike[str] | None = None,
    *,
    view: tuple[float, float] = VIEW,
    size: tuple[float, float] = (800, 800),
    targets: Targets = (),
    show_skeleton: bool = True,
    show_shapes: bool = True,
    title: str | None = None,
    world: World | None = None,
) -> str:
    """Draw a body in the posture q (home unless given); return the SVG, and write it to `path` if given: as .svg, or as
    .png (which needs Pillow: pip install "memetik[plots]").

    `view` is where the camera stands: azimuth in degrees from x towards y, elevation in degrees above the
    horizon; (-90, 90) looks down with x to the right. `size` is in pixels. `targets` are positions and poses
    to reach, marked by rings and axes. `show_shapes` draws the links' primitives; `show_skeleton` draws the moving
    joints as dots and links without primitives as bones. `world` draws its obstacles, too. The background is
    transparent.
    """
    posture = require_body(body).home if q is None else q
    return draw_many(
        body, [posture], path, view=view, size=size, targets=targets, show_skeleton=show_skeleton, show_shapes=show_shapes,
        title=title, world=world,
    )  # fmt: skip


def draw_many(
    body: Body,
    postures: Sequence[ArrayLike],
    path: str | PathLike[str] | None = None,
    *,
    view: tuple[float, float] = VIEW,
    size: tuple[float, float] = (800, 800),
    targets: Targets = (),
    show_skeleton: bool = True,
    show_shapes: bool = True,
    title: str | None = None,
    world: World | None = None,
) -> str:
    """Draw a body in several postures: the last one solid, those before it as ghosts, fainter the earlier.

    The rest is as in `draw`: `view` in degrees, `size` in pixels, `targets` in metres.
    """
    require_body(body)
    title = title_of(title)
    show_skeleton, show_shapes = (
        flag(value, FormatError, name)
        for value, name in ((show_skeleton, "show_skeleton"), (show_shapes, "show_shapes"))
    )
    postures = several(postures, FormatError, "postures", "[body.home]")
    file, page, direction, goals = file_for_picture(path), page_of(size), direction_of(view), _goals(targets)
    if len(postures) == 0:
        raise FormatError("draw_many needs at least one posture, but the list is empty.")
    for q in postures:
        if np.ndim(real_array(q, FormatError, "a posture is a joint vector")) != 1:
            raise FormatError(
                "a posture is one joint vector, a number for each of body.joint_names; draw_many takes several."
            )
    colors = link_colors(body)
    scenes = [build_scene(body, body.forward(q), colors, shapes=show_shapes, skeleton=show_skeleton) for q in postures]
    if world is not None:
        scenes[-1] = scenes[-1].among(instance(world, World, FormatError, "a world. Give mk.World({...}).").shapes)
    unit = math.sqrt(min(page) / 800.0)  # small pictures have relatively larger dots and letters
    camera, extent, floor = framed(scenes, goals, direction, page, TITLE * page[1] if title else 0.0)
    definitions = svg.Definitions()
    parts = []
    if direction[1] > 0.0:  # seen from below, the ground would hide the body
        parts.append(scenery.ground(camera, floor, extent, page, definitions, unit))
        parts.append(scenery.shadow(camera, floor, scenes[-1].all_solids(), definitions, unit))
    behind, scenes[-1] = split_backdrop(scenes[-1], [each for scene in scenes for each in scene.all_solids()], camera)
    pieces = [piece for solid in behind for piece in paint(solid, camera, definitions, LINE * unit)]
    pieces.sort(key=lambda piece: piece.nearness)
    parts += [piece.svg for piece in pieces]
    for scene, opacity in zip(scenes, [*np.linspace(*GHOSTS, len(scenes) - 1), 1.0], strict=True):
        painted = {
            link: [piece for solid in solids for piece in paint(solid, camera, definitions, LINE * unit)]
            for link, solids in scene.solids.items()
        }
        pieces = [piece for of_link in painted.values() for piece in of_link]
        if show_skeleton and opacity == 1.0:
            pieces += _dots(body, scene.poses, painted, camera, unit)
        pieces.sort(key=lambda piece: piece.nearness)
        parts.append(svg.element("g", "\n".join(piece.svg for piece in pieces), opacity=opacity))
    parts += [scenery.target(camera, pose, oriented, 0.1 * extent, unit) for pose, oriented in goals]
    parts.append(scenery.compass(camera, page, unit))
    if title:
        parts.append(svg.text(title, x=28.0 * unit, y=44.0 * unit, fill=GREY, font_size=20.0 * unit))
    return write_picture(svg.document(page, title or body.name, definitions, parts), file)


def write_picture(picture: str, file: Path | None) -> Picture:
    """Write a picture, if there is a file for it; returns the picture."""
    if file is not None and file.suffix.lower() == ".svg":
        save_svg(file, picture)
    elif file is not None:
        raster.save(picture, file)
    return Picture(picture)


def _dots(body: Body, poses: LinkPoses, painted: dict[str, list[Piece]], camera: Camera, unit: float) -> list[Piece]:
    """A dot for each moving joint, before the links it joins; where they crowd they shrink, then vanish."""
    moving = [joint for joint in body.joints.values() if joint.dof > 0]
    seen = camera.see(np.array([poses[joint.child][:3, 3] for joint in moving]).reshape(-1, 3))
    places = camera.page(seen)
    gaps = np.linalg.norm(places[:, None] - places[None], axis=-1)
    same = gaps < 0.5  # pixels; joints in one place share a dot
    shared = np.tril(same, -1).any(axis=1)
    radii = np.minimum(DOT * unit, 0.3 * np.where(same, math.inf, gaps).min(axis=1, initial=math.inf))
    dots = []
    for k, joint in enumerate(moving):
        if shared[k] or radii[k] < 0.3 * DOT * unit:
            continue
        around = [
            piece.nearness
            for link in (joint.parent, joint.child)
            for piece in painted[link]
            if math.dist(piece.middle, seen[k]) <= piece.reach
        ]
        nearness = max([float(seen[k, 2]), *around]) + 1e-6
        x, y = places[k]
        style: dict[str, str | float] = {"stroke": "#28303d", "stroke_width": 0.35 * radii[k]}
        dots.append(Piece(nearness, svg.element("circle", cx=x, cy=y, r=radii[k], fill="#fff", **style), seen[k], 0.0))
    return dots


def framed(
    scenes: list[Scene], goals: list[Goal], view: tuple[float, float], page: tuple[float, float], top: float
) -> tuple[Camera, float, float]:
    """The camera that sees everything, half the size of the body [m], and its lowest height [m]."""
    balls = [scene.balls() for scene in scenes]
    points, radii = np.concatenate([p for p, _ in balls]), np.concatenate([r for _, r in balls])
    low, high = (points - radii[:, None]).min(axis=0), (points + radii[:, None]).max(axis=0)
    shadows = points * (1.0, 1.0, 0.0) + (0.0, 0.0, low[2]) if view[1] > 0.0 else np.zeros((0, 3))
    marks = np.array([pose[:3, 3] for pose, _ in goals]).reshape(-1, 3)
    everything = np.concatenate([points, shadows, marks])
    all_radii = np.concatenate([radii, np.zeros(len(everything) - len(points))])
    margins = np.array([0.0, top, 0.0, 0.0]) + MARGIN * min(page)
    extent = max(0.5 * float(np.linalg.norm(high - low)), SMALLEST)
    return look(everything, all_radii, view, page, margins), extent, float(low[2])


# ---- Checks ------------------------------------------------------------------------------------------------


def file_for_picture(path: str | PathLike[str] | None, suffixes: Sequence[str] = (".svg", ".png")) -> Path | None:
    """Where a picture goes, checked before it is drawn."""
    if path is None:
        return None
    file = file_of(path)
    if file.suffix.lower() not in suffixes:
        better = file.stem + ".svg"
        raise FormatError(f"a picture is written as {' or '.join(suffixes)}, not as {file.name!r}. Name it {better!r}.")
    if file.suffix.lower() != ".svg":
        raster.require_pillow()
    if not file.parent.is_dir():
        raise FormatError(f"the folder {str(file.parent)!r} of the picture does not exist. Create it first.")
    return file


def save_svg(file: Path, picture: str) -> None:
    """Write a picture."""
    try:
        file.write_text(picture, encoding="utf-8")
    except OSError as error:
        raise FormatError(f"the picture cannot be written to {file}: {error.strerror}.") from error


def page_of(size: tuple[float, float]) -> tuple[float, float]:
    """The width and height of a picture [pixels]."""
    width, height = finite_array(size, "size", "a width and a height in pixels", (2,)).tolist()
    if min(width, height) < 32.0 or max(width, height) > 1e6:
        raise FormatError(f"size is {size}, but a picture needs at least 32 pixels each way, and at most a million.")
    return width, height


def direction_of(view: tuple[float, float]) -> tuple[float, float]:
    """Azimuth and elevation of the camera [degrees]."""
    azimuth, elevation = finite_array(view, "view", "azimuth and elevation in degrees", (2,)).tolist()
    if abs(elevation) > 90.0:
        raise FormatError(f"view has elevation {elevation:g}. Give degrees from -90 (below) to 90 (above).")
    return azimuth, elevation


def _goals(targets: Targets) -> list[Goal]:
    """The targets as transforms; a single array of one target is taken as that."""
    single = isinstance(targets, np.ndarray) and targets.shape in ((3,), (4, 4))
    goals = []
    every = [targets] if single else several(targets, FormatError, "targets", "[(0.5, 0.1, 0.4)]")
    for k, target in enumerate(every):
        pose = as_transform(target, name=f"targets[{k}]")
        goals.append((pose, np.ndim(target[0]) > 0))
    return goals

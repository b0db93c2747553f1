"""Shapes as numbers for the kernels: a solid is the sum of a box, a disc across z and a ball (kernels/geometry/solids.py).

sphere    ball                     cylinder  line along z + disc
capsule   line along z + ball      box       box
hull      points + ball            field     samples

The numbers of a hull are followed by its points, which stand behind all solids that it is together with; those of a height field
or a grid by where its samples lie in memory, which whoever packs them must keep (`Shape.samples`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memetik.body import Body, Shape
from memetik.body.hull import neighbours
from memetik.errors import ProblemError, shown
from memetik.geometry import rotation_matrix, to_quaternion
from memetik.geometry.checks import real_array, several
from memetik.kernels.compiler.function_pointers import lasting_address
from memetik.kernels.geometry.function_pointers import APART
from memetik.kernels.geometry.grids import grid_apart
from memetik.kernels.geometry.heights import heights_apart
from memetik.kernels.geometry.hulls import hull_apart
from memetik.kernels.geometry.solids import (
    SOLID_BALL,
    SOLID_BOX,
    SOLID_DATA,
    SOLID_DISC,
    SOLID_KERNEL,
    SOLID_POINTS,
)
from memetik.kernels.terms.distance import GROUP_CENTER, GROUP_SOLIDS
from memetik.types import Array

GROUP_OF_ONE = GROUP_SOLIDS + SOLID_DATA  # the numbers of a group of one solid, but for the points of a hull

LINKED = (
    128  # points of a hull beyond which neighbours lead to the farthest one sooner (python -m tests.stress.hulls time)
)

_CANNOT = (
    "{}: cannot keep away from {}. Give points (x, y, z), spheres (x, y, z, radius), shapes placed in the world, "
    "links or frames."
)


def solid(shape: Shape, owner: str, pose: Array | None = None) -> Array:
    """The numbers of a shape, placed by its link_from_shape, in what stands at a pose if one is given; `owner` says in an error
    whose shape it is.

    Of a hull its points follow, about the middle of the box around them, and beyond LINKED of them their neighbours.
    """
    numbers = np.zeros(SOLID_DATA)
    place = shape.link_from_shape if pose is None else pose @ shape.link_from_shape
    numbers[:4] = to_quaternion(place[:3, :3])
    numbers[4:7] = place[:3, 3]
    if shape.kind == "box":
        numbers[SOLID_BOX : SOLID_BOX + 3] = np.array(shape.size) / 2.0
    elif shape.kind in ("sphere", "capsule", "cylinder"):
        numbers[SOLID_DISC if shape.kind == "cylinder" else SOLID_BALL] = shape.size[0]
        numbers[SOLID_BOX + 2] = 0.0 if shape.kind == "sphere" else shape.size[1] / 2.0
    elif shape.points is not None:
        corners = _corners(shape)
        low, high = corners.min(axis=0), corners.max(axis=0)
        middle = hull_middle(shape)
        numbers[4:7] += place[:3, :3] @ middle
        numbers[SOLID_BOX : SOLID_BOX + 3] = 0.5 * (high - low)
        numbers[SOLID_BALL] = shape.size[0]
        numbers[SOLID_KERNEL : SOLID_KERNEL + 2] = divmod(lasting_address(hull_apart, APART), 2**32)
        links = neighbours(shape.hull) if len(corners) > LINKED else []
        return np.concatenate([numbers, _hull_points(corners - middle, links)])
    elif shape.is_field:
        middle, half = shape.field_box
        numbers[4:7] += place[:3, :3] @ middle
        numbers[SOLID_BOX : SOLID_BOX + 3] = half
        kernel = heights_apart if shape.kind == "heights" else grid_apart
        numbers[SOLID_KERNEL : SOLID_KERNEL + 2] = divmod(lasting_address(kernel, APART), 2**32)
        numbers[SOLID_POINTS] = -1.0  # what follows is a field's
        samples = shape.samples
        return np.concatenate([numbers, divmod(samples.ctypes.data, 2**32), [samples.size]])
    else:
        raise ProblemError(
            f"{owner} is a {shape.kind}, which has no simple distance. Take its convex hull, mk.collision.hull(file), for all "
            "links body.with_hulls(), or cover it by spheres, capsules, cylinders or boxes: for a link, mk.build.Link(name, "
            "shapes=[mk.Shape('capsule', (radius, length), link_from_shape)])."
        )
    return numbers


def _corners(shape: Shape) -> Array:
    """The points of a hull that its numbers hold: of few also what is inside."""
    assert shape.points is not None
    return shape.points if len(shape.points) <= LINKED else shape.hull.vertices


def hull_middle(shape: Shape) -> Array:
    """The middle of the box around a hull, from which its points are counted, in the frame of the shape."""
    corners = _corners(shape)
    return np.asarray(0.5 * (corners.min(axis=0) + corners.max(axis=0)))


def renew_kernels(groups: Array) -> None:
    """Write the address of the kernel for hulls into groups of one solid that may come from another process."""
    hulls = groups[:, GROUP_SOLIDS + SOLID_POINTS] > 0.0
    if hulls.any():
        first = GROUP_SOLIDS + SOLID_KERNEL
        groups[hulls, first : first + 2] = divmod(lasting_address(hull_apart, APART), 2**32)


def link_solids(body: Body, link: str, name: str) -> list[Array]:
    """The solids of a link, in its own frame; an objective's name for the error."""
    body.frame(link)
    shapes = body.links[link].shapes
    if not shapes:
        raise ProblemError(
            f"{name}: link {link!r} of body {body.name!r} has no shapes. Give it some, mk.build.Link(..., shapes=[...]), or "
            "take another link."
        )
    return [solid(shape, f"{name}: shape {k} of link {link!r}") for k, shape in enumerate(shapes)]


def _hull_points(points: Array, links: Sequence[NDArray[np.int64]]) -> Array:
    """As kernels/geometry/support.py reads them."""
    parts = [np.array([len(points), len(links) > 0]), points.ravel()]
    if links:
        parts += [np.cumsum([0, *map(len, links)]), np.concatenate(links)]
    return np.concatenate(parts)


def shape_of(item: object) -> object:
    """The shape of what has one, such as a height field; anything else as it is."""
    found = getattr(item, "shape", None)
    return found if isinstance(found, Shape) else item


def stack(solids: Sequence[Array]) -> Array:
    """Solids one after the other, then the points of those that are hulls."""
    rows = np.array([numbers[:SOLID_DATA] for numbers in solids])
    points = [numbers[SOLID_DATA:] for numbers in solids]
    place = rows.size
    for k, own in enumerate(points):
        if own.size:
            behind = place - k * SOLID_DATA
            rows[k, SOLID_POINTS] = -behind if rows[k, SOLID_POINTS] < 0.0 else behind
            place += own.size
    return np.concatenate([rows.ravel(), *points])


def ball(center: Sequence[float] | Array = (0.0, 0.0, 0.0), radius: float = 0.0) -> Array:
    """The numbers of a ball; one of no radius is a point."""
    numbers = np.zeros(SOLID_DATA)
    numbers[0] = 1.0
    numbers[4:7] = center
    numbers[SOLID_BALL] = radius
    return numbers


def ball_rows(centers: Array, radius: float) -> Array:
    """The numbers of many balls of one radius, a row each."""
    rows = np.tile(ball(radius=radius), (len(centers), 1))
    rows[:, 4:7] = centers
    return rows


def group(frame: int, solids: Iterable[Array]) -> Array:
    """The numbers of solids that ride on one frame (its row; -1 for the world), with a ball and a box around all of them."""
    parts = list(solids)
    rows = np.array([numbers[:SOLID_DATA] for numbers in parts])
    centers = rows[:, 4:7]
    boxes = rows[:, SOLID_BOX : SOLID_BOX + 3] + np.outer(rows[:, SOLID_DISC], (1.0, 1.0, 0.0))
    capsules = np.linalg.norm(rows[:, SOLID_BOX : SOLID_BOX + 3], axis=1) + rows[:, SOLID_DISC]
    radii = np.maximum(np.linalg.norm(boxes, axis=1), capsules) + rows[:, SOLID_BALL]  # around both views of a cylinder
    center = 0.5 * ((centers - radii[:, None]).min(axis=0) + (centers + radii[:, None]).max(axis=0))
    radius = float((np.linalg.norm(centers - center, axis=1) + radii).max())
    box = np.zeros(3) if frame < 0 else (np.abs(centers - center) + _half_sizes(rows)).max(axis=0)
    return np.concatenate([[frame], center, [radius, len(rows)], box, stack(parts)])


def _half_sizes(rows: Array) -> Array:
    """How far solids extend from their middle along the axes of their frame, both views of a cylinder."""
    turns = np.abs(np.array([rotation_matrix(row[:4]) for row in rows]))
    disc, ball = rows[:, SOLID_DISC, None], rows[:, SOLID_BALL, None]
    box = (turns @ rows[:, SOLID_BOX : SOLID_BOX + 3, None])[..., 0]
    return np.asarray(box + disc * np.minimum(1.0, turns[:, :, 0] + turns[:, :, 1]) + ball)


def world_groups(obstacles: object, name: str) -> tuple[Array, Array]:
    """Obstacles in the world, each a group, then the points of hulls, which stand behind all groups.

    Obstacles are an array of points or spheres, or a list that may hold shapes.
    """
    parts = _each_group(obstacles, name)
    groups = np.vstack([np.empty((0, GROUP_OF_ONE)), *(part[:, :GROUP_OF_ONE] for part in parts)])
    points: dict[int, Array] = {}
    row = 0
    for part in parts:
        if part.shape[1] > GROUP_OF_ONE:
            points[row] = part[0, GROUP_OF_ONE:]
        row += len(part)
    return groups, put_points(groups, points)


def has_fields(body: Body, links: Iterable[object]) -> bool:
    """Whether any of the links, by name, has a height field or a grid among its shapes."""
    return any(shape.is_field for link in links if isinstance(link, str) for shape in body.links[link].shapes)


def put_points(groups: Array, points: Mapping[int, Array]) -> Array:
    """The points of hulls by the rows of groups, all behind these; the rows are told where theirs begin."""
    place = groups.size
    for row, own in points.items():
        groups[row, GROUP_SOLIDS + SOLID_POINTS] = place - row * GROUP_OF_ONE - GROUP_SOLIDS
        place += own.size
    return np.concatenate([np.empty(0), *points.values()])


def _each_group(obstacles: object, name: str) -> list[Array]:
    """One row for each shape, many for an array of points or spheres."""
    if isinstance(obstacles, np.ndarray):
        return [_balls(obstacles, name)]
    items = [obstacles] if isinstance(obstacles, Shape) else obstacles
    if not isinstance(items, Iterable):
        raise ProblemError(_CANNOT.format(name, shown(obstacles)))
    rows = several(items, ProblemError, f"{name}: obstacles", "[(0.5, 0.0, 0.3)]")
    if any(isinstance(item, Shape) and item.is_field for item in rows):
        raise ProblemError(
            f"{name}: a height field or a grid cannot be assigned to obstacles. Give it to the Distance when you make it, or put "
            "it into a World, which can move it."
        )
    if rows and not any(isinstance(item, Shape) for item in rows):
        parts = [np.atleast_1d(real_array(item, ProblemError, f"{name}: an obstacle is not numbers")) for item in rows]
        if len({part.size for part in parts}) == 1:
            return [_balls(parts, name)]
    return [
        group(-1, [solid(item, f"{name}: obstacle {k}")])[None] if isinstance(item, Shape) else _balls(item, name)
        for k, item in enumerate(rows)
    ]


def _balls(values: object, name: str) -> Array:
    """As `group`, for many rows (x, y, z, radius) or points at once, because obstacles move between solves."""
    rows = np.atleast_2d(real_array(values, ProblemError, f"{name}: an obstacle is not numbers"))
    if rows.ndim != 2 or rows.shape[1] not in (3, 4):
        raise ProblemError(_CANNOT.format(name, shown(values)))
    spheres = np.zeros((len(rows), 4))
    spheres[:, : rows.shape[1]] = rows
    if not np.isfinite(spheres).all() or (spheres[:, 3] < 0.0).any():
        raise ProblemError(f"{name}: an obstacle has an entry that is NaN or infinite, or a radius below zero.")
    groups = np.tile(group(-1, [ball()]), (len(spheres), 1))
    groups[:, GROUP_CENTER : GROUP_CENTER + 4] = spheres
    groups[:, GROUP_SOLIDS + 4 : GROUP_SOLIDS + 7] = spheres[:, :3]
    groups[:, GROUP_SOLIDS + SOLID_BALL] = spheres[:, 3]
    return groups

"""Shapes as numbers for the kernels: a solid is the sum of a box, a disc across z and a ball (kernels/terms/geometry/solids.py).

sphere    ball                     cylinder  line along z + disc
capsule   line along z + ball      box       box
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from memetik.body import Body, Shape
from memetik.errors import ProblemError, shown
from memetik.geometry import to_quaternion
from memetik.geometry.checks import real_array, several
from memetik.kernels.terms.distance import GROUP_CENTER, GROUP_SOLIDS
from memetik.kernels.terms.geometry.solids import SOLID_BALL, SOLID_BOX, SOLID_DATA, SOLID_DISC
from memetik.types import Array

_CANNOT = (
    "{}: cannot keep away from {}. Give points (x, y, z), spheres (x, y, z, radius), shapes placed in the world, "
    "links or frames."
)


def solid(shape: Shape, owner: str) -> Array:
    """The numbers of a shape, placed by its link_from_shape; `owner` says in an error whose shape it is."""
    numbers = np.zeros(SOLID_DATA)
    numbers[:4] = to_quaternion(shape.link_from_shape[:3, :3])
    numbers[4:7] = shape.link_from_shape[:3, 3]
    if shape.kind == "box":
        numbers[SOLID_BOX : SOLID_BOX + 3] = np.array(shape.size) / 2.0
    elif shape.kind in ("sphere", "capsule", "cylinder"):
        numbers[SOLID_DISC if shape.kind == "cylinder" else SOLID_BALL] = shape.size[0]
        numbers[SOLID_BOX + 2] = 0.0 if shape.kind == "sphere" else shape.size[1] / 2.0
    else:
        raise ProblemError(
            f"{owner} is a {shape.kind}, which has no simple distance. Cover it by spheres, capsules, cylinders or "
            "boxes: for a link, mk.Link(name, shapes=[mk.Shape('capsule', (radius, length), link_from_shape)])."
        )
    return numbers


def link_solids(body: Body, link: str, name: str) -> list[Array]:
    """The solids of a link, in its own frame; an objective's name for the error."""
    body.frame(link)
    shapes = body.links[link].shapes
    if not shapes:
        raise ProblemError(
            f"{name}: link {link!r} of body {body.name!r} has no shapes. Give it some, mk.Link(..., shapes=[...]), or "
            "take another link."
        )
    return [solid(shape, f"{name}: shape {k} of link {link!r}") for k, shape in enumerate(shapes)]


def ball(center: Sequence[float] | Array = (0.0, 0.0, 0.0), radius: float = 0.0) -> Array:
    """The numbers of a ball; one of no radius is a point."""
    numbers = np.zeros(SOLID_DATA)
    numbers[0] = 1.0
    numbers[4:7] = center
    numbers[SOLID_BALL] = radius
    return numbers


def group(frame: int, solids: Iterable[Array]) -> Array:
    """The numbers of solids that ride on one frame (its row; -1 for the world), with a ball around all of them."""
    rows = np.array(list(solids))
    centers = rows[:, 4:7]
    boxes = rows[:, SOLID_BOX : SOLID_BOX + 3] + np.outer(rows[:, SOLID_DISC], (1.0, 1.0, 0.0))
    radii = np.linalg.norm(boxes, axis=1) + rows[:, SOLID_BALL]
    center = 0.5 * ((centers - radii[:, None]).min(axis=0) + (centers + radii[:, None]).max(axis=0))
    radius = float((np.linalg.norm(centers - center, axis=1) + radii).max())
    return np.array([frame, *center, radius, len(rows), *rows.ravel()])


def world_groups(obstacles: object, name: str) -> Array:
    """Obstacles in the world, each a group: an array of points or spheres, or a list that may hold shapes."""
    if isinstance(obstacles, np.ndarray):
        return _balls(obstacles, name)
    items = [obstacles] if isinstance(obstacles, Shape) else obstacles
    if not isinstance(items, Iterable):
        raise ProblemError(_CANNOT.format(name, shown(obstacles)))
    rows = several(items, ProblemError, f"{name}: obstacles", "[(0.5, 0.0, 0.3)]")
    if rows and not any(isinstance(item, Shape) for item in rows):
        parts = [np.atleast_1d(real_array(item, ProblemError, f"{name}: an obstacle is not numbers")) for item in rows]
        if len({part.size for part in parts}) == 1:
            return _balls(parts, name)
    groups = [
        group(-1, [solid(item, f"{name}: obstacle {k}")])[None] if isinstance(item, Shape) else _balls(item, name)
        for k, item in enumerate(rows)
    ]
    return np.vstack([np.empty((0, GROUP_SOLIDS + SOLID_DATA)), *groups])


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

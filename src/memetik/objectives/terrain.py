"""Ground, HeightField, TriangleMesh: surfaces in the world that a Projection puts frames on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.body import Shape
from memetik.collision.triangle_tree import flat_triangles, triangle_tree
from memetik.errors import ProblemError, said, shown
from memetik.geometry import translation
from memetik.geometry.checks import real_array
from memetik.kernels.geometry.rays import GROUND, HEIGHT_FIELD, TRIANGLES, beside, cast
from memetik.objectives.attributes import Frozen
from memetik.objectives.objective import Packer
from memetik.objectives.pose_target import checked_point, unit
from memetik.sharing import cached_property
from memetik.types import Array

DEPTH = 10.0  # m


class Hit(NamedTuple):
    """Where a ray meets a surface."""

    distance: float  # m along the ray
    point: Array  # m, in the world
    normal: Array  # unit vector of the facet


class Surface(Frozen):
    """Facets in the world. Each has a front, the side of its normal; rays pass through it from behind."""

    def __init__(self, numbers: Array) -> None:
        self.numbers = numbers  # as kernels/geometry/rays.py reads them
        self._places: WeakKeyDictionary[Packer, int] = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_places"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._places = WeakKeyDictionary()

    def pack(self, packer: Packer) -> int:
        """The place of its numbers in the data array; all objectives of a problem share them."""
        if packer not in self._places:
            self._places[packer] = packer.numbers(self.numbers)
        return self._places[packer]

    def cast(self, origin: ArrayLike, direction: ArrayLike) -> Hit | None:
        """The first point that a ray from `origin` along `direction` hits, None if it misses."""
        name = type(self).__name__
        start, along = checked_point(origin, name, "origin"), unit(direction, name, "direction")
        distance, *normal = cast(self.numbers, 0, *start, *along)
        return None if math.isinf(distance) else Hit(distance, start + distance * along, np.array(normal))

    def beside(self, point: ArrayLike) -> tuple[Array, Array]:
        """A point of the surface next to `point` and the normal there, whatever rays say.

        The nearest one of the ground or a mesh, the one straight above or below of a height field; at least a
        hundredth of a facet away from the rim.
        """
        x, y, z, *normal, _ = beside(self.numbers, 0, *checked_point(point, type(self).__name__, "point"))
        return np.array([x, y, z]), np.array(normal)


class Ground(Surface):
    """An infinite plane through `point` [m]; its front is where the normal points."""

    def __init__(self, point: ArrayLike = (0.0, 0.0, 0.0), normal: ArrayLike = (0.0, 0.0, 1.0)) -> None:
        self.point, self.normal = checked_point(point, "Ground", "point"), unit(normal, "Ground", "normal")
        super().__init__(np.array([GROUND, *self.point, *self.normal]))

    def __repr__(self) -> str:
        return f"<Ground through {self.point} with normal {self.normal}>"


class HeightField(Surface):
    """Heights over a grid: heights[i, j] stands at x = origin[0] + i spacing, y = origin[1] + j spacing.

    heights: (nx, ny) [m], at least 2 x 2.
    spacing: between neighbouring corners [m], one number or one for x and one for y.
    origin: x and y of the first corner [m].
    depth: how far the ground is solid below its lowest corner [m], for those who keep off it.

    Each cell is two triangles, divided from its first corner (i, j) to its last (i + 1, j + 1). The front is up.

    A Projection puts frames on it. It is an obstacle as well: mk.Distance(links, field), or in a World, where it may be
    turned and moved. Distances from it are exact as long as there is no contact, for all shapes. A shape that is in the ground is
    as deep as the shortest way out that was found: of spheres the nearest point of the surface (up to 16 cells away), of
    others the least way straight up, along the normal of a facet that it is in, or along the normal of the first contact.
    """

    def __init__(
        self, heights: ArrayLike, *, spacing: float | Sequence[float] = 1.0, origin: Sequence[float] = (0.0, 0.0),
        depth: float = DEPTH,
    ) -> None:  # fmt: skip
        self.heights = _finite(heights, "HeightField", "heights", 2)
        if min(self.heights.shape) < 2:
            raise ProblemError(f"HeightField: heights has shape {self.heights.shape}; a cell needs 2 x 2 corners.")
        steps = _finite(spacing, "HeightField", "spacing", 0, 1)
        if steps.shape not in ((), (2,)) or not (steps > 0.0).all():
            raise ProblemError(f"HeightField: spacing is {shown(spacing)}; it must be one or two numbers above zero.")
        corner = _finite(origin, "HeightField", "origin", 1)
        if corner.shape != (2,):
            raise ProblemError(f"HeightField: origin must be x and y of the first corner, not {shown(origin)}.")
        self.depth = _finite(depth, "HeightField", "depth", 0).item()
        if self.depth <= 0.0:
            raise ProblemError(f"HeightField: depth is {shown(depth)}; it must be above zero.")
        self.spacing, self.origin = np.full(2, steps), corner
        extent = [self.heights.min(), self.heights.max()]
        super().__init__(
            np.concatenate([[HEIGHT_FIELD], corner, self.spacing, self.heights.shape, extent, self.heights.ravel()])
        )

    @cached_property
    def shape(self) -> Shape:
        """The ground as a shape that stands in the world, for mk.World and for pictures."""
        x, y = self.origin.tolist()
        place = translation(x, y, 0.0)
        return Shape("heights", (*self.spacing.tolist(), self.depth), place, values=self.heights)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({"depth": DEPTH, **state})  # those that were written to a file before had none

    def __repr__(self) -> str:
        return f"<HeightField of {self.heights.shape[0]} x {self.heights.shape[1]} corners>"


class TriangleMesh(Surface):
    """Triangles: vertices (n, 3) [m] and faces (m, 3), the corners of each anticlockwise as seen from the front."""

    def __init__(self, vertices: ArrayLike, faces: ArrayLike) -> None:
        self.vertices = _finite(vertices, "TriangleMesh", "vertices", 2)
        self.faces = _whole(faces)
        if self.vertices.shape[1] != 3:
            raise ProblemError(f"TriangleMesh: vertices has shape {self.vertices.shape}; it must be (n, 3).")
        if self.faces.ndim != 2 or self.faces.shape[1] != 3 or len(self.faces) == 0:
            raise ProblemError(f"TriangleMesh: faces has shape {self.faces.shape}; it must be (m, 3), m at least 1.")
        if self.faces.min() < 0 or self.faces.max() >= len(self.vertices):
            raise ProblemError(
                f"TriangleMesh: faces name vertices {self.faces.min()} to {self.faces.max()}, but there are "
                f"{len(self.vertices)}, counted from 0."
            )
        corners = self.vertices[self.faces]
        flat = flat_triangles(corners)
        if flat.all():
            raise ProblemError("TriangleMesh: every face has its corners in one line, so there is no surface.")
        super().__init__(np.concatenate([[TRIANGLES], triangle_tree(corners[~flat])]))

    def __repr__(self) -> str:
        return f"<TriangleMesh of {len(self.faces)} faces>"


def _whole(faces: object) -> NDArray[np.int64]:
    """Numbers of vertices; not their coordinates by mistake."""
    try:
        numbers = np.array(faces)
    except Exception as reason:  # whatever the conversion of a stranger's object raises
        raise ProblemError(f"TriangleMesh: faces are not a table: {said(reason)}.") from reason
    if numbers.size and not np.issubdtype(numbers.dtype, np.integer):
        raise ProblemError(f"TriangleMesh: faces are numbers of vertices, not {numbers.dtype}.")
    return numbers


def _finite(value: object, name: str, what: str, *dimensions: int) -> Array:
    numbers = np.array(real_array(value, ProblemError, f"{name}: {what} must be numbers"))
    if not np.isfinite(numbers).all():
        raise ProblemError(f"{name}: {what} has an entry that is NaN or infinite.")
    if numbers.ndim not in dimensions:
        wanted = " or ".join(map(str, dimensions))
        raise ProblemError(f"{name}: {what} has {numbers.ndim} dimensions; it must have {wanted}.")
    return numbers

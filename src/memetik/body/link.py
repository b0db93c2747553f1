"""Links: the rigid parts of a body, with mass and simple shapes; frames that ride on them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from memetik.body.fields import box_around, checked_samples, kernel_samples, surface
from memetik.body.hull import Hull, convex_hull, rounded_hull
from memetik.errors import BodyError, shown
from memetik.geometry import as_transform
from memetik.geometry.checks import frozen, real_array, real_number, several, three_finite
from memetik.geometry.transform import frozen_transform
from memetik.sharing import cached_property
from memetik.types import Array

T = TypeVar("T")

# The numbers that give each kind of shape its size, all in metres. A capsule's and a cylinder's length runs along z,
# between the centres of the caps; a mesh has a file name instead and its numbers are scale factors. A hull is what is
# within a radius of the convex hull of its points. Height fields and grids of signed distances have `values` (fields.py).
SHAPE_SIZES: dict[str, tuple[str, ...]] = {
    "sphere": ("radius",),
    "capsule": ("radius", "length"),
    "cylinder": ("radius", "length"),
    "box": ("x", "y", "z"),
    "mesh": ("scale x", "scale y", "scale z"),
    "hull": ("radius",),
    "heights": ("spacing x", "spacing y", "depth"),
    "grid": ("spacing x", "spacing y", "spacing z", "error"),
}
FIELDS = ("heights", "grid")


@dataclass(frozen=True, eq=False)
class Shape:
    """A solid fixed to a link, for drawing and for keeping distance: `link_from_shape` places it.

    kind, size: "sphere" (radius), "capsule" and "cylinder" (radius, length along z), "box" (x, y, z), all in metres; "mesh"
    (scale x, y, z) of the file `mesh`; "hull" (radius, 0 unless given) of `points` (n, 3) [m]: all that is within the
    radius of their convex hull, which may be flat, a segment or a point. mk.collision.hull makes hulls of meshes, too.
    "heights" (spacing x, y, depth) and "grid" (spacing x, y, z, error) of `values` [m] are what mk.objectives.HeightField
    and mk.collision.SignedDistanceGrid have as their `shape`; see there.
    color: red, green, blue and opacity from 0 to 1, None for that of the link.
    """

    kind: str
    size: tuple[float, ...] = ()
    link_from_shape: Array = field(default_factory=lambda: np.eye(4))
    mesh: str = ""
    color: tuple[float, float, float, float] | None = None  # red, green, blue, opacity in 0..1
    points: Array | None = None  # (n, 3) [m], of a hull
    values: Array | None = None  # (nx, ny) heights or (nx, ny, nz) signed distances [m]

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in SHAPE_SIZES:
            raise BodyError(f"unknown shape {shown(self.kind)}. The shapes are: {', '.join(SHAPE_SIZES)}.")
        names = SHAPE_SIZES[self.kind]
        hull = self.kind == "hull"
        given = (0.0,) if hull and isinstance(self.size, tuple) and not self.size else self.size
        sizes = real_array(given, BodyError, f"the size of a {self.kind} is {', '.join(names)}")
        if sizes.shape != (len(names),):
            raise BodyError(f"a {self.kind} takes {', '.join(names)}; got {sizes.size} numbers.")
        positive = self.kind != "mesh"  # a mesh may be mirrored by a negative scale
        if not all(math.isfinite(s) and (s >= 0.0 or not positive) for s in sizes.tolist()):
            raise BodyError(f"a {self.kind} has a size that is negative or not finite: {self.size}.")
        set_field = object.__setattr__  # the dataclass is frozen; this is its constructor
        set_field(self, "size", tuple(sizes.tolist()))
        if hull:
            set_field(self, "points", frozen(_points(self.points)))
        elif self.points is not None:
            raise BodyError(f"a {self.kind} has no points; a hull has: mk.Shape('hull', points=...).")
        if self.kind in FIELDS:
            set_field(self, "values", frozen(checked_samples(self.kind, self.values, self.size)))
        elif self.values is not None:
            raise BodyError(f"a {self.kind} has no values; 'heights' and 'grid' have.")
        if not isinstance(self.mesh, str):
            raise BodyError(f"the mesh of a shape is {shown(self.mesh)}. Give the name of a file.")
        if self.color is not None:
            set_field(self, "color", _color(self.color))
        place = frozen_transform(self.link_from_shape, BodyError, f"a {self.kind} has a bad origin")
        set_field(self, "link_from_shape", place)

    def __repr__(self) -> str:
        size = (
            f"{len(self.points)} points" if self.points is not None else " x ".join(f"{each:g}" for each in self.size)
        )
        return f"<Shape {self.kind} {size}{' of ' + self.mesh if self.mesh else ''}>"

    @cached_property
    def hull(self) -> Hull:
        """Corners and triangles of a hull, in the axes of the shape, without its radius."""
        if self.points is None:
            raise BodyError(f"a {self.kind} is no hull of points.")
        return convex_hull(self.points)

    @cached_property
    def rounded_hull(self) -> Hull:
        """The same with its radius, which it approximates by polyhedra: for pictures."""
        return rounded_hull(self.hull.vertices, self.size[0])

    @property
    def is_field(self) -> bool:
        """Whether it is a height field or a grid of signed distances."""
        return self.kind in FIELDS

    @cached_property
    def surface(self) -> Hull:
        """Vertices and triangles of a height field or a grid, coarser where it has many cells: for pictures."""
        return surface(self.kind, self._values, self.size)

    @cached_property
    def field_box(self) -> tuple[Array, Array]:
        """The middle of the box around a height field or a grid, in its frame, and the half sizes of the box [m]."""
        return box_around(self.kind, self._values, self.size)

    @cached_property
    def samples(self) -> Array:
        """The numbers of a height field or a grid as kernels read them, by their address: they stay as long as the shape does."""
        return frozen(kernel_samples(self.kind, self._values, self.size))

    @property
    def _values(self) -> Array:
        if self.values is None:
            raise BodyError(f"a {self.kind} is neither a height field nor a grid.")
        return self.values


@dataclass(frozen=True, eq=False)
class Link:
    """One rigid part: its name, mass [kg], centre of mass [m, in the link frame] and shapes.

    `shapes` are for keeping distance, `visuals` for drawing; a body that has only one kind uses it for both.
    """

    name: str
    mass: float = 0.0
    center_of_mass: tuple[float, float, float] = (0.0, 0.0, 0.0)
    shapes: tuple[Shape, ...] = ()
    visuals: tuple[Shape, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise BodyError("a link has no name. Give every link a name of its own.")
        where = f"link {self.name!r}"
        mass = real_number(self.mass, BodyError, f"{where}: mass")
        if not (math.isfinite(mass) and mass >= 0.0):
            raise BodyError(f"{where}: mass is {mass} kg; it must be zero or positive.")
        center = three_finite(self.center_of_mass, BodyError, f"{where}: the centre of mass")
        set_field = object.__setattr__  # the dataclass is frozen; this is its constructor
        set_field(self, "mass", mass)
        set_field(self, "center_of_mass", tuple(center.tolist()))
        for shapes in ("shapes", "visuals"):
            set_field(
                self, shapes, all_of(getattr(self, shapes), Shape, f"{where}: {shapes}", "mk.Shape('sphere', (0.1,))")
            )

    def __repr__(self) -> str:
        return f"<Link {self.name!r}: {self.mass:g} kg, {len(self.shapes)} shapes, {len(self.visuals)} visuals>"


_NO_OFFSET = frozen(np.eye(4))


@dataclass(frozen=True, eq=False)
class Frame:
    """A coordinate frame that rides on a link: world_from_frame = world_from_link @ link_from_frame.

    link_from_frame: 4x4, its place in metres, in the frame of the link.
    """

    link: str
    link_from_frame: Array = field(default_factory=lambda: _NO_OFFSET)

    def __post_init__(self) -> None:
        if not isinstance(self.link, str):
            raise BodyError(f"a frame rides on a link, not on {shown(self.link)}. Give the name of the link.")
        if self.link_from_frame is not _NO_OFFSET:
            matrix = as_transform(self.link_from_frame, name="link_from_frame")
            object.__setattr__(self, "link_from_frame", frozen(matrix))

    def __repr__(self) -> str:
        return f"<Frame {self}>"

    def __str__(self) -> str:
        x, y, z = self.link_from_frame[:3, 3]
        moved = not np.array_equal(self.link_from_frame, np.eye(4))
        return f"{self.link} + ({x:g}, {y:g}, {z:g}) m" if moved else self.link


def all_of(items: object, kind: type[T], what: str, example: str) -> tuple[T, ...]:
    """A list of shapes, links or joints, checked."""
    found = several(items, BodyError, what, f"[{example}]")
    for item in found:
        if not isinstance(item, kind):
            raise BodyError(f"{what}: {shown(item)} is not a {kind.__name__.lower()}. Give {example}.")
    return found


def _points(points: object) -> Array:
    """Those of a hull."""
    if points is None:
        raise BodyError(
            "a hull has no points. Give an array (n, 3): mk.Shape('hull', points=[(0, 0, 0), (0.1, 0, 0)])."
        )
    numbers = np.array(real_array(points, BodyError, "the points of a hull are not numbers"))
    if numbers.ndim != 2 or numbers.shape[1] != 3 or len(numbers) == 0:
        raise BodyError(f"the points of a hull have the shape {numbers.shape}; it must be (n, 3), n at least 1.")
    if not np.isfinite(numbers).all():
        raise BodyError("the points of a hull have an entry that is NaN or infinite.")
    return numbers


def _color(color: object) -> tuple[float, ...]:
    """Red, green, blue and opacity."""
    numbers = real_array(color, BodyError, "the color of a shape is four numbers from 0 to 1")
    if numbers.shape != (4,) or not ((numbers >= 0.0) & (numbers <= 1.0)).all():
        raise BodyError(f"the color of a shape is {shown(color)}. Give red, green, blue and opacity from 0 to 1.")
    return tuple(numbers.tolist())

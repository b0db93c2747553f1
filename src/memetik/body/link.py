"""Links: the rigid parts of a body, with mass and simple shapes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memetik.body.frozen import frozen
from memetik.errors import BodyError, GeometryError
from memetik.geometry import as_transform

Array = NDArray[np.float64]

# The numbers that give each kind of shape its size, all in metres. A capsule's and a cylinder's length runs along z,
# between the centres of the caps; a mesh has a file name instead and its numbers are scale factors.
SHAPE_SIZES: dict[str, tuple[str, ...]] = {
    "sphere": ("radius",),
    "capsule": ("radius", "length"),
    "cylinder": ("radius", "length"),
    "box": ("x", "y", "z"),
    "mesh": ("scale x", "scale y", "scale z"),
}


@dataclass(frozen=True, eq=False)
class Shape:
    """A solid fixed to a link, for drawing and for keeping distance: `link_from_shape` places it."""

    kind: str
    size: tuple[float, ...]
    link_from_shape: Array = field(default_factory=lambda: np.eye(4))
    mesh: str = ""
    color: tuple[float, float, float, float] | None = None  # red, green, blue, opacity in 0..1

    def __post_init__(self) -> None:
        if self.kind not in SHAPE_SIZES:
            raise BodyError(f"unknown shape {self.kind!r}. The shapes are: {', '.join(SHAPE_SIZES)}.")
        names = SHAPE_SIZES[self.kind]
        if len(self.size) != len(names):
            raise BodyError(f"a {self.kind} takes {', '.join(names)}; got {len(self.size)} numbers.")
        positive = self.kind != "mesh"  # a mesh may be mirrored by a negative scale
        if not all(math.isfinite(s) and (s >= 0.0 or not positive) for s in self.size):
            raise BodyError(f"a {self.kind} has a size that is negative or not finite: {self.size}.")
        try:
            object.__setattr__(self, "link_from_shape", frozen(as_transform(self.link_from_shape)))
        except GeometryError as error:
            raise BodyError(f"a {self.kind} has a bad origin: {error}") from error


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
        if not self.name or not isinstance(self.name, str):
            raise BodyError("a link has no name. Give every link a name of its own.")
        if not (math.isfinite(self.mass) and self.mass >= 0.0):
            raise BodyError(f"link {self.name!r}: mass is {self.mass} kg; it must be zero or positive.")
        if len(self.center_of_mass) != 3 or not all(map(math.isfinite, self.center_of_mass)):
            raise BodyError(f"link {self.name!r}: the centre of mass must be three finite numbers.")

"""Projection: a frame comes to rest on a surface and faces it, as a foot does on uneven ground."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from memetik.errors import ProblemError, shown
from memetik.geometry.checks import flag
from memetik.kernels.terms.projection import PROJECTION, PROJECTION_TURN
from memetik.objectives.framed import Posed, PoseError
from memetik.objectives.objective import FrameLike, Packer, checked_number
from memetik.objectives.pose_target import unit
from memetik.objectives.terrain import Surface
from memetik.types import Array

# Where the orientation does not matter, a ray that misses is turned to within this angle of the surface's normal.
SLANT = math.radians(80.0)
LEAST_MISS = 1e-3  # m, the error of a miss is not below this


class Projection(Posed):
    """A ray from a frame along its direction V meets a surface; the frame goes there and V against the normal n.

    |p - hit| <= position_tolerance [m], angle between V and -n <= orientation_tolerance [rad]; eq. 4.11 of the thesis.

    surface: Ground, HeightField or TriangleMesh; assign another to change it.
    direction: V in the frame, down (-z) unless given.
    lift: the ray starts this far behind the frame [m], so that a foot below the ground finds the surface above it.
    align: False lets the frame take any orientation in which the ray hits; its error is then zero.

    Where the ray misses, or grazes the surface at less than 3 degrees, the frame goes to the point of the surface
    beside it (Surface.beside). Other than in the thesis, a miss is never satisfied: its position error is at least 1 mm
    and twice the tolerance.
    """

    def __init__(
        self, frame: FrameLike, surface: Surface, *, direction: ArrayLike = (0.0, 0.0, -1.0), lift: float = 0.5,
        align: bool = True, position_tolerance: float | None = 1e-4, orientation_tolerance: float | None = 1e-3,
        weight: float = 1.0, name: str | None = None, priority: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(
            frame, position_tolerance=position_tolerance, orientation_tolerance=orientation_tolerance, weight=weight,
            name=name, priority=priority,
        )  # fmt: skip
        must = "it must be above zero, or rays from the surface miss it."
        self.lift = checked_number(lift, self.name, "lift", lambda x: 0.0 < x < math.inf, must)
        self.direction = unit(direction, self.name, "direction")
        self.align = flag(align, ProblemError, f"{self.name}: align")
        self.surface = surface

    @property
    def surface(self) -> Surface:
        """Where the frame goes. Another surface takes another place in memory, so problems compile again at need."""
        return self._surface

    @surface.setter
    def surface(self, value: Surface) -> None:
        if not isinstance(value, Surface):
            raise ProblemError(
                f"{self.name}: {shown(value)} is not a surface. Give mk.Ground(...), mk.HeightField(...) or "
                "mk.TriangleMesh(...)."
            )
        self._surface = value
        self._changed()

    def pack(self, packer: Packer) -> None:
        miss = max(LEAST_MISS, 2.0 * (self.tolerance or 0.0))
        free = 0.0 if self.align else SLANT
        place = self._surface.pack(packer)
        data = packer.numbers([*self.direction, self.lift, miss, free, place])
        self.add_term(packer, PROJECTION, self.tolerance, data=data)
        self.add_term(packer, PROJECTION_TURN, self.orientation_tolerance if self.align else math.inf, data=data)

    def error(self, errors: Array) -> PoseError:
        return PoseError(float(errors[0]), float(errors[1]) if self.align else 0.0)

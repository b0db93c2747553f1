"""Projection: a frame comes to rest on a surface and faces it, as a foot does on uneven ground."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from memetik.body import Frame
from memetik.errors import ProblemError, shown
from memetik.geometry.checks import flag, real_number
from memetik.kernels.terms.projection import (
    projection_jacobian,
    projection_residual,
    projection_turn_jacobian,
    projection_turn_residual,
)
from memetik.kernels.terms.records import PROJECTION, PROJECTION_TURN
from memetik.objectives.framed import Posed, PoseError
from memetik.objectives.objective import Packer
from memetik.objectives.pose_target import unit
from memetik.objectives.position import POSITION_GAIN
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
        self,
        frame: str | Frame,
        surface: Surface,
        *,
        direction: ArrayLike = (0.0, 0.0, -1.0),
        lift: float = 0.5,
        align: bool = True,
        position_tolerance: float | None = 1e-4,
        orientation_tolerance: float | None = 1e-3,
        weight: float = 1.0,
        name: str | None = None,
    ) -> None:
        super().__init__(
            frame,
            position_tolerance=position_tolerance,
            orientation_tolerance=orientation_tolerance,
            weight=weight,
            name=name,
        )
        height = real_number(lift, ProblemError, f"{self.name}: lift")
        if not (math.isfinite(height) and height > 0.0):
            raise ProblemError(
                f"{self.name}: lift is {height}; it must be above zero, or rays from the surface miss it."
            )
        self.direction = unit(direction, self.name, "direction")
        self.lift, self.align = height, flag(align, ProblemError, f"{self.name}: align")
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
        frame, reach = packer.frame(self.frame), packer.reach(self.frame)
        miss = max(LEAST_MISS, 2.0 * (self.tolerance or 0.0))
        free = 0.0 if self.align else SLANT
        place = self._surface.pack(packer)
        data = packer.numbers([*self.direction, self.lift, miss, free, place])
        packer.add(
            PROJECTION,
            frame=frame,
            rows=4,
            data=data,
            unit=reach / POSITION_GAIN,
            reach=reach,
            tolerance=self.tolerance,
            kernels=(projection_residual, projection_jacobian),
        )
        packer.add(
            PROJECTION_TURN,
            frame=frame,
            rows=3,
            data=data,
            reach=reach,
            tolerance=self._orientation_tolerance if self.align else math.inf,
            kernels=(projection_turn_residual, projection_turn_jacobian),
        )

    def error(self, errors: Array) -> PoseError:  # type: ignore[override]
        return PoseError(float(errors[0]), float(errors[1]) if self.align else 0.0)

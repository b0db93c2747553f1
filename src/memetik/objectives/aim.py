"""Direction, LookAt and Cone: an axis of a frame points somewhere."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Frame
from memetik.errors import ProblemError
from memetik.geometry.checks import real_number
from memetik.kernels.terms.aim import aim_jacobian, aim_residual
from memetik.kernels.terms.records import AIM
from memetik.objectives.framed import Framed
from memetik.objectives.objective import Packer, Target
from memetik.objectives.pose_target import point_rows, set_point, unit
from memetik.types import Array


class Aim(Framed):
    """Common to Direction, LookAt and Cone: the angle between an axis and where it should point, in radians."""

    _is_point = False

    def __init__(
        self,
        frame: str | Frame,
        target: ArrayLike,
        *,
        axis: ArrayLike,
        half_angle: float,
        tolerance: float | None,
        weight: float,
        relative_to: str | Frame | None,
        name: str | None,
    ) -> None:
        super().__init__(frame, tolerance=tolerance, weight=weight, relative_to=relative_to, name=name)
        angle = real_number(half_angle, ProblemError, f"{self.name}: half_angle")
        if not 0.0 <= angle < math.pi:
            raise ProblemError(f"{self.name}: half_angle is {angle}; it must be from 0 to below pi radians.")
        self.axis = unit(axis, self.name, "axis")
        self.half_angle = angle
        self._aim = Target(3)
        self.target = target

    @property
    def target(self) -> Array:
        """The direction or point to aim at; assign to change it."""
        return self._aim.numbers.copy()

    @target.setter
    def target(self, value: ArrayLike) -> None:
        set_point(self._aim, value if self._is_point else unit(value, self.name, "target"), self.name)

    def target_rows(self, path: ArrayLike) -> tuple[Array, Target]:
        rows = point_rows(path, self.name)
        if not self._is_point:
            rows = np.array([unit(row, self.name, "target") for row in rows])
        return rows, self._aim

    def pack(self, packer: Packer) -> None:
        frame, other = self.frame_rows(packer)
        packer.add(
            AIM,
            frame=frame,
            other=other,
            rows=3,
            target=packer.target(self._aim),
            data=packer.numbers([*self.axis, float(self._is_point), self.half_angle]),
            tolerance=self.tolerance,
            kernels=(aim_residual, aim_jacobian),
        )


class Direction(Aim):
    """An axis of the frame points along a direction of the world (or of `relative_to`): angle <= tolerance [rad]."""

    def __init__(
        self,
        frame: str | Frame,
        target: ArrayLike,
        *,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        tolerance: float | None = 1e-3,
        weight: float = 1.0,
        relative_to: str | Frame | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            frame, target, axis=axis, half_angle=0.0, tolerance=tolerance, weight=weight, relative_to=relative_to,
            name=name,
        )  # fmt: skip


class LookAt(Aim):
    """An axis of the frame points from its origin to a point: angle <= tolerance [rad]; the thesis's direction objective."""

    _is_point = True

    def __init__(
        self,
        frame: str | Frame,
        target: ArrayLike,
        *,
        axis: ArrayLike = (1.0, 0.0, 0.0),
        tolerance: float | None = 1e-3,
        weight: float = 1.0,
        relative_to: str | Frame | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            frame, target, axis=axis, half_angle=0.0, tolerance=tolerance, weight=weight, relative_to=relative_to,
            name=name,
        )  # fmt: skip


class Cone(Aim):
    """An axis of the frame stays within `half_angle` [rad] of a direction: max(0, angle - half_angle) <= tolerance."""

    def __init__(
        self,
        frame: str | Frame,
        target: ArrayLike,
        half_angle: float,
        *,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        tolerance: float | None = 1e-3,
        weight: float = 1.0,
        relative_to: str | Frame | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            frame, target, axis=axis, half_angle=half_angle, tolerance=tolerance, weight=weight, relative_to=relative_to,
            name=name,
        )  # fmt: skip

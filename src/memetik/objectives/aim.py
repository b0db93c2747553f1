"""Direction, LookAt, Cone and Side: an axis of a frame points somewhere."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from memetik.kernels.terms.aim import AIM
from memetik.kernels.terms.targets import DIRECTION_TARGET, OPPOSITE_TARGET, POINT_TARGET
from memetik.objectives.attributes import attribute, frozen_copy
from memetik.objectives.framed import Framed
from memetik.objectives.objective import FrameLike, Packer, Single, Target, checked_name, checked_number
from memetik.objectives.pose_target import checked_point, point_rows, unit
from memetik.types import Array


class Aim(Framed, Single):
    """Common to objectives about the angle between an axis and where it should point, in radians."""

    _is_point = False
    _free_angle = 0.0  # rad

    def __init__(
        self, frame: FrameLike, target: ArrayLike, *, axis: ArrayLike = (0.0, 0.0, 1.0), tolerance: float | None = 1e-3,
        weight: float = 1.0, relative_to: FrameLike | None = None, name: str | None = None, priority: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(
            frame, tolerance=tolerance, weight=weight, relative_to=relative_to, name=name, priority=priority
        )
        self.axis = axis
        self._aim = Target(3)
        self.target = target

    @attribute
    def axis(self, value: ArrayLike) -> Array:
        """The unit vector in the frame that points somewhere; assign any vector to change it."""
        return unit(value, self.name, "axis")

    @property
    def target(self) -> Array:
        """The direction or point to aim at; assign to change it."""
        return frozen_copy(self._aim.numbers)

    @target.setter
    def target(self, value: ArrayLike) -> None:
        self._aim.assign(0, (checked_point if self._is_point else unit)(value, self.name, "target"))

    def target_rows(self, targets: ArrayLike) -> tuple[Array, Target]:
        rows = point_rows(targets, self.name)
        if not self._is_point:
            rows = np.array([unit(row, self.name, "target") for row in rows])
        return rows, self._aim

    def target_kind(self) -> tuple[int, Target, int]:
        return POINT_TARGET if self._is_point else DIRECTION_TARGET, self._aim, 0

    def pack(self, packer: Packer) -> None:
        data = packer.numbers([*self.axis, float(self._is_point), self._free_angle])
        self._add_term(packer, AIM, self.tolerance, target=packer.target(self._aim), data=data, reach=1.0)


class Direction(Aim):
    """An axis of the frame points along a direction of the world (or of `relative_to`): angle <= tolerance [rad]."""


class LookAt(Aim):
    """An axis of the frame points from its origin to a point: angle <= tolerance [rad]; the thesis's direction objective."""

    _is_point = True

    def __init__(
        self, frame: FrameLike, target: ArrayLike, *, axis: ArrayLike = (1.0, 0.0, 0.0), tolerance: float | None = 1e-3,
        weight: float = 1.0, relative_to: FrameLike | None = None, name: str | None = None, priority: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(
            frame,
            target,
            axis=axis,
            tolerance=tolerance,
            weight=weight,
            relative_to=relative_to,
            name=name,
            priority=priority,
        )


class Cone(Aim):
    """An axis of the frame stays within `half_angle` [rad] of a direction: max(0, angle - half_angle) <= tolerance."""

    def __init__(
        self, frame: FrameLike, target: ArrayLike, half_angle: float, *, axis: ArrayLike = (0.0, 0.0, 1.0),
        tolerance: float | None = 1e-3, weight: float = 1.0, relative_to: FrameLike | None = None, name: str | None = None,
        priority: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(
            frame,
            target,
            axis=axis,
            tolerance=tolerance,
            weight=weight,
            relative_to=relative_to,
            name=name,
            priority=priority,
        )
        self.half_angle = half_angle

    @attribute
    def half_angle(self, value: float) -> float:
        """The angle that is free [rad]."""
        must = "it must be from 0 to below pi radians."
        return checked_number(value, self.name, "half_angle", lambda x: 0.0 <= x < math.pi, must)

    @property
    def _free_angle(self) -> float:  # type: ignore[override]
        return self.half_angle


class Side(Aim):
    """An axis of the frame points away from a direction: max(0, asin(axis·direction)) <= tolerance [rad].

    The same as a Cone of 90 degrees about the opposite direction: the axis may point anywhere in that half space.
    """

    _free_angle = math.pi / 2.0

    def __init__(
        self, frame: FrameLike, direction: ArrayLike, *, axis: ArrayLike = (0.0, 0.0, 1.0), tolerance: float | None = 1e-3,
        weight: float = 1.0, relative_to: FrameLike | None = None, name: str | None = None, priority: int = 0,
    ) -> None:  # fmt: skip
        away = -unit(direction, checked_name(name) or type(self).__name__, "direction")
        super().__init__(
            frame,
            away,
            axis=axis,
            tolerance=tolerance,
            weight=weight,
            relative_to=relative_to,
            name=name,
            priority=priority,
        )

    @property
    def direction(self) -> Array:
        """The unit vector to point away from; assign any vector to change it."""
        return frozen_copy(-self.target)

    @direction.setter
    def direction(self, value: ArrayLike) -> None:
        self.target = -unit(value, self.name, "direction")

    def target_rows(self, targets: ArrayLike) -> tuple[Array, Target]:
        """Directions to point away from, over time."""
        rows, target = super().target_rows(targets)
        return -rows, target

    def target_kind(self) -> tuple[int, Target, int]:
        return OPPOSITE_TARGET, self._aim, 0

"""Pose: position and orientation of a frame at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Frame
from memetik.geometry import TransformLike, rotation_matrix, transform
from memetik.kernels.terms import ORIENTATION, POSITION
from memetik.objectives.objective import Array, Objective, Packer, Target, checked_tolerance
from memetik.objectives.pose_target import pose_rows, set_pose
from memetik.objectives.position import pack_pose_term


class PoseError(NamedTuple):
    """How far a frame is from its target."""

    position: float  # m
    orientation: float  # rad


class Pose(Objective):
    """A frame takes a pose: |p - target| <= position_tolerance [m] and angle <= orientation_tolerance [rad].

    target: a 4x4 transform, in the world or, with `relative_to`, in another frame of the body; so two frames on different
    branches can be tied together and the loops of parallel robots close.
    """

    def __init__(
        self,
        frame: str | Frame,
        target: TransformLike,
        *,
        position_tolerance: float | None = 1e-4,
        orientation_tolerance: float | None = 1e-3,
        weight: float = 1.0,
        relative_to: str | Frame | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(weight=weight, tolerance=position_tolerance, name=name)
        self.orientation_tolerance = orientation_tolerance
        self.frame, self.relative_to = frame, relative_to
        self._pose = Target(7)
        self.target = target

    @property
    def target(self) -> Array:
        """The wanted pose as a 4x4 matrix; assign any kind of transform to change it."""
        return transform(self._pose.numbers[4:], rotation_matrix(self._pose.numbers[:4]))

    @target.setter
    def target(self, value: TransformLike) -> None:
        set_pose(self._pose, value, self.name)

    @property
    def position_tolerance(self) -> float | None:
        """[m], None for a mere guide."""
        return self.tolerance

    @position_tolerance.setter
    def position_tolerance(self, value: float | None) -> None:
        self.tolerance = value

    @property
    def orientation_tolerance(self) -> float | None:
        """[rad], None for a mere guide."""
        return self._orientation_tolerance

    @orientation_tolerance.setter
    def orientation_tolerance(self, value: float | None) -> None:
        self._orientation_tolerance = checked_tolerance(value, self.name)
        self._changed()

    def frames(self) -> tuple[str | Frame, ...]:
        return (self.frame,) if self.relative_to is None else (self.frame, self.relative_to)

    def target_rows(self, path: ArrayLike) -> tuple[Array, Target]:
        return pose_rows(path, self.name), self._pose

    def pack(self, packer: Packer) -> None:
        every = np.ones(3)
        place = pack_pose_term(packer, POSITION, self, self._pose, every, None, self.tolerance)
        pack_pose_term(packer, ORIENTATION, self, place, every, None, self._orientation_tolerance)

    def error(self, errors: Array) -> PoseError:  # type: ignore[override]
        return PoseError(float(errors[0]), float(errors[1]))

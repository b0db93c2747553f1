"""Pose: position and orientation of a frame at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Frame
from memetik.geometry import TransformLike, rotation_matrix, transform
from memetik.kernels.terms.records import ORIENTATION, POSITION
from memetik.objectives.framed import Posed
from memetik.objectives.objective import Packer, Target
from memetik.objectives.pose_target import pose_rows, set_pose
from memetik.objectives.position import pack_pose_term
from memetik.types import Array


class Pose(Posed):
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
        super().__init__(
            frame, position_tolerance=position_tolerance, orientation_tolerance=orientation_tolerance, weight=weight,
            relative_to=relative_to, name=name,
        )  # fmt: skip
        self._pose = Target(7)
        self.target = target

    @property
    def target(self) -> Array:
        """The wanted pose as a 4x4 matrix; assign any kind of transform to change it."""
        return transform(self._pose.numbers[4:], rotation_matrix(self._pose.numbers[:4]))

    @target.setter
    def target(self, value: TransformLike) -> None:
        set_pose(self._pose, value, self.name)

    def target_rows(self, path: ArrayLike) -> tuple[Array, Target]:
        return pose_rows(path, self.name), self._pose

    def pack(self, packer: Packer) -> None:
        every = np.ones(3)
        place = pack_pose_term(packer, POSITION, self, self._pose, every, None, self.tolerance)
        pack_pose_term(packer, ORIENTATION, self, place, every, None, self._orientation_tolerance)

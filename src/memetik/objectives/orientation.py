"""Orientation: a frame turned as wanted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Frame
from memetik.errors import ProblemError
from memetik.geometry import RotationLike, rotation_matrix
from memetik.kernels.terms import ORIENTATION
from memetik.objectives.objective import Array, Packer, Target
from memetik.objectives.pose_target import PerAxis, axis_mask, pose_rows, set_rotation
from memetik.objectives.position import pack_pose_term


class Orientation(PerAxis):
    """A frame takes an orientation: e = log(A^T R), |e| <= tolerance [rad].

    target: the rotation A, in the world or, with `relative_to`, in another frame: 3x3 matrix, quaternion (w, x, y, z),
    scipy Rotation, mk.euler(...).
    tolerance: one angle for the whole turn, or three for its components about the target's x, y and z.
    mask: which axes of the target count; (1, 1, 0) lets the frame spin about the target's z.
    """

    def __init__(
        self,
        frame: str | Frame,
        target: RotationLike,
        *,
        tolerance: float | Sequence[float] | None = 1e-3,
        weight: float = 1.0,
        mask: Sequence[object] = (1, 1, 1),
        relative_to: str | Frame | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(weight=weight, tolerance=tolerance, name=name)  # type: ignore[arg-type]
        self.frame, self.relative_to = frame, relative_to
        self.mask = axis_mask(mask, self.name)
        self._pose = Target(7)
        self.target = target

    @property
    def target(self) -> Array:
        """The wanted rotation as a 3x3 matrix; assign any kind of rotation to change it."""
        return rotation_matrix(self._pose.numbers[:4])

    @target.setter
    def target(self, value: RotationLike) -> None:
        set_rotation(self._pose, value, self.name)

    def frames(self) -> tuple[str | Frame, ...]:
        return (self.frame,) if self.relative_to is None else (self.frame, self.relative_to)

    def target_rows(self, path: ArrayLike) -> tuple[Array, Target]:
        rotations = np.asarray(path, dtype=np.float64)
        poses = np.tile(np.eye(4), (len(rotations), 1, 1))
        if rotations.shape[1:] != (3, 3):
            raise ProblemError(
                f"{self.name}: targets over time must be an array of steps x 3 x 3, not {rotations.shape}."
            )
        poses[:, :3, :3] = rotations
        return pose_rows(poses, self.name), self._pose

    def pack(self, packer: Packer) -> None:
        pack_pose_term(packer, ORIENTATION, self, self._pose, self.mask, self.axis_tolerance, self.tolerance)

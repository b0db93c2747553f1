"""Orientation: a frame turned as wanted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Frame
from memetik.geometry import RotationLike, rotation_matrix
from memetik.geometry.checks import CLEAN_TOLERANCE
from memetik.kernels.terms.records import ORIENTATION
from memetik.objectives.objective import Packer, Target
from memetik.objectives.per_axis import PerAxis
from memetik.objectives.pose_target import pose_rows, set_rotation, stack
from memetik.objectives.position import pack_pose_term
from memetik.types import Array


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
        super().__init__(frame, tolerance=tolerance, weight=weight, mask=mask, relative_to=relative_to, name=name)
        self._pose = Target(7)
        self.target = target

    @property
    def target(self) -> Array:
        """The wanted rotation as a 3x3 matrix; assign any kind of rotation to change it."""
        return rotation_matrix(self._pose.numbers[:4])

    @target.setter
    def target(self, value: RotationLike) -> None:
        set_rotation(self._pose, value, self.name)

    def target_rows(self, path: ArrayLike) -> tuple[Array, Target]:
        rotations = stack(path, (3, 3), self.name)
        poses = np.tile(np.eye(4), (len(rotations), 1, 1))
        poses[:, :3, :3] = rotations
        rows = pose_rows(poses, self.name)
        # A single target that is not quite a rotation goes to the nearest one; so does a row.
        slant = np.abs(rotations.transpose(0, 2, 1) @ rotations - np.eye(3)).max(axis=(1, 2), initial=0.0)
        for k in np.flatnonzero(slant > 0.5 * CLEAN_TOLERANCE):
            poses[k, :3, :3] = rotation_matrix(rotations[k], name="target")
            rows[k] = pose_rows(poses[k : k + 1], self.name)[0]
        return rows, self._pose

    def pack(self, packer: Packer) -> None:
        pack_pose_term(packer, ORIENTATION, self, self._pose, self.mask, self.axis_tolerance, self.tolerance)

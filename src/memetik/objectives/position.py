"""Position: a frame's origin at a point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Frame
from memetik.geometry import RotationLike
from memetik.kernels.terms.pose import (
    orientation_jacobian,
    orientation_residual,
    position_jacobian,
    position_residual,
)
from memetik.kernels.terms.records import ORIENTATION, POSITION
from memetik.objectives.framed import Framed
from memetik.objectives.objective import Packer, Target
from memetik.objectives.per_axis import PerAxis, axis_gains
from memetik.objectives.pose_target import point_rows, set_point, set_rotation
from memetik.types import Array

# A position error of reach / POSITION_GAIN pulls as hard as one radian; found by measurement on nine arms.
POSITION_GAIN = 5.0

_KERNELS = {
    POSITION: (position_residual, position_jacobian),
    ORIENTATION: (orientation_residual, orientation_jacobian),
}


class Position(PerAxis):
    """The origin of a frame reaches a point: e = A^T (p - target), |e| <= tolerance [m].

    frame: a link name or body.frame(...).
    target: the point [m], in the world or, with `relative_to`, in another frame of the body.
    tolerance: one length for the distance, or three for x, y and z (infinite ones free an axis).
    mask: which axes count; (1, 1, 0) leaves z free, so the point may lie anywhere above or below the target.
    axes: rotation A of the axes that mask and tolerances are meant in (world axes unless given).
    """

    def __init__(
        self,
        frame: str | Frame,
        target: ArrayLike,
        *,
        tolerance: float | Sequence[float] | None = 1e-4,
        weight: float = 1.0,
        mask: Sequence[object] = (1, 1, 1),
        axes: RotationLike | None = None,
        relative_to: str | Frame | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(frame, tolerance=tolerance, weight=weight, mask=mask, relative_to=relative_to, name=name)
        self._pose, self._point = Target(7), Target(3)
        set_rotation(self._pose, np.eye(3) if axes is None else axes, self.name)
        self.target = target

    @property
    def target(self) -> Array:
        """The point to reach [m]; assign to move it."""
        return self._pose.numbers[4:7].copy()

    @target.setter
    def target(self, value: ArrayLike) -> None:
        set_point(self._point, value, self.name)
        self._pose.assign(4, self._point.numbers)

    def target_rows(self, path: ArrayLike) -> tuple[Array, Target]:
        points = point_rows(path, self.name)
        return np.hstack([np.tile(self._pose.numbers[:4], (len(points), 1)), points]), self._pose

    def pack(self, packer: Packer) -> None:
        pack_pose_term(packer, POSITION, self, self._pose, self.mask, self.axis_tolerance, self.tolerance)


def pack_pose_term(
    packer: Packer,
    kind: int,
    objective: Framed,
    target: Target | int,
    mask: Array,
    axis_tolerance: Array | None,
    tolerance: float | None,
) -> int:
    """Add a POSITION or ORIENTATION term; returns the place of its target, for a second term to share."""
    place = target if isinstance(target, int) else packer.target(target)
    (frame, other), reach = objective.frame_rows(packer), packer.reach(objective.frame)
    limits = np.full(3, np.inf) if axis_tolerance is None else axis_tolerance
    packer.add(
        kind,
        frame=frame,
        other=other,
        rows=3,
        target=place,
        data=packer.numbers([*axis_gains(mask, axis_tolerance), *limits]),
        count=0 if axis_tolerance is None else 1,
        unit=reach / POSITION_GAIN if kind == POSITION else 1.0,
        reach=reach,
        tolerance=tolerance,
        kernels=_KERNELS[kind],
    )
    return place

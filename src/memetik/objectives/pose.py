"""Position, Orientation and Pose: where a frame is, how it is turned, or both at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memetik.errors import ProblemError, shown
from memetik.geometry import RotationLike, TransformLike, rotation_matrix, transform
from memetik.geometry.checks import CLEAN_TOLERANCE, real_array
from memetik.kernels.terms.pose import ORIENTATION, POSITION
from memetik.kernels.terms.records import TermKind
from memetik.kernels.terms.targets import POSE_TARGET, ROTATION_TARGET
from memetik.objectives import pose_target
from memetik.objectives.attributes import attribute, frozen_copy, read_only
from memetik.objectives.framed import Framed, Pointed, Posed
from memetik.objectives.objective import FrameLike, Packer, Single, Target, checked_tolerance
from memetik.objectives.pose_target import checked_point, pose_rows, set_pose, set_rotation, stack, three
from memetik.types import Array

_ARRAY, _FLOAT = np.ndarray, np.dtype(np.float64)
POSE_AXES = ("x", "y", "z", "turns about x", "about y", "about z")


class PerAxis(Framed, Single):
    """Common to Position and Orientation: a tolerance for the length of the error, or one for each of three axes, and a mask
    of those that count."""

    def __init__(
        self, frame: FrameLike, *, tolerance: float | Sequence[float] | None, weight: float, mask: Sequence[object],
        relative_to: FrameLike | None, name: str | None, priority: int,
    ) -> None:  # fmt: skip
        super().__init__(
            frame,
            tolerance=tolerance,  # type: ignore[arg-type]
            weight=weight,
            relative_to=relative_to,
            name=name,
            priority=priority,
        )
        self.mask = mask
        self._numbers = Target(7)

    _numbers: Target

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "_tolerance" in state:  # as files of before have it
            state = {**state, "_tolerances": (state["_tolerance"], state["axis_tolerance"])}
        tolerance, axes = state["_tolerances"]
        state = {key: value for key, value in state.items() if key not in ("_tolerance", "axis_tolerance")}
        super().__setstate__({**state, "_tolerances": (tolerance, read_only(axes))})

    @attribute
    def mask(self, value: Sequence[object]) -> Array:
        """Which of the three axes count, as ones and zeros."""
        return _mask(value, self.name)

    @property
    def tolerance(self) -> float | None:
        """[m or rad], None for a mere guide, 0 where each axis has one of its own in `axis_tolerance`."""
        return self._tolerances[0]

    @tolerance.setter
    def tolerance(self, value: float | Sequence[float] | None) -> None:
        axes, scalar = None, value
        if isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) > 0:
            axes, scalar = frozen_copy(three(value, self.name, "tolerance")), 0.0  # type: ignore[arg-type]
            for tolerance in axes:
                checked_tolerance(float(tolerance), self.name)
        self._tolerances = checked_tolerance(scalar, self.name), axes  # type: ignore[arg-type]
        self._changed()

    @property
    def axis_tolerance(self) -> Array | None:
        """That of each axis [m or rad], None where one holds for the length of the error; assign three numbers."""
        return self._tolerances[1]

    @axis_tolerance.setter
    def axis_tolerance(self, value: Sequence[float]) -> None:
        self.tolerance = three(value, self.name, "axis_tolerance")  # type: ignore[assignment]

    def _pack_as(self, packer: Packer, kind: TermKind) -> None:
        tolerance, axes = self._tolerances
        pack_pose_term(packer, kind, self, packer.target(self._numbers), tolerance, mask=self.mask, axes=axes)


class Position(PerAxis, Pointed):
    """The origin of a frame reaches a point: e = A^T (p - target), |e| <= tolerance [m].

    frame: a link name or body.frame(...).
    target: the point [m], in the world or, with `relative_to`, in another frame of the body.
    tolerance: one length for the distance, or three for x, y and z (infinite ones free an axis).
    mask: which axes count; (1, 1, 0) leaves z free, so the point may lie anywhere above or below the target.
    mask_axes: rotation A of the axes that mask and tolerances are meant in (world axes unless given).
    """

    _first = 4

    def __init__(
        self, frame: FrameLike, target: ArrayLike, *, tolerance: float | Sequence[float] | None = 1e-4,
        weight: float = 1.0, mask: Sequence[object] = (1, 1, 1), mask_axes: RotationLike | None = None,
        relative_to: FrameLike | None = None, name: str | None = None, priority: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(
            frame, tolerance=tolerance, weight=weight, mask=mask, relative_to=relative_to, name=name, priority=priority
        )
        self.mask_axes = np.eye(3) if mask_axes is None else mask_axes
        self.target = target

    @property
    def mask_axes(self) -> Array:
        """The rotation of the axes that mask and tolerances are meant in, as a 3x3 matrix; assign any kind to change it."""
        return frozen_copy(rotation_matrix(self._numbers.numbers[:4]))

    @mask_axes.setter
    def mask_axes(self, value: RotationLike) -> None:
        set_rotation(self._numbers, value, self.name)

    @property
    def target(self) -> Array:
        """The point to reach [m]; assign to move it."""
        return self._point

    @target.setter
    def target(self, value: ArrayLike) -> None:
        self._numbers.assign(4, checked_point(value, self.name, "target"))

    def pack(self, packer: Packer) -> None:
        self._pack_as(packer, POSITION)


class Orientation(PerAxis):
    """A frame takes an orientation: e = log(A^T R), |e| <= tolerance [rad].

    target: the rotation A, in the world or, with `relative_to`, in another frame: 3x3 matrix, quaternion (w, x, y, z),
    scipy Rotation, mk.euler(...).
    tolerance: one angle for the whole turn, or three for its components about the target's x, y and z.
    mask: which axes of the target count; (1, 1, 0) lets the frame spin about the target's z.
    """

    def __init__(
        self, frame: FrameLike, target: RotationLike, *, tolerance: float | Sequence[float] | None = 1e-3,
        weight: float = 1.0, mask: Sequence[object] = (1, 1, 1), relative_to: FrameLike | None = None,
        name: str | None = None, priority: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(
            frame, tolerance=tolerance, weight=weight, mask=mask, relative_to=relative_to, name=name, priority=priority
        )
        self.target = target

    @property
    def target(self) -> Array:
        """The wanted rotation as a 3x3 matrix; assign any kind of rotation to change it."""
        return frozen_copy(rotation_matrix(self._numbers.numbers[:4]))

    @target.setter
    def target(self, value: RotationLike) -> None:
        set_rotation(self._numbers, value, self.name)

    def target_rows(self, targets: ArrayLike) -> tuple[Array, Target]:
        rotations = stack(targets, (3, 3), self.name)
        poses = np.tile(np.eye(4), (len(rotations), 1, 1))
        poses[:, :3, :3] = rotations
        rows = pose_rows(poses, self.name)
        # A single target that is not quite a rotation goes to the nearest one; so does a row.
        slant = np.abs(rotations.transpose(0, 2, 1) @ rotations - np.eye(3)).max(axis=(1, 2), initial=0.0)
        for k in np.flatnonzero(slant > 0.5 * CLEAN_TOLERANCE):
            poses[k, :3, :3] = rotation_matrix(rotations[k], name="target")
            rows[k] = pose_rows(poses[k : k + 1], self.name)[0]
        return rows, self._numbers

    def target_kind(self) -> tuple[int, Target, int]:
        return ROTATION_TARGET, self._numbers, 0

    def pack(self, packer: Packer) -> None:
        self._pack_as(packer, ORIENTATION)


class Pose(Posed):
    """A frame takes a pose: |p - target| <= position_tolerance [m] and angle <= orientation_tolerance [rad].

    target: a 4x4 transform, in the world or, with `relative_to`, in another frame of the body; so two frames on different
    branches can be tied together and the loops of parallel robots close.
    mask: which of the six errors count, those of the position along the target's x, y and z and those of the rotation about
    them (e = A^T (p - t) and log(A^T R)); (1, 1, 1, 1, 1, 0) lets the frame spin about the target's z, (1, 1, 0, 1, 1, 0)
    slide along it, too. What does not count is left out of the errors and tolerances as well.
    """

    def __init__(
        self, frame: FrameLike, target: TransformLike, *, position_tolerance: float | None = 1e-4,
        orientation_tolerance: float | None = 1e-3, weight: float = 1.0, mask: Sequence[object] = (1, 1, 1, 1, 1, 1),
        relative_to: FrameLike | None = None, name: str | None = None, priority: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(
            frame, position_tolerance=position_tolerance, orientation_tolerance=orientation_tolerance, weight=weight,
            relative_to=relative_to, name=name, priority=priority,
        )  # fmt: skip
        self.mask = mask
        self._pose = Target(7)
        self.target = target

    @attribute
    def mask(self, value: Sequence[object]) -> Array:
        """Which of the six errors count, as ones and zeros."""
        return _mask(value, self.name, POSE_AXES)

    @property
    def target(self) -> Array:
        """The wanted pose as a 4x4 matrix; assign any kind of transform to change it."""
        return frozen_copy(transform(self._pose.numbers[4:], rotation_matrix(self._pose.numbers[:4])))

    @target.setter
    def target(self, value: TransformLike) -> None:
        pose = self._pose
        sole = pose.sole
        if (  # as Target.write, written out: retargeting is hot
            type(value) is not _ARRAY or value.dtype is not _FLOAT or value.ndim != 2 or sole is None
            or pose_target.write_pose(value, sole, 0) or pose.sole is not sole
        ):  # fmt: skip
            set_pose(pose, value, self.name)

    def target_rows(self, targets: ArrayLike) -> tuple[Array, Target]:
        return pose_rows(targets, self.name), self._pose

    def target_kind(self) -> tuple[int, Target, int]:
        return POSE_TARGET, self._pose, 0

    def pack(self, packer: Packer) -> None:
        target = packer.target(self._pose)
        position, orientation = self.tolerance, self.orientation_tolerance
        # A part of which nothing counts is never missed. It stays, so that every pose has two errors.
        if not self.mask[:3].any():
            position = None if orientation is None else math.inf
        if not self.mask[3:].any():
            orientation = None if position is None else math.inf
        pack_pose_term(packer, POSITION, self, target, position, mask=self.mask[:3])
        pack_pose_term(packer, ORIENTATION, self, target, orientation, mask=self.mask[3:])


def pack_pose_term(
    packer: Packer, kind: TermKind, objective: Framed, target: int, tolerance: float | None,
    mask: Sequence[float] | Array = (1.0, 1.0, 1.0), axes: Array | None = None,
) -> None:  # fmt: skip
    """Add a POSITION or ORIENTATION; `axes` are tolerances of single axes."""
    limits = np.full(3, np.inf) if axes is None else axes
    data = packer.numbers([*_gains(np.asarray(mask), axes), *limits])
    objective._add_term(packer, kind, tolerance, target, data, count=0 if axes is None else 1)


def _gains(mask: Array, tolerance: Array | None) -> Array:
    """How hard each axis pulls: an axis with a wide tolerance yields to a narrow one, in proportion."""
    if tolerance is None:
        return mask
    floor, gains = np.maximum(tolerance, 1e-9), np.zeros(3)
    counts = (mask > 0.0) & np.isfinite(floor)
    gains[counts] = mask[counts] * floor[counts].min(initial=np.inf) / floor[counts]
    return gains


def _mask(mask: Sequence[object], name: str, axes: Sequence[str] = "xyz") -> Array:
    """Which of the axes count, as ones and zeros."""
    wanted = f"mask must name for {', '.join(axes[:-1])} and {axes[-1]} whether they count"
    given = real_array(mask, ProblemError, f"{name}: {wanted}")
    if given.shape != (len(axes),) or np.isnan(given).any() or not given.any():
        raise ProblemError(f"{name}: mask {shown(mask)}: {wanted}, at least one of them.")
    return np.where(given != 0.0, 1.0, 0.0)

"""Projection: a frame comes to rest on a surface and faces it, as a foot does on uneven ground."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from memetik.errors import ProblemError, shown
from memetik.geometry import TransformLike, rotation_matrix, transform
from memetik.geometry.checks import flag
from memetik.kernels.terms.projection import MISS_BESIDE, MISS_KEEPS, MISS_SATISFIED, PROJECTION, PROJECTION_TURN
from memetik.objectives.attributes import attribute, fixed, frozen_copy
from memetik.objectives.framed import Posed, PoseErrors
from memetik.objectives.objective import FrameLike, Packer, Target, checked_number
from memetik.objectives.pose_target import pose_rows, set_pose, unit
from memetik.objectives.terrain import Surface
from memetik.types import Array

# Where the orientation does not matter, a ray that misses is turned to within this angle of the surface's normal.
SLANT = math.radians(80.0)
MISSES = {"beside": MISS_BESIDE, "satisfied": MISS_SATISFIED}
LEAST_MISS = 1e-3  # m, the error of a miss is not below this


class Projection(Posed):
    """A ray from a frame along its direction V meets a surface; the frame goes there and V against the normal n.

    |p - hit| <= position_tolerance [m], angle between V and -n <= orientation_tolerance [rad]; eq. 4.11 of the thesis.

    surface: Ground, HeightField or TriangleMesh; assign another to change it.
    direction: V in the frame, down (-z) unless given.
    lift: the ray starts this far behind the frame [m], so that a foot below the ground finds the surface above it.
    align: False lets the frame take any orientation in which the ray hits; its error is then zero.
    length: where the ray ends, from its start [m]; it has no end unless given. With length = lift it ends at the frame, so
        that only what has sunk into the surface is moved: a foot in the air stays there.
    on_miss: what a ray that misses, or grazes the surface at less than 3 degrees, means:
        "beside": the frame goes to the point of the surface beside it (Surface.beside), and is never satisfied: its
            position error is at least 1 mm and twice the tolerance.
        "satisfied": nothing is wanted, and the errors are zero (4.5.9 of the thesis).
        a pose (4x4), such as that of an animation: the frame goes there, V along the V of the pose. The ray is cast from this
            pose, too, so whether it hits does not depend on the posture. `pose` changes it, from frame to frame.
    """

    def __init__(
        self, frame: FrameLike, surface: Surface, *, direction: ArrayLike = (0.0, 0.0, -1.0), lift: float = 0.5,
        align: bool = True, length: float = math.inf, on_miss: str | TransformLike = "beside",
        position_tolerance: float | None = 1e-4, orientation_tolerance: float | None = 1e-3, weight: float = 1.0,
        name: str | None = None, priority: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(
            frame, position_tolerance=position_tolerance, orientation_tolerance=orientation_tolerance, weight=weight,
            name=name, priority=priority,
        )  # fmt: skip
        self.direction, self.lift, self.align, self.length = direction, lift, align, length
        self._pose: Target | None = None
        self.on_miss = on_miss
        self.surface = surface

    @attribute
    def direction(self, value: ArrayLike) -> Array:
        """The unit vector along the ray, in the frame; assign any vector to change it."""
        return unit(value, self.name, "direction")

    @attribute
    def lift(self, value: float) -> float:
        """How far behind the frame the ray starts [m]."""
        must = "it must be above zero, or rays from the surface miss it."
        return checked_number(value, self.name, "lift", lambda x: 0.0 < x < math.inf, must)

    @attribute
    def align(self, value: bool) -> bool:
        """Whether the frame turns to face the surface."""
        return flag(value, ProblemError, f"{self.name}: align")

    @attribute
    def length(self, value: float) -> float:
        """Where the ray ends, from its start [m]."""
        return checked_number(value, self.name, "length", lambda x: x > 0.0, "it must be above zero, in metres.")

    @fixed
    def relative_to(self, value: None) -> None:
        """Always None: surfaces stand in the world."""

    @attribute
    def surface(self, value: Surface) -> Surface:
        """Where the frame goes."""
        if not isinstance(value, Surface):
            raise ProblemError(
                f"{self.name}: {shown(value)} is not a surface. Give mk.objectives.Ground(...), mk.objectives.HeightField(...) "
                "or mk.objectives.TriangleMesh(...)."
            )
        return value

    @property
    def on_miss(self) -> str | Array:
        """What a miss means: "beside", "satisfied", or the pose that the frame has then."""
        return self._on_miss if self._pose is None else self.pose

    @on_miss.setter
    def on_miss(self, value: str | TransformLike) -> None:
        if isinstance(value, str):
            if value not in MISSES:
                raise ProblemError(
                    f"{self.name}: on_miss is {shown(value)}. Give 'beside', 'satisfied' or a pose as a 4x4 transform."
                )
            self._on_miss, self._pose = value, None
        else:
            pose = Target(7)
            set_pose(pose, value, self.name)
            self._pose = pose
        self._changed()

    @property
    def pose(self) -> Array:
        """The pose of the frame where it meets nothing (4x4), for an objective that was given one; assign another."""
        if self._pose is None:
            raise ProblemError(f"{self.name}: on_miss is {self._on_miss!r} and no pose. Assign one to on_miss first.")
        return frozen_copy(transform(self._pose.numbers[4:], rotation_matrix(self._pose.numbers[:4])))

    @pose.setter
    def pose(self, value: TransformLike) -> None:
        if self._pose is None:
            self.on_miss = value
        else:
            set_pose(self._pose, value, self.name)

    def target_rows(self, targets: ArrayLike) -> tuple[Array, Target]:
        """Poses over time, of an objective that was given one as on_miss."""
        if self._pose is None:
            return super().target_rows(targets)
        return pose_rows(targets, self.name), self._pose

    def pack(self, packer: Packer) -> None:
        miss = max(LEAST_MISS, 2.0 * (self.tolerance or 0.0))
        free = 0.0 if self.align else SLANT
        place = self.surface.pack(packer)
        on_miss = MISSES[self._on_miss] if self._pose is None else MISS_KEEPS
        target = 0 if self._pose is None else packer.target(self._pose)
        data = packer.numbers([*self.direction, self.lift, miss, free, place, self.length, on_miss])
        self._add_term(packer, PROJECTION, self.tolerance, target, data)
        turn_tolerance = self.orientation_tolerance if self.align else math.inf
        self._add_term(packer, PROJECTION_TURN, turn_tolerance, target, data)

    def error(self, errors: Array) -> PoseErrors:
        return PoseErrors(float(errors[0]), float(errors[1]) if self.align else 0.0)

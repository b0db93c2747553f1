"""MinDistance, MaxDistance, Line, Plane, Touch: simple sets that a frame or a link stays in."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from memetik.collision.solids import ball, link_solids, stack
from memetik.errors import ProblemError, shown
from memetik.geometry import between, rotation_matrix
from memetik.geometry.checks import text
from memetik.kernels.terms.pose import POSITION
from memetik.kernels.terms.region import PLANE, PLANE_TARGET, RANGE, RANGE_LEAST, RANGE_TARGET
from memetik.objectives.attributes import attribute, frozen_copy
from memetik.objectives.framed import Pointed
from memetik.objectives.objective import FrameLike, Packer, Target, checked_length
from memetik.objectives.pose import pack_pose_term
from memetik.objectives.pose_target import checked_point, set_rotation, unit
from memetik.types import Array


class Range(Pointed):
    """Common to MinDistance and MaxDistance: a point and a length."""

    _farthest = False

    def __init__(
        self, frame: FrameLike, target: ArrayLike, distance: float, *, tolerance: float | None = 1e-4, weight: float = 1.0,
        relative_to: FrameLike | None = None, name: str | None = None, priority: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(
            frame, tolerance=tolerance, weight=weight, relative_to=relative_to, name=name, priority=priority
        )
        self._numbers = Target(RANGE_TARGET)
        self.target = target
        self.distance = distance

    @property
    def target(self) -> Array:
        """The point that the distance is measured from [m]; assign to move it."""
        return self._point

    @target.setter
    def target(self, value: ArrayLike) -> None:
        self._numbers.assign(0, checked_point(value, self.name, "target"))

    @property
    def distance(self) -> float:
        """The least or greatest distance [m]; assign to change it."""
        return float(self._numbers.numbers[RANGE_LEAST + self._farthest])

    @distance.setter
    def distance(self, value: float) -> None:
        length = checked_length(value, self.name, "distance")
        self._numbers.assign(RANGE_LEAST, np.array([0.0, length] if self._farthest else [length, math.inf]))

    def pack(self, packer: Packer) -> None:
        self._add_term(packer, RANGE, self.tolerance, packer.target(self._numbers))


class MinDistance(Range):
    """The origin of a frame stays at least `distance` [m] from a point: max(0, distance - |p - target|) <= tolerance.

    target: the point, in the world or, with `relative_to`, in another frame; (0, 0, 0) is the origin of that frame.
    For solids instead of points, and for contact that no tolerance allows, see Distance.
    """


class MaxDistance(Range):
    """The origin of a frame stays at most `distance` [m] from a point: max(0, |p - target| - distance) <= tolerance.

    target: the point, in the world or, with `relative_to`, in another frame; (0, 0, 0) is the origin of that frame.
    """

    _farthest = True


class Through(Pointed):
    """Common to Line and Plane, which go through a point."""

    @property
    def point(self) -> Array:
        """A point of the line or plane [m]; assign to move it."""
        return self._point

    @point.setter
    def point(self, value: ArrayLike) -> None:
        self._numbers.assign(self._first, checked_point(value, self.name, "point"))


class Line(Through):
    """The origin of a frame lies on a line: |(I - u u^T) (p - point)| <= tolerance [m], u the unit vector of direction.

    point, direction: in the world or, with `relative_to`, in another frame. Both can be assigned.
    """

    _first = 4

    def __init__(
        self, frame: FrameLike, point: ArrayLike, direction: ArrayLike, *, tolerance: float | None = 1e-4,
        weight: float = 1.0, relative_to: FrameLike | None = None, name: str | None = None, priority: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(
            frame, tolerance=tolerance, weight=weight, relative_to=relative_to, name=name, priority=priority
        )
        self._numbers = Target(7)  # a pose: its z axis is the line, and positions along it do not count
        self.point, self.direction = point, direction

    @property
    def direction(self) -> Array:
        """The unit vector along the line; assign any vector to turn it."""
        return frozen_copy(rotation_matrix(self._numbers.numbers[:4])[:, 2])

    @direction.setter
    def direction(self, value: ArrayLike) -> None:
        set_rotation(self._numbers, between((0.0, 0.0, 1.0), unit(value, self.name, "direction")), self.name)

    def pack(self, packer: Packer) -> None:
        pack_pose_term(packer, POSITION, self, packer.target(self._numbers), self.tolerance, mask=(1.0, 1.0, 0.0))


class Plane(Through):
    """The origin of a frame lies on a plane, or above it: |n·(p - point)| or max(0, -n·(p - point)) <= tolerance [m].

    point, normal: in the world or, with `relative_to`, in another frame. Both can be assigned.
    side: "on" the plane, or "above" it, on the side that the normal points to.
    """

    def __init__(
        self, frame: FrameLike, point: ArrayLike, normal: ArrayLike, *, side: str = "on", tolerance: float | None = 1e-4,
        weight: float = 1.0, relative_to: FrameLike | None = None, name: str | None = None, priority: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(
            frame, tolerance=tolerance, weight=weight, relative_to=relative_to, name=name, priority=priority
        )
        self.side = side
        self._numbers = Target(PLANE_TARGET)
        self.point, self.normal = point, normal

    @attribute
    def side(self, value: str) -> str:
        """Whether the frame lies "on" the plane or "above" it."""
        if not isinstance(value, str) or value not in ("on", "above"):
            raise ProblemError(
                f"{self.name}: side is {shown(value)}; say 'on' or 'above'. To stay below, turn the normal."
            )
        return value

    @property
    def normal(self) -> Array:
        """The unit vector square to the plane; assign any vector to tilt it."""
        return frozen_copy(self._numbers.numbers[3:])

    @normal.setter
    def normal(self, value: ArrayLike) -> None:
        self._numbers.assign(3, unit(value, self.name, "normal"))

    def solids(self, packer: Packer) -> list[Array]:
        """What lies on the plane, in the axes of the frame."""
        return [ball()]

    def pack(self, packer: Packer) -> None:
        solids = self.solids(packer)
        data = packer.numbers([float(self.side == "above"), *stack(solids)])
        self._add_term(packer, PLANE, self.tolerance, packer.target(self._numbers), data, len(solids))


class Touch(Plane):
    """A link touches a plane, or stays above it: as Plane, for the lowest point of its collision shapes.

    |d| or max(0, -d) <= tolerance [m], d = min n·(p - point) over all points p of the shapes, n the unit normal.

    Lowest along the normal, exact for spheres, capsules, cylinders, boxes and hulls. mk.Touch("foot") puts a foot on the
    ground, mk.Touch("elbow", (0, 0, 0.7), side="above") keeps an elbow above a table.
    """

    def __init__(
        self, link: str, point: ArrayLike = (0.0, 0.0, 0.0), normal: ArrayLike = (0.0, 0.0, 1.0), *, side: str = "on",
        tolerance: float | None = 1e-4, weight: float = 1.0, relative_to: FrameLike | None = None, name: str | None = None,
        priority: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(
            link,
            point,
            normal,
            side=side,
            tolerance=tolerance,
            weight=weight,
            relative_to=relative_to,
            name=name,
            priority=priority,
        )

    @attribute
    def frame(self, value: str) -> str:
        """The link that touches the plane."""
        return text(value, ProblemError, f"{self.name}: link")

    @property
    def link(self) -> str:
        """The link that touches the plane; assign another to change it."""
        return self.frame

    @link.setter
    def link(self, value: str) -> None:
        self.frame = value

    def solids(self, packer: Packer) -> list[Array]:
        return link_solids(packer.body, self.frame, self.name)

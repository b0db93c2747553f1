"""MinDistance, MaxDistance, Line, Plane, Touch, Side: simple sets that a frame or a link stays in."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Frame
from memetik.errors import ProblemError, shown
from memetik.geometry import between, rotation_matrix
from memetik.geometry.checks import text
from memetik.kernels.terms.records import PLANE, PLANE_TARGET, POSITION, RANGE, RANGE_LEAST, RANGE_TARGET
from memetik.kernels.terms.region import plane_jacobian, plane_residual, range_jacobian, range_residual
from memetik.objectives.aim import Aim
from memetik.objectives.framed import Framed
from memetik.objectives.objective import Packer, Target, checked_length, checked_name
from memetik.objectives.pose_target import point_rows, set_rotation, three, unit
from memetik.objectives.position import POSITION_GAIN, pack_pose_term
from memetik.objectives.solids import ball, link_solids
from memetik.types import Array


class Range(Framed):
    """Common to MinDistance and MaxDistance: a point and a length."""

    _farthest = False

    def __init__(
        self,
        frame: str | Frame,
        target: ArrayLike,
        distance: float,
        *,
        tolerance: float | None = 1e-4,
        weight: float = 1.0,
        relative_to: str | Frame | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(frame, tolerance=tolerance, weight=weight, relative_to=relative_to, name=name)
        self._range = Target(RANGE_TARGET)
        self.target = target
        self.distance = distance

    @property
    def target(self) -> Array:
        """The point that the distance is measured from [m]; assign to move it."""
        return self._range.numbers[:3].copy()

    @target.setter
    def target(self, value: ArrayLike) -> None:
        self._range.assign(0, _place(value, self.name, "target"))

    @property
    def distance(self) -> float:
        """The least or greatest distance [m]; assign to change it."""
        return float(self._range.numbers[RANGE_LEAST + self._farthest])

    @distance.setter
    def distance(self, value: float) -> None:
        length = checked_length(value, self.name, "distance")
        self._range.assign(RANGE_LEAST, np.array([0.0, length] if self._farthest else [length, math.inf]))

    def target_rows(self, path: ArrayLike) -> tuple[Array, Target]:
        points = point_rows(path, self.name)
        return np.hstack([points, np.tile(self._range.numbers[3:], (len(points), 1))]), self._range

    def pack(self, packer: Packer) -> None:
        (frame, other), reach = self.frame_rows(packer), packer.reach(self.frame)
        packer.add(
            RANGE,
            frame=frame,
            other=other,
            rows=1,
            target=packer.target(self._range),
            unit=reach / POSITION_GAIN,
            reach=reach,
            tolerance=self.tolerance,
            kernels=(range_residual, range_jacobian),
        )


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


class Line(Framed):
    """The origin of a frame lies on a line: |(I - u u^T) (p - point)| <= tolerance [m], u the unit vector of direction.

    point, direction: in the world or, with `relative_to`, in another frame. Both can be assigned.
    """

    def __init__(
        self,
        frame: str | Frame,
        point: ArrayLike,
        direction: ArrayLike,
        *,
        tolerance: float | None = 1e-4,
        weight: float = 1.0,
        relative_to: str | Frame | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(frame, tolerance=tolerance, weight=weight, relative_to=relative_to, name=name)
        self._pose = Target(7)  # its z axis is the line, and positions along it do not count
        self.point, self.direction = point, direction

    @property
    def point(self) -> Array:
        """A point of the line [m]; assign to move it."""
        return self._pose.numbers[4:].copy()

    @point.setter
    def point(self, value: ArrayLike) -> None:
        self._pose.assign(4, _place(value, self.name, "point"))

    @property
    def direction(self) -> Array:
        """The unit vector along the line; assign any vector to turn it."""
        return rotation_matrix(self._pose.numbers[:4])[:, 2]

    @direction.setter
    def direction(self, value: ArrayLike) -> None:
        set_rotation(self._pose, between((0.0, 0.0, 1.0), unit(value, self.name, "direction")), self.name)

    def target_rows(self, path: ArrayLike) -> tuple[Array, Target]:
        """Points of the line over time; its direction stays."""
        points = point_rows(path, self.name)
        return np.hstack([np.tile(self._pose.numbers[:4], (len(points), 1)), points]), self._pose

    def pack(self, packer: Packer) -> None:
        pack_pose_term(packer, POSITION, self, self._pose, np.array([1.0, 1.0, 0.0]), None, self.tolerance)


class Plane(Framed):
    """The origin of a frame lies on a plane, or above it: |n·(p - point)| or max(0, -n·(p - point)) <= tolerance [m].

    point, normal: in the world or, with `relative_to`, in another frame. Both can be assigned.
    side: "on" the plane, or "above" it, on the side that the normal points to.
    """

    def __init__(
        self,
        frame: str | Frame,
        point: ArrayLike,
        normal: ArrayLike,
        *,
        side: str = "on",
        tolerance: float | None = 1e-4,
        weight: float = 1.0,
        relative_to: str | Frame | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(frame, tolerance=tolerance, weight=weight, relative_to=relative_to, name=name)
        if not isinstance(side, str) or side not in ("on", "above"):
            raise ProblemError(
                f"{self.name}: side is {shown(side)}; say 'on' or 'above'. To stay below, turn the normal."
            )
        self.side = side
        self._plane = Target(PLANE_TARGET)
        self.point, self.normal = point, normal

    @property
    def point(self) -> Array:
        """A point of the plane [m]; assign to move it."""
        return self._plane.numbers[:3].copy()

    @point.setter
    def point(self, value: ArrayLike) -> None:
        self._plane.assign(0, _place(value, self.name, "point"))

    @property
    def normal(self) -> Array:
        """The unit vector square to the plane; assign any vector to tilt it."""
        return self._plane.numbers[3:].copy()

    @normal.setter
    def normal(self, value: ArrayLike) -> None:
        self._plane.assign(3, unit(value, self.name, "normal"))

    def target_rows(self, path: ArrayLike) -> tuple[Array, Target]:
        """Points of the plane over time; its normal stays."""
        points = point_rows(path, self.name)
        return np.hstack([points, np.tile(self._plane.numbers[3:], (len(points), 1))]), self._plane

    def solids(self, packer: Packer) -> list[Array]:
        """What lies on the plane, in the axes of the frame."""
        return [ball()]

    def pack(self, packer: Packer) -> None:
        (frame, other), reach = self.frame_rows(packer), packer.reach(self.frame)
        solids = self.solids(packer)
        packer.add(
            PLANE,
            frame=frame,
            other=other,
            rows=1,
            target=packer.target(self._plane),
            data=packer.numbers([float(self.side == "above"), *(number for solid in solids for number in solid)]),
            count=len(solids),
            unit=reach / POSITION_GAIN,
            reach=reach,
            tolerance=self.tolerance,
            kernels=(plane_residual, plane_jacobian),
        )


class Touch(Plane):
    """A link touches a plane, or stays above it: as Plane, for the lowest point of its collision shapes.

    Lowest along the normal, exact for spheres, capsules, cylinders and boxes. mk.Touch("foot") puts a foot on the
    ground, mk.Touch("elbow", (0, 0, 0.7), side="above") keeps an elbow above a table.
    """

    def __init__(
        self,
        link: str,
        point: ArrayLike = (0.0, 0.0, 0.0),
        normal: ArrayLike = (0.0, 0.0, 1.0),
        *,
        side: str = "on",
        tolerance: float | None = 1e-4,
        weight: float = 1.0,
        relative_to: str | Frame | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            link, point, normal, side=side, tolerance=tolerance, weight=weight, relative_to=relative_to, name=name
        )
        self.link = text(link, ProblemError, f"{self.name}: link")

    def solids(self, packer: Packer) -> list[Array]:
        return link_solids(packer.body, self.link, self.name)


class Side(Aim):
    """An axis of the frame points away from a direction: max(0, asin(axis·direction)) <= tolerance [rad].

    The same as a Cone of 90 degrees about the opposite direction: the axis may point anywhere in that half space.
    """

    def __init__(
        self,
        frame: str | Frame,
        direction: ArrayLike,
        *,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        tolerance: float | None = 1e-3,
        weight: float = 1.0,
        relative_to: str | Frame | None = None,
        name: str | None = None,
    ) -> None:
        name = checked_name(name) or type(self).__name__
        super().__init__(
            frame, -unit(direction, name, "direction"), axis=axis, half_angle=math.pi / 2.0, tolerance=tolerance,
            weight=weight, relative_to=relative_to, name=name,
        )  # fmt: skip

    @property
    def direction(self) -> Array:
        """The unit vector to point away from; assign any vector to change it."""
        return -self.target

    @direction.setter
    def direction(self, value: ArrayLike) -> None:
        self.target = -unit(value, self.name, "direction")

    def target_rows(self, path: ArrayLike) -> tuple[Array, Target]:
        """Directions to point away from, over time."""
        rows, target = super().target_rows(path)
        return -rows, target


def _place(value: ArrayLike, name: str, what: str) -> Array:
    numbers = three(value, name, what)
    if not np.isfinite(numbers).all():
        raise ProblemError(f"{name}: {what} has an entry that is infinite: {shown(value)}.")
    return numbers

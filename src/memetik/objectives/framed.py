"""What objectives about one frame share: the frame itself, perhaps seen from another, and the tolerances of a pose."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from memetik.kernels.terms.records import TermKind
from memetik.kernels.terms.targets import POINT_TARGET
from memetik.objectives.attributes import attribute, frozen_copy
from memetik.objectives.objective import (
    FrameLike,
    Objective,
    Packer,
    Single,
    Target,
    checked_frame,
    checked_tolerance,
)
from memetik.objectives.pose_target import point_rows
from memetik.types import Array


class Framed(Objective):
    """Something that is wanted of a frame. With `relative_to`, what is wanted rides on another frame of the body."""

    def __init__(
        self, frame: FrameLike, *, tolerance: float | None, weight: float, relative_to: FrameLike | None = None,
        name: str | None, priority: int,
    ) -> None:  # fmt: skip
        super().__init__(weight=weight, tolerance=tolerance, name=name, priority=priority)
        self.frame = frame
        self.relative_to = relative_to

    @attribute
    def frame(self, value: FrameLike) -> FrameLike:
        """The frame that it is about."""
        return checked_frame(value, self.name)

    @attribute
    def relative_to(self, value: FrameLike | None) -> FrameLike | None:
        """The frame of the body that what is wanted rides on, None for the world."""
        return None if value is None else checked_frame(value, self.name, "relative_to")

    def frames(self) -> tuple[FrameLike, ...]:
        return (self.frame,) if self.relative_to is None else (self.frame, self.relative_to)

    def _add_term(
        self, packer: Packer, kind: TermKind, tolerance: float | None, target: int = 0, data: int = 0, count: int = 0,
        reach: float | None = None,
    ) -> None:  # fmt: skip
        """Add a term about the frame."""
        packer.add(
            kind, tolerance=tolerance, target=target, data=data, count=count, frame=packer.frame(self.frame),
            other=-1 if self.relative_to is None else packer.frame(self.relative_to),
            reach=packer.reach(self.frame) if reach is None else reach,
        )  # fmt: skip


class Pointed(Framed, Single):
    """Something about a point, three of the numbers of a target."""

    _numbers: Target
    _first = 0  # of the three

    @property
    def _point(self) -> Array:
        return frozen_copy(self._numbers.numbers[self._first : self._first + 3])

    def target_rows(self, targets: ArrayLike) -> tuple[Array, Target]:
        """Points over time; all else stays."""
        points = point_rows(targets, self.name)
        rows = np.tile(self._numbers.numbers, (len(points), 1))
        rows[:, self._first : self._first + 3] = points
        return rows, self._numbers

    def target_kind(self) -> tuple[int, Target, int]:
        return POINT_TARGET, self._numbers, self._first


class PoseErrors(NamedTuple):
    """How far a frame is from its target: `position` [m] and `orientation` [rad]."""

    position: float  # m
    orientation: float  # rad


class Posed(Framed):
    """Something that is wanted of both position and orientation of a frame, each with a tolerance."""

    def __init__(
        self, frame: FrameLike, *, position_tolerance: float | None, orientation_tolerance: float | None, weight: float,
        relative_to: FrameLike | None = None, name: str | None, priority: int,
    ) -> None:  # fmt: skip
        super().__init__(
            frame, tolerance=position_tolerance, weight=weight, relative_to=relative_to, name=name, priority=priority
        )
        self.orientation_tolerance = orientation_tolerance

    @property
    def position_tolerance(self) -> float | None:
        """[m], None for a mere guide."""
        return self.tolerance

    @position_tolerance.setter
    def position_tolerance(self, value: float | None) -> None:
        self.tolerance = value

    @attribute
    def orientation_tolerance(self, value: float | None) -> float | None:
        """[rad], None for a mere guide."""
        return checked_tolerance(value, self.name)

    def error(self, errors: Array) -> PoseErrors:
        return PoseErrors(float(errors[0]), float(errors[1]))

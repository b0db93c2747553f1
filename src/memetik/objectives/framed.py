"""What objectives about one frame share: the frame itself, perhaps seen from another, and the tolerances of a pose."""

from __future__ import annotations

from typing import NamedTuple

from memetik.body import Frame
from memetik.objectives.objective import Objective, Packer, checked_frame, checked_tolerance
from memetik.types import Array


class Framed(Objective):
    """Something that is wanted of a frame. With `relative_to`, what is wanted rides on another frame of the body."""

    def __init__(
        self,
        frame: str | Frame,
        *,
        tolerance: float | None,
        weight: float,
        relative_to: str | Frame | None = None,
        name: str | None,
    ) -> None:
        super().__init__(weight=weight, tolerance=tolerance, name=name)
        self.frame = checked_frame(frame, self.name)
        self.relative_to = None if relative_to is None else checked_frame(relative_to, self.name, "relative_to")

    def frames(self) -> tuple[str | Frame, ...]:
        return (self.frame,) if self.relative_to is None else (self.frame, self.relative_to)

    def frame_rows(self, packer: Packer) -> tuple[int, int]:
        """The row of the frame and that of the other, -1 for the world."""
        return packer.frame(self.frame), -1 if self.relative_to is None else packer.frame(self.relative_to)


class PoseError(NamedTuple):
    """How far a frame is from its target."""

    position: float  # m
    orientation: float  # rad


class Posed(Framed):
    """Something that is wanted of both position and orientation of a frame, each with a tolerance."""

    def __init__(
        self,
        frame: str | Frame,
        *,
        position_tolerance: float | None,
        orientation_tolerance: float | None,
        weight: float,
        relative_to: str | Frame | None = None,
        name: str | None,
    ) -> None:
        super().__init__(frame, tolerance=position_tolerance, weight=weight, relative_to=relative_to, name=name)
        self.orientation_tolerance = orientation_tolerance

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

    def error(self, errors: Array) -> PoseError:  # type: ignore[override]
        return PoseError(float(errors[0]), float(errors[1]))

"""What Position and Orientation share: tolerances for single axes, and a mask of those that count."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memetik.body import Frame
from memetik.errors import ProblemError, shown
from memetik.geometry.checks import real_array
from memetik.objectives.framed import Framed
from memetik.objectives.objective import checked_tolerance
from memetik.objectives.pose_target import three
from memetik.types import Array


class PerAxis(Framed):
    """Common to Position and Orientation: a tolerance for the length of the error, or one for each of three axes."""

    axis_tolerance: Array | None = None

    def __init__(
        self,
        frame: str | Frame,
        *,
        tolerance: float | Sequence[float] | None,
        weight: float,
        mask: Sequence[object],
        relative_to: str | Frame | None,
        name: str | None,
    ) -> None:
        super().__init__(frame, tolerance=tolerance, weight=weight, relative_to=relative_to, name=name)  # type: ignore[arg-type]
        self.mask = axis_mask(mask, self.name)

    @property
    def tolerance(self) -> float | None:
        """[m or rad], None for a mere guide, 0 where each axis has one of its own in `axis_tolerance`."""
        return self._tolerance

    @tolerance.setter
    def tolerance(self, value: float | Sequence[float] | None) -> None:
        axes, scalar = None, value
        if isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) > 0:
            axes, scalar = three(value, self.name, "tolerance"), 0.0  # type: ignore[arg-type]
            for tolerance in axes:
                checked_tolerance(float(tolerance), self.name)
        self._tolerance = checked_tolerance(scalar, self.name)  # type: ignore[arg-type]
        self.axis_tolerance = axes
        self._changed()


def axis_gains(mask: Array, tolerance: Array | None) -> Array:
    """How hard each axis pulls: an axis with a wide tolerance yields to a narrow one, in proportion."""
    if tolerance is None:
        return mask
    floor = np.maximum(tolerance, 1e-9)
    narrow = np.min(floor, where=mask > 0.0, initial=np.inf)
    return mask * np.where(np.isfinite(floor), narrow / floor, 0.0)


def axis_mask(mask: Sequence[object], name: str) -> Array:
    """Which of the axes x, y, z count, as ones and zeros."""
    axes = real_array(mask, ProblemError, f"{name}: mask must name for x, y and z whether they count")
    if axes.shape != (3,) or np.isnan(axes).any() or not axes.any():
        raise ProblemError(
            f"{name}: mask {shown(mask)} must name for x, y and z whether they count, at least one of them."
        )
    return np.where(axes != 0.0, 1.0, 0.0)

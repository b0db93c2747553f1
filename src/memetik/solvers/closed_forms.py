"""The closed forms of this library, and of EAIK where it is installed; one class for each shape of arm."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np

from memetik.kernels.closed_form.arms import shoulder_and_elbow, two_links
from memetik.solvers.serial_arm import Arm
from memetik.types import Array


class ClosedForm(Protocol):
    """What finds postures for the pose of a tip without a search."""

    def offers(self, target: Array, start: Array) -> Iterator[Array]:
        """Postures to verify, a row each, in batches with the likeliest first; target is a pose of 7 numbers."""


class TwoLinks:
    """Two parallel axes and the position of the tip: the elbow bends either way."""

    def __init__(self, arm: Arm) -> None:
        self._base, self._axis = arm.points[0], arm.axes[0]
        self._first, self._second = arm.points[1] - arm.points[0], arm.tip[4:] - arm.points[1]
        self._turned = np.array([1.0, float(np.sign(arm.axes[0] @ arm.axes[1]))])  # the second axis may point back

    @classmethod
    def fits(cls, arm: Arm) -> bool:
        """Whether it is such an arm: both links must have a length in the plane."""
        if len(arm.axes) != 2 or not arm.parallel(0, 1):
            return False
        links = arm.points[1] - arm.points[0], arm.tip[4:] - arm.points[1]
        return all(float(np.linalg.norm(np.cross(arm.axes[0], link))) > 1e-9 for link in links)

    def offers(self, target: Array, start: Array) -> Iterator[Array]:
        rows = np.empty((2, 2))
        two_links(self._first, self._second, self._axis, target[4:] - self._base, start * self._turned, rows)
        yield rows * self._turned


class ShoulderAndElbow:
    """Four or five axes, the first two through the shoulder, the others through the elbow: the arm of the NAO."""

    def __init__(self, arm: Arm, shoulder: Array, elbow: Array) -> None:
        self._arm, self._shoulder, self._elbow = arm, shoulder, elbow

    @classmethod
    def of(cls, arm: Arm) -> ShoulderAndElbow | None:
        """That of an arm, if its axes meet as they should."""
        if len(arm.axes) not in (4, 5):
            return None
        shoulder, elbow = arm.meeting(0, 1), arm.meeting(*range(2, len(arm.axes)))
        if shoulder is None or elbow is None or float(np.linalg.norm(elbow - shoulder)) < 1e-9:
            return None
        return cls(arm, shoulder, elbow)

    def offers(self, target: Array, start: Array) -> Iterator[Array]:
        rows = np.empty((4, start.size))
        count = shoulder_and_elbow(self._arm.axes, self._shoulder, self._elbow, self._arm.tip, target, start, rows)
        yield rows[:count]


def closed_form(arm: Arm, whole_pose: bool, by_decomposition: Callable[[Arm], ClosedForm | None]) -> ClosedForm | None:
    """The closed form that fits an arm, or None. `by_decomposition` knows arms of six and seven joints."""
    if not whole_pose:
        return TwoLinks(arm) if TwoLinks.fits(arm) else None
    if len(arm.axes) in (6, 7):
        return by_decomposition(arm)
    return ShoulderAndElbow.of(arm)

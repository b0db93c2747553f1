"""Manipulability: a frame away from singular postures."""

from __future__ import annotations

import math

import numpy as np

from memetik.body import Body
from memetik.body.rows import Axes
from memetik.errors import ProblemError, shown
from memetik.geometry.checks import instance
from memetik.kernels.terms.manipulability import MANIPULABILITY
from memetik.objectives.attributes import attribute, fixed
from memetik.objectives.framed import Framed
from memetik.objectives.objective import FrameLike, Packer, Single, checked_number
from memetik.types import Array

COUNTS = {"all": (1.0, 1.0), "position": (1.0, 0.0), "rotation": (0.0, 1.0)}  # position, rotation
SAMPLES = 256  # postures of which the median is enough
NOTHING = 1e-9  # a manipulability that is zero but for rounding


class Manipulability(Framed, Single):
    """A frame stays away from singular postures, where it cannot be moved in some direction: 1 - w / least <= tolerance.

    w = sqrt(det(J J^T)) is `body.manipulability(frame, q, axes=axes)`; the error is 0 from `least` on and 1 in a singular
    posture, and has no unit.
    least: the manipulability that is enough. None takes the median of random postures of the body; ask
    `objective.enough(body)` what that is.
    axes: "all", or of the "position" or "rotation" alone; see `Body.manipulability`.
    tolerance: None, the default, makes it a guide; 0 asks for `least` itself.
    """

    def __init__(
        self, frame: FrameLike, least: float | None = None, *, axes: Axes = "all", tolerance: float | None = None,
        weight: float = 1.0, priority: int = 0, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(frame, tolerance=tolerance, weight=weight, priority=priority, name=name)
        self.axes = axes
        self.least = least

    @attribute
    def axes(self, value: Axes) -> Axes:
        """The directions that count, "all" or those of the "position" or "rotation" alone."""
        if not isinstance(value, str) or value not in COUNTS:
            raise ProblemError(f"{self.name}: axes is {shown(value)}. Give 'all', 'position' or 'rotation'.")
        return value

    @attribute
    def least(self, value: float | None) -> float | None:
        """The manipulability that is enough, without a unit; None for the median of random postures."""
        must = "it must be above zero, or None for the median of random postures."
        return None if value is None else checked_number(value, self.name, "least", lambda w: 0.0 < w < math.inf, must)

    @fixed
    def relative_to(self, value: None) -> None:
        """Always None: manipulability is about the world."""

    def enough(self, body: Body) -> float:
        """`least`, or the median manipulability of random postures of a body."""
        instance(body, Body, ProblemError, "a body. Give the one whose frame it is.")
        if self.least is not None:
            return self.least
        rng = np.random.default_rng(0)
        postures = np.array([body.sample(rng) for _ in range(SAMPLES)]).reshape(SAMPLES, body.dof)
        values: Array = np.asarray(body.manipulability(self.frame, postures, axes=self.axes))
        if np.median(values) < NOTHING:
            raise ProblemError(
                f"{self.name}: every posture of body {body.name!r} is singular for axes={self.axes!r}, since its joints cannot "
                "move the frame in each of these directions. Try axes='position' or 'rotation'."
            )
        return float(np.median(values))

    def pack(self, packer: Packer) -> None:
        enough = packer.numbers([self.enough(packer.body)])
        at, count = packer.motions(self.frame)
        packer.numbers(list(COUNTS[self.axes]))
        self._add_term(packer, MANIPULABILITY, self.tolerance, target=enough, data=at, count=count)

"""The inverse Jacobian along interpolated targets: many short ways in place of a long one.

A linear model is good for short steps only. So the way from where the tip is, X_0, to the target D is cut into p parts

    X_i = X_0 + (i / p) (D - X_0)          Q_i = Q_(i-1) + J^+(Q_(i-1)) (X_i - F(Q_(i-1)))

and the tip is led from waypoint to waypoint. F(Q_(i-1)), where the tip really came to, replaces X_(i-1), so that errors do
not add up: with w waypoints still ahead, a step takes off one w-th of what is left. After the last waypoint the steps go
all the way, as the pseudoinverse does. Residuals are interpolated rather than poses, which for a position is a straight
line, for an orientation a turn about one axis, and has a meaning for every other objective too.

Shines where the way matters: the tip follows a straight line, and the body does not leap over to another posture that
reaches the target as well. Fails like the pseudoinverse at singular postures on that line, and it takes p steps where a
bold method needs five.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from memetik.solvers.stepping.pseudoinverse import Pseudoinverse


@dataclass(frozen=True, kw_only=True)
class Interpolated(Pseudoinverse):
    """Steps by the pseudoinverse from waypoint to waypoint on the straight way to the target.

    waypoints: in how many parts the way is cut; 1 is the pseudoinverse itself.
    """

    waypoints: int = 10

    name = "interpolated"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("waypoints")

    def steps_to_stall(self) -> int:
        # Where many waypoints are asked for, it takes several to take off the share that counts as progress.
        return max(super().steps_to_stall(), math.ceil(self.progress * self.waypoints))

    def own(self) -> Sequence[float]:
        return (self.cutoff, float(self.waypoints))

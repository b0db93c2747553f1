"""Point clouds as obstacles: many balls in the world, in groups that are skipped as a whole."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.collision.solids import ball_rows, group
from memetik.errors import ProblemError
from memetik.geometry.checks import real_array
from memetik.objectives.attributes import Frozen
from memetik.objectives.objective import checked_length
from memetik.types import Array

FEWEST = (
    16  # points of a group, of which a cloud of n has about the square root of n (python -m tests.stress.hulls cloud)
)


class PointCloud(Frozen):
    """Points (n, 3) [m] in the world, each a ball of this radius [m], for mk.Distance(links,
    mk.objectives.PointCloud(points, 0.02)).

    It is divided at medians into about sqrt(n) groups of points that lie close together. A solid that is farther than the
    margin from the ball around a group looks at none of its points, so that time grows with sqrt(n) and with the points
    nearby. The cloud never changes; points that move are given to Distance as an array instead, each a group of its own.
    """

    def __init__(self, points: ArrayLike, radius: float) -> None:
        self.points = real_array(points, ProblemError, "PointCloud: points must be numbers")
        if self.points.ndim != 2 or self.points.shape[1] != 3 or len(self.points) == 0:
            raise ProblemError(
                f"PointCloud: points have the shape {self.points.shape}; it must be (n, 3), n at least 1."
            )
        if not np.isfinite(self.points).all():
            raise ProblemError("PointCloud: points have an entry that is NaN or infinite. Leave such points out.")
        self.radius = checked_length(radius, "PointCloud", "radius")

    def groups(self) -> list[Array]:
        """The numbers of its groups, as Distance packs them."""
        return [group(-1, ball_rows(self.points[part], self.radius)) for part in _parts(self.points, self.leaf)]

    @property
    def leaf(self) -> int:
        """How many points a group has at most."""
        return max(FEWEST, math.isqrt(len(self.points)))

    def __repr__(self) -> str:
        return f"<PointCloud of {len(self.points)} points>"


def _parts(points: Array, most: int) -> list[NDArray[np.int64]]:
    """Rows of points in parts of at most so many, each divided across the longest side of the box around it."""
    done, todo = [], [np.arange(len(points))]
    while todo:
        rows = todo.pop()
        if len(rows) <= most:
            done.append(rows)
            continue
        axis = int(np.ptp(points[rows], axis=0).argmax())
        half = len(rows) // 2
        parted = rows[np.argpartition(points[rows, axis], half)]
        todo += [parted[half:], parted[:half]]
    return done

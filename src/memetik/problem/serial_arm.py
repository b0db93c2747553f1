"""An arm as closed forms see it: turning joints in a row, as they stand with all angles at zero."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from memetik.geometry import rotation_matrix
from memetik.kernels.body.records import TURN
from memetik.kernels.search.population_poses import place_population
from memetik.kernels.search.search_record import Population
from memetik.problem.compile import Compiled
from memetik.types import Array

# How far an arm may be from what it is meant to be: an angle rounded to 1.5708 is off by 3.7e-6 rad, six of them by 2e-5 rad, and
# so is a point for each metre of the arm. An arm that is off on purpose is off by more.
PARALLEL = 5e-5  # sine of the angle below which two axes are parallel
MEETS = 5e-5  # of the arm's size; lines that pass each other nearer than this meet


class Arm(NamedTuple):
    """A row of joints that turn, and the tip behind them, in the frame of the root."""

    axes: Array  # (n, 3) unit vectors
    points: Array  # (n, 3) a point on each axis [m]
    tip: Array  # (7,) pose of the tip

    @property
    def size(self) -> float:
        """How far the arm reaches, about [m]."""
        way = np.diff(np.vstack((self.points, self.tip[4:])), axis=0)
        return float(np.linalg.norm(way, axis=1).sum()) or 1.0

    def meeting(self, *joints: int, within: float = MEETS) -> Array | None:
        """The point where the axes of these joints meet, if they do and no two in a row are parallel."""
        if any(self.parallel(one, next_one) for one, next_one in pairwise(joints)):
            return None
        # The point nearest to all lines: sum (I - a a^T) (x - p) = 0.
        across = [np.eye(3) - np.outer(self.axes[k], self.axes[k]) for k in joints]
        right = np.sum([m @ self.points[k] for m, k in zip(across, joints, strict=True)], axis=0)
        point: Array = np.linalg.solve(np.sum(across, axis=0), right)
        off = max(float(np.linalg.norm(m @ (point - self.points[k]))) for m, k in zip(across, joints, strict=True))
        return point if off < within * self.size else None

    def parallel(self, one: int, other: int, within: float = PARALLEL) -> bool:
        """Whether two axes point the same or the opposite way."""
        return float(np.linalg.norm(np.cross(self.axes[one], self.axes[other]))) < within


def arm_of(c: Compiled) -> Arm | None:
    """The arm to the only frame of a problem; None if it has joints that slide, or that another joint drives."""
    nodes = c.nodes
    turning = (nodes["motion"] == TURN) & (nodes["ratio"] == 1.0) & (nodes["offset"] == 0.0)
    alone = np.array_equal(nodes["variable"], np.arange(nodes.size)) and c.active.size == nodes.size
    if c.frames.size != 1 or not (alone and turning.all()):
        return None
    poses = np.empty((nodes.size, 7))
    at_zero = Population(np.zeros((1, nodes.size)), np.empty((1, 7, 1)), np.empty((1, 7, 1)))
    place_population(nodes, c.frames, at_zero, poses)
    axes = np.array([rotation_matrix(pose[:4])[:, 2] for pose in poses]).reshape(-1, 3)
    return Arm(axes, poses[:, 4:].copy(), at_zero.frame_poses[0, :, 0].copy())

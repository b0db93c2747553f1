"""Arms of six and seven joints by EAIK, which takes an arm apart into subproblems with a closed form each.

Six joints have finitely many solutions. Seven have endlessly many: one joint is held, and the other six are solved for
every value that it is held at.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from memetik.errors import MissingExtraError
from memetik.geometry import rotation_matrix, transform
from memetik.kernels.math.pose import write_matrix
from memetik.solvers.serial_arm import Arm
from memetik.types import Array

VALUES = 64  # values that the held joint of an arm of seven takes, evenly spaced, besides that of the start
PROBES = (0.31, -0.47, 0.83)  # rad; places without symmetry at which a held joint must leave an arm with a closed form
SINGULAR = 1e-9  # least singular value [m or rad a radian] of six joints that move the tip in all six ways


class SixJoints:
    """An arm of six turning joints, or of seven with some of them held."""

    def __init__(self, robot: Any) -> None:
        self._robot = robot

    @classmethod
    def of(cls, matrices: Array, held: Sequence[tuple[int, float]] = ()) -> SixJoints | None:
        """That of an arm as its matrices (Arm.matrices), if EAIK knows how to take it apart.

        held: joints, by number, and the angles they are held at [rad].
        """
        try:
            from eaik.IK_Homogeneous import HomogeneousRobot
        except ImportError:
            raise MissingExtraError("EAIK", "the closed form of an arm of six or seven joints", "analytic") from None
        try:
            robot = HomogeneousRobot(matrices, list(held))
        except RuntimeError:  # axes in a place where its own computations divide by zero
            return None
        return cls(robot) if robot.hasKnownDecomposition() else None

    def offers(self, target: Array, start: Array) -> Iterator[Array]:
        """Its solutions, with its least-squares answers among them."""
        pose = np.empty((1, 4, 4))
        write_matrix(target, pose, 0)
        yield np.array(self._robot.IK(pose[0]).Q, dtype=np.float64, order="C").reshape(-1, start.size)


class SevenJoints:
    """An arm of seven turning joints, one of them held: at its angle in the start first, then ever farther from it."""

    def __init__(self, arm: Arm, joint: int, lower: float, upper: float) -> None:
        self.joint = joint
        self._matrices = arm.matrices()
        self._values = np.linspace(lower, upper, VALUES)
        self._arms: dict[int, SixJoints | None] = {}

    @classmethod
    def of(cls, arm: Arm, bounds: Array) -> SevenJoints | None:
        """That of an arm within sampling limits (2, 7): of the joints that can be held, the one that is missed least.

        Without it the other six must still move the tip in every way; how well is their least singular value, in the
        middle of many postures.
        """
        rng = np.random.default_rng(0)
        jacobians = np.array([_jacobian(arm, q) for q in rng.uniform(bounds[0], bounds[1], (32, 7))])
        others = [np.linalg.svd(np.delete(jacobians, k, axis=2), compute_uv=False) for k in range(7)]
        worth = [np.median(sigma[:, -1]) for sigma in others]
        matrices = arm.matrices()
        for k in sorted(range(7), key=lambda k: -worth[k]):
            if worth[k] > SINGULAR and all(SixJoints.of(matrices, [(k, probe)]) for probe in PROBES):
                return cls(arm, k, float(bounds[0, k]), float(bounds[1, k]))
        return None

    def offers(self, target: Array, start: Array) -> Iterator[Array]:
        exact = SixJoints.of(self._matrices, [(self.joint, float(start[self.joint]))])
        if exact is not None:
            yield from exact.offers(target, start)
        for place in np.argsort(np.abs(self._values - start[self.joint]), kind="stable").tolist():
            if place not in self._arms:
                self._arms[place] = SixJoints.of(self._matrices, [(self.joint, float(self._values[place]))])
            held = self._arms[place]
            if held is not None:
                yield from held.offers(target, start)


def by_decomposition(arm: Arm, bounds: Array) -> SixJoints | SevenJoints | None:
    """The closed form of an arm of six or seven joints, None if it has none that EAIK knows."""
    return SixJoints.of(arm.matrices()) if len(arm.axes) == 6 else SevenJoints.of(arm, bounds)


def _jacobian(arm: Arm, q: Array) -> Array:
    """Velocity and angular velocity of the tip for a unit velocity of each joint, by the product of exponentials."""
    moved = np.eye(4)
    axes, points = [], []
    for axis, point, angle in zip(arm.axes, arm.points, q, strict=True):
        axes.append(moved[:3, :3] @ axis)
        points.append(moved[:3, :3] @ point + moved[:3, 3])
        half = 0.5 * float(angle)
        R = rotation_matrix((math.cos(half), *(math.sin(half) * axis)))
        moved = moved @ transform(point - R @ point, R)
    tip = moved[:3, :3] @ arm.tip[4:] + moved[:3, 3]
    rows = np.array([[*np.cross(a, tip - p), *a] for a, p in zip(axes, points, strict=True)])
    return rows.T

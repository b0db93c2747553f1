"""GravityTorque: motors that can bear the weight of the body."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Body
from memetik.errors import ProblemError
from memetik.geometry.checks import mapping
from memetik.kernels.terms.manipulability import MOTION_DATA
from memetik.kernels.terms.torque import SHARE, TORQUE
from memetik.objectives.attributes import attribute, frozen_copy
from memetik.objectives.balance import masses_of
from memetik.objectives.objective import Packer, Single, Target, checked_number
from memetik.objectives.pose_target import checked_point
from memetik.types import Array


class GravityTorque(Single):
    """What gravity asks of each motor stays within a fraction of what it can bear: the overloads,
    |tau_k| / effort_k - effort_fraction where that is positive, have the length 0 up to tolerance; it has no unit.

    tau_k = - sum_i m_i g^T J_i,k is `body.gravity_torque(q)` [N m, or N for slides], from the masses and centres of mass of the
    links.
    effort: the torque or force of motors by joint, in place of that of the body (`body.effort`, from URDF and MuJoCo models); an
    infinite one leaves a joint out, as do those of the body where the model says nothing.
    effort_fraction: how much of the effort gravity may take, 1 unless given; 0 with tolerance=None makes a guide to postures
    that rest easily.
    gravity: [m/s^2] in the world.

    Joints that are locked hold by themselves and do not count. A joint that others mimic bears their torques, too.
    """

    def __init__(
        self, effort: Mapping[str, float] | None = None, *, effort_fraction: float = 1.0, gravity: ArrayLike = (0.0, 0.0, -9.81),
        tolerance: float | None = 1e-6, weight: float = 1.0, name: str | None = None, priority: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(weight=weight, tolerance=tolerance, name=name, priority=priority)
        self._limits = Target(SHARE + 1)
        self.effort = effort
        self.gravity, self.effort_fraction = gravity, effort_fraction

    @attribute
    def effort(self, value: Mapping[str, float] | None) -> dict[str, float]:
        """What motors can bear, by joint, in place of what the body says [N m or N]."""
        given = mapping(value, ProblemError, f"{self.name}: effort", "{'joint_1': 50.0}")
        must = "it must be positive, in N m or N; math.inf leaves the joint out."
        return {
            joint: checked_number(value, self.name, f"effort of joint {joint!r}", lambda x: x > 0.0, must)
            for joint, value in given.items()
        }

    @property
    def gravity(self) -> Array:
        """Gravity [m/s^2] in the world; assign to change it."""
        return frozen_copy(self._limits.numbers[:SHARE])

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        self._limits.assign(0, checked_point(value, self.name, "gravity"))

    @property
    def effort_fraction(self) -> float:
        """How much of the effort gravity may take; assign to change it."""
        return float(self._limits.numbers[SHARE])

    @effort_fraction.setter
    def effort_fraction(self, value: float) -> None:
        must = "it must be zero or positive; 1 is all of the effort."
        share = checked_number(value, self.name, "effort_fraction", lambda x: 0.0 <= x < math.inf, must)
        self._limits.assign(SHARE, np.array([share]))

    def joints(self, body: Body) -> tuple[str, ...]:
        nodes = body.flatten([frame for frame, _ in masses_of(body)])[0].nodes
        moved = set(nodes["variable"].tolist())
        return tuple(name for k, name in enumerate(body.joint_names) if k in moved)

    def pack(self, packer: Packer) -> None:
        body, efforts = packer.body, self._efforts(packer)
        items: dict[int, list[float]] = {variable: [] for variable in efforts}
        rows = []
        for frame, mass in masses_of(body):
            variables = sorted(body.flatten([frame])[0].nodes["variable"].tolist())  # in the order of packer.motions
            if not any(variable in items for variable in variables):
                continue
            at, _ = packer.motions(frame)
            rows.append(packer.frame(frame))
            for place, variable in enumerate(variables):
                if variable in items:
                    items[variable] += [at + place * MOTION_DATA, rows[-1], mass]
        table: list[float] = []
        for variable, numbers in items.items():
            if numbers:
                table += [packer.numbers(numbers), len(numbers) / 3, 1.0 / efforts[variable]]
        if table:
            packer.add(
                TORQUE, tolerance=self.tolerance, target=packer.target(self._limits), data=packer.numbers(table),
                rows=len(table) // 3, more_frames=rows,
            )  # fmt: skip

    def _efforts(self, packer: Packer) -> dict[int, float]:
        """What the motor of each variable that is free bears, where that is known."""
        body = packer.body
        for joint in self.effort:
            packer.whole.index(joint)  # raises if there is none
        if body.mass == 0.0:
            raise ProblemError(f"{self.name}: body {body.name!r} has no mass, so nothing pulls. Give its links masses.")
        if not (np.isfinite(packer.whole.effort).any() or any(map(math.isfinite, self.effort.values()))):
            raise ProblemError(
                f"{self.name}: nobody says what the motors of body {body.name!r} bear. Give effort={{joint: newton metres}}."
            )
        known = dict(zip(body.joint_names, body.effort.tolist(), strict=True)) | self.effort
        found = {}
        for k, name in enumerate(body.joint_names):
            low, high = packer.limits(name)
            if low < high and math.isfinite(known[name]):
                found[k] = known[name]
        return found

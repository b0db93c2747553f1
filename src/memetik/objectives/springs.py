"""Displacement, JointValue, CenterJoints, AvoidLimits: wishes about single joints."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Body
from memetik.errors import ProblemError
from memetik.geometry.checks import mapping, real_array, text
from memetik.kernels.terms.records import AT_REFERENCE, FOLLOWS_START
from memetik.kernels.terms.springs import SPRINGS
from memetik.objectives.attributes import attribute
from memetik.objectives.objective import Packer, Single, Target, checked_number
from memetik.types import Array


class JointValue(Single):
    """A joint takes a value: |x_i - target| <= tolerance [rad or m], eq. 4.9 of the thesis."""

    def __init__(
        self,
        joint: str,
        target: float,
        *,
        tolerance: float | None = 1e-3,
        weight: float = 1.0,
        name: str | None = None,
        priority: int = 0,
    ) -> None:
        super().__init__(weight=weight, tolerance=tolerance, name=name, priority=priority)
        self.joint = joint
        self._rest = Target(2)  # lower and upper end of the rest interval, the same
        self.target = target

    @attribute
    def joint(self, value: str) -> str:
        """The joint that takes the value."""
        return text(value, ProblemError, f"{self.name}: joint")

    @property
    def target(self) -> float:
        """The wanted value [rad or m]; assign to change it."""
        return float(self._rest.numbers[0])

    @target.setter
    def target(self, value: float) -> None:
        what = f"the value of joint {self.joint!r}"
        self._rest.assign(0, np.full(2, checked_number(value, self.name, what, math.isfinite, "it must be finite.")))

    def joints(self, body: Body) -> tuple[str, ...]:
        return (self.joint,)

    def pack(self, packer: Packer) -> None:
        place = packer.variable(self.joint)
        packer.numbers([1.0])
        packer.target(self._rest)
        packer.numbers([0.0])
        packer.add(SPRINGS, data=place, count=1, tolerance=self.tolerance, variables=[place])


class Posture(Single):
    """Common to the wishes about many joints: one spring for each, with its own stiffness and rest interval."""

    def __init__(
        self, *, stiffness: Mapping[str, float] | None = None, weight: float = 0.01, tolerance: float | None = None,
        name: str | None = None, priority: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(weight=weight, tolerance=tolerance, name=name, priority=priority)
        self.stiffness = stiffness

    @attribute
    def stiffness(self, value: Mapping[str, float] | None) -> dict[str, float]:
        """The weight of single joints, 1 for those not named."""
        given = mapping(value, ProblemError, f"{self.name}: stiffness", "{'joint_1': 0.5}")
        must = "it must be zero or positive."
        return {
            joint: checked_number(
                value, self.name, f"the weight of joint {joint!r}", lambda x: 0.0 <= x < math.inf, must
            )
            for joint, value in given.items()
        }

    @property
    def _rests(self) -> int:
        """The field `other` of the term."""
        return -1

    def rest(self, packer: Packer, joint: str) -> tuple[float, float, float]:
        """Stiffness, and the interval in which the joint is at rest."""
        raise NotImplementedError

    def pack(self, packer: Packer) -> None:
        for joint in self.stiffness:
            packer.whole.index(joint)  # a name that does not exist is said here
        places: list[int] = []
        for joint in packer.moving if self.follows_start else packer.body.joint_names:
            stiffness, low, high = self.rest(packer, joint)
            if stiffness > 0.0 and packer.drive(joint)[0] is not None:
                places.append(packer.variable(joint))
                packer.numbers([stiffness, low, high, 0.0])
        if places:
            packer.add(
                SPRINGS,
                tolerance=self.tolerance,
                other=self._rests,
                data=places[0],
                count=len(places),
                variables=places,
            )

    def joints(self, body: Body) -> tuple[str, ...]:
        return body.joint_names


class Displacement(Posture):
    """Joints stay close to a posture: (1/n) sum_i w_i |x_i - reference_i|, eq. 4.8 of the thesis.

    reference: the posture to stay close to; the start of each solve unless given.
    stiffness: the weight of single joints, 1 for those not named; 0 lets a joint move freely.

    Without tolerance it also says which solution is nearest, where a closed form knows them all (docs/solving.md); what is
    minimised is sum_i (w_i (x_i - reference_i))^2.

    A spherical or floating joint without limits, with one weight for its three angles, counts the angle by which its rotation
    differs from that of the reference [rad], once, in place of the three differences.
    """

    def __init__(
        self, *, reference: ArrayLike | None = None, stiffness: Mapping[str, float] | None = None, weight: float = 0.01,
        tolerance: float | None = None, name: str | None = None, priority: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(stiffness=stiffness, weight=weight, tolerance=tolerance, name=name, priority=priority)
        self.reference = reference

    @attribute
    def reference(self, value: ArrayLike | None) -> Array | None:
        """The posture to stay close to [rad or m]; None for the start of each solve."""
        return None if value is None else real_array(value, ProblemError, f"{self.name}: reference is no joint vector")

    @property
    def follows_start(self) -> bool:
        return self.reference is None

    @property
    def _rests(self) -> int:
        return FOLLOWS_START if self.follows_start else AT_REFERENCE

    def rest(self, packer: Packer, joint: str) -> tuple[float, float, float]:
        body = packer.whole
        reference = body.home if self.reference is None else self.reference
        if reference.shape != (body.dof,) or not np.isfinite(reference).all():
            raise ProblemError(f"{self.name}: reference must be a joint vector of {body.dof} finite numbers.")
        value = float(reference[body.index(joint)])
        return self.stiffness.get(joint, 1.0), value, value


class CenterJoints(Posture):
    """Joints stay near the middle of their range: (1/n) sum_i w_i |x_i - middle_i| / (half of range i).

    It has no unit: 0 where all joints are in the middle, 1 where all are at a limit.

    stiffness: the weight w_i of single joints, 1 for those not named; 0 leaves a joint out. Joints without limits do not count.
    """

    def rest(self, packer: Packer, joint: str) -> tuple[float, float, float]:
        low, high = packer.limits(joint)
        if not (math.isfinite(low) and math.isfinite(high) and high > low):
            return 0.0, 0.0, 0.0
        middle = 0.5 * (low + high)
        return self.stiffness.get(joint, 1.0) * 2.0 / (high - low), middle, middle


class AvoidLimits(Posture):
    """Joints keep away from their limits: no pull inside, a growing one in the last `margin` share of the range.

    (1/n) sum_i w_i max(0, what x_i is in its margin) / (width of the margin): 0 where the margin begins, 1 at the limit; no unit.

    margin: share of the range at each end, between 0 and 0.5.
    stiffness: the weight w_i of single joints, 1 for those not named; 0 leaves a joint out.
    """

    def __init__(
        self, *, margin: float = 0.1, stiffness: Mapping[str, float] | None = None, weight: float = 0.1,
        tolerance: float | None = None, name: str | None = None, priority: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(stiffness=stiffness, weight=weight, tolerance=tolerance, name=name, priority=priority)
        self.margin = margin

    @attribute
    def margin(self, value: float) -> float:
        """The share of the range at each end that joints keep out of."""
        must = "it is a share of the range, between 0 and 0.5."
        return checked_number(value, self.name, "margin", lambda x: 0.0 < x < 0.5, must)

    def rest(self, packer: Packer, joint: str) -> tuple[float, float, float]:
        low, high = packer.limits(joint)
        if not high > low:
            return 0.0, 0.0, 0.0
        width = self.margin * (high - low) if math.isfinite(high - low) else self.margin
        return self.stiffness.get(joint, 1.0) / width, low + width, high - width

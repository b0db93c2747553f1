"""CCD, cyclic coordinate descent (Wang and Chen 1991): one joint at a time brings the tip as near to its target as it can.

A joint with the unit axis u through the point c sees the tip at r = p - c and the target at d = y - c. Turning by t takes
the tip along a circle, and the point of the circle nearest to the target is at

    t = atan2(b, a)        a = r·d - (r·u)(d·u)        b = u·(r × d)

A free ball joint would turn by acos(r·d / |r||d|) about r × d, which is the form found in textbooks; with a hinge the
axis is given. A slide moves by u·(d - r). Then the next joint does the same with the tip where the last one left it, and
after the last joint of the chain the sweep begins again.

Several tips, orientations, directions and gazes only add to a and b, each with its weight (kernels/sweeps/ccd.py), so that the
best angle for all of them together is still an atan2. Where a limit is in the way, the joint stops at the better one.

With a weight w for each joint, from 0 to 1, it moves by w t instead of t: a spine that follows slowly, a wrist that does most.
A joint with weight 0 rests, in restarts too. The place between here and the best is better than here wherever the way to the
best is at most half a turn, so sweeps with weights lead downhill, but for joints whose limits make them go the long way round.

Where it shines: no matrix, no step size, nothing that could become singular. The error never grows, limits are kept
exactly, and a sweep costs the same for each joint, however long the chain. A point out of reach is no harder than others:
the sweeps end as near to it as the limits allow.

Where it fails: every joint sees only its own gain. Near a stretched posture, or where position and orientation pull at
the same joints, the sweeps become small and many, and at limits they can end in a posture from which no single joint
leads on. Chains in space with limits take a median of 22 sweeps with 3 joints and 8 with 100, twice as many as FABRIK and
more (memetik bench chains). Joints that come first do most of the work: swept from the tip, a chain curls up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from numpy.typing import ArrayLike

from memetik.errors import ProblemError
from memetik.geometry.checks import mapping, real_number
from memetik.kernels.runtime.record import allocate
from memetik.kernels.sweeps import ccd as kernel
from memetik.kernels.sweeps.sweep_record import Descent
from memetik.problem import Problem, require_problem
from memetik.problem.compile import Compiled
from memetik.solution import Solution
from memetik.solvers.budget import DEFAULT, Budget
from memetik.solvers.seeded import parameter
from memetik.solvers.sweeping import Sweeping

DIRECTIONS = ("tip_to_root", "root_to_tip")


@dataclass(frozen=True, kw_only=True)
class CCD(Sweeping):
    """Cyclic coordinate descent on real joints: hinges, slides, screws, and mimic joints with what they follow.

    Takes positions, orientations and poses, directions, gazes and cones of any number of frames, with masks; targets in
    the world only. One evaluation is one sweep over all joints and the placement of the body after it.

    direction: "tip_to_root" as in the textbook, or "root_to_tip", which bends the joints near the root more.
    longest_step: a joint moves no further in one sweep [rad or m]; a small one spreads the motion over the joints.
    weights: for joints by name, the share of the best change that a joint makes in each sweep, from 0 (it rests) to 1, which
    those not named have; without unit. A mimic joint has that of the joint it follows.
    restarts: where sweeps gain little, begin again at a random posture until the budget is spent. Without, the sweeps
    end where they stand still; a standstill at the start is nudged once either way.
    """

    seed: int = 0
    direction: Literal["tip_to_root", "root_to_tip"] = parameter(
        DIRECTIONS[0],
        lambda value: isinstance(value, str) and value in DIRECTIONS,
        f"it must be {' or '.join(map(repr, DIRECTIONS))}",
    )
    longest_step: float = parameter(math.inf, lambda value: value > 0.0, "it must be above zero, or infinite")
    weights: Mapping[str, float] | None = field(default=None, hash=False)
    restarts: bool = True

    name, search = "ccd", kernel.search

    def __post_init__(self) -> None:
        """Make every parameter what its field says, or raise; the weights are a copy."""
        super().__post_init__()
        given = mapping(self.weights, ProblemError, "ccd: weights", "{'joint_1': 0.5}")
        weights = {
            joint: real_number(value, ProblemError, f"ccd: weights[{joint!r}]") for joint, value in given.items()
        }
        for joint, value in weights.items():
            if not 0.0 <= value <= 1.0:
                raise ProblemError(
                    f"ccd: weights[{joint!r}] is {value!r}; it is a share, from 0 (the joint rests) to 1."
                )
        object.__setattr__(self, "weights", weights or None)

    def solve(self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT) -> Solution:
        """The solution nearest to hand from `start` (the body's home unless given)."""
        if self.weights is not None:
            require_problem(problem, self.name)
            places = {problem.body.index(joint): weight for joint, weight in self.weights.items()}
            problem.compiled.plans[self._places()] = places
        return super().solve(problem, start, budget)

    def _places(self) -> tuple[type, frozenset[tuple[str, float]]]:
        """Where a compiled problem, which knows no names, finds the weights by the place in a joint vector."""
        return CCD, frozenset((self.weights or {}).items())

    def make_record(self, c: Compiled) -> Descent:
        """What the search needs."""
        to_root = self.direction == DIRECTIONS[0]
        record = allocate(Descent, c.sizes, restarts=self.restarts, longest=self.longest_step, to_root=to_root)
        record.sweeps.weights[:] = 1.0
        if self.weights is not None:
            places = c.plans[self._places()]
            record.sweeps.weights[:] = [places.get(int(place), 1.0) for place in c.active]
        return record

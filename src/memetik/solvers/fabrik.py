"""FABRIK, forward and backward reaching (Aristidou and Lasenby 2011): points are pulled along lines, from both ends by turns.

The textbook forgets about joints and keeps their positions p_1 ... p_n and the distances d_i = |p_{i+1} - p_i|. A sweep is

    forward     p_n = target,  then from the tip   p_i     = p_{i+1} + d_i (p_i - p_{i+1}) / |p_i - p_{i+1}|
    backward    p_1 = root,    then from the root  p_{i+1} = p_i + d_i (p_{i+1} - p_i) / |p_{i+1} - p_i|

with every distance taken from the points as they are by then. Each point moves the least it must to keep its bone, and
the two ends take turns at being where they belong. Where branches meet, the forward half puts the joint at the centroid
of the places they ask for. A target farther away than the chain is long needs no sweeps: the chain is laid out to it.

Bare points know nothing of hinges and limits, so here links move on their real joints. A ball joint that brings the next
point as near as it can to where it was puts it on the line towards there, as above. A hinge, a slide or a screw does what
it can of that within its limits, in both halves (kernels/sweeps/fabrik_forward.py, fabrik.py). So the backward half
ends in joint values, and there is no step from points to angles that could fail. On a planar body without limits the
points are the textbook's. What a hinge cannot do, later joints must mend, so joints may look further ahead than the next
point:

    ahead = 0   the next point alone counts, as in the textbook
    ahead = 1   all points count alike, however far ahead

An orientation counts as points around the tip. A straight chain with its target on its own line is a deadlock, because
lines never leave it; when sweeps stand still, joints are nudged once, each by another amount.

Where it shines: long chains and trees. A sweep costs the same for each joint, and the more joints there are, the fewer
sweeps it takes: in space with limits a median of 10 with 3 joints, 4 with 20 and 3 with 100 (memetik bench chains). The
motion is spread over the whole chain, so postures look natural. Nothing becomes singular.

Where it fails: few joints and tight limits, where the halves undo each other; the sweeps then stand still short of the
target, and only another start helps. Near a stretched posture it is slow. A target out of reach is pointed at, but with
axes that do not meet the tip may stay a hundredth farther away than it must.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from memetik.kernels.runtime.record import allocate
from memetik.kernels.sweeps import fabrik as kernel
from memetik.kernels.sweeps.sweep_record import Reaching
from memetik.problem.compile import Compiled
from memetik.solvers.seeded import parameter
from memetik.solvers.sweeping import Sweeping


@dataclass(frozen=True, kw_only=True)
class FABRIK(Sweeping):
    """Forward and backward reaching on real joints: hinges, slides, screws; trees; limits within the sweeps.

    Takes positions, orientations and poses, directions, gazes and cones of any number of frames, with masks; targets in
    the world only. A link with a target of its own comes before those beyond it. Mimic joints rest during a sweep and
    take a step of coordinate descent after it. One evaluation is one sweep, forward and backward, and the placement of
    the body after it.

    ahead: how much the point after the next counts for a joint, relative to the next, and so on along the chain; a factor
    without unit.
    restarts: where sweeps gain little, begin again at a random posture until the budget is spent. Without, the sweeps
    end where they stand still; a standstill at the start is nudged once either way.
    """

    seed: int = 0
    ahead: float = parameter(
        1.0, lambda value: 0.0 <= value <= 1.0, "it must be from 0 (the next point alone) to 1 (all alike)"
    )
    restarts: bool = True

    name, search = "fabrik", kernel.search

    def make_record(self, c: Compiled) -> Reaching:
        """What the search needs."""
        record = allocate(Reaching, c.sizes, restarts=self.restarts, longest=math.inf, ahead=self.ahead)
        record.sweeps.weights[:] = 1.0
        return record

"""Where a plan wants the links of a body to be, for every frame of a motion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memetik.body import Body, LinkPoses
from memetik.errors import known
from memetik.geometry import rotation_matrix
from memetik.motion.retargeting.plan import BoneMatch, RetargetPlan
from memetik.types import Array


class Targets(NamedTuple):
    """For each part of the plan, over all frames."""

    points: dict[str, Array]  # (frames, 3) [m]
    rotations: dict[str, Array]  # (frames, 3, 3)

    def rotation_of(self, match: BoneMatch) -> Array:
        """The rotations that a link is to have, in the world or, of a relative one, in the link of its parent."""
        own = self.rotations[match.part]
        return np.swapaxes(self.rotations[match.parent], 1, 2) @ own if match.relative and match.parent else own


def make_targets(
    plan: RetargetPlan, skeleton: Body, poses: LinkPoses, floor: float, ankle: float | None
) -> tuple[Targets, float]:
    """The targets of every frame, as BoneMatch says; lifted so that ankles are at their height over the floor.

    poses: of the skeleton's links in all frames.
    ankle: the height of the body's ankles above its soles [m]. Feet of the skeleton that stand are taken to stand on the floor,
        wherever its own is; None leaves the heights of the plan as they are. Returns how far up all were moved [m], too.
    """
    for match in plan.matches:
        known(match.bone, skeleton.links, "bone", f" of skeleton {skeleton.name!r}")
    bones = {match.part: poses[match.bone] for match in plan.matches}
    joints = {m.part: bones[m.part][:, :3, 3] + bones[m.part][:, :3, :3] @ np.array(m.joint) for m in plan.matches}
    points: dict[str, Array] = {}
    rotations: dict[str, Array] = {}
    for match in plan.matches:
        bone = bones[match.part]
        rotations[match.part] = bone[:, :3, :3] @ rotation_matrix(match.turn)
        if match.parent is None:
            points[match.part] = match.scale * joints[match.part] + np.array(match.anchor)
        else:
            points[match.part] = (
                points[match.parent]
                + rotations[match.parent] @ np.array(match.anchor)
                + match.scale * (joints[match.part] - joints[match.parent])
            )
    feet = [points[part][:, 2] for part in plan.feet if part in points]
    lift = 0.0
    if ankle is not None and feet:
        lift = floor + ankle - standing_height(np.min(feet, axis=0))
        for part in points:
            points[part] = points[part] + (0.0, 0.0, lift)
    return Targets(points, rotations), lift


def standing_height(lower: Array) -> float:
    """The height of ankles that stand, from the height of the lower one in each frame: what one frame in twenty stays below."""
    return float(np.quantile(lower, 0.05))

"""How well a motion was retargeted, measured on the joint vectors that are returned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memetik.body import Body
from memetik.motion.retargeting.feet import Contact, Foot, toes_of
from memetik.motion.retargeting.plan import RetargetPlan
from memetik.motion.retargeting.targets import Targets
from memetik.tables import text_table
from memetik.types import Array

REACHED = 0.002  # m; toes that are held no farther than this from where they have to be


@dataclass(frozen=True)
class RetargetReport:
    """Figures of a retargeted motion; arrays have one number for each frame."""

    position: dict[str, Array]  # distance of each part from its target [m]
    rotation: dict[str, Array]  # angle of each part from its target [rad]
    cost: Array  # the sum of all squares of weight times error, by the weights of the plan
    reached: NDArray[np.bool_]  # frames whose standing toes are within 2 mm of where they are held
    sliding: float  # mean speed of the stillest point of a sole that stands [m/s]
    sliding_most: float  # the largest such speed [m/s]
    penetration: float  # of the lowest point of a sole under the floor [m]
    jerk: float  # mean of the absolute third derivatives of the joints, without the base [rad/s^3 or m/s^3]
    outside: int  # joint values beyond their limits
    seconds: float  # what it took, without what kernels took to compile [s]

    @property
    def frames_per_second(self) -> float:
        """How many frames were solved in a second."""
        return len(self.reached) / max(self.seconds, 1e-9)

    def __str__(self) -> str:
        parts = dict.fromkeys((*self.position, *self.rotation))
        rows = [
            {
                "part": part,
                "mean [mm]": _shown(self.position.get(part), 1e3, np.mean),
                "largest [mm]": _shown(self.position.get(part), 1e3, np.max),
                "mean [deg]": _shown(self.rotation.get(part), 180.0 / np.pi, np.mean),
                "largest [deg]": _shown(self.rotation.get(part), 180.0 / np.pi, np.max),
            }
            for part in parts
        ]
        return "\n".join((
            f"{len(self.reached)} frames at {self.frames_per_second:.0f} frames/s; feet where they have to be in "
            f"{int(self.reached.sum())}",
            f"sliding of standing feet {self.sliding * 1e3:.1f} mm/s on average, {self.sliding_most * 1e3:.0f} at most; soles "
            f"{self.penetration * 1e3:.2f} mm under the floor; jerk {self.jerk:.0f} rad/s^3; {self.outside} values beyond limits",
            text_table(rows),
        ))  # fmt: skip


def measured(
    body: Body, plan: RetargetPlan, targets: Targets, times: Array, q: Array, feet: Mapping[str, Foot],
    contacts: Mapping[str, Contact], floor: float, seconds: float,
) -> RetargetReport:  # fmt: skip
    """Measure joint vectors q (frames, dof) against the targets and the floor."""
    poses = body.forward(q)
    position: dict[str, Array] = {}
    rotation: dict[str, Array] = {}
    cost = np.zeros(len(q))
    for match in plan.matches:
        pose = poses[match.link]
        if match.position > 0.0:
            at = pose[:, :3, 3] + pose[:, :3, :3] @ np.array(match.point)
            position[match.part] = np.linalg.norm(at - targets.points[match.part], axis=1)
            cost += (match.position * position[match.part]) ** 2
        if match.rotation > 0.0:
            turned = pose[:, :3, :3]
            if match.relative and match.parent:
                turned = np.swapaxes(poses[plan[match.parent].link][:, :3, :3], 1, 2) @ turned
            difference = turned - targets.rotation_of(match)
            chord = np.linalg.norm(difference, axis=(1, 2)) / np.sqrt(8.0)  # the sine of half the angle
            rotation[match.part] = 2.0 * np.arcsin(np.clip(chord, 0.0, 1.0))
            cost += (match.rotation * rotation[match.part]) ** 2
    reached = np.ones(len(q), dtype=bool)
    speeds = [np.zeros(0)]
    lowest = np.inf
    for part, foot in feet.items():
        pose = poses[foot.link]
        sole = pose[:, None, :3, 3] + np.vstack((foot.sole, foot.toe)) @ np.swapaxes(pose[:, :3, :3], 1, 2)
        lowest = min(lowest, float(sole[..., 2].min()))
        standing = contacts[part].any
        toes = pose[:, :3, 3] + pose[:, :3, :3] @ foot.toe
        reached &= ~standing | (np.linalg.norm(toes - toes_of(targets, part, foot), axis=1) <= REACHED)
        if len(times) > 1:
            moving = np.linalg.norm(np.diff(sole[..., :2], axis=0), axis=2).min(axis=1) / np.diff(times)
            speeds.append(moving[standing[1:] & standing[:-1]])
    speed = np.concatenate(speeds)
    return RetargetReport(
        position, rotation, cost, reached, float(speed.mean()) if len(speed) else 0.0, float(speed.max(initial=0.0)),
        max(0.0, floor - lowest) if feet else 0.0, jerk_of(body, times, q),
        int(((q < body.lower - 1e-12) | (q > body.upper + 1e-12)).sum()), seconds,
    )  # fmt: skip


def jerk_of(body: Body, times: Array, q: Array) -> float:
    """The mean absolute third derivative of all joints but the base."""
    base = next((joint for joint in body.joints.values() if joint.dof), None)
    first = base.dof if base is not None and base.kind == "floating" else 0
    if len(times) < 4 or q.shape[1] == first:
        return 0.0
    step = float(np.median(np.diff(times)))
    return float(np.abs(np.diff(q[:, first:], n=3, axis=0)).mean() / step**3)


def _shown(errors: Array | None, unit: float, of: object) -> str:
    return "" if errors is None else f"{of(errors) * unit:.1f}"  # type: ignore[operator]

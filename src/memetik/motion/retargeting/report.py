"""How well a motion was retargeted: the joint vectors that are returned, measured against the source and the world.

The targets of the solver are looked at for its cost alone. Positions and rotations are those of the source, scaled and lifted
as a whole; soles, sliding and penetration are measured on the floor, and limits by finite differences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.body import Body, LinkPoses
from memetik.geometry import rotation_matrix
from memetik.motion.clips.turns import balls_of
from memetik.motion.retargeting.calibrate import BEFORE
from memetik.motion.retargeting.feet import Contact, Foot, runs
from memetik.motion.retargeting.plan import RetargetPlan
from memetik.motion.retargeting.soles import LINKS, RATIO
from memetik.motion.retargeting.targets import Targets
from memetik.tables import text_table
from memetik.types import Array

STANDS = 0.002  # m; a foot that stands has its sole this near to the floor, and stays this near to one place
HELD = 0.999  # share of a limit of velocity at which a joint is held back
ROUNDING = 1e-9  # share of a limit, or rad and m, that does not count as beyond it
ACCELERATION_ROUNDING = 1e-6  # the same for second differences, which lose more digits


class Source(NamedTuple):
    """What a motion is measured against."""

    poses: LinkPoses  # of the skeleton's links in all frames
    scale: float  # of the whole skeleton
    lift: float  # how far up the scaled skeleton is moved [m]


@dataclass(frozen=True)
class RetargetReport:
    """Figures of a retargeted motion; arrays have one number for each frame."""

    position: dict[
        str, Array
    ]  # distance of the joint of each part from that of the source, scaled and lifted as a whole [m]
    rotation: dict[str, Array]  # angle between each part and its bone, as they are laid on each other by the plan [rad]
    direction: dict[str, Array]  # angle between each bone of arms and legs, from joint to joint, and the source's [rad]
    scale: float  # of the source
    lift: float  # of the scaled source [m]
    cost: Array  # of the solver: the sum of all squares of weight times distance from the targets of the plan
    reached: NDArray[
        np.bool_
    ]  # frames whose standing feet have their soles within 2 mm of the floor and stay within 2 mm
    sole: dict[str, Array]  # height of the lowest point of each foot above the floor [m]
    soles: dict[str, str]  # what the sole of each foot is known from
    sliding: float  # mean speed of the stillest point of a sole that stands [m/s]
    sliding_most: float  # the largest such speed [m/s]
    penetration: float  # of the lowest point of a sole under the floor [m]
    jerk: float  # mean of the absolute third derivatives of the joints, without the base [rad/s^3 or m/s^3]
    outside: int  # joint values beyond their limits
    too_fast: int  # changes of a joint from frame to frame that are beyond its limit of velocity
    fastest: float  # the largest velocity of a joint, as a share of its limit; 0 where there are no limits
    too_hard: int  # changes of velocity beyond the limit of acceleration
    hardest: float  # the largest acceleration of a joint, as a share of its limit
    seconds: float  # what it took, without what kernels took to compile [s]
    warnings: tuple[
        str, ...
    ] = ()  # what is not as one may think: parts that are not led, soles that are estimated, limits

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
                "bone [deg]": _shown(self.direction.get(part), 180.0 / np.pi, np.mean),
            }
            for part in parts
        ]
        rates = "; ".join(
            f"{count} {what} beyond limits (at most {100.0 * share:.4g} % of one)"
            for count, what, share in (
                (self.too_fast, "velocities", self.fastest), (self.too_hard, "accelerations", self.hardest),
            )
            if share > 0.0
        )  # fmt: skip
        heights = ", ".join(
            f"{part.replace('_', ' ')} {1e3 * low.min():.2f} to {1e3 * np.median(low):.2f} mm, by {self.soles[part]}"
            for part, low in self.sole.items()
        )
        return "\n".join((
            f"{len(self.reached)} frames at {self.frames_per_second:.0f} frames/s; standing feet on the floor and still in "
            f"{int(self.reached.sum())}",
            f"sliding of standing feet {self.sliding * 1e3:.1f} mm/s on average, {self.sliding_most * 1e3:.0f} at most; soles "
            f"{self.penetration * 1e3:.2f} mm under the floor; jerk {self.jerk:.0f} rad/s^3",
            f"{self.outside} values beyond limits{'; ' if rates else ''}{rates}",
            *((f"lowest points above the floor, least to median: {heights}",) if heights else ()),
            *(f"warning: {each}" for each in self.warnings),
            f"away from the source, scaled by {self.scale:.4g} and lifted by {1e3 * self.lift:.1f} mm:",
            text_table(rows),
        ))  # fmt: skip


def measured(
    body: Body, plan: RetargetPlan, source: Source, targets: Targets, times: Array, q: Array, feet: Mapping[str, Foot],
    contacts: Mapping[str, Contact], floor: float, seconds: float,
) -> RetargetReport:  # fmt: skip
    """Measure joint vectors q (frames, dof) against the source, the floor and the limits of the body."""
    poses = body.forward(q)
    here, there = _joints(plan, poses, source)
    position = {part: np.linalg.norm(here[part] - there[part], axis=1) for part in here}
    rotation = {}
    for match in plan.matches:
        own = poses[match.link][:, :3, :3]
        theirs = source.poses[match.bone][:, :3, :3] @ rotation_matrix(match.turn)
        if match.relative and match.parent:
            above = plan[match.parent]
            own = np.swapaxes(poses[above.link][:, :3, :3], 1, 2) @ own
            theirs = np.swapaxes(source.poses[above.bone][:, :3, :3] @ rotation_matrix(above.turn), 1, 2) @ theirs
        rotation[match.part] = _angles(own - theirs)
    reached = np.ones(len(q), dtype=bool)
    speeds = [np.zeros(0)]
    sole: dict[str, Array] = {}
    for part, foot in feet.items():
        pose = poses[foot.link]
        sole[part] = foot.lowest(poses) - floor
        points = pose[:, None, :3, 3] + np.vstack((foot.sole, foot.toe)) @ np.swapaxes(pose[:, :3, :3], 1, 2)
        standing = contacts[part].any
        reached &= ~standing | (np.abs(sole[part]) <= STANDS)
        for start, end in runs(standing):
            away = points[start:end, -1] - np.median(points[start:end, -1], axis=0)
            reached[start:end] &= np.linalg.norm(away[:, :2], axis=1) <= STANDS
        if len(times) > 1:
            moving = np.linalg.norm(np.diff(points[..., :2], axis=0), axis=2).min(axis=1) / np.diff(times)
            speeds.append(moving[standing[1:] & standing[:-1]])
    speed = np.concatenate(speeds)
    lowest = min((float(low.min()) for low in sole.values()), default=0.0)
    velocity, acceleration = _rates(times, q)
    too_fast, fastest = _beyond(body, velocity, body.variables.velocity, ROUNDING)
    too_hard, hardest = _beyond(body, acceleration, body.variables.acceleration, ACCELERATION_ROUNDING)
    return RetargetReport(
        position, rotation, _directions(plan, here, there), source.scale, source.lift, _cost(plan, poses, targets), reached, sole,
        {part: foot.source for part, foot in feet.items()}, float(speed.mean()) if len(speed) else 0.0,
        float(speed.max(initial=0.0)), max(0.0, -lowest), jerk_of(body, times, q),
        int(((q < body.lower - ROUNDING) | (q > body.upper + ROUNDING)).sum()), too_fast, fastest, too_hard, hardest, seconds,
        (*_warnings(body, plan, feet, contacts), *_held_back(body, velocity)),
    )  # fmt: skip


def _joints(plan: RetargetPlan, poses: LinkPoses, source: Source) -> tuple[dict[str, Array], dict[str, Array]]:
    """Where the joints of all parts are (frames, 3), and where those of the source are, scaled and lifted [m]."""
    here, there = {}, {}
    for match in plan.matches:
        pose, bone = poses[match.link], source.poses[match.bone]
        here[match.part] = pose[:, :3, 3] + pose[:, :3, :3] @ np.array(match.point)
        joint = bone[:, :3, 3] + bone[:, :3, :3] @ np.array(match.joint)
        there[match.part] = source.scale * joint + (0.0, 0.0, source.lift)
    return here, there


def _directions(plan: RetargetPlan, here: Mapping[str, Array], there: Mapping[str, Array]) -> dict[str, Array]:
    """The angle [rad] between each bone of a limb and the source's, from joint to joint."""
    found = {}
    for part in here:
        side, _, kind = part.partition("_")
        before = f"{side}_{BEFORE.get(kind, '')}"
        if before in here:
            one, other = (_unit(at[part] - at[before]) for at in (here, there))
            found[part] = 2.0 * np.arctan2(np.linalg.norm(one - other, axis=1), np.linalg.norm(one + other, axis=1))
    return found


def _cost(plan: RetargetPlan, poses: LinkPoses, targets: Targets) -> Array:
    """The squares of weight times distance from the targets, summed over all parts of each frame."""
    cost = np.zeros(len(targets.points[plan.matches[0].part]))
    for match in plan.matches:
        pose = poses[match.link]
        if match.position > 0.0:
            at = pose[:, :3, 3] + pose[:, :3, :3] @ np.array(match.point)
            cost += (match.position * np.linalg.norm(at - targets.points[match.part], axis=1)) ** 2
        if match.rotation > 0.0:
            turned = pose[:, :3, :3]
            if match.relative and match.parent:
                turned = np.swapaxes(poses[plan[match.parent].link][:, :3, :3], 1, 2) @ turned
            cost += (match.rotation * _angles(turned - targets.rotation_of(match))) ** 2
    return cost


def _angles(difference: Array) -> Array:
    """The angles [rad] between rotations whose difference (n, 3, 3) is given; its norm is sqrt(8) times the sine of the half."""
    return np.asarray(2.0 * np.arcsin(np.clip(np.linalg.norm(difference, axis=(1, 2)) / np.sqrt(8.0), 0.0, 1.0)))


def _unit(v: Array) -> Array:
    return np.asarray(v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12))


def _rates(times: Array, q: Array) -> tuple[Array, Array]:
    """Velocities between frames, and accelerations at frames, of single joints."""
    if len(times) < 2:
        return np.empty((0, q.shape[1])), np.empty((0, q.shape[1]))
    steps = np.diff(times)[:, None]
    velocity = np.diff(q, axis=0) / steps
    return velocity, np.diff(velocity, axis=0) / (0.5 * (steps[1:] + steps[:-1]))


def _beyond(body: Body, rates: Array, limits: Array, rounding: float) -> tuple[int, float]:
    """How many rates are beyond their limits, and the largest as a share of its limit; balls, whose three values are not single
    angles, and limits of zero, which say nothing, do not count."""
    counts = (limits > 0.0) & np.isfinite(limits)
    for ball in balls_of(body):
        counts[ball.columns] = False
    if not counts.any() or not len(rates):
        return 0, 0.0
    shares = np.abs(rates[:, counts]) / limits[counts]
    return int((shares > 1.0 + rounding).sum()), float(shares.max())


def _warnings(
    body: Body, plan: RetargetPlan, feet: Mapping[str, Foot], contacts: Mapping[str, Contact]
) -> tuple[str, ...]:
    found = []
    if plan.missing:
        found.append(f"not led: {', '.join(plan.missing)}")
    guessed = [part for part, foot in feet.items() if foot.source in (LINKS, RATIO)]
    if guessed:
        found.append(
            f"no meshes or shapes of {' and '.join(guessed)} could be read: soles are estimated by {feet[guessed[0]].source}"
        )
    if feet and not any(contacts[part].any.any() for part in feet):
        found.append("no foot of the source stands in any frame, so none is held: its feet are never low and slow")
    if not plan.feet and any(match.part.endswith("_foot") for match in plan.matches):
        found.append("no foot is held: the body does not stand at home, which would say how its feet lie on the floor")
    zero = [name for name, limit in zip(body.joint_names, body.variables.velocity, strict=True) if limit == 0.0]
    if zero:
        found.append(f"{len(zero)} joints have a velocity limit of 0, which counts as none: {', '.join(zero[:3])} ...")
    balls = [ball.joint for ball in balls_of(body) if np.isfinite(body.variables.velocity[ball.columns]).any()]
    if balls:
        found.append(f"velocity limits of ball joints are not looked at: {', '.join(balls[:3])}")
    return tuple(found)


def _held_back(body: Body, velocity: Array) -> tuple[str, ...]:
    """Which joints are at their limit of velocity, and in how many frames."""
    limits = body.variables.velocity
    at = np.abs(velocity) >= HELD * np.where(limits > 0.0, limits, np.inf)
    if not at.any():
        return ()
    names = [body.joint_names[k] for k in np.argsort(-at.sum(axis=0), kind="stable")[:3] if at[:, k].any()]
    return (
        f"{int(at.any(axis=0).sum())} joints are at their limit of velocity or beyond in {int(at.any(axis=1).sum())} frames, "
        f"most often {', '.join(names)}; velocity_limits='stretch' gives them more time",
    )


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

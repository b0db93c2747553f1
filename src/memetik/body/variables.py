"""The free variables of a body: one scalar for each degree of freedom that nothing else decides."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.body.joint import Joint, Mimic
from memetik.errors import BodyError, MemetikWarning, UnknownNameError
from memetik.geometry.checks import frozen
from memetik.types import Array

# Where a variable without limits is sampled: a full turn, or a metre either way for slides.
FREE_TURN, FREE_SLIDE = math.pi, 1.0


class Drive(NamedTuple):
    """What moves one motion of a joint: ratio * q[variable] + offset."""

    variable: int
    ratio: float
    offset: float


@dataclass(frozen=True)
class Variables:
    """Names and limits of the free variables, and the drive of every motion of every joint."""

    names: tuple[str, ...]
    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    turns: NDArray[np.bool_]  # which variables are angles
    drives: dict[str, tuple[Drive, ...]]  # joint name -> one for each of its motions
    effort: Array  # N m or N, of the motor of each

    @property
    def sample_lower(self) -> Array:
        """Lower limits with finite stand-ins where there are none."""
        return np.where(np.isfinite(self.lower), self.lower, self._finite(self.upper, -2.0))

    @property
    def sample_upper(self) -> Array:
        """Upper limits with finite stand-ins where there are none."""
        return np.where(np.isfinite(self.upper), self.upper, self._finite(self.lower, 2.0))

    def _finite(self, other: Array, spans: float) -> Array:
        # Open on both sides: centred on zero. Open on one side: the same span measured from the other limit.
        half = np.where(self.turns, FREE_TURN, FREE_SLIDE)
        return np.where(np.isfinite(other), other + spans * half, 0.5 * spans * half)


def resolve(joints: Sequence[Joint]) -> Variables:
    """Number the free variables in the order of the joints, and tie every mimic joint to the variable behind it."""
    names: list[str] = []
    limits: list[list[float]] = []  # lower, upper, velocity, acceleration of each variable
    efforts: list[float] = []
    turns: list[bool] = []
    drives: dict[str, tuple[Drive, ...]] = {}
    for joint in joints:
        if joint.mimic is not None or joint.dof == 0:
            continue
        first = len(names)
        drives[joint.name] = tuple(Drive(first + k, 1.0, 0.0) for k in range(joint.dof))
        names.extend(joint.variables)
        limits.extend(map(list, zip(joint.lower, joint.upper, joint.velocity, joint.acceleration, strict=True)))
        turns.extend(motion.turns for motion in joint.motions())
        efforts.extend(joint.effort)
    index = {name: k for k, name in enumerate(names)}
    if len(index) < len(names):
        twice = next(name for k, name in enumerate(names) if index[name] > k)  # the index holds the last place
        raise BodyError(f"two variables are named {twice!r}. Rename one of the joints.")
    followed = _follow(joints, index)
    for joint in joints:
        if joint.mimic is not None:
            drive = followed[joint.name]
            drives[joint.name] = (drive,)
            _tighten(limits[drive.variable], drive, joint, names[drive.variable])
    rows: Array = np.array(limits, dtype=np.float64).reshape(-1, 4).T + 0.0  # no -0.0
    lower, upper, velocity, acceleration = map(frozen, rows)
    angles = frozen(np.array(turns, dtype=np.bool_))
    return Variables(tuple(names), lower, upper, velocity, acceleration, angles, drives, frozen(np.array(efforts)))


def _follow(joints: Sequence[Joint], index: dict[str, int]) -> dict[str, Drive]:
    """What drives each mimic joint; every joint is visited once, however long the chains of mimic joints are."""
    by_name = {joint.name: joint for joint in joints}
    followed: dict[str, Drive] = {}
    for joint in joints:
        waiting = _unresolved(joint, by_name, index, followed)
        for follower, (source, multiplier, offset) in reversed(waiting):
            k, ratio, shift = Drive(index[source], 1.0, 0.0) if source in index else followed[source]
            drive = Drive(k, multiplier * ratio, multiplier * shift + offset)
            if not (math.isfinite(drive.ratio) and math.isfinite(drive.offset)):
                raise BodyError(f"mimic joint {follower!r} follows {source!r} with multipliers too large to compute.")
            followed[follower] = drive
    return followed


def _unresolved(
    joint: Joint, by_name: dict[str, Joint], index: dict[str, int], followed: dict[str, Drive]
) -> list[tuple[str, Mimic]]:
    """The mimic joints from this one towards the free variable behind it, up to the first whose drive is known."""
    path: dict[str, Mimic] = {}
    follower = joint
    while follower.mimic is not None and follower.name not in followed:
        source = follower.mimic[0]
        path[follower.name] = follower.mimic
        if source in index:
            return list(path.items())
        if source in path:
            raise BodyError(f"mimic joints follow each other in a circle: {' -> '.join([*path, source])}.")
        if source not in by_name:
            known = [*index, *(name for name, other in by_name.items() if other.mimic is not None)]
            raise UnknownNameError("joint", source, known, f"the body, but {follower.name!r} mimics it")
        follower = by_name[source]
    if path and follower.mimic is None:
        raise BodyError(
            f"joint {joint.name!r} mimics {follower.name!r}, a {follower.kind} joint without a variable of that name. "
            f"{'Name one of ' + ', '.join(follower.variables) + '.' if follower.dof else 'Mimic a joint that moves.'}"
        )
    return list(path.items())


def _tighten(limits: list[float], drive: Drive, joint: Joint, source: str) -> None:
    """Narrow the source's limits so that the mimic joint keeps its own: no limit is ever broken by a follower."""
    velocity, acceleration = joint.velocity[0], joint.acceleration[0]
    if drive.ratio == 0.0:
        if not joint.lower[0] <= drive.offset <= joint.upper[0]:
            raise BodyError(f"mimic joint {joint.name!r} stands still at {drive.offset:g}, outside its own limits.")
        return
    ends = sorted((end - drive.offset) / drive.ratio for end in (joint.lower[0], joint.upper[0]))
    low, high = max(limits[0], ends[0]), min(limits[1], ends[1])
    slack = 1e-9 * (1.0 + abs(low))  # limits typed with few digits meet within rounding
    if low > high + slack:
        raise BodyError(
            f"mimic joint {joint.name!r} (limits {joint.lower[0]:g} to {joint.upper[0]:g}) can never follow {source!r} "
            f"(limits {limits[0]:g} to {limits[1]:g}) with multiplier {drive.ratio:g} and offset {drive.offset:g}. "
            "Correct the limits or the relation."
        )
    if high <= low + slack and limits[1] > limits[0] + slack:
        warnings.warn(
            f"mimic joint {joint.name!r} leaves its source {source!r} no room to move: only {low:g} satisfies both.",
            MemetikWarning,
            stacklevel=2,
        )
    limits[0], limits[1] = min(low, high), high
    limits[2] = min(limits[2], velocity / abs(drive.ratio))
    limits[3] = min(limits[3], acceleration / abs(drive.ratio))

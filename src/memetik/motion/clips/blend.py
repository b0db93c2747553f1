"""One clip after another: steps in time with each other, the speed of the root between both, and feet that stand still.

While clip a fades into clip b with a share s, both go through the phases of their steps together. With the time that each takes
for a phase, da/dp and db/dp,

    dp/dt = 1 / ((1 - s) da/dp + s db/dp)

so the period goes from one to the other, the velocity of the root on the ground is ((1 - s) v_a da/dp + s v_b db/dp) dp/dt,
which lies between v_a and v_b, and postures are blended with the root taken out. Feet are locked where that makes them slide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from memetik.body import Body
from memetik.errors import ProblemError
from memetik.motion.clips.lock import Mask, runs
from memetik.motion.clips.root_path import along, floating_joint, path_from, path_of, steps_of
from memetik.motion.clips.turns import blended
from memetik.types import Array

SUBSTEPS = 8  # of a frame, in which phases are integrated
LEAST_PART = 0.15  # of a period; touch-downs of two feet that are nearer to each other tell no phase apart


class Timing(NamedTuple):
    """Frames of a result: the times of both clips in each, and the share of the second."""

    first: Array  # (n,) [s]
    second: Array  # (n,) [s]
    share: Array  # (n,), 0 the first, 1 the second


class Phases(NamedTuple):
    """The phase of a clip over time: whole numbers where its first foot touches down."""

    times: Array  # (k,) [s]
    phases: Array  # (k,)

    def phase(self, time: float) -> float:
        """The phase at a time; it goes on evenly before the first and after the last step."""
        return _extended(time, self.times, self.phases)

    def time(self, phase: float) -> float:
        """When the clip has a phase [s]."""
        return _extended(phase, self.phases, self.times)

    def slope(self, phase: float) -> float:
        """How long a unit of phase takes there [s]."""
        if not self.phases[0] <= phase <= self.phases[-1]:
            return float((self.times[-1] - self.times[0]) / (self.phases[-1] - self.phases[0]))
        k = int(np.clip(np.searchsorted(self.phases, phase, side="right") - 1, 0, len(self.times) - 2))
        return float((self.times[k + 1] - self.times[k]) / (self.phases[k + 1] - self.phases[k]))


def phases_of(times: Array, stands: Sequence[Mask]) -> tuple[Array, list[float]] | None:
    """Return the touch-downs of the first foot [s], and which part of a period later others touch down; None without steps."""
    downs = [np.array([times[a] for a, _ in runs(each) if a > 0]) for each in stands]
    if not downs or len(downs[0]) < 2:
        return None
    first = downs[0]
    late = []
    for other in downs[1:]:
        inside = other[(other >= first[0]) & (other < first[-1])]
        k = np.searchsorted(first, inside, side="right") - 1
        parts = (inside - first[k]) / (first[k + 1] - first[k])
        late.append(float(np.median(parts)) if len(parts) else math.nan)
    return first, late


def matched(times: tuple[Array, Array], stands: tuple[Sequence[Mask], Sequence[Mask]]) -> tuple[Phases, Phases] | None:
    """The phases of two clips, from when the same feet stand in both; None if one of them makes no steps."""
    one, other = (phases_of(t, s) for t, s in zip(times, stands, strict=True))
    if one is None or other is None:
        return None
    found = []
    for (first, own), moments, feet in zip((one, other), times, stands, strict=True):
        knots = {float(k): float(t) for k, t in enumerate(first)}
        for foot, late, a, b in zip(feet[1:], own, one[1], other[1], strict=True):
            # A phase of its own where both clips have it at about the same part of their periods.
            if not (min(a, b) > LEAST_PART and max(a, b) < 1.0 - LEAST_PART and abs(a - b) < LEAST_PART):
                continue
            downs = np.array([moments[start] for start, _ in runs(foot) if start > 0])
            for k, (t, after) in enumerate(pairwise(first)):
                inside = downs[(downs > t) & (downs < after)]
                if len(inside) == 1 and abs((inside[0] - t) / (after - t) - late) < LEAST_PART:
                    knots[k + 0.5 * (a + b)] = float(inside[0])
        phases = np.array(sorted(knots))
        found.append(Phases(np.array([knots[p] for p in phases]), phases))
    return found[0], found[1]


def timing(first: Array, second: Array, overlap: float, step: float, phases: tuple[Phases, Phases] | None) -> Timing:
    """When each frame of the result is in both clips; `first` and `second` are their times."""
    end, last = float(first[-1]), float(second[-1])
    meet = end - overlap
    if phases is None:
        evenly = np.array([0.0, 1.0])
        one, other = Phases(meet + evenly, evenly), Phases(float(second[0]) + evenly, evenly)
    else:
        one, other = phases
    grid = float(first[0]) + step * np.arange(math.floor((meet - float(first[0])) / step + 1e-6) + 1)
    a = float(grid[-1])
    phase = one.phase(a)
    # The second clip begins where it has the same phase, as early as it can.
    late = math.ceil(other.phase(float(second[0])) - phase - 1e-9) if phases is not None else 0
    b = other.time(phase + late)
    if b + overlap > last + 1e-9:  # it is too short to be entered elsewhere
        b = float(second[0])
        late = 0
        phase_b = other.phase(b)
    else:
        phase_b = phase + late
    rows = [(t, b, 0.0) for t in grid]
    while b < last - 1e-9:
        for _ in range(SUBSTEPS):
            s = _fade((a - meet) / overlap)
            each = step / SUBSTEPS / ((1.0 - s) * one.slope(phase) + s * other.slope(phase_b))
            phase, phase_b = phase + each, phase_b + each
            a, b = one.time(phase), other.time(phase_b)
        if b > last + 1e-6:
            break
        rows.append((min(a, end), min(b, last), _fade((a - meet) / overlap)))
    columns = np.array(rows).T
    return Timing(*columns)


def mixed(body: Body, upright: Array, q: tuple[Array, Array], share: Array) -> Array:
    """Joint vectors (n, dof) between those of two clips by a share (n,); the root goes with a velocity between theirs.

    upright: how the root is turned when the body is upright and faces along x (3, 3). Until the share is above 0, the first clip
    stays as it is; where it is 1, the second one is moved along the ground and turned.
    """
    root = floating_joint(body)
    if root is None:
        return blended(body, q[0], q[1], share)
    paths = [path_of(body.forward(each, root.child), upright) for each in q]
    middle = 0.5 * (share[1:] + share[:-1])[:, None]
    steps = (1.0 - middle) * steps_of(paths[0]) + middle * steps_of(paths[1])
    path = path_from(paths[0][0], steps)
    path = np.where(np.logical_or.accumulate(share > 0.0)[:, None], path, paths[0])
    # Both are moved to where the result is, so that the root has nothing left to blend but its height and how it leans.
    there = [along(body, each, own, path) for each, own in zip(q, paths, strict=True)]
    return np.where((share == 0.0)[:, None], q[0], blended(body, there[0], there[1], share))


def require_same_body(body: Body, other: Body, who: str) -> None:
    """Raise if two bodies differ in what joint vectors mean, and say what differs."""
    if body is other:
        return
    differs = None
    if body.joint_names != other.joint_names:
        lacks = [name for name in body.joint_names if name not in other.joint_names]
        more = [name for name in other.joint_names if name not in body.joint_names]
        differs = (
            f"joint {(lacks or more)[0]!r} is in one of them only" if lacks or more else "joints come in another order"
        )
    for joint in body.joints.values():
        if differs:
            break
        there = other.joints.get(joint.name)
        if there is None or there.parent != joint.parent or there.child != joint.child:
            differs = f"joint {joint.name!r} leads between other links"
        elif (
            there.kind != joint.kind or there.order != joint.order or not np.allclose(there.axis, joint.axis, atol=1e-6)
        ):
            differs = f"joint {joint.name!r} is another kind of joint, or turns about another axis"
        elif (apart := float(np.abs(there.origin - joint.origin).max())) > 1e-4:
            gap = float(np.linalg.norm(there.origin[:3, 3] - joint.origin[:3, 3]))
            differs = f"joint {joint.name!r} sits {1e3 * gap:.1f} mm away, or turned by another angle ({apart:.4f} in its matrix)"
    if differs:
        raise ProblemError(
            f"{who}: the motions are of different bodies, {body.name!r} and {other.name!r}: {differs}. Retarget one of them "
            "to the other's body first: mk.retarget(motion, body)."
        )


def _fade(share: float) -> float:
    s = min(max(share, 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s) if s < 1.0 - 1e-9 else 1.0


def _extended(x: float, xs: Array, ys: Array) -> float:
    """Linear between knots, and beyond them with the mean slope."""
    slope = (ys[-1] - ys[0]) / (xs[-1] - xs[0])
    if x < xs[0]:
        return float(ys[0] + slope * (x - xs[0]))
    if x > xs[-1]:
        return float(ys[-1] + slope * (x - xs[-1]))
    return float(np.interp(x, xs, ys))

"""Walks and runs out of nothing: feet on simple paths, for trying things out where no clip is at hand."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Body, Frame
from memetik.errors import ProblemError
from memetik.geometry import axis_angle, invert
from memetik.geometry.checks import instance, mapping, real_number, whole_number
from memetik.motion.clips.contacts import checked_above_zero
from memetik.motion.clips.legs import leg_bases, leg_problem
from memetik.motion.clips.motion import Motion
from memetik.solvers.bind import bind
from memetik.types import Array

MOST_FRAMES = 1_000_000


def gait(
    body: Body, feet: Mapping[str | Frame, float], *, stride: float = 0.6, period: float = 1.0, duty: float = 0.6,
    height: float = 0.08, crouch: float = 0.04, tilt: float = 0.5, ball: float = 0.1, cycles: int = 2, rate: float = 60.0,
    start: ArrayLike | None = None,
) -> Motion:  # fmt: skip
    """A legged body that walks straight ahead along x, on flat ground: legs are solved for feet on simple paths.

    body: with a floating base, such as mk.load("kyle", base="floating").
    feet: a frame at the contact point of each sole, and its phase: the share of a period by which it is later.
    stride: from one footprint of a foot to its next [m]; the body moves at stride / period.
    period: from one step of a foot to its next [s].
    duty: the share of it during which a foot stands; below 0.5 two feet are in the air at times, which is a run.
    height: of a foot in the middle of its swing [m].
    crouch: how much lower the root is than in `start` [m], which leaves the legs something to stretch.
    tilt: by how much a foot has rolled over its toes when it lifts off [rad].
    ball: what it rolls over, in front of its contact point [m].
    cycles, rate: how many periods, at how many frames a second [Hz].
    start: the posture at rest, home unless given; the feet stand as in it.

    Raises ProblemError if a leg cannot reach its foot; then the stride is too long or the crouch too low.
    """
    own = instance(body, Body, ProblemError, "a body. Give mk.load(..., base='floating').")
    given = mapping(feet, ProblemError, "gait: feet", "{'left_foot': 0.0, 'right_foot': 0.5}")
    if not given:
        raise ProblemError("gait: feet is empty. Name the frame of each foot and its phase.")
    far, long = checked_above_zero(stride, "gait: stride", "m"), checked_above_zero(period, "gait: period", "s")
    share, each = real_number(duty, ProblemError, "gait: duty"), checked_above_zero(rate, "gait: rate", "frames/s")
    if not 0.05 <= share <= 0.95:
        raise ProblemError(f"gait: duty is {share}. Give a share from 0.05 to 0.95.")
    numbers = (real_number(value, ProblemError, f"gait: {what}") for value, what in (
        (height, "height"), (crouch, "crouch"), (tilt, "tilt"), (ball, "ball")))  # fmt: skip
    high, low, *roll = numbers
    whole = whole_number(cycles, ProblemError, "gait: cycles", least=1, most=10_000)
    rest = own.clip(own.home if start is None else start)
    frames = whole * long * each
    if not frames <= MOST_FRAMES:
        raise ProblemError(
            f"gait: {whole} periods of {long:g} s at {each:g} frames/s are more than {MOST_FRAMES:,} frames. Give fewer."
        )
    times = np.arange(math.floor(frames + 1e-6) + 1) / each
    still = Motion(own, times, np.tile(rest, (len(times), 1)))
    ahead = (far / long) * times
    clip = _moved_root(still, np.stack([ahead, 0 * ahead, np.full(len(times), -low)], axis=1))
    soles = [own.frame(foot) for foot in given]
    q = clip.q.copy()
    for frame, base, late in zip(soles, leg_bases(own, soles), given.values(), strict=True):
        columns, leg = leg_problem(own, frame, base)
        step = bind(leg, *leg.objectives)
        behind = real_number(late, ProblemError, f"gait: phase of {frame}")
        phases = times / long - behind
        home, bases = own.forward(rest, frame), clip.poses(base)
        home[0, 3] += far * behind
        last = rest[columns]
        for k, (moment, place) in enumerate(zip(phases, bases, strict=True)):
            target = _foot(home, moment, far, share, high, (roll[0], roll[1]))
            last = step(invert(place) @ target, last)
            if not step.success:
                raise ProblemError(
                    f"gait: foot {frame} cannot reach its place at {times[k]:.2f} s. Give a shorter stride or another crouch."
                )
            q[k, columns] = last
    return clip.with_q(q)


def _foot(home: Array, phase: float, stride: float, duty: float, height: float, roll: tuple[float, float]) -> Array:
    """The pose of a foot: it stands for a share of the cycle, rolls over its toes, then swings to its next footprint."""
    cycle, part = math.floor(phase), phase - math.floor(phase)
    stand, swing = min(1.0, part / duty), max(0.0, (part - duty) / (1.0 - duty))
    # Quintic: no velocity and no acceleration at both ends.
    gone = swing**3 * (10.0 - 15.0 * swing + 6.0 * swing**2)
    late = max(0.0, 2.0 * stand - 1.0)
    tilt, ball = roll
    angle = tilt * (late**2 * (3.0 - 2.0 * late) if swing == 0.0 else (1.0 - swing) ** 2 * (1.0 + 2.0 * swing))
    pose = home.copy()
    # In the middle of its stand the foot is where it is at rest.
    pose[0, 3] += stride * (cycle + gone + 0.5 * duty)
    pose[2, 3] += height * 64.0 * (swing * (1.0 - swing)) ** 3
    turn = axis_angle(home[:3, 1], angle)
    toes = ball * home[:3, 0]
    pose[:3, :3], pose[:3, 3] = turn @ home[:3, :3], pose[:3, 3] + toes - turn @ toes
    return pose


def _moved_root(motion: Motion, offsets: Array) -> Motion:
    """The root moved by an offset in each frame [m]."""
    first = motion.body.index(motion.root.variables[0])
    q = motion.q.copy()
    for axis in range(3):
        along = (motion.moved(np.eye(3)[axis]).q - motion.q)[:, first : first + 3]
        q[:, first : first + 3] += offsets[:, axis : axis + 1] * along
    return motion.with_q(q)

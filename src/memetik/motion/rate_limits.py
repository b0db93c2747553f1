"""Velocity, acceleration and jerk that joints may have: what a caller gives, else what the body says, else a default.

A body from a URDF rarely has accelerations and often has no velocities, or zeros that only fill the place of a number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.body import Body
from memetik.errors import ProblemError, known, shown, warn
from memetik.geometry.checks import real_array, real_number
from memetik.types import Array

Limits = float | Mapping[str, float] | ArrayLike | None  # one number, some joints by name, or one number for each joint

TURN_VELOCITY = math.pi  # rad/s, for joints whose velocity nobody gives: half a turn a second
SLIDE_VELOCITY = 1.0  # m/s
AT_ONCE = 1e12  # rad/s2 or m/s2 in kernels, for joints without a limit: their full velocity within any tick
LONGEST_WINDOW = 10**6  # ticks
SPEED_UP = 0.2  # s from rest to full velocity, for joints whose acceleration nobody gives


class RateLimits(NamedTuple):
    """One number for each entry of a joint vector, above zero; an infinite acceleration or jerk is no limit."""

    velocity: Array  # rad/s or m/s
    acceleration: Array  # rad/s2 or m/s2
    jerk: Array  # rad/s3 or m/s3


def rate_limits(body: Body, velocity: Limits, acceleration: Limits, jerk: Limits, who: str) -> RateLimits:
    """What holds for every joint; `who` asks, for the message.

    Velocity: given, or the body's, or pi rad/s and 1 m/s. Acceleration: given, or the body's, or what reaches the
    velocity in 0.2 s; a given infinity is no limit. Jerk: given, or without limit.
    """
    turns = body.variables.turns
    fastest = _chosen(body, velocity, body.variables.velocity, "velocity", who)
    fastest = np.where(np.isfinite(fastest), fastest, np.where(turns, TURN_VELOCITY, SLIDE_VELOCITY))
    hardest = _chosen(body, acceleration, body.variables.acceleration, "acceleration", who)
    hardest = np.where(np.isnan(hardest), fastest / SPEED_UP, hardest)
    changes = _chosen(body, jerk, np.full(body.dof, math.nan), "jerk", who)
    return RateLimits(fastest, hardest, np.where(np.isnan(changes), math.inf, changes))


def windows_of(limits: RateLimits, rate: float, who: str) -> NDArray[np.int64]:
    """Return the number of ticks over which each joint is averaged to keep its limit on jerk; `who` asks, for the message."""
    seconds = np.where(np.isinf(limits.jerk), 0.0, 2.0 * np.minimum(limits.acceleration, AT_ONCE) / limits.jerk)
    windows = np.maximum(np.ceil(seconds * rate * (1.0 - 1e-12)), 1.0)
    if not windows.max(initial=1.0) <= LONGEST_WINDOW:
        raise ProblemError(
            f"{who}: with a jerk of {limits.jerk.min():g} the acceleration takes {windows.max() / rate:g} s to "
            "change. Give a larger jerk, or a smaller acceleration."
        )
    found: NDArray[np.int64] = windows.astype(np.int64)
    return found


def per_joint(body: Body, given: object, missing: Array, what: str) -> Array:
    """A number for each joint: one for all, some by name (the others as in `missing`), or an array."""
    if isinstance(given, Mapping):
        values = missing.copy()
        for name, value in given.items():
            known(name, body.joint_names, "joint", f"body {body.name!r}")
            values[body.index(name)] = real_number(value, ProblemError, f"{what} of joint {name!r}")
        return values
    numbers = real_array(given, ProblemError, f"{what} is one number, numbers by joint, or an array")
    if numbers.ndim == 0:
        return np.full(body.dof, real_number(given, ProblemError, what))
    if numbers.shape != (body.dof,):
        raise ProblemError(
            f"{what} has shape {numbers.shape}, but body {body.name!r} has {body.dof} free joints. Give one number for "
            f"each of body.joint_names, or some by name: {{{body.joint_names[0] if body.dof else 'joint'!r}: 1.0}}."
        )
    return numbers.copy()


def _chosen(body: Body, given: Limits, own: Array, quantity: str, who: str) -> Array:
    """What is given, or the body's own, where a zero only fills a place; NaN where there is neither."""
    zero = own == 0.0
    chosen = np.where(zero | np.isinf(own), math.nan, own)
    if given is None:
        named = np.zeros(body.dof, dtype=bool)
    else:
        what = f"{who}: {quantity}"
        chosen = per_joint(body, given, chosen, what)
        named = (
            np.array([name in given for name in body.joint_names])
            if isinstance(given, Mapping)
            else ~np.zeros_like(zero)
        )
        bad = np.flatnonzero(named & ~(chosen > 0.0))
        if len(bad):
            name = body.joint_names[bad[0]]
            raise ProblemError(
                f"{what} of joint {name!r} is {shown(float(chosen[bad[0]]))}; it must be above zero. Lock a joint "
                "that is to stand still."
            )
    unset = [name for name, missing in zip(body.joint_names, zero & ~named, strict=True) if missing]
    if unset:
        warn(
            f"{who}: the body has a {quantity} limit of 0 for {', '.join(map(repr, unset[:4]))}"
            f"{' and others' if len(unset) > 4 else ''}, which would never move. A default is used instead, unless "
            f"{quantity}= says otherwise."
        )
    return chosen

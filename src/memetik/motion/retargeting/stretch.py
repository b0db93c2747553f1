"""Frames with as much more time as their joints need to keep the limits of velocity and acceleration."""

from __future__ import annotations

import numpy as np

from memetik.body import Body
from memetik.motion.clips.turns import balls_of
from memetik.types import Array

SPARE = 1.0 + 1e-9  # more time than is needed, so that rounding does not count
ROUNDS = 60  # steps are lengthened where joints accelerate too hard, at most so often; then all of them at once


def stretched(body: Body, times: Array, q: Array) -> Array:
    """Times (frames,) [s] of the same postures, no two frames nearer to each other than they were."""
    if len(times) < 2:
        return times
    limits = body.variables.velocity, body.variables.acceleration
    velocity, acceleration = (np.where(each > 0.0, each, np.inf) for each in limits)
    counts = np.ones(body.dof, dtype=bool)
    for ball in balls_of(body):
        counts[ball.columns] = False
    moved = np.diff(q[:, counts], axis=0)
    steps = np.maximum(np.diff(times), SPARE * (np.abs(moved) / velocity[counts]).max(axis=1, initial=0.0))
    if np.isfinite(acceleration[counts]).any() and len(times) > 2:
        for _ in range(ROUNDS):
            share = _hardest(moved, steps, acceleration[counts])
            if share.max() <= 1.0:
                break
            factor = np.sqrt(np.maximum(share, 1.0)) * SPARE
            steps = steps * np.maximum(np.append(factor, 1.0), np.insert(factor, 0, 1.0))
        steps = steps * max(1.0, float(np.sqrt(_hardest(moved, steps, acceleration[counts]).max()))) * SPARE
    return np.asarray(times[0] + np.concatenate(([0.0], np.cumsum(steps))))


def _hardest(moved: Array, steps: Array, limits: Array) -> Array:
    """The largest acceleration at each inner frame as a share of its limit (frames - 2,)."""
    velocity = moved / steps[:, None]
    acceleration = np.abs(np.diff(velocity, axis=0)) / (0.5 * (steps[1:] + steps[:-1]))[:, None]
    return np.asarray((acceleration / limits).max(axis=1))

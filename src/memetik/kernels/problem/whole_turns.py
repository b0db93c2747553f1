"""Joints that can turn by a whole turn: as far as postures go they have no limits, since each angle has a copy within.

A method that stops such a joint at its limit is stuck at a wall that is not there. Of random poses of a UR5, most of whose
joints turn twice, one try of damped least squares solves 53 % with these walls and 88 % without.
"""

from __future__ import annotations

import math

from memetik.kernels.compiler.jit import jit

WHOLE_TURN = 2.0 * math.pi - 1e-6  # rad; files give limits to so many digits


@jit
def turns_freely(bounds, k):
    """Whether whole turns do not matter for variable k (bounds row 4) and its limits leave room for one."""
    return bounds[4, k] != 0.0 and bounds[1, k] - bounds[0, k] > WHOLE_TURN


@jit
def bring_within(value, bounds, k):
    """A value of variable k within its limits: by whole turns where they are free, else at the limit that it passed."""
    if turns_freely(bounds, k):
        if value > bounds[1, k]:
            value -= 2.0 * math.pi * math.ceil((value - bounds[1, k]) / (2.0 * math.pi))
        elif value < bounds[0, k]:
            value += 2.0 * math.pi * math.ceil((bounds[0, k] - value) / (2.0 * math.pi))
    return min(max(value, bounds[0, k]), bounds[1, k])


@jit
def turn_back(x, bounds):
    """Turn every joint that stands at a limit once round, if it may: the posture stays, and both ways are open again."""
    for k in range(x.size):
        if turns_freely(bounds, k):
            if x[k] >= bounds[1, k]:
                x[k] = max(x[k] - 2.0 * math.pi, bounds[0, k])
            elif x[k] <= bounds[0, k]:
                x[k] = min(x[k] + 2.0 * math.pi, bounds[1, k])


@jit
def open_limits(bounds, lower, upper):
    """Write the limits for a search that takes whole turns off its answer: none for joints that turn freely."""
    for k in range(lower.size):
        free = turns_freely(bounds, k)
        lower[k] = -math.inf if free else bounds[0, k]
        upper[k] = math.inf if free else bounds[1, k]

"""The fastest way along a joint path within limits of velocity and acceleration: TOPP-RA (Pham and Pham 2018).

A path q(s) is run through by a parameter s(t). With x the square of ds/dt and u its second derivative, a joint obeys

    |q'| sqrt(x) <= v        |q' u + q'' x| <= a

which are lines in the plane of x and u. Between two grid points, d apart, u is constant, so x grows by 2 d u. Backwards
from rest at the end, the largest x at each grid point from which the next one's can be entered is a linear programme of two
variables. Forwards from rest at the start, the largest u that stays below these is taken.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Body
from memetik.errors import ProblemError, shown
from memetik.geometry.checks import real_array, real_number
from memetik.motion.spline import FINE, Spline, finer, spline_through
from memetik.motion.trajectory import Timing, Trajectory
from memetik.types import Array

Limits = float | Mapping[str, float] | ArrayLike | None  # of each joint: one for all, by name, an array, or the body's

DEFAULT = 1.0  # rad/s, m/s and their like per second, where the body says nothing
MOST = 1e6  # of a limit, beyond which there is none
GRID = 400  # points at least, of which a path of few postures gets more between them
STILL = 1e-6  # a step shorter than this share of the usual one is none,
TINY = 1e-9  # and so is one that is shorter than this [rad or m]


def limits_of(body: Body, given: Limits, what: str) -> Array:
    """The limits of velocity or acceleration of every joint; the body's own where none are given, and DEFAULT without."""
    own = body.variables.velocity if what == "velocity" else body.variables.acceleration
    limits = np.where(np.isfinite(own), own, DEFAULT)
    if given is None:
        return limits
    if isinstance(given, Mapping):
        for name, value in given.items():
            limits[body.index(name)] = real_number(value, ProblemError, f"{what} of joint {name!r}")
    else:
        array = real_array(given, ProblemError, f"{what} must be numbers")
        if array.shape not in ((), (body.dof,)):
            raise ProblemError(
                f"{what} has shape {array.shape}. Give one number, one for each of {body.dof} joints, or a dict."
            )
        limits[:] = array
    sound = (limits >= 0.0) & (limits <= MOST)
    if not sound.all():
        bad = body.joint_names[int(np.flatnonzero(~sound)[0])]
        raise ProblemError(
            f"{what} of joint {bad!r} must be zero or positive and at most {MOST:g}, not {shown(given)}."
        )
    return limits


def retime(body: Body, path: Array, velocity: Limits, acceleration: Limits) -> Trajectory:
    """The path (steps, dof) in the least time, from rest to rest."""
    v, a = limits_of(body, velocity, "velocity"), limits_of(body, acceleration, "acceleration")
    moving = np.ptp(path, axis=0) > 0.0
    stuck = np.flatnonzero(moving & ((v == 0.0) | (a == 0.0)))
    if stuck.size:
        raise ProblemError(
            f"joint {body.joint_names[stuck[0]]!r} moves along the path, but its limit of velocity or acceleration is zero. "
            "Lock it in the problem, or give it limits."
        )
    # The parameter is the largest change of a joint, summed up; steps in which nothing moves have no part in it.
    lengths = np.max(np.abs(np.diff(path[:, moving], axis=0)), axis=1, initial=0.0)
    usual = float(np.median(lengths[lengths > 0.0])) if (lengths > 0.0).any() else 0.0
    kept = lengths > max(STILL * usual, TINY)
    if not kept.any():
        still = np.zeros(len(path))
        alone = Spline(np.array([0.0, 1.0]), path[[0, 0]], np.zeros((2, body.dof)))
        timing = Timing(alone, np.array([0.0, 1.0]), np.array([-1.0, 0.0]), np.zeros(2))
        return Trajectory(still, path.copy(), np.zeros_like(path), np.zeros_like(path), timing)
    rows = np.append(0, np.flatnonzero(kept) + 1)  # postures that are knots
    knots = np.append(0.0, np.cumsum(lengths[kept]))
    spline = spline_through(knots, path[rows], body.lower, body.upper)
    s = finer(knots, max(1, -(-GRID // len(lengths))))
    speed = np.sqrt(_squared_speeds(spline, s, moving, v, a))
    times = np.append(0.0, np.cumsum(2.0 * np.diff(s) / (speed[1:] + speed[:-1])))
    stretch = _excess(spline, s, speed, moving, v, a)
    timing = Timing(spline, s, times * stretch, speed / stretch)
    due = np.interp(knots, s, timing.times)[np.cumsum(np.append(0, kept))]
    _, qd, qdd = timing.at(due)
    return Trajectory(due, path.copy(), qd, qdd, timing)


def _squared_speeds(spline: Spline, s: Array, moving: Array, v: Array, a: Array) -> Array:
    """The squared speed of the parameter at every grid point."""
    d, piece = np.diff(s), spline.pieces(s[:-1])
    _, first, second = (rows[:, moving] for rows in spline.at(s[:-1], piece))
    _, last_first, last_second = (rows[:, moving] for rows in spline.at(s[1:], piece))
    v, a = v[moving], a[moving]
    ends = np.concatenate([first, last_first[-1:]])
    fastest = np.maximum(np.abs(ends), np.abs(np.concatenate([first[:1], last_first])))  # on both sides of a knot
    most = ((v / np.maximum(fastest, 1e-12)) ** 2).min(axis=1)
    # Lines f u + g x <= h: both ends of each part, both signs.
    f = np.hstack([first, last_first + 2.0 * d[:, None] * last_second])
    g = np.hstack([second, last_second])
    f, g, h = np.hstack([f, -f]), np.hstack([g, -g]), np.tile(a, 4)
    x = np.zeros(len(s))
    for i in range(len(d) - 1, -1, -1):
        x[i] = min(most[i], _largest(f[i], g[i], h, d[i], x[i + 1]))
    top = x.copy()
    x[0] = 0.0
    for i in range(len(d)):
        above = f[i] > 1e-12
        u = min(((h - g[i] * x[i])[above] / f[i][above]).min(initial=np.inf), (top[i + 1] - x[i]) / (2.0 * d[i]))
        x[i + 1] = min(max(x[i] + 2.0 * d[i] * u, 0.0), top[i + 1])
    return x


def _largest(f: Array, g: Array, h: Array, d: float, end: float) -> float:
    """The largest x for which some u keeps f u + g x <= h and 0 <= x + 2 d u <= end."""
    f, g, h = np.append(f, (2.0 * d, -2.0 * d)), np.append(g, (1.0, -1.0)), np.append(h, (end, 0.0))
    above, below = f > 1e-12, f < -1e-12
    flat = ~(above | below) & (g > 0.0)
    best = float((h[flat] / g[flat]).min(initial=np.inf))
    # u <= c - k x from lines above, u >= c - k x from those below: where each pair meets, x ends.
    cu, ku = h[above] / f[above], g[above] / f[above]
    cl, kl = h[below] / f[below], g[below] / f[below]
    slope = ku[:, None] - kl[None, :]
    room = cu[:, None] - cl[None, :]
    closing = slope > 1e-15
    return min(best, float((room[closing] / slope[closing]).min(initial=np.inf)))


def _excess(spline: Spline, s: Array, speed: Array, moving: Array, v: Array, a: Array) -> float:
    """By how much time must be stretched, 1 or more, so that no limit is broken between grid points either."""
    shares = np.linspace(0.0, 1.0, FINE + 1)
    worst = 1.0
    piece = spline.pieces(s[:-1])
    for share in shares:
        squared = speed[:-1] ** 2 + share * (speed[1:] ** 2 - speed[:-1] ** 2)  # x grows evenly with s
        u = (speed[1:] ** 2 - speed[:-1] ** 2) / (2.0 * np.diff(s))
        _, first, second = spline.at(s[:-1] + share * np.diff(s), piece)
        fast = np.abs(first[:, moving]) * np.sqrt(squared)[:, None] / v[moving]
        hard = np.abs(first[:, moving] * u[:, None] + second[:, moving] * squared[:, None]) / a[moving]
        worst = max(worst, float(fast.max()), float(np.sqrt(hard.max())))
    return worst * (1.0 + 1e-9)

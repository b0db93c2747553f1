"""The fastest way along a joint path within limits of velocity and acceleration: TOPP-RA (Pham and Pham 2018).

A path q(s) is run through by a parameter s(t). With x the square of ds/dt and u its second derivative, a joint obeys

    |q'| sqrt(x) <= v        |q' u + q'' x| <= a

which are lines in the plane of x and u. Between two grid points, d apart, u is constant, so x grows by 2 d u. Backwards
from rest at the end, the largest x at each grid point from which the next one's can be entered is a linear programme of two
variables. Forwards from rest at the start, the largest u that stays below these is taken.

Limits hold between grid points as well. There q is a cubic in s, so the acceleration is a quadratic, which lies between
the least and the greatest of its three Bernstein coefficients: these are what the lines limit. The velocity is greatest
at a grid point or where the acceleration is zero; where it is too great there, x is lowered at both ends.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.body import Body
from memetik.errors import ProblemError, shown
from memetik.geometry.checks import real_array, real_number
from memetik.motion.moving_average import moving_average, window_and_acceleration
from memetik.motion.rate_limits import per_joint
from memetik.motion.spline import Spline, finer, roots_within, spline_through
from memetik.motion.trajectory import Timing, Trajectory
from memetik.types import Array

Limits = float | Mapping[str, float] | ArrayLike | None  # of each joint: one for all, by name, an array, or the body's

DEFAULT = 1.0  # rad/s, m/s and their like per second, where the body says nothing
MOST = 1e6  # of a limit, beyond which there is none
LEAST = 1e-9  # rad/s^3 or m/s^3 that a limit of jerk allows
WITHIN = 1e-3  # rad or m that joints may be from the path where jerk is limited
GRID = 1200  # points along the path at least,
PARTS = 24  # and parts of each piece between two postures
FLAT = 1e-9  # slopes of a joint below it are zero
STILL = 1e-6  # postures nearer to each other than this share of the usual step are one,
TINY = 1e-9  # and so are those that are nearer than this [rad or m]
NEWTON = 50  # steps at most; rounding ends it after a few
ROUNDS = 3  # times that speeds are lowered where a joint is too fast between grid points


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


def retime(
    body: Body, path: Array, velocity: Limits, acceleration: Limits, jerk: Limits = None, within: float = WITHIN
) -> Trajectory:
    """Return the path (steps, dof) in the least time, from rest to rest.

    With a jerk, the path is passed within a distance [rad or m] of each joint, in a little more time (moving_average.py).
    """
    v, a = limits_of(body, velocity, "velocity"), limits_of(body, acceleration, "acceleration")
    broken = np.flatnonzero(~np.isfinite(path).all(axis=1))
    if broken.size:
        raise ProblemError(f"step {broken[0]} of the path has joint values that are not finite, so it has no duration.")
    moving = np.ptp(path, axis=0) > 0.0
    stuck = np.flatnonzero(moving & ((v == 0.0) | (a == 0.0)))
    if stuck.size:
        raise ProblemError(
            f"joint {body.joint_names[stuck[0]]!r} moves along the path, but its limit of velocity or acceleration is zero. "
            "Lock it in the problem, or give it limits."
        )
    window = 0.0
    if jerk is not None:
        window, a[moving] = window_and_acceleration(a[moving], jerk_limits(body, jerk)[moving], checked_within(within))
    kept = _distinct(path)
    values = path[kept]
    lower, upper = np.minimum(body.lower, path.min(axis=0)), np.maximum(body.upper, path.max(axis=0))
    if len(values) < 2:
        still = np.zeros(len(path))
        alone = Spline(np.array([0.0, 1.0]), path[[0, 0]], np.zeros((2, body.dof)))
        timing = Timing(alone, np.array([0.0, 1.0]), np.array([-1.0, 0.0]), np.zeros(2), lower, upper)
        return Trajectory(still, path.copy(), np.zeros_like(path), np.zeros_like(path), timing)
    # The parameter is the largest change of a joint, summed up.
    knots = np.append(0.0, np.cumsum(np.max(np.abs(np.diff(values, axis=0)), axis=1)))
    spline = spline_through(knots, values, lower, upper)
    s = finer(knots, np.maximum(np.ceil(GRID * np.diff(knots) / knots[-1]), PARTS).astype(np.int64))
    x = _squared_speeds(spline, s, moving, v, a)
    speed = np.sqrt(x)
    stretch = max(1.0, *(float(factors.max()) for factors in _excess(spline, s, x, moving, v, a))) * (1.0 + 1e-9)
    with np.errstate(divide="ignore"):
        times = np.append(0.0, np.cumsum(2.0 * np.diff(s) / (speed[1:] + speed[:-1]))) * stretch
    if not np.isfinite(times[-1]):
        raise ProblemError(
            "no finite duration of the path was found; its limits of velocity or acceleration may be too small."
        )
    exact = Timing(spline, s, times, speed / stretch, lower, upper)
    timed = moving_average(exact, window, np.where(moving, a, 0.0)) if window > 0.0 else exact
    due = np.interp(knots, s, timed.times)[np.cumsum(kept) - 1]
    q, qd, qdd = timed.at(due)
    return Trajectory(due, q if window > 0.0 else path.copy(), qd, qdd, timed)


def jerk_limits(body: Body, given: Limits) -> Array:
    """The limit of jerk of every joint, infinite for those that are not named."""
    limits = per_joint(body, given, np.full(body.dof, np.inf), "jerk")
    bad = np.flatnonzero(~(limits >= LEAST))
    if bad.size:
        raise ProblemError(
            f"jerk of joint {body.joint_names[bad[0]]!r} is {limits[bad[0]]}; it must be at least {LEAST} [rad/s^3 or m/s^3]."
        )
    return limits


def checked_within(given: float) -> float:
    """A distance that joints may be from a path [rad or m]."""
    within = real_number(given, ProblemError, "retime: within")
    if not 0.0 < within < np.inf:
        raise ProblemError(
            f"retime: within is {within}. Give how far joints may be from the path, above zero [rad or m]."
        )
    return within


def _distinct(path: Array) -> NDArray[np.bool_]:
    """Which postures (n,) are knots: the first, and each that differs from the knot before it. A slow drift adds up."""
    steps = np.max(np.abs(np.diff(path, axis=0)), axis=1, initial=0.0)
    least = max(STILL * float(np.median(steps[steps > 0.0])), TINY) if steps.any() else TINY
    kept = np.zeros(len(path), dtype=bool)
    kept[0], knot = True, path[0]
    for i, posture in enumerate(path):
        if np.max(np.abs(posture - knot), initial=0.0) > least:
            kept[i], knot = True, posture
    return kept


def _squared_speeds(spline: Spline, s: Array, moving: Array, v: Array, a: Array) -> Array:
    """Return the squared speed of the parameter at every grid point."""
    d, piece = np.diff(s)[:, None], spline.pieces(s[:-1])
    _, first, second = (rows[:, moving] for rows in spline.at(s[:-1], piece))
    _, last_first, last_second = (rows[:, moving] for rows in spline.at(s[1:], piece))
    ends = np.concatenate([first, last_first[-1:]])
    fastest = np.maximum(np.abs(ends), np.abs(np.concatenate([first[:1], last_first])))  # on both sides of a knot
    most = ((v[moving] / np.maximum(fastest, FLAT)) ** 2).min(axis=1)
    # |f u + g x| <= a for the three Bernstein coefficients of the acceleration on each part: |u + k x| <= c. Where f is so
    # small that a u which makes up for x would more than undo it within the part, x alone has to keep the limit.
    f = np.hstack([first, first + 1.5 * d * second, last_first + 2.0 * d * last_second])
    g = np.hstack([second, 0.5 * (second + last_second), last_second])
    h = np.tile(a[moving], 3)
    stiff = d * np.abs(g) > np.abs(f)
    most[:-1] = np.minimum(most[:-1], np.where(stiff, h / np.where(stiff, np.abs(g), 1.0), np.inf).min(axis=1))
    flat = np.abs(f) < FLAT
    c, k = np.where(flat, np.inf, h / np.where(flat, 1.0, np.abs(f))), np.where(flat, 0.0, g / np.where(flat, 1.0, f))
    x = _fastest(most, c, k, d)
    for _ in range(ROUNDS):
        over, _ = _excess(spline, s, x, moving, v, a)
        if over.max() <= 1.0:
            break
        share = np.maximum(over, 1.0) ** -2.0
        x = _fastest(np.minimum(np.append(share, 1.0), np.append(1.0, share)) * x, c, k, d)
    return x


def _fastest(most: Array, c: Array, k: Array, d: Array) -> Array:
    """Return the largest squared speeds x (n,) up to `most` that keep |u + k x| <= c and are zero at both ends."""
    rise = 0.5 / d  # u = rise (x of the next point - x)
    top = np.append(_passable(most[:-1], c, k, rise), 0.0)
    # Backwards: u >= -c - k x, and x + 2 d u at most the next one's x. Lines with k above `rise` do not bound x here.
    with np.errstate(divide="ignore"):
        scale = np.where(rise > k, 1.0 / (rise - k), np.inf)
    base, share = c * scale, np.where(np.isfinite(scale), rise * scale, 0.0)
    for i in range(len(d) - 1, -1, -1):
        top[i] = min(top[i], (base[i] + share[i] * top[i + 1]).min())
    x = np.zeros(len(top))
    for i in range(len(d)):
        u = (c[i] - k[i] * x[i]).min()
        x[i + 1] = min(max(x[i] + 2.0 * d[i, 0] * u, 0.0), top[i + 1])
    return x


def _passable(most: Array, c: Array, k: Array, rise: Array) -> Array:
    """Return the largest x up to `most` for which some u keeps |u + k x| <= c and x + 2 d u >= 0.

    The greatest lower bound of u less the least upper one is convex in x and negative at zero, so Newton's method from
    above comes down to where it is zero, in few steps because it is piecewise linear.
    """
    low, slope = np.hstack([-c, np.zeros_like(rise)]), np.hstack([k, rise])
    x, rows = most.copy(), np.arange(len(most))
    for _ in range(NEWTON):
        bounds, others = low - slope * x[:, None], c - k * x[:, None]
        i, j = bounds.argmax(axis=1), others.argmin(axis=1)
        gap = bounds[rows, i] - others[rows, j]
        steep = k[rows, j] - slope[rows, i]
        lower = np.where((gap > 0.0) & (steep > 0.0), x - gap / np.where(steep > 0.0, steep, 1.0), x)
        if not (lower < x).any():
            break
        x = lower
    return np.maximum(x, 0.0)


def _excess(spline: Spline, s: Array, x: Array, moving: Array, v: Array, a: Array) -> tuple[Array, Array]:
    """Return the factors (n - 1,) by which time between two grid points must be stretched, for the velocities and for the
    accelerations to keep their limits at every moment; below 1 there is time to spare."""
    piece, d = spline.pieces(s[:-1]), np.diff(s)[:, None]
    _, first, second = (rows[:, moving] for rows in spline.at(s[:-1], piece))
    _, _, last = (rows[:, moving] for rows in spline.at(s[1:], piece))
    x, rise = x[:-1, None], np.diff(x)[:, None]
    u = rise / (2.0 * d)
    # With t from 0 to 1: q' = first + p t + r t^2, and the squared speed x + rise t.
    p, r = d * second, 0.5 * d * (last - second)
    c0, c1, c2 = first * u + second * x, 3.0 * p * u + 2.0 * r * x / d, 5.0 * r * u  # of the acceleration
    ends = np.broadcast_to(np.array([0.0, 1.0])[:, None, None], (2, *c0.shape))
    t = np.concatenate([ends, roots_within(c1, 2.0 * c2, np.zeros_like(c2))])
    hard = np.abs(c0 + t * (c1 + t * c2)) / a[moving]
    t = np.concatenate([ends, roots_within(c0, c1, c2)])
    fast = np.abs(first + t * (p + t * r)) * np.sqrt(np.maximum(x + t * rise, 0.0)) / v[moving]
    return fast.max(axis=(0, 2)), np.sqrt(hard.max(axis=(0, 2)))

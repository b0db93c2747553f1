"""Limited jerk: a timed path averaged over a window of time, as Follower does it tick by tick.

With q(t) from rest to rest, |q'| <= v and |q''| <= a, its mean over the last W seconds

    p(t) = 1/W ∫ q(τ) dτ from t - W to t

has p' = (q(t) - q(t - W)) / W and p''' = (q''(t) - q''(t - W)) / W. So p keeps the limits of position, of v and of a, its jerk
is at most 2 a / W, it is at rest at both ends, and W / 2 later it is at most a W² / 24 from q: what a parabola is from its mean.

All joints have the same window, so that they stay together. The longer it is, the more acceleration the jerk allows, and the
less acceleration the distance from the path does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memetik.motion.spline import Spline
from memetik.motion.trajectory import Timing
from memetik.types import Array

# Between two grid points q(t) is a polynomial of degree 6, a cubic of a parabola, which four points integrate exactly.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)
_NODES, _WEIGHTS = 0.5 * (_NODES + 1.0), 0.5 * _WEIGHTS  # from -1 ... 1 to 0 ... 1


class MovingAverage(NamedTuple):
    """The mean of a timed path over a window, in place of its Timing."""

    timing: Timing
    window: float  # [s]
    deviation: Array  # (dof,) how far each joint may be from the path [rad or m]
    integrals: Array  # (g, dof) of the way from the first posture, up to each grid point [rad s or m s]

    @property
    def spline(self) -> Spline:
        """The path that is averaged."""
        return self.timing.spline

    @property
    def s(self) -> Array:
        """The grid of its parameter (g,)."""
        return self.timing.s

    @property
    def times(self) -> Array:
        """When each grid point is passed, but for the deviation [s]."""
        times = self.timing.times + 0.5 * self.window
        times[0], times[-1] = 0.0, self.timing.times[-1] + self.window
        return times

    def at(self, times: Array) -> tuple[Array, Array, Array]:
        """q, its velocity and acceleration (n, dof) at times (n,); at rest before the start and after the end."""
        timing, window = self.timing, self.window
        before, now = timing.at(times - window), timing.at(times)
        way = self._way(times) - self._way(times - window)
        q = np.clip(self._ends()[0] + way / window, timing.lower, timing.upper)
        return q, (now[0] - before[0]) / window, (now[1] - before[1]) / window

    def _ends(self) -> Array:
        return self.timing.at(self.timing.times[[0, -1]])[0]

    def _way(self, times: Array) -> Array:
        """The integral of the way from the first posture, up to these times."""
        timing, (first, last) = self.timing, self._ends()
        inside = np.clip(times, 0.0, timing.times[-1])
        i = np.clip(np.searchsorted(timing.times, inside, side="right") - 1, 0, len(timing.times) - 2)
        begin = timing.times[i]
        return (
            self.integrals[i]
            + _integral(timing, first, begin, inside - begin)
            + np.outer(np.maximum(times - inside, 0.0), last - first)
        )


def moving_average(timing: Timing, window: float, acceleration: Array) -> MovingAverage:
    """Return the mean of a timed path over a window [s]; its accelerations are at most `acceleration`."""
    first = timing.at(timing.times[:1])[0]
    steps = _integral(timing, first, timing.times[:-1], np.diff(timing.times))
    integrals = np.concatenate([np.zeros_like(first), np.cumsum(steps, axis=0)])
    return MovingAverage(timing, window, acceleration * window**2 / 24.0, integrals)


def window_and_acceleration(acceleration: Array, jerk: Array, within: float) -> tuple[float, Array]:
    """Return the window [s] that lets the slowest joint accelerate most, and the acceleration of each joint that keeps its jerk
    and stays within a distance [rad or m] of the path."""
    wanted = float((2.0 * acceleration / jerk).max(initial=0.0))
    if wanted == 0.0:
        return 0.0, acceleration
    window = min(wanted, float((24.0 * within * wanted / acceleration.max()) ** (1.0 / 3.0)))
    return window, np.minimum(np.minimum(acceleration, 0.5 * jerk * window), 24.0 * within / window**2)


def _integral(timing: Timing, first: Array, begin: Array, length: Array) -> Array:
    """The integrals (n, dof) of the way from the first posture over spans of time (n,), each between two grid points."""
    total = np.zeros((len(begin), timing.spline.values.shape[1]))
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        total += weight * (timing.at(begin + node * length)[0] - first)
    return total * length[:, None]

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

FEW = 8  # pieces of a window that are summed one by one; a longer window is a larger share of the path, and loses few digits


class MovingAverage(NamedTuple):
    """The mean of a timed path over a window, in place of its Timing."""

    timing: Timing
    window: float  # [s]
    deviation: Array  # (dof,) how far each joint may be from the path [rad or m]
    postures: Array  # (g, dof) of the path at the grid points [rad or m]
    steps: Array  # (g - 1, dof) integrals of the way from each grid point, up to the next [rad s or m s]

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
        q = np.clip(now[0] + self._way(times, now[0]) / window, timing.lower, timing.upper)
        return q, (now[0] - before[0]) / window, (now[1] - before[1]) / window

    def _way(self, times: Array, origins: Array) -> Array:
        """The integrals of q - origin over the windows that end at these times, from origins (n, dof) that are near.

        They are summed over the pieces within a window. A difference of integrals from the start on would lose digits as a path
        gets longer, and its second difference has to keep a limit.
        """
        timing, window, edges = self.timing, self.window, self.timing.times
        first, last, final = self.postures[0], self.postures[-1], len(edges) - 2
        way = np.clip(window - times, 0.0, window)[:, None] * (first - origins)
        way += np.clip(times - edges[-1], 0.0, window)[:, None] * (last - origins)
        begin, end = np.clip(times - window, 0.0, edges[-1]), np.clip(times, 0.0, edges[-1])
        i = np.clip(np.searchsorted(edges, begin, side="right") - 1, 0, final)
        j = np.clip(np.searchsorted(edges, end, side="right") - 1, 0, final)
        middle = np.where(i == j, end, edges[i + 1])
        way += _integral(timing, origins, begin, middle - begin)
        middle = np.where(i == j, end, edges[j])
        way += _integral(timing, origins, middle, end - middle)
        between = int((j - i).max(initial=0)) - 1
        if between <= FEW:
            for k in range(1, between + 1):
                piece = np.minimum(i + k, final)
                whole = self.steps[piece] + np.diff(edges)[piece, None] * (self.postures[piece] - origins)
                way += np.where((i + k < j)[:, None], whole, 0.0)
        else:
            sums = np.concatenate([np.zeros_like(first)[None], np.cumsum(self._from_first(), axis=0)])
            span = np.where(j > i, edges[j] - edges[np.minimum(i + 1, j)], 0.0)
            way += sums[j] - sums[np.minimum(i + 1, j)] + span[:, None] * (first - origins)
        return np.asarray(way)

    def _from_first(self) -> Array:
        """The integrals of the way from the first posture over each piece."""
        way: Array = self.postures[:-1] - self.postures[0]
        return np.asarray(self.steps + np.diff(self.timing.times)[:, None] * way)


def moving_average(timing: Timing, window: float, acceleration: Array) -> MovingAverage:
    """Return the mean of a timed path over a window [s]; its accelerations are at most `acceleration`."""
    postures = timing.at(timing.times)[0]
    steps = _integral(timing, postures[:-1], timing.times[:-1], np.diff(timing.times))
    return MovingAverage(timing, window, acceleration * window**2 / 24.0, postures, steps)


def window_and_acceleration(acceleration: Array, jerk: Array, within: float) -> tuple[float, Array]:
    """Return the window [s] that lets the slowest joint accelerate most, and the acceleration of each joint that keeps its jerk
    and stays within a distance [rad or m] of the path."""
    wanted = float((2.0 * acceleration / jerk).max(initial=0.0))
    if wanted == 0.0:
        return 0.0, acceleration
    window = min(wanted, float((24.0 * within * wanted / acceleration.max()) ** (1.0 / 3.0)))
    return window, np.minimum(np.minimum(acceleration, 0.5 * jerk * window), 24.0 * within / window**2)


def _integral(timing: Timing, origins: Array, begin: Array, length: Array) -> Array:
    """The integrals (n, dof) of q - origin over spans of time (n,), each between two grid points."""
    total = np.zeros((len(begin), timing.spline.values.shape[1]))
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        total += weight * (timing.at(begin + node * length)[0] - origins)
    return total * length[:, None]

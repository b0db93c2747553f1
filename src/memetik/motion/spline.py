"""Joint vectors as smooth functions of one parameter: cubics between knots, with their first and second derivatives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.types import Array


class Spline(NamedTuple):
    """Cubic pieces between knots, given by value and slope at each knot."""

    knots: Array  # (k,) rising
    values: Array  # (k, dof)
    slopes: Array  # (k, dof)

    def pieces(self, s: Array) -> NDArray[np.int64]:
        """The piece that each parameter lies in; a knot belongs to the piece that it begins."""
        return np.clip(np.searchsorted(self.knots, s, side="right") - 1, 0, len(self.knots) - 2)

    def at(self, s: Array, piece: NDArray[np.int64] | None = None) -> tuple[Array, Array, Array]:
        """q, q' and q'' (n, dof) at parameters (n,). `piece` says which side of a knot counts."""
        i = self.pieces(s) if piece is None else piece
        h = (self.knots[i + 1] - self.knots[i])[:, None]
        t = (s - self.knots[i])[:, None] / h
        c0, c1, c2, c3 = self.cubics(i)
        return (
            c0 + t * (c1 + t * (c2 + t * c3)),
            (c1 + t * (2.0 * c2 + 3.0 * t * c3)) / h,
            (2.0 * c2 + 6.0 * t * c3) / h**2,
        )

    def cubics(self, i: NDArray[np.int64]) -> tuple[Array, Array, Array, Array]:
        """Coefficients (n, dof) of c0 + c1 t + c2 t^2 + c3 t^3 on pieces (n,), where t runs from 0 to 1."""
        h = (self.knots[i + 1] - self.knots[i])[:, None]
        a, b = self.values[i], self.values[i + 1]
        ma, mb = self.slopes[i] * h, self.slopes[i + 1] * h
        return a, ma, 3.0 * (b - a) - 2.0 * ma - mb, ma + mb - 2.0 * (b - a)

    def ranges(self) -> tuple[Array, Array]:
        """The least and the greatest value of each joint on each piece, (k - 1, dof) each: exact, not sampled."""
        c0, c1, c2, c3 = self.cubics(np.arange(len(self.knots) - 1))
        t = roots_within(c1, 2.0 * c2, 3.0 * c3)
        course = np.concatenate([c0 + t * (c1 + t * (c2 + t * c3)), self.values[None, :-1], self.values[None, 1:]])
        return course.min(axis=0), course.max(axis=0)


def spline_through(knots: Array, values: Array, lower: Array, upper: Array) -> Spline:
    """Return the natural cubic spline through values, changed where a joint would leave its limits between knots.

    The pieces that leave them get the slopes of a monotone spline, which stays between neighbouring values; the second
    derivative jumps at their ends. Other pieces keep the natural slopes.
    """
    spline = Spline(knots, values, _natural_slopes(knots, values))
    low, high = np.minimum(lower, values.min(axis=0)), np.maximum(upper, values.max(axis=0))
    monotone, changed = _monotone_slopes(knots, values), np.zeros(values.shape, dtype=bool)
    while True:  # another slope at a knot changes the piece on its other side, too
        least, greatest = spline.ranges()
        outside = ((least < low) | (greatest > high)) & ~(changed[:-1] & changed[1:])
        if not outside.any():
            return spline
        changed[:-1] |= outside
        changed[1:] |= outside
        spline.slopes[changed] = monotone[changed]


def roots_within(c0: Array, c1: Array, c2: Array) -> Array:
    """Both roots (2, ...) of c0 + c1 t + c2 t^2 where they are between 0 and 1, else an end of that interval."""
    with np.errstate(all="ignore"):  # what is not a number is no root
        q = -0.5 * (c1 + np.copysign(np.sqrt(c1 * c1 - 4.0 * c0 * c2), c1))
        roots = np.stack([q / c2, c0 / q])
    return np.clip(np.nan_to_num(roots, nan=0.0), 0.0, 1.0)


def finer(knots: Array, parts: NDArray[np.int64]) -> Array:
    """Return the knots with piece i cut into parts[i] equal parts."""
    first = np.repeat(np.cumsum(parts) - parts, parts)
    shares = (np.arange(len(first)) - first) / np.repeat(parts, parts)
    return np.append(np.repeat(knots[:-1], parts) + np.repeat(np.diff(knots), parts) * shares, knots[-1])


def _natural_slopes(knots: Array, values: Array) -> Array:
    """Slopes at which second derivatives agree on both sides of each knot and vanish at the ends: a tridiagonal system."""
    h = np.diff(knots)
    chords = np.diff(values, axis=0) / h[:, None]
    n = len(knots)
    below, middle, above = np.ones(n), np.full(n, 2.0), np.ones(n)
    right = np.empty_like(values)
    right[0], right[-1] = 3.0 * chords[0], 3.0 * chords[-1]
    if n > 2:
        below[1:-1], middle[1:-1], above[1:-1] = h[1:], 2.0 * (h[:-1] + h[1:]), h[:-1]
        right[1:-1] = 3.0 * (h[1:, None] * chords[:-1] + h[:-1, None] * chords[1:])
    for i in range(1, n):
        share = below[i] / middle[i - 1]
        middle[i] -= share * above[i - 1]
        right[i] -= share * right[i - 1]
    right[-1] /= middle[-1]
    for i in range(n - 2, -1, -1):
        right[i] = (right[i] - above[i] * right[i + 1]) / middle[i]
    return right


def _monotone_slopes(knots: Array, values: Array) -> Array:
    """Slopes that keep each piece between its ends (Fritsch and Butland 1984): a weighted harmonic mean of the chords."""
    h = np.diff(knots)[:, None]
    chords = np.diff(values, axis=0) / h
    slopes = np.zeros_like(values)
    if len(knots) > 2:
        first, second = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
        before, after = chords[:-1], chords[1:]
        same = before * after > 0.0
        safe = np.where(same, first / np.where(same, before, 1.0) + second / np.where(same, after, 1.0), 1.0)
        slopes[1:-1] = np.where(same, (first + second) / safe, 0.0)
    return slopes

"""Joint vectors as smooth functions of one parameter: cubics between knots, with their first and second derivatives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.types import Array

FINE = 8  # points of each piece at which its course is checked


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
        a, b = self.values[i], self.values[i + 1]
        ma, mb = self.slopes[i] * h, self.slopes[i + 1] * h
        # The cubic a + t (ma + t (c2 + t c3)) that has these values and slopes at both ends.
        c2, c3 = 3.0 * (b - a) - 2.0 * ma - mb, ma + mb - 2.0 * (b - a)
        return (
            a + t * (ma + t * (c2 + t * c3)),
            (ma + t * (2.0 * c2 + 3.0 * t * c3)) / h,
            (2.0 * c2 + 6.0 * t * c3) / h**2,
        )


def spline_through(knots: Array, values: Array, lower: Array, upper: Array) -> Spline:
    """The natural cubic spline through values; a joint that would swing beyond its limits between knots gets one that never
    leaves the range of neighbouring values, whose second derivative jumps at knots."""
    smooth = Spline(knots, values, _natural_slopes(knots, values))
    between = smooth.at(finer(knots, FINE))[0]
    outside = ((between < lower) | (between > upper)).any(axis=0)
    smooth.slopes[:, outside] = _monotone_slopes(knots, values[:, outside])
    return smooth


def finer(knots: Array, parts: int) -> Array:
    """The knots, with every piece cut into equal parts."""
    shares = np.arange(parts) / parts
    return np.append((knots[:-1, None] + np.diff(knots)[:, None] * shares).ravel(), knots[-1])


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

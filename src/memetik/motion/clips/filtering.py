"""Clips whose joints are smoothed, and whose time runs faster and slower."""

from __future__ import annotations

import math

import numpy as np

from memetik.body import Body
from memetik.motion.clips.turns import balls_of, endless_of, quaternions, steady_turns
from memetik.types import Array

REACH = 4.0  # standard deviations of a Gaussian beyond which nothing is left


def low_pass(body: Body, q: Array, rate: float, cutoff: float) -> Array:
    """Joint vectors (n, dof) without what moves faster than a frequency [Hz], and without a delay.

    The filter is a Gaussian in time, whose response at the cutoff is 1/sqrt(2). Its weights are positive, so that it never
    overshoots a step. Rotations of ball joints are filtered as quaternions. At the ends rows go on by point reflection.
    """
    sigma = math.sqrt(math.log(2.0)) / (2.0 * math.pi * cutoff) * rate  # in frames
    half = max(1, math.ceil(REACH * sigma))
    weights = np.exp(-0.5 * (np.arange(-half, half + 1) / sigma) ** 2)
    weights /= weights.sum()
    rows = q.copy()
    endless = endless_of(body)
    rows[:, endless] = np.unwrap(rows[:, endless], axis=0)
    found = _averaged(rows, weights)
    for ball in balls_of(body):
        turned = quaternions(ball, q)
        flips = np.where((turned[1:] * turned[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
        turned[1:] *= np.cumprod(flips)[:, None]
        mean = _averaged(turned, weights)
        mean /= np.linalg.norm(mean, axis=1, keepdims=True)
        found[:, ball.columns] = steady_turns(ball.order, mean, q[0, ball.columns])
    return np.clip(found, np.minimum(body.lower, rows.min(axis=0)), np.maximum(body.upper, rows.max(axis=0)))


def _averaged(rows: Array, weights: Array) -> Array:
    """Weighted means of rows (n, k) around each."""
    half = len(weights) // 2
    if len(rows) == 1:
        return rows.copy()
    padded = np.pad(rows, ((half, half), (0, 0)), mode="reflect", reflect_type="odd")
    return np.stack([np.convolve(column, weights, mode="valid") for column in padded.T], axis=1)


def monotone(x: Array, y: Array, at: Array) -> Array:
    """The monotone cubic through points (k,), both increasing, at values (n,) between them (Fritsch and Carlson 1980)."""
    steps, slopes = np.diff(x), np.diff(y) / np.diff(x)
    ends = np.concatenate([slopes[:1], slopes[-1:]])
    before, after = 2.0 * steps[1:] + steps[:-1], steps[1:] + 2.0 * steps[:-1]
    inner = (before + after) / (before / slopes[:-1] + after / slopes[1:])
    tangents = np.concatenate([ends[:1], inner, ends[1:]])
    i = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(steps) - 1)
    h = steps[i]
    t = (at - x[i]) / h
    return np.asarray(
        (1.0 + 2.0 * t) * (1.0 - t) ** 2 * y[i]
        + t * (1.0 - t) ** 2 * h * tangents[i]
        + t * t * (3.0 - 2.0 * t) * y[i + 1]
        + t * t * (t - 1.0) * h * tangents[i + 1]
    )

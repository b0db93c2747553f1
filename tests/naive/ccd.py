"""Twin of the CCD sweep: every joint is tried at three values, a wave or a parabola is laid through its loss, and the best
value taken; all of it with plain forward kinematics of the whole body, each time.
"""

from __future__ import annotations

import math

import numpy as np

from tests.naive.kinematics import pose


class Point:
    """A link should be at a point: |p - y|^2."""

    def __init__(self, link, target, weight):
        self.link, self.target, self.weight = link, np.asarray(target), weight

    def loss(self, frame, before):
        gap = frame[:3, 3] - self.target
        return self.weight * gap @ gap


class Turn:
    """A link should have a rotation: 3 - tr(A^T R) = 2 (1 - cos)."""

    def __init__(self, link, target, weight):
        self.link, self.target, self.weight = link, np.asarray(target), weight

    def loss(self, frame, before):
        return self.weight * (3.0 - np.trace(self.target.T @ frame[:3, :3]))


class Arrow:
    """An axis of a link should have a direction: |a - d|^2."""

    def __init__(self, link, axis, target, weight):
        self.link, self.axis, self.target, self.weight = link, np.asarray(axis), np.asarray(target), weight

    def loss(self, frame, before):
        gap = frame[:3, :3] @ self.axis - self.target
        return self.weight * gap @ gap


class Gaze(Arrow):
    """A rod along an axis, as long as the way to a point before the joint moves, should end there: |p + l a - y|^2 / l^2."""

    def loss(self, frame, before):
        length = math.dist(before[:3, 3], self.target)
        gap = frame[:3, 3] + length * frame[:3, :3] @ self.axis - self.target
        return self.weight * gap @ gap / length**2


def total(body, wishes, q, before):
    """The loss of all wishes at q, for a joint that moves from `before`."""
    return sum(wish.loss(pose(body, wish.link, q), pose(body, wish.link, before)) for wish in wishes)


def best(body, wishes, q, k, slides, low, high):
    """The best value of variable k within its limits while all others rest."""

    def at(value):
        trial = np.array(q)
        trial[k] = value
        return total(body, wishes, trial, q)

    if slides:
        left, middle, right = at(q[k] - 1.0), at(q[k]), at(q[k] + 1.0)
        bent = left - 2.0 * middle + right
        return min(max(q[k] + 0.5 * (left - right) / bent, low), high) if bent > 1e-12 else q[k]
    angles = np.array([0.0, 2.0, 4.0]) * math.pi / 3.0
    losses = np.array([at(q[k] + angle) for angle in angles])
    a, b = -losses @ np.cos(angles), -losses @ np.sin(angles)
    if math.hypot(a, b) < 1e-9:
        return q[k]
    top = q[k] + math.atan2(b, a)
    for value in (top, top - math.copysign(2.0 * math.pi, top - q[k])):
        if low <= value <= high:
            return value
    return min((low, high), key=at)


def sweep(body, wishes, q, order, slides, weights=None):
    """Bring every variable of `order` to its best value, one after the other, or by its weight in (dof,) of the way there.

    `slides` are those that do not turn.
    """
    q = np.array(q)
    for k in order:
        share = 1.0 if weights is None else weights[k]
        q[k] += share * (best(body, wishes, q, k, k in slides, body.lower[k], body.upper[k]) - q[k])
    return q

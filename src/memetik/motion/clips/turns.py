"""Rotations of many frames at once: the three turns of ball joints as quaternions, blended, and back.

Quaternions are rows (w, x, y, z). Of the values that make one rotation those nearest to some other values are taken, as
kernels/body/balls.py does for a single ball.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.body import Body
from memetik.body.conversion import axes_of_turns, quaternions_of_turns
from memetik.body.conversion import quaternions_of_matrices as quaternions_of_matrices
from memetik.types import Array

LOCKED = 1e-14  # as in kernels/body/balls.py
SHORT = 1e-12  # rad; a slerp over a smaller angle is a lerp


class Ball(NamedTuple):
    """Three turns of a body that are one rotation."""

    joint: str
    columns: slice  # in the joint vector
    order: str  # of the axes


def balls_of(body: Body) -> tuple[Ball, ...]:
    """The rotations of all spherical and floating joints."""
    found = []
    for joint in body.joints.values():
        if joint.kind in ("spherical", "floating"):
            first = body.index(joint.variables[-3])
            found.append(Ball(joint.name, slice(first, first + 3), joint.order))
    return tuple(found)


def endless_of(body: Body) -> NDArray[np.int64]:
    """The columns of single angles without limits, where a whole turn makes no difference."""
    names = [joint.variables[0] for joint in body.joints.values() if joint.kind == "continuous" and not joint.mimic]
    return np.array([body.index(name) for name in names], dtype=np.int64)


def quaternions(ball: Ball, q: Array) -> Array:
    """The rotation of a ball in each row (n, 4)."""
    return quaternions_of_turns(ball.order, q[:, ball.columns])


def nearest_turns(order: str, rotations: Array, near: Array) -> Array:
    """The turns (n, 3) that make rotations (n, 4), in each row those nearest to `near` (n, 3)."""
    first, second = _both(order, rotations, near)
    first, second = (found - _round(found - near) for found in (first, second))
    farther = np.square(first - near).sum(axis=1) > np.square(second - near).sum(axis=1)
    return np.where(farther[:, None], second, first)


def steady_turns(order: str, rotations: Array, near: Array) -> Array:
    """The turns (n, 3) that make rotations (n, 4) one after the other, each nearest to those before it.

    near: (3,), what the first is nearest to. Whether a row changes from one way of writing a rotation to the other
    depends on no row but the one before, so all rows are found at once.
    """
    first, second = _both(order, rotations, np.broadcast_to(near, (len(rotations), 3)))
    before = first[:-1]
    stay, change = (np.square(d - _round(d)).sum(axis=1) for d in (first[1:] - before, second[1:] - before))
    start = nearest_turns(order, rotations[:1], np.asarray(near)[None])
    begins = not np.allclose(np.cos(start - first[:1]), 1.0, atol=1e-9)
    swapped = np.logical_xor.accumulate(np.concatenate([[begins], change < stay]))
    turns = np.where(swapped[:, None], second, first)
    turns[0] = start[0]
    return np.unwrap(turns, axis=0)


def _both(order: str, rotations: Array, near: Array) -> tuple[Array, Array]:
    """The two ways to write rotations as turns, by formulas of kernels/body/balls.py."""
    axes, sign = axes_of_turns(order)
    w, (x, y, z) = rotations[:, 0], sign * rotations[:, axes].T
    a, _, c = sign * near.T
    of_sum, of_difference = np.hypot(w + y, x + z), np.hypot(w - y, x - z)
    half_sum = np.where(of_sum > LOCKED, np.arctan2(x + z, w + y), 0.5 * (a + c))
    half_difference = np.where(of_difference > LOCKED, np.arctan2(x - z, w - y), 0.5 * (a - c))
    middle = 2.0 * np.arctan2(of_sum, of_difference) - 0.5 * np.pi
    one = np.stack([half_sum + half_difference, middle, half_sum - half_difference], axis=1)
    other = np.stack([one[:, 0] + np.pi, np.pi - middle, one[:, 2] + np.pi], axis=1)
    return sign * one, sign * other


def _round(angles: Array) -> Array:
    """The whole turns in angles [rad]."""
    return np.asarray(2.0 * np.pi * np.round(angles / (2.0 * np.pi)))


def product(p: Array, q: Array) -> Array:
    """The products of quaternions (n, 4), or of one with many."""
    (a, b, c, d), (w, x, y, z) = np.moveaxis(p, -1, 0), np.moveaxis(q, -1, 0)
    return np.stack(
        [
            a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x, a * z + b * y - c * x + d * w,
        ],
        axis=-1,
    )  # fmt: skip


def inverse(q: Array) -> Array:
    """The rotations back."""
    return np.asarray(q * (1.0, -1.0, -1.0, -1.0))


def slerp(p: Array, q: Array, share: Array) -> Array:
    """From rotations p to q (n, 4) by a share (n,), the short way about one axis."""
    cosine = (p * q).sum(axis=1)
    q = np.where(cosine[:, None] < 0.0, -q, q)
    # Of the chord and of its complement: accurate for small angles and for those near 180 degrees.
    angle = 2.0 * np.arctan2(np.linalg.norm(q - p, axis=1), np.linalg.norm(q + p, axis=1))
    sine = np.sin(angle)
    small = sine < SHORT
    safe = np.where(small, 1.0, sine)
    one = np.where(small, 1.0 - share, np.sin((1.0 - share) * angle) / safe)
    other = np.where(small, share, np.sin(share * angle) / safe)
    mixed = one[:, None] * p + other[:, None] * q
    return np.asarray(mixed / np.linalg.norm(mixed, axis=1, keepdims=True))


def rotation_vectors(q: Array) -> Array:
    """log of rotations (n, 4): axis times angle (n, 3) [rad], at most pi long."""
    q = np.where(q[:, :1] < 0.0, -q, q)
    length = np.linalg.norm(q[:, 1:], axis=1)
    factor = np.where(length > SHORT, 2.0 * np.arctan2(length, q[:, 0]) / np.where(length > SHORT, length, 1.0), 2.0)
    return np.asarray(factor[:, None] * q[:, 1:])


def quaternions_of_vectors(vectors: Array) -> Array:
    """exp of rotation vectors (n, 3), as quaternions (n, 4)."""
    angle = np.linalg.norm(vectors, axis=-1, keepdims=True)
    share = np.where(angle > SHORT, np.sin(0.5 * angle) / np.where(angle > SHORT, angle, 1.0), 0.5)
    return np.concatenate([np.cos(0.5 * angle), share * vectors], axis=-1)


def matrices(quaternions: Array) -> Array:
    """Rotation matrices (n, 3, 3) of quaternions (n, 4)."""
    w, x, y, z = quaternions.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.ascontiguousarray(np.moveaxis(np.array(rows), 2, 0))


def blended(body: Body, p: Array, q: Array, share: Array | float) -> Array:
    """Joint vectors (n, dof) from rows p to rows q by a share (n,): balls by slerp, all else straight, angles without
    limits the short way. Shares 0 and 1 give the rows themselves."""
    shares = np.broadcast_to(np.asarray(share, dtype=float), (len(p),))
    step = q - p
    endless = endless_of(body)
    step[:, endless] -= _round(step[:, endless])
    mixed = p + shares[:, None] * step
    for ball in balls_of(body):
        turned = slerp(quaternions(ball, p), quaternions(ball, q), shares)
        near = np.where(shares[:, None] < 0.5, p[:, ball.columns], q[:, ball.columns])
        mixed[:, ball.columns] = nearest_turns(ball.order, turned, near)
    return np.where(shares[:, None] == 0.0, p, np.where(shares[:, None] == 1.0, q, mixed))

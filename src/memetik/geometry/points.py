"""Chains as bare points: FABRIK as first published, and the angles of a shoulder and an elbow from two points."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from memetik.errors import GeometryError
from memetik.geometry.checks import THREE_NUMBERS, finite_array, finite_number, whole_number
from memetik.types import Array

STALLED = 1e-6  # a sweep that takes off less than this share of the distance to the target stands still
ROUNDING = 1e-12  # of the largest coordinate: what is left of the distance to a target that is reached
BEND = 0.01  # of the length of the chain: how far points are moved aside to leave a deadlock


def fabrik_points(
    points: npt.ArrayLike, target: npt.ArrayLike, *, tolerance: float = 1e-6, iterations: int = 1000
) -> Array:
    """FABRIK on bare points (Aristidou and Lasenby 2011): joints as points whose distances stay as they are.

    An iteration reaches forward from the target to the root and back, with d_i = |p_{i+1} - p_i| as it was in the beginning:

        p_n = target,  then  p_i = p_{i+1} + d_i (p_i - p_{i+1}) / |p_i - p_{i+1}|        from the tip to the root
        p_1 = root,    then  p_{i+1} = p_i + d_i (p_{i+1} - p_i) / |p_{i+1} - p_i|        from the root to the tip

    points: (n, 3) from the root, which stays, to the tip [m].
    target: where the tip shall be (3,) [m]. One farther away than the chain is long is pointed at.
    tolerance: the distance of the tip from the target to end at [m].
    iterations: the most that are taken; fewer if they stand still. A chain that does so at first, as a straight one does whose
    target lies on its own line, is bent a little, once. Near a stretched or a folded chain hundreds are needed.

    Returns the new points (n, 3); `points[-1] - target` says what is left. Points know nothing of axes and limits: the method
    "fabrik" of `mk.solve` moves real joints.

        import memetik as mk

        points = mk.geometry.fabrik_points([(0, 0, 0), (1, 0, 0), (2, 0, 0)], (1.0, 1.0, 0.0))
    """
    start = finite_array(points, "points", "an array (n, 3) of at least two points")
    if start.ndim != 2 or start.shape[0] < 2 or start.shape[1] != 3:
        raise GeometryError(
            f"points must be an array (n, 3) of at least two points; got an array of shape {start.shape}"
        )
    goal = finite_array(target, "target", THREE_NUMBERS, (3,))
    least = finite_number(tolerance, "tolerance")
    if least < 0.0:
        raise GeometryError(f"tolerance is {least:g}; give a distance [m], zero or more")
    most = whole_number(iterations, GeometryError, "iterations", least=1)
    size = max(float(np.abs(start).max()), float(np.abs(goal).max()))
    if size == 0.0:
        return start
    moved = _reach(start / size, goal / size, least / size, most) * size
    moved[0] = start[0]
    return moved


def elbow_angles(elbow: npt.ArrayLike, hand: npt.ArrayLike, *, bend: Literal[-1, 1] = -1) -> Array:
    """The four joint values of an arm whose elbow and hand are at these points, seen from its shoulder.

    The arm is that of a NAO, straight along y at zero, with the upper arm l_1 = |elbow| and the forearm l_2 = |hand - elbow|:

        Rx(a) Rz(b) Tr(0, l_1, 0) Ry(c) Rz(d) Tr(0, l_2, 0)

        elbow = l_1 (-sin b, cos b cos a, cos b sin a)          a = atan2(z, y)          b = asin(-x / l_1)
        (Rx(a) Rz(b))^T (hand - elbow) = l_2 (-cos c sin d, cos d, sin c sin d)          c, d likewise

    (equations 15 to 24 of Poddighe 2013, corrected).

    elbow, hand: (3,) or (n, 3) [m].
    bend: the sign of d, -1 as the left arm of a NAO bends or 1 as its right one does. Of the two values of b, the one from
    -pi/2 to pi/2 is taken.

    Returns a, b, c and d, (4,) or (n, 4) [rad]. Where a link lies on the axis that would turn it, a or c can be
    anything, and is 0.

        import memetik as mk

        a, b, c, d = mk.geometry.elbow_angles((0.0, 0.105, 0.0), (0.08, 0.185, 0.0))
    """
    places = [finite_array(value, name, "points (3,) or (n, 3)") for value, name in ((elbow, "elbow"), (hand, "hand"))]
    if any(place.ndim not in (1, 2) or place.shape[-1] != 3 for place in places) or places[0].shape != places[1].shape:
        shapes = " and ".join(str(place.shape) for place in places)
        raise GeometryError(f"elbow and hand must both be points (3,) or (n, 3), as many of each; got {shapes}")
    sign = finite_number(bend, "bend")
    if sign not in (-1.0, 1.0):
        raise GeometryError(f"bend is {sign:g}; it must be -1 or 1, the sign of the last angle")
    upper, hand_from_shoulder = (place / max(float(np.abs(places).max()), np.finfo(float).tiny) for place in places)
    lower = hand_from_shoulder - upper
    for vectors, name in ((upper, "the elbow is at the shoulder"), (lower, "the hand is at the elbow")):
        if not np.abs(vectors).max(axis=-1).all():
            raise GeometryError(f"{name}, so that the link between them has no direction; give points that are apart")
    x, y, z = np.moveaxis(upper, -1, 0)
    a, b = np.arctan2(z, y), np.arctan2(-x, np.hypot(y, z))
    # Rz(b)^T Rx(a)^T takes the forearm into the frame of the elbow.
    x, y, z = np.moveaxis(lower, -1, 0)
    along, z = np.cos(a) * y + np.sin(a) * z, np.cos(a) * z - np.sin(a) * y
    x, y = np.cos(b) * x + np.sin(b) * along, np.cos(b) * along - np.sin(b) * x
    away = np.hypot(x, z)
    c = np.where(away > 0.0, np.arctan2(sign * z, -sign * x), 0.0)
    return np.stack([a, b, c, sign * np.arctan2(away, y)], axis=-1)


def _reach(points: Array, target: Array, tolerance: float, iterations: int) -> Array:
    """Iterations of FABRIK, on numbers of the order of one."""
    lengths = [math.dist(one, other) for one, other in pairwise(points)]
    if math.dist(points[0], target) >= sum(lengths):
        return _stretch(points[0], target, lengths)
    best, least, left, bent = points, math.inf, math.dist(points[-1], target), False
    for _ in range(iterations):
        if left <= tolerance:
            return points
        points = _sweep(points, target, lengths)
        before, left = left, math.dist(points[-1], target)
        if left < least:
            best, least = points, left
        if before - left < STALLED * before:
            if bent or left < ROUNDING:
                break
            points, left, bent = _bent(points, target, sum(lengths)), math.inf, True
    return best


def _sweep(points: Array, target: Array, lengths: list[float]) -> Array:
    """One iteration, forward from the target and backward from the root."""
    new = points.copy()
    new[-1] = target
    for i in range(len(lengths) - 1, -1, -1):
        new[i] = _towards(new[i + 1], new[i], lengths[i])
    new[0] = points[0]
    for i, length in enumerate(lengths):
        new[i + 1] = _towards(new[i], new[i + 1], length)
    return new


def _towards(start: Array, end: Array, length: float) -> Array:
    """The point at this distance from `start` on the line to `end`; along x where both are the same."""
    gap = end - start
    distance = math.hypot(*gap)
    return start + (gap * (length / distance) if distance > 0.0 else np.array([length, 0.0, 0.0]))


def _stretch(root: Array, target: Array, lengths: list[float]) -> Array:
    """All points on the line from the root to the target."""
    line = target - root
    distance = math.hypot(*line)
    along = np.concatenate([[0.0], np.cumsum(lengths)])[:, None]
    return np.asarray(root + along * (line / distance if distance > 0.0 else np.array([1.0, 0.0, 0.0])))


def _bent(points: Array, target: Array, size: float) -> Array:
    """The points between root and tip moved aside from the line to the target, each by another amount."""
    line = target - points[0]
    aside = np.cross(line, np.eye(3)[np.argmin(np.abs(line))])
    aside /= max(math.hypot(*aside), np.finfo(float).tiny)
    bent = points.copy()
    for i in range(1, len(points) - 1):
        bent[i] += BEND * size * (1.0 + i / len(points)) * aside
    return bent

"""Which arms have a closed form: the shape that fits an arm, and what its kernel needs to know of it.

Files round. Axes that are parallel or meet but for rounding (serial_arm.py) are taken to do so: the arm as meant is the one to
whose formulas the kernel goes, and what they give is brought onto the body as it is (kernels/search/closed_form_attempt.py).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.geometry import rotation_matrix, transform
from memetik.kernels.closed_form.arm_record import (
    MEETING,
    NO_FORM,
    PARALLEL,
    SHOULDER_AND_ELBOW,
    TWO_LINKS,
    Geometry,
)
from memetik.problem.serial_arm import Arm
from memetik.types import Array

VALUES = 64  # values that the held joint of an arm of seven takes, evenly spaced, besides that of the start
PROBES = (0.31, -0.47, 0.83)  # rad; places without symmetry at which a held joint must leave an arm with a closed form
SINGULAR = 1e-6  # least singular value [of the arm's size or rad a radian] of six joints that move the tip in all ways
SHORTEST = 1e-9  # m; shorter links have no length
NEARLY = 3e-7  # of the arm's size, between axes that nearly meet: their equations would lose half of their digits
EXACT = 1e-12  # rad, or of the arm's size: nearer to the arm as meant is rounding of our own


class _Shape(NamedTuple):
    """A shape that fits an arm."""

    shape: int
    axes: Array  # (n, 3) unit vectors, as they are meant
    points: Array  # (n, 3) a point on each axis; where axes meet, it is that of all of them
    first: int = 0  # of the three axes in a row
    held: int = -1


def closed_form(arm: Arm, variables: NDArray[np.void], *, whole_pose: bool) -> Geometry | None:
    """The closed form that fits an arm, for its pose or its position only; None for none."""
    count = len(arm.axes)
    bounds = np.array([variables["sample_lower"], variables["sample_upper"]])
    if not whole_pose:
        shape = _two_links(arm)
    elif count == 6:
        shape = _six_joints(arm)
        if shape is not None and _worth(arm, bounds, held=None) <= SINGULAR:
            shape = None
    elif count == 7:
        shape = _seven_joints(arm, bounds)
    else:
        shape = _shoulder_and_elbow(arm)
    if shape is None:
        return None
    # Of what was moved, how far: the axes turned, the points across their axes.
    turned = np.linalg.norm(np.cross(arm.axes, shape.axes), axis=1).max()
    moved = np.linalg.norm(np.cross(arm.axes, shape.points - arm.points), axis=1).max() / arm.size
    off = float(max(turned, moved))
    values = np.linspace(bounds[0, shape.held], bounds[1, shape.held], VALUES) if shape.held >= 0 else np.empty(0)
    return Geometry(
        shape.shape, shape.first, shape.held, arm.size, off if off > EXACT else 0.0,
        np.ascontiguousarray(shape.axes), np.ascontiguousarray(shape.points), arm.tip, values, _without_limits(variables),
    )  # fmt: skip


def no_form(variables: NDArray[np.void]) -> Geometry:
    """What stands for a closed form where there is none."""
    none = np.zeros((variables.size, 3))
    return Geometry(NO_FORM, 0, -1, 1.0, 0.0, none, none, np.zeros(7), np.empty(0), variables)


def _without_limits(variables: NDArray[np.void]) -> NDArray[np.void]:
    free = variables.copy()
    free["lower"], free["upper"] = -np.inf, np.inf
    return free


def _two_links(arm: Arm) -> _Shape | None:
    """Two parallel axes and the position of the tip: both links must have a length in the plane."""
    if len(arm.axes) != 2 or not arm.parallel(0, 1):
        return None
    links = arm.points[1] - arm.points[0], arm.tip[4:] - arm.points[1]
    long = all(float(np.linalg.norm(np.cross(arm.axes[0], link))) > SHORTEST for link in links)
    return _Shape(TWO_LINKS, arm.axes, arm.points) if long else None


def _shoulder_and_elbow(arm: Arm) -> _Shape | None:
    """Four or five axes, the first two through the shoulder, the others through the elbow: the arm of the NAO."""
    count = len(arm.axes)
    if count not in (4, 5):
        return None
    shoulder, elbow = arm.meeting(0, 1), arm.meeting(*range(2, count))
    if shoulder is None or elbow is None or float(np.linalg.norm(elbow - shoulder)) < SHORTEST:
        return None
    return _Shape(SHOULDER_AND_ELBOW, arm.axes, np.array([shoulder] * 2 + [elbow] * (count - 2)))


def _six_joints(arm: Arm) -> _Shape | None:
    """Six axes, of which three in a row meet in a point or are parallel."""
    for first in (3, 0, 2, 1):
        meeting = arm.meeting(first, first + 1, first + 2)
        if meeting is not None:
            points = arm.points.copy()
            points[first : first + 3] = meeting
            axes, points = _others_as_meant(arm._replace(points=points), (first + 3) % 6)
            return _Shape(MEETING, axes, points, first)
    for first in (1, 0, 3, 2):
        if arm.parallel(first, first + 1) and arm.parallel(first, first + 2):
            axes = arm.axes.copy()
            axes[first : first + 3] = _made_parallel(axes[first : first + 3])
            return _Shape(PARALLEL, axes, arm.points, first)
    return None


def _others_as_meant(arm: Arm, begin: int) -> tuple[Array, Array]:
    """Axes and points of six joints, of which the three from `begin` on, in the order of the loop (loop.py), may be special.

    Those that are parallel but for rounding, or nearly meet, are made to; other formulas need no such help. Two lines at an
    angle of 2e-6 rad are nearest to each other some 1e6 times their distance away, from where 12 digits are lost.
    """
    axes, points = arm.axes.copy(), arm.points.copy()
    one, two, three = begin, (begin + 1) % 6, (begin + 2) % 6
    if two < three and arm.parallel(two, three):
        axes[[two, three]] = _made_parallel(axes[[two, three]])
    if one < two:
        if arm.parallel(one, two):
            axes[one] = math.copysign(1.0, axes[one] @ axes[two]) * axes[two]
        elif arm.meeting(one, two, within=NEARLY) is not None:
            across = np.cross(axes[one], axes[two])
            across /= np.linalg.norm(across)
            points[one] += (points[two] - points[one]) @ across * across
    return axes, points


def _made_parallel(axes: Array) -> Array:
    """Axes that are nearly parallel, each along their middle."""
    signs = np.where(axes @ axes[0] < 0.0, -1.0, 1.0)
    if np.array_equal(axes, np.outer(signs, axes[0])):
        return axes
    middle = signs @ axes
    return np.outer(signs, middle / np.linalg.norm(middle))


def _seven_joints(arm: Arm, bounds: Array) -> _Shape | None:
    """Seven axes: of the joints that leave six with a closed form wherever they are held, the one that is missed least.

    Without it the other six must still move the tip in every way; how well is their least singular value, in the middle of
    many postures.
    """
    worth = [_worth(arm, bounds, held) for held in range(7)]
    for held in sorted(range(7), key=lambda k: -worth[k]):
        if worth[held] <= SINGULAR:
            break
        shapes = [_with_one_held(arm, held, probe) for probe in PROBES]
        found = shapes[0]
        if found is not None and all(_same(found, shape) for shape in shapes[1:]):
            return found
    return None


def _with_one_held(arm: Arm, held: int, angle: float) -> _Shape | None:
    """The shape of the other six joints while one is held, with the points where they are when it is at zero."""
    turn = _turn(arm.axes[held], arm.points[held], angle)
    axes, points = arm.axes.copy(), arm.points.copy()
    axes[held + 1 :] = axes[held + 1 :] @ turn[:3, :3].T
    points[held + 1 :] = points[held + 1 :] @ turn[:3, :3].T + turn[:3, 3]
    others = np.delete(np.arange(7), held)
    shape = _six_joints(Arm(axes[others], points[others], arm.tip))
    if shape is None:
        return None
    axes[others], points[others] = shape.axes, shape.points
    axes[held + 1 :] = axes[held + 1 :] @ turn[:3, :3]
    points[held + 1 :] = (points[held + 1 :] - turn[:3, 3]) @ turn[:3, :3]
    return shape._replace(axes=axes, points=points, held=held)


def _same(one: _Shape, other: _Shape | None) -> bool:
    """Whether two angles of the held joint leave the same shape."""
    return other is not None and (one.shape, one.first) == (other.shape, other.first)


def _worth(arm: Arm, bounds: Array, held: int | None) -> float:
    """How well the joints but the held one move the tip in every way: their least singular value, in many postures."""
    rng = np.random.default_rng(0)
    jacobians = _jacobians(arm, rng.uniform(bounds[0], bounds[1], (32, len(arm.axes))))
    if held is not None:
        jacobians = np.delete(jacobians, held, axis=2)
    return float(np.median(np.linalg.svd(jacobians, compute_uv=False)[:, -1]))


def _turn(axis: Array, point: Array, angle: float) -> Array:
    """A turn about the line through a point, as a matrix."""
    half = 0.5 * angle
    R = rotation_matrix((math.cos(half), *(math.sin(half) * axis)))
    return transform(point - R @ point, R)


def _jacobians(arm: Arm, postures: Array) -> Array:
    """How each joint moves and turns the tip [of the arm's size or rad a radian], (postures, 6, n)."""
    rotation, place = np.tile(np.eye(3), (len(postures), 1, 1)), np.zeros((len(postures), 3))
    axes, points = [], []
    for axis, point, angles in zip(arm.axes, arm.points, postures.T, strict=True):
        axes.append(rotation @ axis)
        points.append(rotation @ point + place)
        x, y, z = axis
        K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        s, c = np.sin(angles)[:, np.newaxis, np.newaxis], np.cos(angles)[:, np.newaxis, np.newaxis]
        R = np.eye(3) + s * K + (1.0 - c) * (K @ K)  # Rodrigues
        place = place + rotation @ point - (rotation @ R) @ point
        rotation = rotation @ R
    tip = rotation @ arm.tip[4:] + place
    columns = [np.hstack((np.cross(a, tip - p) / arm.size, a)) for a, p in zip(axes, points, strict=True)]
    return np.stack(columns, axis=2)

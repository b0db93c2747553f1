"""Which arms have a closed form: the shape that fits an arm, and what its kernel needs to know of it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from memetik.geometry import rotation_matrix, transform
from memetik.kernels.closed_form.record import MEETING, PARALLEL, SHOULDER_AND_ELBOW, TWO_LINKS, Geometry
from memetik.solvers.serial_arm import Arm
from memetik.types import Array

VALUES = 64  # values that the held joint of an arm of seven takes, evenly spaced, besides that of the start
PROBES = (0.31, -0.47, 0.83)  # rad; places without symmetry at which a held joint must leave an arm with a closed form
SINGULAR = 1e-9  # least singular value [m or rad a radian] of six joints that move the tip in all six ways
SHORTEST = 1e-9  # m; shorter links have no length


class _Shape(NamedTuple):
    """A shape that fits an arm."""

    shape: int
    points: Array  # (n, 3) a point on each axis; where axes meet, it is that of all of them
    first: int = 0  # of the three axes in a row
    held: int = -1


def closed_form(arm: Arm, whole_pose: bool, bounds: Array) -> Geometry | None:
    """The closed form that fits an arm within sampling limits (2, n), for its pose or its position only; None for none."""
    count = len(arm.axes)
    if not whole_pose:
        shape = _two_links(arm)
    elif count == 6:
        worth = _worth(arm, bounds, held=None)
        shape = _six_joints(arm) if worth > SINGULAR else None
    elif count == 7:
        shape = _seven_joints(arm, bounds)
    else:
        shape = _shoulder_and_elbow(arm)
    if shape is None:
        return None
    way = np.diff(np.vstack((arm.points, arm.tip[4:])), axis=0)
    size = float(np.linalg.norm(way, axis=1).sum())
    values = np.linspace(bounds[0, shape.held], bounds[1, shape.held], VALUES) if shape.held >= 0 else np.empty(0)
    return Geometry(shape.shape, shape.first, shape.held, size or 1.0, arm.axes, shape.points, arm.tip, values)


def _two_links(arm: Arm) -> _Shape | None:
    """Two parallel axes and the position of the tip: both links must have a length in the plane."""
    if len(arm.axes) != 2 or not arm.parallel(0, 1):
        return None
    links = arm.points[1] - arm.points[0], arm.tip[4:] - arm.points[1]
    long = all(float(np.linalg.norm(np.cross(arm.axes[0], link))) > SHORTEST for link in links)
    return _Shape(TWO_LINKS, arm.points) if long else None


def _shoulder_and_elbow(arm: Arm) -> _Shape | None:
    """Four or five axes, the first two through the shoulder, the others through the elbow: the arm of the NAO."""
    count = len(arm.axes)
    if count not in (4, 5):
        return None
    shoulder, elbow = arm.meeting(0, 1), arm.meeting(*range(2, count))
    if shoulder is None or elbow is None or float(np.linalg.norm(elbow - shoulder)) < SHORTEST:
        return None
    return _Shape(SHOULDER_AND_ELBOW, np.array([shoulder] * 2 + [elbow] * (count - 2)))


def _six_joints(arm: Arm) -> _Shape | None:
    """Six axes, of which three in a row meet in a point or are parallel."""
    for first in (3, 0, 2, 1):
        meeting = arm.meeting(first, first + 1, first + 2)
        if meeting is not None:
            points = arm.points.copy()
            points[first : first + 3] = meeting
            return _Shape(MEETING, points, first)
    for first in (1, 0, 3, 2):
        if arm.parallel(first, first + 1) and arm.parallel(first, first + 2):
            return _Shape(PARALLEL, arm.points, first)
    return None


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
    points[others] = shape.points
    points[held + 1 :] = (points[held + 1 :] - turn[:3, 3]) @ turn[:3, :3]
    return shape._replace(points=points, held=held)


def _same(one: _Shape, other: _Shape | None) -> bool:
    """Whether two angles of the held joint leave the same shape."""
    if other is None or (one.shape, one.first) != (other.shape, other.first):
        return False
    return bool(np.allclose(one.points, other.points, rtol=0.0, atol=1e-7))


def _worth(arm: Arm, bounds: Array, held: int | None) -> float:
    """How well the joints but the held one move the tip in every way: their least singular value, in many postures."""
    rng = np.random.default_rng(0)
    postures = rng.uniform(bounds[0], bounds[1], (32, len(arm.axes)))
    jacobians = np.array([_jacobian(arm, q) for q in postures])
    if held is not None:
        jacobians = np.delete(jacobians, held, axis=2)
    return float(np.median(np.linalg.svd(jacobians, compute_uv=False)[:, -1]))


def _turn(axis: Array, point: Array, angle: float) -> Array:
    """A turn about the line through a point, as a matrix."""
    half = 0.5 * angle
    R = rotation_matrix((math.cos(half), *(math.sin(half) * axis)))
    return transform(point - R @ point, R)


def _jacobian(arm: Arm, q: Array) -> Array:
    """Velocity and angular velocity of the tip for a unit velocity of each joint, by the product of exponentials."""
    moved = np.eye(4)
    axes, points = [], []
    for axis, point, angle in zip(arm.axes, arm.points, q, strict=True):
        axes.append(moved[:3, :3] @ axis)
        points.append(moved[:3, :3] @ point + moved[:3, 3])
        moved = moved @ _turn(axis, point, float(angle))
    tip = moved[:3, :3] @ arm.tip[4:] + moved[:3, 3]
    rows = np.array([[*np.cross(a, tip - p), *a] for a, p in zip(axes, points, strict=True)])
    return rows.T

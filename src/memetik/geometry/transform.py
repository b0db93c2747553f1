"""Rigid transforms for people: 4x4 matrices [R p; 0 1] that turn by R, then move by p (metres).

Read `world_from_hand` as "takes points of the hand into the world"; then neighbours cancel in a product:
world_from_tip = world_from_hand @ hand_from_tip.
"""

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from memetik.errors import GeometryError, MemetikError
from memetik.geometry.checks import (
    THREE_NUMBERS,
    check_bottom_row,
    check_name,
    checked_matrix,
    finite_array,
    finite_number,
    frozen,
)
from memetik.geometry.rotation import RotationLike, angle_between, rotation_matrix, slerp
from memetik.types import Array

TransformLike: TypeAlias = npt.ArrayLike | tuple[npt.ArrayLike, RotationLike | None]

ONE_TRANSFORM = (
    "one rigid transform: a 4x4 matrix, a position (x, y, z) or a pair (position, rotation) "
    "(a rotation alone becomes a transform with transform(rotation=R))"
)


def transform(position: npt.ArrayLike = (0.0, 0.0, 0.0), rotation: RotationLike | None = None) -> Array:
    """The 4x4 transform [R p; 0 1] with p = `position` in metres and R = `rotation` (none: the identity).

    `rotation` is anything that `rotation_matrix` takes.
    """
    T = np.eye(4)
    T[:3, 3] = finite_array(position, "position", THREE_NUMBERS, (3,))
    if rotation is not None:
        T[:3, :3] = rotation_matrix(rotation)
    return T


def translation(x: float, y: float, z: float) -> Array:
    """The 4x4 transform that moves by (x, y, z) metres and does not turn."""
    return transform((x, y, z))


def as_transform(pose: TransformLike, *, name: str = "pose") -> Array:
    """The 4x4 transform of any kind of pose, checked.

    Takes a 4x4 matrix (rotation part as in `rotation_matrix`, bottom row [0, 0, 0, 1] to 1e-6), a position
    of three numbers, or a tuple or list of two, (position, rotation). Error messages call the argument
    `name`.
    """
    check_name(name)
    if isinstance(pose, (tuple, list)) and len(pose) == 2:
        position = finite_array(pose[0], f"{name}[0]", THREE_NUMBERS, (3,))
        rotation = None if pose[1] is None else rotation_matrix(pose[1], name=f"{name}[1]")
        return transform(position, rotation)
    array = finite_array(pose, name, ONE_TRANSFORM, (4, 4), (3,))
    if array.shape == (3,):
        return transform(array)
    check_bottom_row(array, name)
    array[:3, :3] = checked_matrix(array[:3, :3], f"{name}[:3, :3]")
    array[3] = 0.0, 0.0, 0.0, 1.0
    return array


def frozen_transform(pose: TransformLike | None, error: type[MemetikError], what: str, *, name: str = "pose") -> Array:
    """As `as_transform`, closed to writing, the identity for None; an error that begins with `what` if it is no pose."""
    try:
        return frozen(np.eye(4) if pose is None else as_transform(pose, name=name))
    except GeometryError as reason:
        raise error(f"{what}: {reason}") from reason


def invert(T: TransformLike) -> Array:
    """The transform that undoes T: [R^T  -R^T p; 0 1]. The inverse of world_from_hand is hand_from_world."""
    matrix = as_transform(T, name="T")
    back = matrix[:3, :3].T
    return transform(-back @ matrix[:3, 3], back)


def compose(*transforms: TransformLike) -> Array:
    """The product of the transforms from left to right, so that the last one acts on points first."""
    product = np.eye(4)
    for index, each in enumerate(transforms):
        product = product @ as_transform(each, name=f"transforms[{index}]")
    return product


def apply(T: TransformLike, points: npt.ArrayLike) -> Array:
    """R p + t for one point (3,) or for an array of points (..., 3); the result has the same shape."""
    matrix = as_transform(T, name="T")
    expected = "one point (x, y, z) or an array of points with three columns"
    array = finite_array(points, "points", expected)
    if array.ndim == 0 or array.shape[-1] != 3:
        raise GeometryError(f"points must be {expected}; got an array of shape {array.shape}")
    return np.asarray(array @ matrix[:3, :3].T + matrix[:3, 3])


def interpolate(T0: TransformLike, T1: TransformLike, t: float) -> Array:
    """The pose a fraction t of the way from T0 to T1: the position on a straight line, the rotation by slerp.

    Each at its own constant speed, because a hand is expected to move straight; the screw motion between
    the two is exp_transform(t * log_transform(T1 @ invert(T0))) @ T0. t outside [0, 1] goes on along the
    same line and arc.
    """
    start, end = as_transform(T0, name="T0"), as_transform(T1, name="T1")
    fraction = finite_number(t, "t")
    position = (1.0 - fraction) * start[:3, 3] + fraction * end[:3, 3]
    return transform(position, slerp(start, end, fraction))


def pose_distance(T0: TransformLike, T1: TransformLike) -> tuple[float, float]:
    """How far apart two poses are: (metres between the positions, radians between the rotations)."""
    start, end = as_transform(T0, name="T0"), as_transform(T1, name="T1")
    return math.dist(start[:3, 3], end[:3, 3]), angle_between(start, end)

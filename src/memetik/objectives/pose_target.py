"""Targets as people write them: points, rotations and poses, checked on the way in."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memetik.errors import GeometryError, ProblemError, shown
from memetik.geometry import RotationLike, TransformLike, as_transform, rotation_matrix
from memetik.geometry.checks import CLEAN_TOLERANCE, real_array
from memetik.kernels.compiler.function_pointers import way_in
from memetik.kernels.terms.function_pointers import WRITE_POSE
from memetik.kernels.terms.targets import (
    BAD_LAST_ROW,
    NOT_A_ROTATION,
    NOT_FINITE,
    write_pose_target,
    write_pose_targets,
)
from memetik.objectives.objective import Target
from memetik.parallel import empty_rows, in_parts
from memetik.types import Array

_ARRAY, _SHAPE, _FLOAT = np.ndarray, (4, 4), np.dtype(np.float64)
COMPLAINTS = {
    NOT_FINITE: "the target has an entry that is NaN or infinite",
    NOT_A_ROTATION: "the target's 3x3 part is not a rotation (its columns must be orthonormal and right-handed)",
    BAD_LAST_ROW: "the last row of the target must be 0 0 0 1",
}


def _first_write(matrix: Array, numbers: Array, at: int) -> int:
    """Compile the kernel, and from then on be no longer in the way."""
    global write_pose
    write_pose = way_in(write_pose_target, WRITE_POSE)
    return write_pose(matrix, numbers, at)


# write_pose_target for any float64 array of two dimensions.
write_pose: Callable[[Any, Array, int], int] = _first_write


def set_pose(target: Target, value: TransformLike, name: str) -> None:
    """Write a pose; a float64 4x4 array goes straight to the kernel, anything else through as_transform."""
    if not (type(value) is _ARRAY and value.shape == _SHAPE and value.dtype == _FLOAT):
        try:
            matrix = as_transform(value, name="target")
        except GeometryError as error:
            raise ProblemError(f"{name}: {error}") from error
        pair = isinstance(value, (tuple, list)) and len(value) == 2
        if not pair and np.size(value) == 3:  # type: ignore[arg-type]
            raise ProblemError(
                f"{name}: the target is a position alone, which leaves the orientation open. Give a 4x4 transform, "
                "mk.translation(x, y, z) for one that does not turn, or mk.Position where any orientation will do."
            )
        value = matrix
    complaint = target.write(write_pose, value)
    if complaint:
        raise ProblemError(f"{name}: {COMPLAINTS[complaint]}. Give a 4x4 transform, for example mk.transform(p, R).")


def set_rotation(target: Target, value: RotationLike, name: str) -> None:
    """Write the rotation of a pose target and leave its position."""
    matrix = np.eye(4)
    try:
        rotation: Any = value
        matrix[:3, :3] = rotation if _is_clean_rotation(rotation) else rotation_matrix(rotation, name="target")
    except GeometryError as error:
        raise ProblemError(f"{name}: {error}") from error
    matrix[:3, 3] = target.numbers[4:7]
    set_pose(target, matrix, name)


def _is_clean_rotation(value: Any) -> bool:
    """Whether it is a float64 3x3 array that is a rotation to the last digits; most targets are."""
    if not (type(value) is _ARRAY and value.shape == (3, 3) and value.dtype == _FLOAT):
        return False
    (a, b, c), (d, e, f), (g, h, i) = value.tolist()
    off = (
        abs(a * d + b * e + c * f) + abs(a * g + b * h + c * i) + abs(d * g + e * h + f * i)
    )  # NaN with an entry that is
    off += abs(a * a + b * b + c * c - 1.0) + abs(d * d + e * e + f * f - 1.0) + abs(g * g + h * h + i * i - 1.0)
    handed = a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)  # 1, or -1 for a reflection
    return bool(off <= 0.5 * CLEAN_TOLERANCE and handed > 0.0)


def pose_rows(path: ArrayLike, name: str) -> Array:
    """Many 4x4 transforms as rows of seven numbers."""
    matrices = stack(path, (4, 4), name)
    rows = empty_rows((len(matrices), 7))
    for part, (bad, complaint) in in_parts(
        lambda part: (part, write_pose_targets(matrices[part], rows[part])), len(rows)
    ):
        if complaint:
            raise ProblemError(f"{name}: row {part.start + bad}: {COMPLAINTS[complaint]}.")
    return np.asarray(rows)


def point_rows(path: ArrayLike, name: str) -> Array:
    """Many points as rows of three numbers."""
    points = stack(path, (3,), name)
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        raise ProblemError(f"{name}: row {bad[0]}: {COMPLAINTS[NOT_FINITE]}.")
    return points


def stack(path: ArrayLike, shape: tuple[int, ...], name: str) -> Array:
    """Many targets as one array of rows, each of this shape."""
    array = np.ascontiguousarray(real_array(path, ProblemError, f"{name}: many targets are an array of numbers"))
    if array.shape[1:] != shape or array.ndim != 1 + len(shape):
        wanted = " x ".join(map(str, shape))
        raise ProblemError(f"{name}: many targets must be an array of rows x {wanted}, not {array.shape}.")
    return array


def three(value: ArrayLike, name: str, what: str) -> Array:
    """Three numbers of any kind."""
    numbers = real_array(value, ProblemError, f"{name}: {what} must be three numbers")
    if numbers.shape != (3,):
        raise ProblemError(f"{name}: {what} must be three numbers, not {shown(value)}.")
    return numbers


def checked_point(value: ArrayLike, name: str, what: str) -> Array:
    """Three finite numbers."""
    given: Any = value
    usual = type(given) is _ARRAY and given.shape == (3,) and given.dtype is _FLOAT
    numbers: Array = given if usual else three(value, name, what)
    if not all(map(math.isfinite, numbers.tolist())):  # quicker than any array operation, because retargeting is hot
        raise ProblemError(f"{name}: {what} has an entry that is NaN or infinite: {shown(value)}.")
    return numbers


def unit(value: ArrayLike, name: str, what: str) -> Array:
    """A direction, normalised."""
    vector = three(value, name, what)
    length = float(np.linalg.norm(vector))
    if not np.isfinite(length) or length < 1e-9:
        raise ProblemError(f"{name}: {what} must be a direction of finite length above zero, not {shown(value)}.")
    return vector / length

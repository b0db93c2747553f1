"""Rotations for people: make them, convert them, measure and blend them.

A rotation is a 3x3 float64 matrix R whose columns are the turned axes, so that `R @ p` turns the point p.
Quaternions are (w, x, y, z) everywhere. Every function here that takes a rotation takes whatever
`rotation_matrix` takes, checks it, and returns arrays that share no memory with its input.
"""

import math
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from memetik.errors import GeometryError, shown
from memetik.geometry.checks import (
    check_bottom_row,
    check_name,
    checked_matrix,
    direction,
    doubt_degrees,
    finite_array,
    finite_number,
    flag,
    unit_quaternion,
)
from memetik.types import Array


class SupportsRotation(Protocol):
    """What marks an object as a rotation, as scipy's `Rotation` does, without importing scipy."""

    def as_quat(self, *args: Any, **kwargs: Any) -> Any: ...

    def as_matrix(self, *args: Any, **kwargs: Any) -> Any: ...


RotationLike: TypeAlias = npt.ArrayLike | SupportsRotation

GIMBAL_TOLERANCE = 1e-10  # radians; nearer to gimbal lock the first and last Euler angle are one
PARALLEL_TOLERANCE = 1e-9  # sine of the angle between `forward` and `up` below which `up` says nothing

ONE_ROTATION = (
    "one rotation: a 3x3 matrix, a quaternion (w, x, y, z), a 4x4 transform or a single scipy Rotation "
    "(turn three angles into a rotation with euler or rpy, a rotation vector with exp_rotation; "
    "pick one rotation of a stack with [i])"
)


# ---- Making rotations ----------------------------------------------------------------------------


def rotation_matrix(rotation: RotationLike, *, name: str = "rotation") -> Array:
    """The 3x3 matrix of any kind of rotation, checked; no unit.

    Takes a 3x3 matrix, a quaternion (w, x, y, z), the rotation of a 4x4 transform, or a single scipy
    `Rotation`. Matrices must be orthonormal with determinant +1 and quaternions of norm 1, to 1e-6; what
    rounding is left (above 1e-12) is removed by going to the nearest rotation. Error messages call the
    argument `name`.
    """
    check_name(name)
    if hasattr(rotation, "as_quat") and hasattr(rotation, "as_matrix") and not isinstance(rotation, type):
        rotation = rotation.as_matrix()
    array = finite_array(rotation, name, ONE_ROTATION, (3, 3), (4,), (4, 4))
    if array.shape == (4,):
        return _matrix_from_quaternion(unit_quaternion(array, name))
    if array.shape == (4, 4):
        check_bottom_row(array, name)
        return checked_matrix(array[:3, :3].copy(), f"{name}[:3, :3]")
    return checked_matrix(array, name)


def skew(v: Array) -> Array:
    """The matrix [v]x of the cross product: `skew(v) @ p == cross(v, p)`."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def _in_degrees(degrees: object) -> bool:
    """The flag `degrees`; a third angle in its place would be a silent mistake."""
    return flag(degrees, GeometryError, "degrees")


def _matrix_from_quaternion(q: Array) -> Array:
    """R = I + 2 w [v]x + 2 [v]x^2 for the unit quaternion q = (w, v)."""
    v = skew(q[1:])
    return np.asarray(np.eye(3) + 2.0 * q[0] * v + 2.0 * v @ v)


def quaternion(w: float, x: float, y: float, z: float) -> Array:
    """The unit quaternion (w, x, y, z) = (cos(angle/2), sin(angle/2) axis) as an array; no unit.

    Its norm must be 1 to 1e-6, because a norm that is further off tells of a mistake; the rest is
    normalised away.
    """
    values = finite_array([w, x, y, z], "quaternion", "four numbers (w, x, y, z)", (4,))
    return unit_quaternion(values, "quaternion")


def _euler_axes(order: str) -> tuple[list[int], bool]:
    """The axis numbers of an Euler order, and whether the axes are fixed (lower case)."""
    letters = order.lower() if isinstance(order, str) else ""
    if not 1 <= len(letters) <= 3 or set(letters) - set("xyz"):
        raise GeometryError(f"order is {shown(order)}; give one to three of the letters x, y, z, such as 'xyz'")
    if order not in (letters, order.upper()):
        raise GeometryError(
            f"order {order!r} mixes cases; write {letters!r} for turns about the fixed axes "
            f"or {order.upper()!r} for turns about the moving axes"
        )
    if any(a == b for a, b in pairwise(letters)):
        raise GeometryError(f"order {order!r} names an axis twice in a row; add the two angles, name it once")
    return ["xyz".index(letter) for letter in letters], order == letters


def euler(*angles: float, order: str = "xyz", degrees: bool = False) -> Array:
    """The rotation made of one to three turns about coordinate axes, the first letter of `order` first.

    Lower case turns about the fixed axes (extrinsic): order="xyz" is Rz(c) Ry(b) Rx(a).
    Upper case turns about the moving axes (intrinsic): order="XYZ" is Rx(a) Ry(b) Rz(c).
    The meaning of `order` is scipy's. Angles in radians, or in degrees with `degrees=True`:
    `euler(90, order="z", degrees=True)`.
    """
    axes, fixed = _euler_axes(order)
    expected = f"one number for each letter of order={order!r} (order and degrees are keywords)"
    turns = finite_array(angles, "angles", expected, (len(axes),))
    if _in_degrees(degrees):
        turns = np.radians(turns)
    else:
        doubt_degrees(turns.tolist())
    R = np.eye(3)
    for axis, angle in zip(axes, turns, strict=True):
        turn = axis_angle(np.eye(3)[axis], angle)
        R = turn @ R if fixed else R @ turn
    return R


def rpy(roll: float, pitch: float, yaw: float, *, degrees: bool = False) -> Array:
    """Roll, pitch and yaw [rad] as URDF means them, about the fixed axes x, y, z: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    return euler(roll, pitch, yaw, order="xyz", degrees=degrees)


def axis_angle(axis: npt.ArrayLike, angle: float, *, degrees: bool = False) -> Array:
    """The right-handed turn by `angle` [rad, or degrees with `degrees=True`] about `axis` (of any length but zero).

    Rodrigues: R = I + sin(angle) [a]x + (1 - cos(angle)) [a]x^2 for the unit axis a.
    """
    a = skew(direction(axis, "axis"))
    turn = finite_number(angle, "angle")
    turn = math.radians(turn) if _in_degrees(degrees) else turn
    versine = 2.0 * math.sin(0.5 * turn) ** 2  # 1 - cos(turn) without cancellation
    return np.asarray(np.eye(3) + math.sin(turn) * a + versine * a @ a)


def look_rotation(forward: npt.ArrayLike, up: npt.ArrayLike = (0.0, 0.0, 1.0)) -> Array:
    """The rotation whose x axis points along `forward` and whose z axis is as near to `up` as it can be.

    x = forward, y = up x forward, z = x x y, each of length 1 and without unit; robots drive and look along x with z up.
    """
    x = direction(forward, "forward")
    left = np.cross(direction(up, "up"), x)
    if math.hypot(*left) < PARALLEL_TOLERANCE:
        raise GeometryError("up is parallel to forward, which leaves the roll open; give an up that is not")
    y = direction(left, "up")
    return np.column_stack([x, y, np.cross(x, y)])


def between(a: npt.ArrayLike, b: npt.ArrayLike) -> Array:
    """The shortest rotation that takes the direction of `a` to the direction of `b`.

    For unit a and b the quaternion is (1 + a.b, a x b), normalised; 1 + a.b = |a + b|^2 / 2.
    If the two are opposite, a half turn about any axis square to them does it; the axis taken is the cross
    product of `a` with the coordinate axis furthest from it.
    """
    start, end = direction(a, "a"), direction(b, "b")
    middle = start + end
    if math.hypot(*middle) < 1e-14:
        least = np.eye(3)[np.argmin(np.abs(start))]
        return axis_angle(np.cross(start, least), math.pi)
    # Both forms equal a x b; the shorter factor keeps full precision where a x b itself would cancel.
    axis = np.cross(start, end - start if start @ end > 0.0 else middle)
    q = np.array([0.5 * middle @ middle, *axis])
    return _matrix_from_quaternion(q / math.hypot(*q))


def random_rotation(rng: np.random.Generator) -> Array:
    """A rotation drawn uniformly (Haar measure): a normalised Gaussian quaternion prefers no direction."""
    if not isinstance(rng, np.random.Generator):
        raise GeometryError(f"rng is a {type(rng).__name__}; give a numpy Generator: default_rng(seed)")
    q = rng.standard_normal(4)
    return _matrix_from_quaternion(q / math.hypot(*q))


# ---- Reading rotations ---------------------------------------------------------------------------


def to_quaternion(R: RotationLike) -> Array:
    """The unit quaternion (w, x, y, z) of R with w >= 0; no unit.

    Of a half turn (w = 0) the first of x, y, z that is not zero is positive. The formula divides by the
    largest of the four components (Shepperd 1978), so that no rotation is badly conditioned.
    """
    return quaternion_of_matrix(rotation_matrix(R, name="R"))


def quaternion_of_matrix(m: Array) -> Array:
    """As `to_quaternion`, for a matrix that is known to be a rotation."""
    rows = m[:3, :3].tolist()  # plain numbers: a body has thousands of these to read
    trace = rows[0][0] + rows[1][1] + rows[2][2]
    i = max(range(3), key=lambda axis: rows[axis][axis])
    j, k = (i + 1) % 3, (i + 2) % 3
    if trace >= rows[i][i]:
        q = [1.0 + trace, rows[2][1] - rows[1][2], rows[0][2] - rows[2][0], rows[1][0] - rows[0][1]]
    else:
        q = [rows[k][j] - rows[j][k], 0.0, 0.0, 0.0]
        q[1 + i] = 1.0 + rows[i][i] - rows[j][j] - rows[k][k]
        q[1 + j] = rows[j][i] + rows[i][j]
        q[1 + k] = rows[k][i] + rows[i][k]
    length = math.copysign(math.hypot(*q), next(filter(None, q)))
    return np.array([component / length + 0.0 for component in q])  # + 0.0 turns -0.0 into 0.0


def to_euler(R: RotationLike, order: str = "xyz", *, degrees: bool = False) -> Array:
    """The three angles [rad, or degrees with `degrees=True`] for which `euler(*angles, order=order)` is R.

    The first and last lie in [-pi, pi]; the middle one in [-pi/2, pi/2] if the three axes differ, in [0, pi]
    if the first is also the last. Within 1e-10 rad of gimbal lock only the sum or the difference of the first
    and last angle is defined; then the last is set to zero.

    With the axes i, j, k and q the quaternion of R, half the sum and half the difference of the outer
    angles are the arguments of two complex numbers a + b i and c + d i, and the middle angle is twice the
    arc tangent of the ratio of their moduli (Bernardes and Viollet 2022).
    """
    axes, fixed = _euler_axes(order)
    if len(axes) != 3:
        raise GeometryError(f"order {order!r} has {len(axes)} letter(s); to_euler needs three, such as 'xyz'")
    i, j, k = axes if fixed else axes[::-1]  # moving axes are the fixed axes in reverse
    proper = i == k
    k = 3 - i - j
    parity = 1.0 if (j - i) % 3 == 1 else -1.0
    w, *v = to_quaternion(R).tolist()
    a, b, c, d = w, v[i], v[j], parity * v[k]
    if not proper:
        a, b, c, d = a - c, b + d, c + a, d - b
    middle = 2.0 * math.atan2(math.hypot(c, d), math.hypot(a, b))
    half_sum, half_difference = math.atan2(b, a), math.atan2(d, c)
    last_zero = -1.0 if fixed else 1.0
    if middle < GIMBAL_TOLERANCE:
        half_difference = last_zero * half_sum
    elif middle > math.pi - GIMBAL_TOLERANCE:
        half_sum = last_zero * half_difference
    first, last = half_sum - half_difference, half_sum + half_difference
    if not proper:
        middle, last = middle - 0.5 * math.pi, parity * last
    outer = [math.remainder(first, 2.0 * math.pi), math.remainder(last, 2.0 * math.pi)]
    angles = np.array([outer[0], middle, outer[1]])
    angles = angles if fixed else angles[::-1]
    return np.degrees(angles) if _in_degrees(degrees) else angles.copy()


def to_axis_angle(R: RotationLike, *, degrees: bool = False) -> tuple[Array, float]:
    """The unit axis and the angle in [0, pi] of R [rad, or degrees with `degrees=True`]; the identity has the axis (1, 0, 0).

    angle = 2 atan2(|v|, w) for the quaternion (w, v), which is accurate at every angle.
    """
    q = to_quaternion(R)
    sine = math.hypot(*q[1:])
    if sine == 0.0:
        return np.array([1.0, 0.0, 0.0]), 0.0
    angle = 2.0 * math.atan2(sine, q[0])
    return direction(q[1:], "R"), math.degrees(angle) if _in_degrees(degrees) else angle


# ---- Measuring and blending ----------------------------------------------------------------------


def angle_between(R0: RotationLike, R1: RotationLike) -> float:
    """The angle of the rotation from R0 to R1, in [0, pi] radians, accurate near 0 and near pi."""
    return to_axis_angle(rotation_matrix(R0, name="R0").T @ rotation_matrix(R1, name="R1"))[1]


def slerp(R0: RotationLike, R1: RotationLike, t: float) -> Array:
    """The rotation a fraction t of the way from R0 to R1 at constant speed: R0 exp(t log(R0^T R1)).

    Takes the shorter way round; t outside [0, 1] goes on along the same arc. If R0 and R1 are half a turn
    apart both ways are as short, and the axis that `to_axis_angle` picks decides.
    """
    start = rotation_matrix(R0, name="R0")
    axis, angle = to_axis_angle(start.T @ rotation_matrix(R1, name="R1"))
    return np.asarray(start @ axis_angle(axis, finite_number(t, "t") * angle))

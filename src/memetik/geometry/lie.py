"""Exponential and logarithm of rotations and rigid transforms, and the Jacobian that links them.

A rotation vector v is the unit axis a times the angle theta = |v| in radians. A twist is (linear, angular):
six numbers, the first three in metres, the last three a rotation vector.
"""

import math

import numpy as np
import numpy.typing as npt

from memetik.errors import GeometryError
from memetik.geometry.checks import THREE_NUMBERS, direction, finite_array
from memetik.geometry.rotation import RotationLike, axis_angle, skew, to_axis_angle
from memetik.geometry.transform import TransformLike, as_transform, transform
from memetik.types import Array

SMALL_ANGLE = 0.1  # radians; below, four terms of the series are exact to rounding and nothing cancels
SINGULAR_SINE = 1e-8  # |sin(theta / 2)| below which the left Jacobian has no usable inverse


def exp_rotation(v: npt.ArrayLike) -> Array:
    """The rotation by |v| radians about v: exp([v]x). The zero vector gives the identity."""
    vector = _rotation_vector(v)
    angle = math.hypot(*vector)
    return axis_angle(vector, angle) if angle > 0.0 else np.eye(3)


def log_rotation(R: RotationLike) -> Array:
    """The rotation vector v with |v| <= pi and exp_rotation(v) = R, accurate near 0 and near pi.

    At exactly half a turn v and -v are both right; the one whose first entry that is not zero is
    positive is returned.
    """
    axis, angle = to_axis_angle(R)
    return angle * axis


def exp_transform(twist: npt.ArrayLike) -> Array:
    """The screw motion of a twist (linear u, angular v): [exp([v]x)  J(v) u; 0 1], J the left Jacobian."""
    array = finite_array(twist, "twist", "six numbers: three linear, then three angular", (6,))
    linear, angular = array[:3], array[3:]
    return transform(left_jacobian(angular) @ linear, exp_rotation(angular))


def log_transform(T: TransformLike) -> Array:
    """The twist (linear, angular) with |angular| <= pi and exp_transform(twist) = T."""
    matrix = as_transform(T, name="T")
    angular = log_rotation(matrix)
    return np.concatenate([inverse_left_jacobian(angular) @ matrix[:3, 3], angular])


def left_jacobian(v: npt.ArrayLike) -> Array:
    """The matrix J(v) with exp(v + dv) = exp(J(v) dv) exp(v) to first order in dv.

    J(v) = I + (1 - cos(theta))/theta [a]x + (1 - sin(theta)/theta) [a]x^2, also the mean of exp(s v) over
    s in [0, 1]. It turns rates of a rotation vector into angular velocity in the fixed frame.
    """
    vector = _rotation_vector(v)
    theta = math.hypot(*vector)
    if theta == 0.0:
        return np.eye(3)
    a = skew(direction(vector, "v"))
    first = 2.0 * math.sin(0.5 * theta) ** 2 / theta  # (1 - cos)/theta without cancellation
    return np.asarray(np.eye(3) + first * a + _one_minus_sinc(theta) * a @ a)


def inverse_left_jacobian(v: npt.ArrayLike) -> Array:
    """The inverse of `left_jacobian`: I - theta/2 [a]x + (1 - theta/2 cot(theta/2)) [a]x^2.

    It turns angular velocity in the fixed frame into rates of a rotation vector. It does not exist where |v|
    is a whole number of turns other than none.
    """
    vector = _rotation_vector(v)
    theta = math.hypot(*vector)
    if theta == 0.0:
        return np.eye(3)
    if theta > 1.0 and abs(math.sin(0.5 * theta)) < SINGULAR_SINE:
        raise GeometryError(
            f"v has length {theta:.9g}, a whole number of turns, where the left Jacobian has no inverse; "
            "shorten v to at most pi first: log_rotation(exp_rotation(v))"
        )
    a = skew(direction(vector, "v"))
    return np.asarray(np.eye(3) - 0.5 * theta * a + _one_minus_half_cotangent(theta) * a @ a)


def _rotation_vector(v: npt.ArrayLike) -> Array:
    return finite_array(v, "v", THREE_NUMBERS + ", the axis times the angle", (3,))


def _one_minus_sinc(theta: float) -> float:
    """1 - sin(theta)/theta = theta^2/3! - theta^4/5! + theta^6/7! - theta^8/9! + ..."""
    if theta > SMALL_ANGLE:
        return 1.0 - math.sin(theta) / theta
    s = theta * theta
    return s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0)))


def _one_minus_half_cotangent(theta: float) -> float:
    """1 - theta/2 cot(theta/2) = theta^2/12 + theta^4/720 + theta^6/30240 + theta^8/1209600 + ..."""
    if theta > SMALL_ANGLE:
        return 1.0 - 0.5 * theta / math.tan(0.5 * theta)
    s = theta * theta
    return s / 12.0 * (1.0 + s / 60.0 * (1.0 + s / 42.0 * (1.0 + s / 40.0)))

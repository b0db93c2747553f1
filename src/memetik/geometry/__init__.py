"""Rotations and rigid transforms for people: constructors, conversions, exp, log.

Metres and radians; right-handed; quaternions are (w, x, y, z); transforms are 4x4 matrices.
"""

from memetik.geometry.lie import (
    exp_rotation,
    exp_transform,
    inverse_left_jacobian,
    left_jacobian,
    log_rotation,
    log_transform,
)
from memetik.geometry.points import elbow_angles, fabrik_points
from memetik.geometry.rotation import (
    RotationLike,
    angle_between,
    axis_angle,
    between,
    euler,
    look_rotation,
    quaternion,
    random_rotation,
    rotation_matrix,
    rpy,
    slerp,
    to_axis_angle,
    to_euler,
    to_quaternion,
)
from memetik.geometry.transform import (
    TransformLike,
    apply,
    as_transform,
    compose,
    interpolate,
    invert,
    pose_distance,
    transform,
    translation,
)

__all__ = [
    "RotationLike",
    "TransformLike",
    "angle_between",
    "apply",
    "as_transform",
    "axis_angle",
    "between",
    "compose",
    "elbow_angles",
    "euler",
    "exp_rotation",
    "exp_transform",
    "fabrik_points",
    "interpolate",
    "inverse_left_jacobian",
    "invert",
    "left_jacobian",
    "log_rotation",
    "log_transform",
    "look_rotation",
    "pose_distance",
    "quaternion",
    "random_rotation",
    "rotation_matrix",
    "rpy",
    "slerp",
    "to_axis_angle",
    "to_euler",
    "to_quaternion",
    "transform",
    "translation",
]

"""The residual of one full pose, its error, and the judgement: written once for numbers, lanes and graphics cards.

The residual is in the axes of the world, where the damped step needs no rotation of its own (pose_step.py).
"""

import math

from memetik.kernels.compiler.jit import jit_inlined, jit_part
from memetik.kernels.math.pose import turn
from memetik.kernels.math.rotation import rotation_vector
from memetik.kernels.problem.budget import OUTCOME
from memetik.kernels.problem.quick_error import squared_angle, squared_distance
from memetik.kernels.problem.verify import CLOSEST, INVALID, REACHED


@jit_inlined
def pose_offset(target, tip):
    """How far the tip is from the target [m], and the rotation vector to it in the axes of the target [rad]."""
    return position_offset(target, tip), rotation_vector(target, tip)


@jit_inlined
def position_offset(target, tip):
    """How far the tip is from the target [m]."""
    return tip[4] - target[4], tip[5] - target[5], tip[6] - target[6]


@jit_inlined
def square(v):
    """The squared length of three numbers."""
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]


@jit_inlined
def scales_of(terms):
    """By what distances and angles are multiplied."""
    return terms[0].scale, terms[1].scale


@jit_inlined
def bounds_of(terms):
    """The squares of a distance and an angle within tolerance, at most."""
    return terms[0].tolerance * terms[0].tolerance, terms[1].tolerance * terms[1].tolerance


@jit_inlined
def squared_error(scales, distance, angle):
    """The squared error of a squared distance and a squared angle."""
    by_position, by_rotation = scales
    return by_position * by_position * distance + by_rotation * by_rotation * angle


@jit_inlined
def is_within(bounds, distance, angle):
    """Whether a squared distance and a squared angle are within tolerance."""
    return (distance <= bounds[0]) & (angle <= bounds[1])


@jit_inlined
def pose_residual(scales, target, offset):
    """The six residuals of an offset, scaled, in the axes of the world."""
    (dx, dy, dz), (ex, ey, ez) = offset
    by_position, by_rotation = scales
    ex, ey, ez = turn(target, ex, ey, ez)
    return (
        by_position * dx, by_position * dy, by_position * dz, by_rotation * ex, by_rotation * ey, by_rotation * ez
    )  # fmt: skip


@jit_inlined
def quick_pose_error(terms, target, tip):
    """About the squared error of a pose, to rank postures (problem/quick_error.py)."""
    return squared_error(scales_of(terms), squared_distance(target, tip), squared_angle(target, tip))


@jit_part
def judge_pose(terms, distance, angle, outcome):
    """Write the errors of a squared distance and a squared angle, as problem/verify.py does. Returns the status."""
    distance, angle = math.sqrt(distance), math.sqrt(angle)
    near, turned = distance <= terms[0].tolerance, angle <= terms[1].tolerance
    outcome[OUTCOME], outcome[OUTCOME + 1] = distance, angle
    outcome[OUTCOME + 2], outcome[OUTCOME + 3] = 1.0 if near else 0.0, 1.0 if turned else 0.0
    if near and turned:
        return REACHED
    return CLOSEST if math.isfinite(distance + angle) else INVALID

"""Where a term wants its frame: of all places that would satisfy it, the one nearest to where the frame is.

A target with free axes, or a cone, is satisfied by many places. Methods that think in points aim at the nearest of them
and look again after each move. A squared distance to a set is never more than that to one of its points, and equal
at the start of the move, so what brings the frame nearer to the chosen place brings it nearer to the set.
"""

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import turn
from memetik.kernels.math.rotation import rotation_vector, turn_back
from memetik.kernels.math.vector import length, minus, plus
from memetik.kernels.terms.aim import AIM_FREE, AIM_IS_POINT, directions
from memetik.kernels.terms.pose import MASK, target_pose


@jit
def product(a, b):
    """a * b for the rotations of two poses, as a quaternion."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@jit
def conjugate(a):
    """The quaternion that undoes the rotation of a pose."""
    return a[0], -a[1], -a[2], -a[3]


@jit
def rotation(v):
    """exp: the quaternion of a rotation vector."""
    half = 0.5 * length(v)
    s = 0.5 * math.sin(half) / half if half > 1e-9 else 0.5
    return math.cos(half), s * v[0], s * v[1], s * v[2]


@jit_part
def free_axes(term, data):
    """1 for each axis of a target that does not count, whatever its pull; 0 for the others."""
    k = term.numbers + MASK
    return (
        0.0 if data[k] > 0.0 else 1.0,
        0.0 if data[k + 1] > 0.0 else 1.0,
        0.0 if data[k + 2] > 0.0 else 1.0,
    )


@jit
def wanted_point(term, data, pose, world):
    """POINT: where it wants the frame, now at `pose`: t + A f e, f = 1 for free axes, e in the target's axes A."""
    t = target_pose(term, data, world)
    a, b, c = free_axes(term, data)
    if a + b + c == 0.0:
        return t[4:]
    ex, ey, ez = turn_back(t, *minus(pose[4:], t[4:]))
    return plus(t[4:], turn(t, a * ex, b * ey, c * ez))


@jit
def wanted_turn(term, data, pose, world):
    """ROTATION: what it wants, as a quaternion: A exp(f e) with e = log(A^T R) and f = 1 for free axes."""
    t = target_pose(term, data, world)
    a, b, c = free_axes(term, data)
    if a + b + c == 0.0:
        return t[:4]
    ex, ey, ez = rotation_vector(t, pose)
    return product(t, rotation((a * ex, b * ey, c * ez)))


@jit
def wanted_direction(term, data, world):
    """For the goal DIRECTION the axis, the direction nearest to it that is good enough, and the distance to a point aimed at.

    The distance is infinite for a pure direction.
    """
    ax, ay, az, dx, dy, dz, distance = directions(term, data, world)
    free = data[term.numbers + AIM_FREE]
    if free > 0.0:
        cosine = ax * dx + ay * dy + az * dz
        x, y, z = ax - cosine * dx, ay - cosine * dy, az - cosine * dz  # from d towards a, across d
        sine = math.sqrt(x * x + y * y + z * z)
        if math.atan2(sine, cosine) <= free:
            dx, dy, dz = ax, ay, az
        elif sine > 1e-9:
            along, across = math.cos(free), math.sin(free) / sine
            dx, dy, dz = along * dx + across * x, along * dy + across * y, along * dz + across * z
    if data[term.numbers + AIM_IS_POINT] == 0.0:
        distance = math.inf
    return (ax, ay, az), (dx, dy, dz), distance

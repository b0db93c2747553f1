"""Rotations of poses: vectors turned back, axes, what turns one into another, and the derivative of that."""

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import axis, turn


@jit
def turn_back(pose, x, y, z):
    """Rotate a vector by the inverse of the pose's rotation."""
    return turn((pose[0], -pose[1], -pose[2], -pose[3]), x, y, z)


@jit_part
def axes_of(pose):
    """The columns of the pose's rotation: its axes in the world."""
    w, x, y, z = pose[0], pose[1], pose[2], pose[3]
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)),
        (2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)),
        axis(pose),
    )


@jit
def rotation_between(t, r):
    """The quaternion of T^-1 R for the rotations of two poses, the short way round, as w, x, y, z, and the length of x, y, z."""
    w = t[0] * r[0] + t[1] * r[1] + t[2] * r[2] + t[3] * r[3]
    x = t[0] * r[1] - t[1] * r[0] - t[2] * r[3] + t[3] * r[2]
    y = t[0] * r[2] + t[1] * r[3] - t[2] * r[0] - t[3] * r[1]
    z = t[0] * r[3] - t[1] * r[2] + t[2] * r[1] - t[3] * r[0]
    if w < 0.0:  # q and -q are one rotation; take the short way
        w, x, y, z = -w, -x, -y, -z
    return w, x, y, z, math.sqrt(x * x + y * y + z * z)


@jit
def rotation_vector(t, r):
    """log(T^-1 R) for the rotations of two poses: angle up to pi, accurate near zero (2 atan2(|v|, |w|))."""
    w, x, y, z, s = rotation_between(t, r)
    k = 2.0 * math.atan2(s, w) / s if s > 1e-9 else 2.0
    return k * x, k * y, k * z


@jit_part
def left_inverse(t, r):
    """Columns of J_l^-1(e) = I - [e]/2 + c [e]^2 for e = log(T^-1 R), with c = (1 - (|e|/2) cot(|e|/2)) / |e|^2."""
    w, x, y, z, s = rotation_between(t, r)
    k, c = 2.0, 1.0 / 12.0
    if s > 5e-4:
        half = math.atan2(s, w)
        k, c = 2.0 * half / s, (1.0 - half * w / s) / (4.0 * half * half)
    x, y, z = k * x, k * y, k * z
    xy, xz, yz = c * x * y, c * x * z, c * y * z
    return (
        (1.0 - c * (y * y + z * z), xy - 0.5 * z, xz + 0.5 * y),
        (xy + 0.5 * z, 1.0 - c * (x * x + z * z), yz - 0.5 * x),
        (xz - 0.5 * y, yz + 0.5 * x, 1.0 - c * (x * x + y * y)),
    )

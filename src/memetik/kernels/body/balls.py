"""Balls: joints of three turns without limits, and steps that take them through any rotation.

The values a, b, c of a ball are turns about moving axes in order, R = R1(a) R2(b) R3(c). Every rotation has such values. But at
b = ±90° the first and the last turn are about the same axis, and no small change of the values turns the ball about the axis at
right angles to the first two (gimbal lock). So a step d of a ball is no change of its values, but a rotation vector:

    R1(a) exp(d) R2(b) R3(c)

It is written in the frame behind the first turn: d1 is about the axis of the first turn, d2 about that of the second, which
are always at right angles, and d3 about the third axis at right angles to both, which is that of the last turn at b = 0.
What comes out is read as values again, those nearest to the ones before.

The axes of the turns are x, y and z in some order. A turn about left-handed axes is the opposite turn about right-handed ones,
so with `sign` -1 for a left-handed order everything here is the turns x, y, z of sign times the values.
"""

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import axis, constant
from memetik.kernels.math.sincos import sincos

# Where one of the two lengths below is less than this, rounding alone decides how the first and the last turn share their
# common axis: they keep their shares, which costs no more than this in rotation.
LOCKED = 1e-14
SHORT = 1e-9  # rad; a rotation vector that is shorter is as long as its sine
NEARER = 1e-9  # rad²; values are exchanged for others only if these are truly nearer


@jit_part
def multiply(p, q):
    """The product of two quaternions."""
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


@jit
def three_turns(a, b, c):
    """The quaternion of the turns a, b, c about the moving axes x, y, z."""
    sa, ca = sincos(0.5 * a)
    sb, cb = sincos(0.5 * b)
    sc, cc = sincos(0.5 * c)
    return (
        ca * cb * cc - sa * sb * sc, sa * cb * cc + ca * sb * sc, ca * sb * cc - sa * cb * sc, ca * cb * sc + sa * sb * cc
    )  # fmt: skip


@jit
def ball_rotation(x, k, sign):
    """The quaternion of the ball whose values are x[k] to x[k + 2], along its own axes."""
    return three_turns(sign * x[k], sign * x[k + 1], sign * x[k + 2])


@jit_part
def near(value, to):
    """The angle by whole turns as near as can be to another."""
    return value - 2.0 * math.pi * round((value - to) / (2.0 * math.pi))


@jit_part
def nearer_branch(one, other, a, b, c):
    """Of two ways to write a rotation, the one nearer to the values a, b, c, by whole turns as near as can be."""
    one = near(one[0], a), near(one[1], b), near(one[2], c)
    other = near(other[0], a), near(other[1], b), near(other[2], c)
    far = (one[0] - a) ** 2 + (one[1] - b) ** 2 + (one[2] - c) ** 2
    if (other[0] - a) ** 2 + (other[1] - b) ** 2 + (other[2] - c) ** 2 < far - NEARER:
        return other
    return one


@jit
def nearest_turns(q, a, b, c):
    """The turns about x, y, z that make the rotation of a quaternion, nearest to the turns a, b, c.

    With the halves of the angles,  (w + y, x + z) = (cos b + sin b) (cos, sin)(a + c)  and  (w - y, x - z) = (cos b - sin b)
    (cos, sin)(a - c). Arc tangents of both pairs and of their lengths are accurate everywhere; where one length vanishes, its
    angle does not matter. The other way to make the same rotation is a + 180°, 180° - b, c + 180°.
    """
    w, x, y, z = q
    of_sum = math.sqrt((w + y) * (w + y) + (x + z) * (x + z))
    of_difference = math.sqrt((w - y) * (w - y) + (x - z) * (x - z))
    middle = 2.0 * math.atan2(of_sum, of_difference) - 0.5 * math.pi
    half_sum = math.atan2(x + z, w + y) if of_sum > LOCKED else 0.5 * (a + c)
    half_difference = math.atan2(x - z, w - y) if of_difference > LOCKED else 0.5 * (a - c)
    first, last = half_sum + half_difference, half_sum - half_difference
    return nearer_branch((first, middle, last), (first + math.pi, math.pi - middle, last + math.pi), a, b, c)


@jit_part
def turned(a, b, c, dx, dy, dz):
    """The turns a, b, c after a step (dx, dy, dz) in the frame behind the first turn.

    With turns p, q, r for exp(d) R2(b), nearest to 0, b, 0, they are a + p, q, c + r.
    """
    angle = math.sqrt(dx * dx + dy * dy + dz * dz)
    if angle == 0.0:
        return a, b, c
    s, w = sincos(0.5 * angle)
    share = s / angle
    x, y, z = share * dx, share * dy, share * dz
    s, c2 = sincos(0.5 * b)
    first, middle, last = nearest_turns((w * c2 - y * s, x * c2 - z * s, y * c2 + w * s, z * c2 + x * s), 0.0, b, 0.0)
    return a + first, middle, c + last


@jit
def step_balls(balls, origin, share, step, x):
    """Put the values of every ball in x at a share of its step from those in `origin`; whether any is new."""
    moved = False
    for i in range(balls.size):
        k, sign = balls[i].variable, balls[i].sign
        by = sign * share
        a, b, c = turned(
            sign * origin[k], sign * origin[k + 1], sign * origin[k + 2], by * step[k], by * step[k + 1], by * step[k + 2]
        )  # fmt: skip
        a, b, c = sign * a, sign * b, sign * c
        moved = moved or a != origin[k] or b != origin[k + 1] or c != origin[k + 2]
        x[k], x[k + 1], x[k + 2] = a, b, c
    return moved


@jit
def write_ball_axes(balls, axes):
    """Put the axis of the third entry of a step in the place of that of the last turn, which write_axes (motion.py) wrote."""
    for i in range(balls.size):
        node, sign = balls[i].node, balls[i].sign
        ux, uy, uz = axes[node, 0], axes[node, 1], axes[node, 2]
        vx, vy, vz = axes[node + 1, 0], axes[node + 1, 1], axes[node + 1, 2]
        axes[node + 2, 0] = sign * (uy * vz - uz * vy)
        axes[node + 2, 1] = sign * (uz * vx - ux * vz)
        axes[node + 2, 2] = sign * (ux * vy - uy * vx)


@jit_part
def to_third_axis(ball, nodes):
    """The quaternion that takes the axis of the first turn, z, to that of the third entry of a step, seen from the first turn.

    It is z × u = (-uy, ux, 0) times the sign, where u is the axis of the second turn, at right angles to z.
    """
    ux, uy, _ = axis(constant(nodes[ball.node + 1]))
    half = ball.sign * math.sqrt(0.5)
    return math.sqrt(0.5), -half * ux, -half * uy, 0.0


@jit
def write_ball_poses(balls, nodes, poses):
    """Turn the pose of the last turn of every ball so that its z axis is that of the third entry of a step.

    For steps that take the axes of motions from the poses of nodes, when these have served for all else.
    """
    for i in range(balls.size):
        node = balls[i].node
        first = poses[node, 0], poses[node, 1], poses[node, 2], poses[node, 3]
        turn = multiply(first, to_third_axis(balls[i], nodes))
        for c in range(4):
            poses[node + 2, c] = turn[c]


@jit
def settle_balls(balls, x, start):
    """Write every ball in x by those values for its rotation that are nearest to the start."""
    for i in range(balls.size):
        k = balls[i].variable
        if not math.isfinite(x[k] + x[k + 1] + x[k + 2]):
            continue
        x[k], x[k + 1], x[k + 2] = nearer_branch(
            (x[k], x[k + 1], x[k + 2]), (x[k] + math.pi, math.pi - x[k + 1], x[k + 2] + math.pi),
            start[k], start[k + 1], start[k + 2],
        )  # fmt: skip


@jit_part
def vector_between(p, q):
    """The rotation vector from quaternion p to q, log(q p^-1), along the axes before both; at most pi long."""
    w, x, y, z = multiply(q, (p[0], -p[1], -p[2], -p[3]))
    if w < 0.0:  # q and -q are one rotation; take the short way
        w, x, y, z = -w, -x, -y, -z
    s = math.sqrt(x * x + y * y + z * z)
    k = 2.0 * math.atan2(s, w) / s if s > SHORT else 2.0
    return k * x, k * y, k * z


@jit
def angle_between(ball, x, other):
    """The angle by which a ball turns from one posture to another [rad]."""
    k, sign = ball.variable, ball.sign
    dx, dy, dz = vector_between(ball_rotation(x, k, sign), ball_rotation(other, k, sign))
    return math.sqrt(dx * dx + dy * dy + dz * dz)

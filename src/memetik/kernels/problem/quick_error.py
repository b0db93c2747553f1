"""A quick look at how promising a posture is: squared errors without trigonometry, good enough to rank a population."""

import math

from memetik.kernels.compiler.jit import jit, jit_inlined, jit_part
from memetik.kernels.math.pose import load
from memetik.kernels.terms.aim import AIM_FREE, directions
from memetik.kernels.terms.function_pointers import call_residual
from memetik.kernels.terms.pose import MASK, target_pose
from memetik.kernels.terms.records import DIRECTION, POINT, ROTATION
from memetik.kernels.terms.springs import springs_cost


@jit_part
def unmasked(term, data):
    """Whether all three axes of a position or orientation count in full."""
    m = term.numbers + MASK
    return data[m] + data[m + 1] + data[m + 2] == 3.0


@jit_inlined
def squared_distance(target, pose):
    """The squared distance between two poses [m²]."""
    dx, dy, dz = pose[4] - target[4], pose[5] - target[5], pose[6] - target[6]
    return dx * dx + dy * dy + dz * dz


@jit_inlined
def squared_angle(target, pose):
    """About the squared angle between two poses, 8 (1 - |q·t|), which needs no arc cosine."""
    dot = target[0] * pose[0] + target[1] * pose[1] + target[2] * pose[2] + target[3] * pose[3]
    return 8.0 * (1.0 - min(abs(dot), 1.0))


@jit
def quick_error(term, data, world, x, scratch):
    """About the squared residual of a term, unscaled. Angles use 2 (1 - cos) in place of the square.

    Positions, orientations and directions have fast paths, because a population is mostly about them; other terms, and those
    with free axes or angles, go by their residuals.
    """
    if term.goal == POINT and unmasked(term, data):
        return squared_distance(target_pose(term, data, world), load(world, term.frame, 0))
    if term.goal == ROTATION and unmasked(term, data):
        return squared_angle(target_pose(term, data, world), load(world, term.frame, 0))
    if term.goal == DIRECTION and data[term.numbers + AIM_FREE] == 0.0:
        ax, ay, az, dx, dy, dz, _ = directions(term, data, world)
        return 2.0 * (1.0 - (ax * dx + ay * dy + az * dz))
    if term.rows == 0:
        return springs_cost(term, data, x)
    call_residual(term.residual, term, data, world, x, scratch)
    total = 0.0
    for i in range(term.row, term.row + term.rows):
        total += scratch[i] * scratch[i]
    return total if math.isfinite(total) else 1e300

"""A quick look at how promising a posture is: squared errors without trigonometry, good enough to rank a population."""

import math

from memetik.kernels.compiler.jit import jit, jit_part
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


@jit
def quick_error(term, data, world, x, scratch):
    """About the squared residual of a term, unscaled. Angles use 2 (1 - cos) in place of the square.

    Positions, orientations and directions have fast paths, because a population is mostly about them; other terms, and those
    with free axes or angles, go by their residuals.
    """
    if term.goal == POINT and unmasked(term, data):
        t = target_pose(term, data, world)
        dx, dy, dz = world[term.frame, 4] - t[4], world[term.frame, 5] - t[5], world[term.frame, 6] - t[6]
        return dx * dx + dy * dy + dz * dz
    if term.goal == ROTATION and unmasked(term, data):
        t = target_pose(term, data, world)
        f = term.frame
        dot = t[0] * world[f, 0] + t[1] * world[f, 1] + t[2] * world[f, 2] + t[3] * world[f, 3]
        return 8.0 * (1.0 - min(abs(dot), 1.0))
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

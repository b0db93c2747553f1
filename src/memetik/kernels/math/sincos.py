"""Sine and cosine of one angle together, inline: half the time of two calls into the C library.

The angle is taken to the nearest multiple of a quarter turn, subtracted in three parts so that nothing is lost, and the
rest, at most an eighth of a turn, goes into polynomials. Exact to the last bit or two.
"""

import math

from memetik.kernels.compiler.jit import jit
from memetik.kernels.compiler.lanes import bit, select

FAR = 1e6  # [rad] beyond this the three parts lose digits, and the C library takes over

_QUARTERS = 2.0 / math.pi
_ROUND = 6755399441055744.0  # 1.5 * 2**52: adding and taking it away again rounds to an integer
# A quarter turn in parts of 33 bits, so that their products with a small integer are exact.
_PART_1, _PART_2, _PART_3 = 1.57079632673412561417, 6.07710050630396597660e-11, 2.02226624879595063154e-21


@jit
def from_nearest_quarter(angle):
    """(sin, cos, k) of an angle taken from the nearest multiple k of a quarter turn."""
    k = (angle * _QUARTERS + _ROUND) - _ROUND
    r = ((angle - k * _PART_1) - k * _PART_2) - k * _PART_3
    z = r * r
    s = 1.58969099521155010221e-10
    s = s * z - 2.50507602534068634195e-08
    s = s * z + 2.75573137070700676789e-06
    s = s * z - 1.98412698298579493134e-04
    s = s * z + 8.33333333332248946124e-03
    s = s * z - 1.66666666666666324348e-01
    s = r + r * z * s
    c = -1.13596475577881948265e-11
    c = c * z + 2.08757232129817482790e-09
    c = c * z - 2.75573143513906633035e-07
    c = c * z + 2.48015872894767294178e-05
    c = c * z - 1.38888888888741095749e-03
    c = c * z + 4.16666666666666019037e-02
    c = 1.0 - (0.5 * z - z * z * c)
    return s, c, k


@jit
def sincos(angle):
    """(sin, cos) of an angle [rad]."""
    if not abs(angle) <= FAR:
        return math.sin(angle), math.cos(angle)
    s, c, k = from_nearest_quarter(angle)
    quadrant = int(k)
    if quadrant & 1:
        s, c = c, -s
    if quadrant & 2:
        s, c = -s, -c
    return s, c


@jit
def sincos_lanes(angle):
    """(sin, cos) of the angle [rad] in every lane, at most FAR."""
    s, c, k = from_nearest_quarter(angle)
    crosswise, opposite = bit(k, 0), bit(k, 1)
    s, c = select(crosswise, c, s), select(crosswise, -s, c)
    return select(opposite, -s, s), select(opposite, -c, c)

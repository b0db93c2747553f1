"""The angle of a direction in the plane, inline: a call into the C library makes its caller put all that it has at hand aside.

The direction is taken into the first eighth of a turn, there to the nearer end of it, and the rest goes into a polynomial in
the square of the tangent, at most 0.4142^2. Exact to the last bit or two.
"""

import math

from memetik.kernels.compiler.jit import jit

_NEARER = math.sqrt(2.0) - 1.0  # tan(pi / 8)


@jit
def arctan2(y, x):
    """The angle of (x, y) [rad], from -pi to pi; 0 for the origin."""
    ax, ay = abs(x), abs(y)
    large, small = max(ax, ay), min(ax, ay)
    near = small > _NEARER * large
    up, out = (small - large, small + large) if near else (small, large)
    t = up / out if out > 0.0 else 0.0
    z = t * t
    # Chebyshev interpolation of (atan(t) / t - 1) / t^2 with eleven terms: off by 5e-18.
    z2 = z * z
    z4 = z2 * z2
    low = -0.3333333333333333 + 0.1999999999999552 * z + (-0.14285714284666534 + 0.11111111015255669 * z) * z2
    middle = -0.09090904578095735 + 0.07692183190171728 * z + (-0.06664511438164644 + 0.05858148832731273 * z) * z2
    high = -0.05085449318930035 + 0.039231646190551486 * z - 0.019176872294336067 * z2
    angle = t + t * (z * (low + z4 * (middle + z4 * high)))
    angle = 0.25 * math.pi + angle if near else angle
    angle = 0.5 * math.pi - angle if ay > ax else angle
    angle = math.pi - angle if x < 0.0 else angle
    return math.copysign(angle, y) if x == x and y == y else math.nan

"""The best value of one joint in closed form: it brings what the joint carries nearest to where it should be.

A turn by t about the unit axis u takes a point r, seen from the axis, along a circle. Its squared distance to the place
d, seen from the same point of the axis, is a constant less 2 (a cos t + b sin t), with

    a = r·d - (r·u)(d·u)        b = u·(r × d)

A weighted sum of such distances has the same form, so the best angle for any number of points is atan2(Σ w b, Σ w a).
A slide by s along u is best at s = Σ w u·(d - r) / Σ w. A screw does both at once, and its best turn is found step by step.
"""

import math

from memetik.kernels.body.records import SLIDE, TURN
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.sincos import sincos
from memetik.kernels.math.vector import cross, dot

SCREW_STEPS = 8
FAINT = 1e-12  # a pull below this share of what the points could exert is rounding: the points lie on the axis


@jit
def circle(r, d, u):
    """a and b of one point."""
    return dot(r, d) - dot(r, u) * dot(d, u), dot(u, cross(r, d))


@jit
def best_turn(a, b, size, low, high):
    """The angle from `low` to `high` (0 lies between) that maximises a cos t + b sin t; 0 if the angle does not matter.

    `size` is what a and b could be at most. One hill of the wave fits into a turn, so where limits shut out its top, the
    best is one of the limits.
    """
    if a * a + b * b <= (FAINT * size) ** 2:
        return 0.0
    top = math.atan2(b, a)
    if low <= top <= high:
        return top
    around = top - 2.0 * math.pi if top > 0.0 else top + 2.0 * math.pi
    if low <= around <= high:
        return around
    return low if a * math.cos(low) + b * math.sin(low) >= a * math.cos(high) + b * math.sin(high) else high


@jit
def best_slide(along, weight, low, high):
    """The slide from `low` to `high` for Σ w u·(d - r) = `along` and Σ w = `weight`."""
    return min(max(along / weight, low), high) if weight > 0.0 else 0.0


@jit_part
def screw_loss(t, a, b, along, weight, pitch):
    """What a turn by t leaves of a wave and a parabola: -2 (a cos t + b sin t) + w (h t)^2 - 2 h t `along`."""
    slide = pitch * t
    s, c = sincos(t)
    return -2.0 * (a * c + b * s) + slide * (weight * slide - 2.0 * along)


@jit
def best_screw(a, b, size, along, weight, pitch, low, high):
    """A turn from `low` to `high` that never makes the loss larger, and as a rule leads to a minimum of it.

    From the top of the wave, if that pays, Newton's steps where the loss is bent enough; elsewhere steps by the sharpest
    bend there can be, which never climb.
    """
    sharpest = math.sqrt(a * a + b * b) + pitch * pitch * weight
    if not sharpest > 0.0:
        return 0.0
    t = best_turn(a, b, size, low, high)
    if screw_loss(t, a, b, along, weight, pitch) > screw_loss(0.0, a, b, along, weight, pitch):
        t = 0.0
    for _ in range(SCREW_STEPS):
        s, c = sincos(t)
        slope = a * s - b * c + pitch * (pitch * t * weight - along)
        bend = a * c + b * s + pitch * pitch * weight
        t = min(max(t - slope / (bend if bend > 0.5 * sharpest else sharpest), low), high)
    return t


@jit_part
def best_change(node, a, b, size, along, weight, low, high):
    """The best change of a node's motion from `low` to `high`."""
    if node.motion == SLIDE:
        return best_slide(along, weight, low, high)
    if node.motion == TURN:
        return best_turn(a, b, size, low, high)
    return best_screw(a, b, size, along, weight, node.pitch, low, high)


@jit
def play(node, value, low, high):
    """How far the motion of a node may change while its variable, now at `value`, goes from `low` to `high`."""
    down, up = node.ratio * (low - value), node.ratio * (high - value)
    return (down, up) if node.ratio > 0.0 else (up, down)

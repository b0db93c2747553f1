"""Six joints of which three in a row are parallel (UR arms): at most eight postures.

The loop (loop.py) begins so that these are joints 2, 3 and 4. Their turns move nothing along their axis h. So the direction
of axis 6 and a point on it, which joint 6 does not move, give two equations in the angles of joints 1 and 5 alone:

    h · R1^-1 (direction of axis 6 at the target)         = h · R5 h6
    h · R1^-1 (point on axis 6 at the target - point 1)   = h · (point 5 - point 1) + h · R5 (point 6 - point 5)

which is subproblem 6. Joint 6 follows from them, and what is left is an arm of three joints in a plane.
"""

import math

from memetik.kernels.closed_form.loop import moved_point, vector
from memetik.kernels.closed_form.meeting_axes import common_normal, write_posture
from memetik.kernels.closed_form.subproblems import (
    about,
    about_line,
    one_turn,
    plane_form,
    turn_to_distance,
    turned,
    turns_to_planes,
)
from memetik.kernels.compiler.jit import jit
from memetik.kernels.math.pose import compose, inverse, turn
from memetik.kernels.math.vector import dot, length, minus, plus, times


@jit
def parallel_axes(loop, size, motion, rows):
    """All postures, in the order of the arm's joints. Returns how many rows were written, at most eight."""
    h1, h, h3 = vector(loop.axes, 0), vector(loop.axes, 1), vector(loop.axes, 2)
    h4, h5, h6 = vector(loop.axes, 3), vector(loop.axes, 4), vector(loop.axes, 5)
    p1, p2, p3, p4 = vector(loop.points, 0), vector(loop.points, 1), vector(loop.points, 2), vector(loop.points, 3)
    p5, p6, _, _, _, _, _ = common_normal(h5, vector(loop.points, 4), h6, vector(loop.points, 5))
    start = loop.start
    scale = 1.0 / size
    # h · R1^-1 v = v · R1 h.
    direction = turn(motion, h6[0], h6[1], h6[2])
    place = times(scale, minus(moved_point(motion, p6), p1))
    ka, ca, sa = plane_form(h1, h, direction)
    kb, cb, sb = plane_form(h1, h, place)
    kc, cc, sc = plane_form(h5, h6, h)
    kd, cd, sd = plane_form(h5, times(scale, minus(p6, p5)), h)
    depth = kc - ka, kd - kb + scale * dot(h, minus(p5, p1))
    count = turns_to_planes((ca, sa, cb, sb), (cc, sc, cd, sd), depth, loop, (start[0], start[4]))
    # The three joints in the plane: what is along h does not matter.
    upper, lower = across(h, minus(p3, p2)), across(h, minus(p4, p3))
    side = upper if dot(upper, upper) > 0.0 else lower
    written = 0
    for r in range(count):
        q1, q5 = loop.pairs[r, 0], loop.pairs[r, 1]
        # h · R1^-1 R = h · R5 R6: turned back by joint 6, h before joint 5 is where the target has it.
        seen = turned(h1, q1, h)
        x, y, z = turn(inverse(motion), seen[0], seen[1], seen[2])
        q6 = -one_turn(h6, turned(h5, -q5, h), (x, y, z), math.nan)
        if math.isnan(q6):  # axis 6 is parallel to the three
            q6 = _within_reach(loop, motion, (h, p2, p4, h5, p5, h6, p6), (q1, q5), (length(upper), length(lower)))
        # A small angle between axes has lost half of its digits when it came from its cosine. Now it is seen from the side.
        q5 = one_turn(h5, turned(h6, q6, (x, y, z)), h, q5)
        after = compose(about_line(h5, p5, q5), about_line(h6, p6, q6))
        left = compose(compose(about_line(h1, p1, -q1), motion), inverse(after))
        goal = across(h, minus(moved_point(left, p4), p2))
        elbow = turn_to_distance(h3, lower, times(-1.0, upper), length(goal), start[2])
        for k in range(2):
            q3 = elbow[k]
            q2 = one_turn(h, plus(upper, turned(h3, q3, lower)), goal, start[1])
            rest = compose(inverse(compose(about(h, q2), about(h3, q3))), left)
            q4 = one_turn(h4, side, turn(rest, side[0], side[1], side[2]), start[3])
            write_posture(loop, (q1, q2, q3, q4, q5, q6), rows, written)
            written += 1
    return written


@jit
def _within_reach(loop, motion, lines, angles, links):
    """The angle of joint 6 where it is open: that of the start, or next to it where the three in the plane do reach.

    As joint 6 turns, the end of the three goes round in a circle. lines: h, points 2 and 4, axes and points of 5 and 6.
    """
    h, p2, p4, h5, p5, h6, p6 = lines
    q1, q5 = angles
    back = compose(about_line(vector(loop.axes, 0), vector(loop.points, 0), -q1), motion)
    arm = minus(moved_point(about_line(h5, p5, -q5), p4), p6)
    # The way from the second axis to the end, seen from where axis 6 is at zero: R6^-1 arm + base.
    base = minus(p6, moved_point(inverse(back), p2))
    arm, base = across(h6, arm), across(h6, base)
    start = loop.start[5]
    far = length(plus(turned(h6, -start, arm), base))
    nearest, farthest = abs(links[0] - links[1]), links[0] + links[1]
    if nearest <= far <= farthest:
        return start
    one, other = turn_to_distance(h6, arm, times(-1.0, base), nearest if far < nearest else farthest, -start)
    one_away = abs(_short(-one - start))
    return -one if one_away <= abs(_short(-other - start)) else -other


@jit
def across(axis, v):
    """What of a vector is across an axis."""
    return minus(v, times(dot(axis, v), axis))


@jit
def _short(angle):
    """The angle less whole turns."""
    return angle - 2.0 * math.pi * round(angle / (2.0 * math.pi))

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
    about_line,
    of_length_one,
    one_turn,
    one_turn_direction,
    plane_form,
    turn_to_distance,
    turn_to_distance_directions,
    turned,
    turned_by,
    turns_to_planes,
)
from memetik.kernels.compiler.jit import jit
from memetik.kernels.math.arctan2 import arctan2
from memetik.kernels.math.pose import compose, inverse, turn
from memetik.kernels.math.sincos import sincos
from memetik.kernels.math.vector import dot, length, minus, plus, times


@jit
def parallel_axes(loop, size, motion, rows):
    """All postures, in the order of the arm's joints. Returns how many rows were written, at most eight."""
    count = outer_turns(loop, size, motion)
    for r in range(count):
        turn_in_plane(loop, motion, turn_outside(loop, motion, r), rows, 2 * r)
    return 2 * count


@jit
def outer_turns(loop, size, motion):
    """Write all angles of joints 1 and 5 to loop.pairs, and return how many there are.

    The points of axes 5 and 6 become those that are nearest to each other.
    """
    h1, h, h5, h6 = vector(loop.axes, 0), vector(loop.axes, 1), vector(loop.axes, 4), vector(loop.axes, 5)
    p1 = vector(loop.points, 0)
    p5, p6, _, _, _, _, _ = common_normal(h5, vector(loop.points, 4), h6, vector(loop.points, 5))
    loop.points[4, 0], loop.points[4, 1], loop.points[4, 2] = p5
    loop.points[5, 0], loop.points[5, 1], loop.points[5, 2] = p6
    scale = 1.0 / size
    # h · R1^-1 v = v · R1 h.
    direction = turn(motion, h6[0], h6[1], h6[2])
    place = times(scale, minus(moved_point(motion, p6), p1))
    ka, ca, sa = plane_form(h1, h, direction)
    kb, cb, sb = plane_form(h1, h, place)
    kc, cc, sc = plane_form(h5, h6, h)
    kd, cd, sd = plane_form(h5, times(scale, minus(p6, p5)), h)
    depth = kc - ka, kd - kb + scale * dot(h, minus(p5, p1))
    return turns_to_planes((ca, sa, cb, sb), (cc, sc, cd, sd), depth, loop, (loop.start[0], loop.start[4]))


@jit
def turn_outside(loop, motion, way):
    """The joints outside of the plane for row `way` of loop.pairs, the angles of joints 1 and 5: of each the angle, then sine
    and cosine of its negative, for joints 1, 5 and 6."""
    h1, h, h5, h6 = vector(loop.axes, 0), vector(loop.axes, 1), vector(loop.axes, 4), vector(loop.axes, 5)
    p2, p3, p4 = vector(loop.points, 1), vector(loop.points, 2), vector(loop.points, 3)
    p5, p6 = vector(loop.points, 4), vector(loop.points, 5)
    q1, q5 = loop.pairs[way, 0], loop.pairs[way, 1]
    # h · R1^-1 R = h · R5 R6: turned back by joint 6, h before joint 5 is where the target has it.
    s1, c1 = sincos(q1)
    seen = turned_by(h1, s1, c1, h)
    x, y, z = turn(inverse(motion), seen[0], seen[1], seen[2])
    s6, c6 = one_turn_direction(h6, turned(h5, -q5, h), (x, y, z), math.nan)
    if math.isnan(s6):  # axis 6 is parallel to the three
        links = length(across(h, minus(p3, p2))), length(across(h, minus(p4, p3)))
        q6 = _within_reach(loop, motion, (h, p2, p4, h5, p5, h6, p6), (q1, q5), links)
        s6, c6 = sincos(-q6)
    q6 = -arctan2(s6, c6)
    s6, c6 = of_length_one(s6, c6)  # of -q6
    # A small angle between axes has lost half of its digits when it came from its cosine. Now it is seen from the side.
    s5, c5 = one_turn_direction(h5, turned_by(h6, -s6, c6, (x, y, z)), h, q5)
    q5 = arctan2(s5, c5)
    s5, c5 = of_length_one(-s5, c5)  # of -q5
    return (q1, -s1, c1), (q5, s5, c5), (q6, s6, c6)


@jit
def turn_in_plane(loop, motion, outside, rows, r):
    """Both postures with what `turn_outside` returns, as rows r and r + 1."""
    h, h3, h4 = vector(loop.axes, 1), vector(loop.axes, 2), vector(loop.axes, 3)
    h1, h5, h6 = vector(loop.axes, 0), vector(loop.axes, 4), vector(loop.axes, 5)
    p1, p2, p3, p4 = vector(loop.points, 0), vector(loop.points, 1), vector(loop.points, 2), vector(loop.points, 3)
    p5, p6 = vector(loop.points, 4), vector(loop.points, 5)
    first, fifth, sixth = outside
    q1, s1, c1 = first
    q5, s5, c5 = fifth
    q6, s6, c6 = sixth
    start = loop.start
    # The three joints in the plane: what is along h does not matter.
    upper, lower = across(h, minus(p3, p2)), across(h, minus(p4, p3))
    side = upper if dot(upper, upper) > 0.0 else lower
    # Where the target has the point of axis 4, and a direction in the plane, seen from between joints 1 and 5.
    end = plus(p5, turned_by(h5, s5, c5, minus(p4, p5)))
    end = plus(p6, turned_by(h6, s6, c6, minus(end, p6)))
    end = plus(p1, turned_by(h1, s1, c1, minus(moved_point(motion, end), p1)))
    goal = across(h, minus(end, p2))
    x, y, z = turned_by(h6, s6, c6, turned_by(h5, s5, c5, side))
    facing = one_turn(h, side, turned_by(h1, s1, c1, turn(motion, x, y, z)), 0.0)  # the sum of the three angles
    third, fourth = math.copysign(1.0, dot(h, h3)), math.copysign(1.0, dot(h, h4))
    elbow = turn_to_distance_directions(h3, lower, times(-1.0, upper), length(goal), start[2])
    for k in range(2):
        s3, c3 = (elbow[0], elbow[1]) if k == 0 else (elbow[2], elbow[3])
        q3 = arctan2(s3, c3)
        s3, c3 = of_length_one(s3, c3)
        q2 = one_turn(h, plus(upper, turned_by(h3, s3, c3, lower)), goal, start[1])
        q4 = fourth * short_angle(facing - q2 - third * q3)
        write_posture(loop, (q1, q2, q3, q4, q5, q6), rows, r + k)


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
    one_away = abs(short_angle(-one - start))
    return -one if one_away <= abs(short_angle(-other - start)) else -other


@jit
def across(axis, v):
    """What of a vector is across an axis."""
    return minus(v, times(dot(axis, v), axis))


@jit
def short_angle(angle):
    """The angle less whole turns."""
    return angle - 2.0 * math.pi * round(angle / (2.0 * math.pi))

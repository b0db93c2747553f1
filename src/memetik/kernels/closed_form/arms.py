"""Closed forms: the planar arm of two links, and the arm of a shoulder and an elbow (NAO), all solutions of both.

Arms are given as they stand with all joints at zero: the axes of the joints as rows, and the pose of the tip. An angle that
the target leaves open is taken from the start. Nothing is known of limits here.
"""

import math

from memetik.kernels.closed_form.subproblems import about, one_turn, two_turns
from memetik.kernels.compiler.jit import jit
from memetik.kernels.math.pose import compose, inverse, turn
from memetik.kernels.math.vector import cross, dot


@jit
def two_links(first, second, axis, target, start, rows):
    """Both postures of a planar arm whose tip goes to `target`; vectors from the first joint, rows (2, 2).

    With links of length L1 and L2 and the target at (x, y) in the plane:

        cos t2 = (x^2 + y^2 - L1^2 - L2^2) / (2 L1 L2)
        t1 = atan2((L1 + L2 cos t2) y - L2 sin t2 x,  (L1 + L2 cos t2) x + L2 sin t2 y)

    t2 has either sign. A target out of reach gets the straight or the folded arm that points to it. `first` and `second` are
    the links at zero as vectors, from which the angles count; parts along the axis do not matter.
    """
    a = (axis[0], axis[1], axis[2])
    p, q, t = (first[0], first[1], first[2]), (second[0], second[1], second[2]), (target[0], target[1], target[2])
    one = math.sqrt(max(dot(p, p) - dot(a, p) ** 2, 0.0))
    two = math.sqrt(max(dot(q, q) - dot(a, q) ** 2, 0.0))
    # Coordinates in the plane, with the first link at zero along x.
    x = (dot(p, t) - dot(a, p) * dot(a, t)) / one
    y = dot(a, cross(p, t)) / one
    zero = one_turn(a, p, q, 0.0)  # how far the second link is bent already at zero
    bend = math.acos(min(max((x * x + y * y - one * one - two * two) / (2.0 * one * two), -1.0), 1.0))
    for r in range(2):
        t2 = bend if r == 0 else -bend
        reach, side = one + two * math.cos(t2), two * math.sin(t2)
        up, out = reach * y - side * x, reach * x + side * y
        rows[r, 0] = math.atan2(up, out) if abs(up) + abs(out) > 1e-9 * one * one else start[0]
        rows[r, 1] = t2 - zero


@jit
def shoulder_and_elbow(axes, shoulder, elbow, tip, target, start, rows):
    """All postures of an arm whose first two axes meet in the shoulder and whose last two or three meet in the elbow.

    The joints after it do not move the elbow against the tip, so the pose of the tip says where the elbow is, and two
    turns about the shoulder bring it there in two ways. The orientation that is left belongs to the elbow's joints:
    three make it in two ways, two in one. Returns how many rows were written, at most four.

    For axes x, z and the upper arm l along y, where the elbow belongs at (x, y, z), the first step is the pair of equations

        t2 = -asin(x / l)  or  pi - that        t1 = atan2(z, y)  or  that + pi
    """
    a, b = (axes[0, 0], axes[0, 1], axes[0, 2]), (axes[1, 0], axes[1, 1], axes[1, 2])
    c, d = (axes[2, 0], axes[2, 1], axes[2, 2]), (axes[3, 0], axes[3, 1], axes[3, 2])
    moved = compose(target, inverse(tip))  # takes every point of the last link at zero to where it belongs
    x, y, z = turn(moved, elbow[0], elbow[1], elbow[2])
    arm = (elbow[0] - shoulder[0], elbow[1] - shoulder[1], elbow[2] - shoulder[2])
    goal = (x + moved[4] - shoulder[0], y + moved[5] - shoulder[1], z + moved[6] - shoulder[2])
    first = two_turns(a, b, arm, goal, start[0], start[1])
    count = 0
    for r in range(2):
        t1, t2 = (first[0], first[1]) if r == 0 else (first[2], first[3])
        left = compose(inverse(compose(about(a, t1), about(b, t2))), moved)
        if axes.shape[0] == 4:
            t3 = one_turn(c, d, turn(left, d[0], d[1], d[2]), start[2])
            rest = compose(inverse(about(c, t3)), left)
            rows[count, 0], rows[count, 1], rows[count, 2] = t1, t2, t3
            rows[count, 3] = one_turn(d, c, turn(rest, c[0], c[1], c[2]), start[3])
            count += 1
            continue
        e = (axes[4, 0], axes[4, 1], axes[4, 2])
        second = two_turns(c, d, e, turn(left, e[0], e[1], e[2]), start[2], start[3])
        for k in range(2):
            t3, t4 = (second[0], second[1]) if k == 0 else (second[2], second[3])
            rest = compose(inverse(compose(about(c, t3), about(d, t4))), left)
            rows[count, 0], rows[count, 1], rows[count, 2], rows[count, 3] = t1, t2, t3, t4
            rows[count, 4] = one_turn(e, d, turn(rest, d[0], d[1], d[2]), start[4])
            count += 1
    return count

"""Six joints of which three in a row meet in a point (a spherical wrist or shoulder): at most eight postures.

The loop (loop.py) begins so that these are the last three. They do not move their point, so the target says where it
belongs, and the first three joints bring it there in at most four ways (subproblem 5, after Pieper). The orientation that is
left belongs to the last three, which make it in two ways.
"""

import math

from memetik.kernels.closed_form.loop import moved_point, vector
from memetik.kernels.closed_form.subproblems import (
    of_length_one,
    one_turn,
    turned_by,
    two_turns,
    two_turns_directions,
)
from memetik.kernels.closed_form.trigonometric import linear_roots, quadratic_roots, square, sum_of
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.arctan2 import arctan2
from memetik.kernels.math.pose import turn
from memetik.kernels.math.sincos import sincos
from memetik.kernels.math.vector import cross, dot, length, minus, plus, times

# Axes that are nearly parallel or nearly meet are taken to be and to do so: Newton steps make up for that, while equations
# that nearly lose an angle lose its digits. Of an arm they are so from the start (solvers/closed_forms.py), of a pose by chance.
PARALLEL_AXES = 1e-7  # sine of the angle between axes
NO_OFFSET = 3e-8  # of the arm's size, between axes that meet
SETTLES = 8  # looks at what is left of the way, with a Newton step between two of them
SETTLED = 1e-27  # square of what may be left of it, by the arm's size


@jit
def common_normal(a, p, b, q):
    """How two lines through p and q along a and b lie: a point on each, unit vectors across, offset and angle.

    Returns the points nearest to each other, x from the first line to the second, y with (x, y, b) right-handed, the distance
    along x (perhaps negative), and cosine and sine of the angle between them, a = cosine b + sine y.
    """
    n = cross(a, b)
    sine = length(n)
    d = minus(q, p)
    if sine > PARALLEL_AXES:
        n = times(1.0 / sine, n)
        cosine = dot(a, b)
        y = times(1.0 / sine, minus(a, times(cosine, b)))
        on_a = plus(p, times(dot(cross(d, b), n) / sine, a))
        on_b = plus(q, times(dot(cross(d, a), n) / sine, b))
        return on_a, on_b, n, y, dot(d, n), cosine, sine
    on_b = minus(q, times(dot(d, a), a))
    d = minus(on_b, p)
    offset = length(d)
    x = times(1.0 / offset, d) if offset > 0.0 else d
    return p, on_b, x, cross(b, x), offset, dot(a, b), 0.0


@jit_part
def three_turns(loop, size, motion):
    """Subproblem 5: all angles of the first three joints that bring the center of the last three to its goal.

    v is the way from the second axis to the center, a function of the third angle t alone:

        goal - (point of axis 1) = R1 (a x + R2 v),     v = v0 + v1 cos t + v2 sin t

    with the common normal x of the first two axes, a long. Its length, and its part along the first axis h1, do not
    depend on R1. So X = x · R2 v and Y = y · R2 v must be

        2 a X = |goal|^2 - a^2 - |v|^2       sine Y = h1 · goal - cosine (h2 · v)       X^2 + Y^2 = |v|^2 - (h2 · v)^2

    The right sides of the first two are linear forms in t, the third makes a quadratic of them. Where the first two axes
    meet or are parallel, a = 0 or sine = 0, one of the first two is an equation in t alone. Where the second and the third
    are parallel, h2 · v is constant and the third an equation in |v|^2 alone. Writes the angles to loop.turns, returns how many.
    """
    center = vector(loop.points, 3)
    goal = moved_point(motion, center)
    h1, h2, h3 = vector(loop.axes, 0), vector(loop.axes, 1), vector(loop.axes, 2)
    on_1, on_2, x, y, a, cosine, sine = common_normal(h1, vector(loop.points, 0), h2, vector(loop.points, 1))
    third = vector(loop.points, 2)
    arm, reach = minus(third, on_2), minus(center, third)
    along = times(dot(h3, reach), h3)
    v0, v1, v2 = plus(arm, along), minus(reach, along), cross(h3, reach)
    target = minus(goal, on_1)
    distance, height = dot(target, target), dot(h1, target)
    # Linear forms: |v|^2, h2 · v, and the right sides.
    w = dot(v0, v0) + dot(v1, v1), 2.0 * dot(v0, v1), 2.0 * dot(v0, v2)
    u = dot(h2, v0), dot(h2, v1), dot(h2, v2)
    right_x = distance - a * a - w[0], -w[1], -w[2]
    right_y = height - cosine * u[0], -cosine * u[1], -cosine * u[2]
    flat = abs(sine) <= PARALLEL_AXES
    meets = abs(a) <= NO_OFFSET * size
    parallel = length(cross(h2, h3)) <= PARALLEL_AXES
    if meets:
        return _two_and_one(loop, size, v0, v1, v2, target)
    depth = root = 0.0
    roots, turns = loop.roots, loop.turns
    if flat:
        ways, sides = 2, 2
        roots[0], roots[1] = linear_roots(right_y[1], right_y[2], -right_y[0], size, loop.start[2])
    elif parallel:
        # (|goal|^2 - a^2 - |v|^2)^2 / (2 a)^2 + Y^2 = |v|^2 - (h2 · v)^2 is quadratic in |v|^2.
        ways, sides = 4, 1
        depth = right_y[0] / sine
        # |goal|^2 - Y^2 - (h2 · v)^2, by the distance of the goal from the first axis, which is known to all digits.
        away, aside = cross(h1, target), (cosine * height - u[0]) / sine
        root = 2.0 * a * math.sqrt(max(dot(away, away) - aside * aside, 0.0))
        for k in range(2):
            far = distance + a * a + (root if k == 0 else -root)
            one, other = linear_roots(w[1], w[2], far - w[0], size * size, loop.start[2])
            roots[2 * k], roots[2 * k + 1] = one, other
    else:
        sides = 1
        f = sum_of(square(right_x), (2.0 * a / sine) ** 2, square(right_y))
        f = sum_of(f, 4.0 * a * a, square(u))
        k, c, s, c2, s2 = f
        b = 4.0 * a * a
        ways = quadratic_roots((k - b * w[0], c - b * w[1], s - b * w[2], c2, s2), roots, loop.touches[0])
    count = 0
    for k in range(ways):
        t = roots[k]
        s, c = sincos(t)
        v = (v0[0] + c * v1[0] + s * v2[0], v0[1] + c * v1[1] + s * v2[1], v0[2] + c * v1[2] + s * v2[2])
        vx, vy = dot(x, v), dot(y, v)
        across = vx * vx + vy * vy
        for side in range(sides):
            if flat:  # where no angle was exact, the height is off, and what is left is sought in the plane
                X = (distance - height * height - a * a - across) / (2.0 * a)
                Y = math.sqrt(max(across - X * X, 0.0)) * (1.0 - 2.0 * side)
            elif parallel:
                X = -a - (0.5 if k < 2 else -0.5) * root / a
                Y = depth
            else:
                X = (right_x[0] + c * right_x[1] + s * right_x[2]) / (2.0 * a)
                Y = (right_y[0] + c * right_y[1] + s * right_y[2]) / sine
            up, out = vx * Y - vy * X, vx * X + vy * Y
            if not abs(up) + abs(out) > 1e-14 * size * size:
                up, out = sincos(loop.start[1])
            second = arctan2(up, out)
            s, c = of_length_one(up, out)
            way = plus(times(a, x), turned_by(h2, s, c, v))
            first = one_turn(h1, way, target, loop.start[0])
            turns[count, 0], turns[count, 1], turns[count, 2] = first, second, t
            count += 1
    return count


@jit
def _two_and_one(loop, size, v0, v1, v2, target):
    """Where the first two axes meet: the third angle makes v as long as the way to the target, the others point it there."""
    h1, h2 = vector(loop.axes, 0), vector(loop.axes, 1)
    far = dot(target, target)
    short = far - dot(v0, v0) - dot(v1, v1)
    thirds = linear_roots(2.0 * dot(v0, v1), 2.0 * dot(v0, v2), short, size * size, loop.start[2])
    for k in range(2):
        s, c = sincos(thirds[k])
        v = plus(v0, plus(times(c, v1), times(s, v2)))
        scale = math.sqrt(dot(v, v) / far) if far > 0.0 else 1.0  # v comes nearest to a target that is too far
        pairs = two_turns(h1, h2, v, times(scale, target), loop.start[0], loop.start[1])
        for side in range(2):
            first, second = (pairs[0], pairs[1]) if side == 0 else (pairs[2], pairs[3])
            r = 2 * k + side
            loop.turns[r, 0], loop.turns[r, 1], loop.turns[r, 2] = first, second, thirds[k]
    return 4


@jit
def _settled(loop, size, motion, angles):
    """The same angles, by Newton steps while they help: the root of a quadratic has lost digits where another is near.

    Returns the angles, their sines and their cosines.
    """
    q1, q2, q3 = angles
    center = vector(loop.points, 3)
    goal = moved_point(motion, center)
    h1, p1 = vector(loop.axes, 0), vector(loop.points, 0)
    h2, p2 = vector(loop.axes, 1), vector(loop.points, 1)
    h3, p3 = vector(loop.axes, 2), vector(loop.points, 2)
    known = math.inf
    best, sines, cosines = angles, angles, angles  # until they are known
    for _ in range(SETTLES):
        s1, c1 = sincos(q1)
        s2, c2 = sincos(q2)
        s3, c3 = sincos(q3)
        third = turned_by(h3, s3, c3, minus(center, p3))
        second = turned_by(h2, s2, c2, minus(plus(p3, third), p2))
        first = turned_by(h1, s1, c1, minus(plus(p2, second), p1))
        off = minus(goal, plus(p1, first))
        miss = dot(off, off)
        if not miss < known:
            break
        known, best, sines, cosines = miss, (q1, q2, q3), (s1, s2, s3), (c1, c2, c3)
        if miss <= SETTLED * size * size:
            break
        # How the center moves with each angle, seen before the turn of the first.
        a = cross(h1, minus(plus(p2, second), p1))
        b = cross(h2, second)
        c = turned_by(h2, s2, c2, cross(h3, third))
        e = turned_by(h1, -s1, c1, off)
        volume = dot(a, cross(b, c))
        if volume == 0.0:
            break
        q1 += dot(e, cross(b, c)) / volume
        q2 += dot(a, cross(e, c)) / volume
        q3 += dot(a, cross(b, e)) / volume
    return best, sines, cosines


@jit
def meeting_axes(loop, size, motion, rows):
    """All postures, in the order of the arm's joints. Returns how many rows were written, at most eight."""
    count = three_turns(loop, size, motion)
    for r in range(count):
        turn_wrist(loop, size, motion, r, rows, 2 * r)
    return 2 * count


@jit
def turn_wrist(loop, size, motion, way, rows, r):
    """Both postures with the first three angles of row `way` of loop.turns, as rows r and r + 1."""
    h1, h2, h3 = vector(loop.axes, 0), vector(loop.axes, 1), vector(loop.axes, 2)
    h4, h5, h6 = vector(loop.axes, 3), vector(loop.axes, 4), vector(loop.axes, 5)
    start = loop.start
    (q1, q2, q3), (s1, s2, s3), (c1, c2, c3) = _settled(loop, size, motion, vector(loop.turns, way))
    # Where the target has axes 5 and 6, seen from before joint 4.
    fifth = turned_by(h3, -s3, c3, turned_by(h2, -s2, c2, turned_by(h1, -s1, c1, turn(motion, h5[0], h5[1], h5[2]))))
    sixth = turned_by(h3, -s3, c3, turned_by(h2, -s2, c2, turned_by(h1, -s1, c1, turn(motion, h6[0], h6[1], h6[2]))))
    wrist = two_turns_directions(h4, h5, h6, sixth, start[3], start[4])
    for k in range(2):
        s4, c4, s5, c5 = (
            (wrist[0], wrist[1], wrist[2], wrist[3]) if k == 0 else (wrist[4], wrist[5], wrist[6], wrist[7])
        )
        q4, q5 = arctan2(s4, c4), arctan2(s5, c5)
        s4, c4 = of_length_one(s4, c4)
        s5, c5 = of_length_one(s5, c5)
        q6 = one_turn(h6, h5, turned_by(h5, -s5, c5, turned_by(h4, -s4, c4, fifth)), start[5])
        write_posture(loop, (q1, q2, q3, q4, q5, q6), rows, r + k)


@jit
def write_posture(loop, angles, rows, r):
    """The angles of the loop's joints as row r, in the order of the arm's joints; a held joint as it is held."""
    for k in range(loop.posture.size):
        rows[r, k] = loop.posture[k]
    rows[r, loop.joints[0]] = angles[0]
    rows[r, loop.joints[1]] = angles[1]
    rows[r, loop.joints[2]] = angles[2]
    rows[r, loop.joints[3]] = angles[3]
    rows[r, loop.joints[4]] = angles[4]
    rows[r, loop.joints[5]] = angles[5]

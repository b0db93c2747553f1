"""How deep convex solids are in each other, by the expanding polytope algorithm (van den Bergen 2001).

The shortest way out is that of the origin out of A - B (gjk.py). A polytope inside that set grows: of its faces the one
nearest to the origin, at the distance h along its normal n, is moved out to the support point w of n, until there is none
beyond it. With s(n) = n·w, the depth of every direction is bounded,

    h <= depth <= s(n)

and both are equal at the end. Distances of faces are signed, so that nothing is special about solids that only touch, where
the origin may be outside by rounding. A - B of solids that lie in a common plane is flat: their depth is zero.
"""

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.geometry.closest import unit
from memetik.kernels.geometry.support import CORNER, corner, corner_a, put_corner
from memetik.kernels.math.vector import cross, dot, length, minus, times

FLAT = 1e-10  # share of its size that A - B must be thick to have an inside
DONE = 1e-11  # the same share of s(n) - h at which the search is done
COPLANAR = 1e-13  # the same share of the height over a face at which a new corner belongs to it

# A face: the places of three corners, anticlockwise from outside, the normal, the distance from the origin.
FACE_NORMAL, FACE_DISTANCE, FACE = 3, 6, 7
# An edge: the places of its two corners.
EDGE = 2


@jit
def first_direction(count, trial, a, b, c):
    """A direction in which to look for one more corner of a simplex of one to three corners, which all lie in it flat."""
    side = -1.0 if trial & 1 else 1.0
    if count == 1:
        return times(side, unit(trial >> 1))
    along = minus(b, a)
    if count == 3:
        return times(side, normalised(cross(along, minus(c, a))))
    least = 0 if abs(along[0]) <= min(abs(along[1]), abs(along[2])) else 1 if abs(along[1]) <= abs(along[2]) else 2
    one = normalised(cross(along, unit(least)))
    return times(side, one if trial < 2 else normalised(cross(along, one)))


@jit
def normalised(a):
    """The unit vector along a; z if there is none."""
    d = length(a)
    return (a[0] / d, a[1] / d, a[2] / d) if d > 0.0 else (0.0, 0.0, 1.0)


@jit
def beyond(count, a, b, c, w):
    """How far w is from the point a, the line through a and b, or the plane through a, b and c."""
    to = minus(w, a)
    if count == 1:
        return length(to)
    if count == 2:
        return length(cross(normalised(minus(b, a)), to))
    return abs(dot(normalised(cross(minus(b, a), minus(c, a))), to))


@jit_part
def copy_corner(room, source, to):
    for i in range(CORNER):
        room[to + i] = room[source + i]


@jit_part
def sound(room, count, thin):
    """Drop the last corner of a simplex as long as it lies flat; how many remain, each well off the others."""
    kept = 1
    for i in range(1, count):
        a, b, c = corner(room, 0), corner(room, CORNER), corner(room, 2 * CORNER)
        if beyond(kept, a, b, c, corner(room, i * CORNER)) > thin:
            if i != kept:
                copy_corner(room, i * CORNER, kept * CORNER)
            kept += 1
    return kept


@jit_part
def thicken(data, solids, pose, room, count, thin):
    """Add corners until there is a tetrahedron; how many there are, and the direction across them if these are too few."""
    u = (0.0, 0.0, 1.0)
    while count < 4:
        a, b, c = corner(room, 0), corner(room, CORNER), corner(room, 2 * CORNER)
        to, found = count * CORNER, False
        for trial in range(6 if count == 1 else 4 if count == 2 else 2):
            u = first_direction(count, trial, a, b, c)
            put_corner(data, solids, pose, (0, 0), u, room, to)
            if beyond(count, a, b, c, corner(room, to)) > thin:
                found = True
                break
        if not found:
            return count, u
        count += 1
    return count, u


@jit_part
def put_face(room, k, i, j, m):
    """Write the face with the corners at i, j and m to room[k:]; one that has no normal is infinitely far away."""
    a = corner(room, i)
    n = cross(minus(corner(room, j), a), minus(corner(room, m), a))
    d = length(n)
    room[k], room[k + 1], room[k + 2] = i, j, m
    if d > 0.0:
        n = (n[0] / d, n[1] / d, n[2] / d)
    room[k + FACE_NORMAL], room[k + FACE_NORMAL + 1], room[k + FACE_NORMAL + 2] = n
    room[k + FACE_DISTANCE] = dot(a, n) if d > 0.0 else math.inf


@jit
def face_normal(room, k):
    return room[k + FACE_NORMAL], room[k + FACE_NORMAL + 1], room[k + FACE_NORMAL + 2]


@jit_part
def open_up(room, faces, count, edges, most, w, coplanar):
    """Remove the faces that w is not behind: how many are left, and how many edges around the hole, -1 for too many.

    Of an edge that two removed faces share each has one of its two directions; such pairs are struck out.
    """
    rim, k = 0, 0
    while k < count:
        f = faces + k * FACE
        a, n = corner(room, int(room[f])), face_normal(room, f)
        if room[f + FACE_DISTANCE] == math.inf or dot(minus(w, a), n) <= -coplanar:
            k += 1
            continue
        for side in range(3):
            one, two = room[f + side], room[f + (side + 1) % 3]
            twin = -1
            for e in range(rim):
                if room[edges + EDGE * e] == two and room[edges + EDGE * e + 1] == one:
                    twin = e
                    break
            if twin >= 0:
                rim -= 1
                room[edges + EDGE * twin] = room[edges + EDGE * rim]
                room[edges + EDGE * twin + 1] = room[edges + EDGE * rim + 1]
            elif rim == most:
                return count, -1
            else:
                room[edges + EDGE * rim], room[edges + EDGE * rim + 1] = one, two
                rim += 1
        count -= 1
        for i in range(FACE):
            room[f + i] = room[faces + count * FACE + i]
    return count, rim


@jit
def shares_of_face(room, f, p):
    """The shares of the corners of a face in a point p of its plane; some are negative if p is outside."""
    a, b, c = corner(room, int(room[f])), corner(room, int(room[f + 1])), corner(room, int(room[f + 2]))
    n, ap, bp, cp = face_normal(room, f), minus(a, p), minus(b, p), minus(c, p)
    of_a, of_b, of_c = dot(n, cross(bp, cp)), dot(n, cross(cp, ap)), dot(n, cross(ap, bp))
    total = of_a + of_b + of_c
    return of_a / total, of_b / total, of_c / total


@jit_part
def contact(room, faces, count, nearest, size):
    """The point of the first solid where the way out leads through the face at `nearest`, or one that lies in its plane."""
    n, h = face_normal(room, nearest), room[nearest + FACE_DISTANCE]
    p = times(h, n)
    best, shares, at = -math.inf, (1.0, 0.0, 0.0), nearest
    for k in range(count):
        f = faces + k * FACE
        if room[f + FACE_DISTANCE] - h <= 1e-9 * size and dot(face_normal(room, f), n) > 1.0 - 1e-9:
            found = shares_of_face(room, f, p)
            least = min(found[0], found[1], found[2])
            if least > best:
                best, shares, at = least, found, f
    one, two, three = max(shares[0], 0.0), max(shares[1], 0.0), max(shares[2], 0.0)
    total = one + two + three
    a = corner_a(room, int(room[at]))
    b, c = corner_a(room, int(room[at + 1])), corner_a(room, int(room[at + 2]))
    return (
        (one * a[0] + two * b[0] + three * c[0]) / total,
        (one * a[1] + two * b[1] + three * c[1]) / total,
        (one * a[2] + two * b[2] + three * c[2]) / total,
    )


@jit_part
def depth_of_cores(data, solids, pose, common, room, count, size, corners):
    """How deep, the point a of the first solid, and the unit vector n along which the second leaves it; in the axes of the first.

    common: a point that both have, which is a if they are flat.

    room begins with `count` corners of a simplex around the origin, by gjk.py; it has places for `corners` of them, then
    for twice as many faces and once as many edges. If these are used up, the depth is a bound above: too deep, never too shallow.
    """
    thin = FLAT * size
    count, u = thicken(data, solids, pose, room, sound(room, count, thin), thin)
    if count < 4:
        return 0.0, common, u
    a, b, c, d = corner(room, 0), corner(room, CORNER), corner(room, 2 * CORNER), corner(room, 3 * CORNER)
    one, two = CORNER, 2 * CORNER
    if dot(minus(d, a), cross(minus(b, a), minus(c, a))) > 0.0:
        one, two = two, one
    faces = corners * CORNER
    edges = faces + 2 * corners * FACE
    put_face(room, faces, 0, one, two)
    put_face(room, faces + FACE, 0, 3 * CORNER, one)
    put_face(room, faces + 2 * FACE, one, 3 * CORNER, two)
    put_face(room, faces + 3 * FACE, two, 3 * CORNER, 0)
    shell, starts = 4, (0, 0)
    depth, n, best = math.inf, u, (0, one, two)
    while True:
        nearest = faces
        for k in range(1, shell):
            if room[faces + k * FACE + FACE_DISTANCE] < room[nearest + FACE_DISTANCE]:
                nearest = faces + k * FACE
        h, u = room[nearest + FACE_DISTANCE], face_normal(room, nearest)
        last, to = count == corners - 1, count * CORNER
        starts = put_corner(data, solids, pose, starts, u, room, to)
        w = corner(room, to)
        reach = dot(w, u)
        if reach < depth:
            depth, n = reach, u
            best = (int(room[nearest]), int(room[nearest + 1]), int(room[nearest + 2]))
        if reach - h <= DONE * size:
            return reach, contact(room, faces, shell, nearest, size), u
        rim = 0
        if not last:
            shell, rim = open_up(room, faces, shell, edges, corners, w, COPLANAR * size)
        if rim <= 0 or shell + rim > 2 * corners:  # the best that was seen has to do
            put_face(room, faces, best[0], best[1], best[2])
            return depth, contact(room, faces, 1, faces, size), n
        for e in range(rim):
            put_face(room, faces + (shell + e) * FACE, int(room[edges + EDGE * e]), int(room[edges + EDGE * e + 1]), to)
        shell += rim
        count += 1

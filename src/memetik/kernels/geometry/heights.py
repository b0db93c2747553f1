"""Signed distances of solids from a height field, all that is under its facets down to a level bottom.

Every facet is the top of a prism, which is convex: GJK (gjk.py) tells how far the core of a solid is from it, and the least over
the prisms near enough is exact. Of a point above the field or in it, the core of a sphere, the nearest facet is found directly.

Where a core is in several prisms, it is led out along one direction u that clears them all,

    depth = min over u of max over prisms T of (max over T of u·c - min over the core of u·p)

with u straight up, along the normals of the facets and, where it has just touched, along EPA's way out (epa.py), as long as the
core is free at its end. It is an upper bound on the shortest way out, and of a point the shortest way itself, down to DEEP cells.
"""

import math

from memetik.kernels.compiler.foreign_array import floats_at
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.compiler.local_array import local_floats
from memetik.kernels.geometry.epa import depth_of_cores, normalised
from memetik.kernels.geometry.gjk import FAR, TOUCHING, closest_cores, triangle_shares
from memetik.kernels.geometry.hulls import CORNERS, scratch_size
from memetik.kernels.geometry.solids import SOLID_BALL, SOLID_BOX, SOLID_DISC, SOLID_POINTS, moved
from memetik.kernels.geometry.support import PRISM, PRISM_BOTTOM, support
from memetik.kernels.math.pose import compose, inverse, turn
from memetik.kernels.math.rotation import turn_back
from memetik.kernels.math.vector import cross, dot, minus, plus, times

# The samples: corners in x and y, spacing in x and y, the bottom, then the heights, y running fastest, seen from the middle
# of the box around the field. Facets are split as those of rays.py.
HEIGHTS_NX, HEIGHTS_NY, HEIGHTS_DX, HEIGHTS_DY, HEIGHTS_BOTTOM, HEIGHTS = 0, 1, 2, 3, 4, 5
# Where samples lie, behind a solid: the halves of their address, and how many they are.
SAMPLES_ADDRESS, SAMPLES_SIZE, SAMPLES_DATA = 0, 2, 3

DEEP = 16  # cells around a point in the ground that are searched for the way out
PRISMS = 64  # that a core is in and that are kept; with more of them the way leads straight up
WAYS = 12  # directions that are tried
FIRST = 4  # prisms that a core has just touched: EPA looks at these
STEEP = 0.2  # least rise of EPA's way out; what is flatter leads through a wall between two prisms
SAME = 0.9999  # cosine from which on two directions are one
TRIALS = 4  # ways that are followed to their end
BEYOND = 1e-7  # m past the end of a way, where a core that only touches is free

# The scratch: that of GJK and EPA, a prism, the prisms a core is in (cell in x, in y, facet), directions, depths along these.
AT_PRISM = scratch_size(CORNERS)
AT_TOUCHED = AT_PRISM + PRISM
AT_WAYS = AT_TOUCHED + 3 * PRISMS
AT_DEPTHS = AT_WAYS + 3 * WAYS
AT_SHARES = AT_PRISM - 4

_scratch = local_floats(AT_DEPTHS + WAYS)


@jit_part
def samples_of(data, t):
    """The address of the samples of the field data[t:], and how many they are."""
    k = t - int(data[t + SOLID_POINTS]) + SAMPLES_ADDRESS
    return int(data[k]) * 2**32 + int(data[k + 1]), int(data[k + SAMPLES_SIZE])


@jit_part
def half_sizes(data, s):
    """Of the box around the core of a solid."""
    disc = data[s + SOLID_DISC]
    return data[s + SOLID_BOX] + disc, data[s + SOLID_BOX + 1] + disc, data[s + SOLID_BOX + 2]


@jit_part
def extents(pose, h):
    """Half sizes of the box along the axes around a box at a pose."""
    x, y, z = turn(pose, h[0], 0.0, 0.0), turn(pose, 0.0, h[1], 0.0), turn(pose, 0.0, 0.0, h[2])
    return (
        abs(x[0]) + abs(y[0]) + abs(z[0]),
        abs(x[1]) + abs(y[1]) + abs(z[1]),
        abs(x[2]) + abs(y[2]) + abs(z[2]),
    )


@jit_part
def height_corner(samples, i, j):
    """The corner (i, j) of a field."""
    nx, ny = samples[HEIGHTS_NX], samples[HEIGHTS_NY]
    x, y = (i - 0.5 * (nx - 1.0)) * samples[HEIGHTS_DX], (j - 0.5 * (ny - 1.0)) * samples[HEIGHTS_DY]
    return x, y, samples[HEIGHTS + i * int(ny) + j]


@jit_part
def facet(samples, i, j, half):
    """The corners of a facet, anticlockwise from above."""
    a, c = height_corner(samples, i, j), height_corner(samples, i + 1, j + 1)
    if half == 0:
        return a, height_corner(samples, i + 1, j), c
    return a, c, height_corner(samples, i, j + 1)


@jit_part
def facet_normal(corners):
    return normalised(cross(minus(corners[1], corners[0]), minus(corners[2], corners[0])))


@jit_part
def cell_range(samples, i, j):
    """The lowest and the highest corner of a cell."""
    ny = int(samples[HEIGHTS_NY])
    k = HEIGHTS + i * ny + j
    a, b, c, d = samples[k], samples[k + 1], samples[k + ny], samples[k + ny + 1]
    return min(min(a, b), min(c, d)), max(max(a, b), max(c, d))


@jit_part
def cells_between(samples, axis, low, high):
    """The first and the last cell along x (0) or y (1) that a stretch is in or next to."""
    count, step = samples[HEIGHTS_NX + axis], samples[HEIGHTS_DX + axis]
    begin, last = 0.5 * (count - 1.0), int(count) - 2
    return cell_at(low / step + begin, last), cell_at(high / step + begin, last)


@jit_part
def cell_at(u, last):
    """The cell in which a place along an axis is, counted in cells, or the one next to it; the first if it is not a number."""
    return 0 if not u > 0.0 else last if u >= last else int(u)


@jit_part
def beyond_cell(samples, axis, i, low, high):
    """How far a stretch along x (0) or y (1) is from cell i."""
    step = samples[HEIGHTS_DX + axis]
    begin = (i - 0.5 * (samples[HEIGHTS_NX + axis] - 1.0)) * step
    return max(max(begin - high, low - begin - step), 0.0)


@jit_part
def height_at(samples, x, y):
    """Of the field over a point of its ground plan."""
    nx, ny = samples[HEIGHTS_NX], samples[HEIGHTS_NY]
    u, v = x / samples[HEIGHTS_DX] + 0.5 * (nx - 1.0), y / samples[HEIGHTS_DY] + 0.5 * (ny - 1.0)
    i, j = cell_at(u, int(nx) - 2), cell_at(v, int(ny) - 2)
    u, v = min(max(u - i, 0.0), 1.0), min(max(v - j, 0.0), 1.0)
    k = HEIGHTS + i * int(ny) + j
    h00, h01, h10, h11 = samples[k], samples[k + 1], samples[k + int(ny)], samples[k + int(ny) + 1]
    if u >= v:
        return h00 + u * (h10 - h00) + v * (h11 - h10)
    return h00 + u * (h11 - h01) + v * (h01 - h00)


@jit_part
def from_point_over(samples, p, height, enough):
    """From a point over or in the field, whose height there is given: signed distance, nearest point, and out of the field."""
    inside = p[2] < height
    best = height - p[2] if inside else min(p[2] - height, enough)
    b, n = (p[0], p[1], height), (0.0, 0.0, 1.0)
    far = min(best, DEEP * max(samples[HEIGHTS_DX], samples[HEIGHTS_DY])) if inside else best
    first, last = cells_between(samples, 0, p[0] - far, p[0] + far)
    low, high = cells_between(samples, 1, p[1] - far, p[1] + far)
    for i in range(first, last + 1):
        x = beyond_cell(samples, 0, i, p[0], p[0])
        for j in range(low, high + 1):
            y = beyond_cell(samples, 1, j, p[1], p[1])
            lowest, highest = cell_range(samples, i, j)
            z = max(max(lowest - p[2], p[2] - highest), 0.0)
            if x * x + y * y + z * z > best * best:
                continue
            for half in range(2):
                corners = facet(samples, i, j, half)
                one, two, three = minus(corners[0], p), minus(corners[1], p), minus(corners[2], p)
                shares = triangle_shares(one, two, three)
                to = plus(plus(times(shares[0], one), times(shares[1], two)), times(shares[2], three))
                d = math.sqrt(dot(to, to))
                if d <= best:
                    best, b = d, plus(p, to)
                    n = facet_normal(corners)
                    if d > 1e-9:  # a normal from the two points, unless they are one
                        n = times(1.0 / d if inside else -1.0 / d, to)
    return -best if inside else best, b, n


@jit_part
def put_prism(samples, i, j, half, low, room):
    """Write the prism under a facet to the scratch, no deeper than matters to a core whose lowest point is known.

    A core above the prism is nearest to its top, one beside it to what is as high as the core. One that is in it must
    not find the way down the shorter one.
    """
    corners = facet(samples, i, j, half)
    for c in range(3):
        for k in range(3):
            room[AT_PRISM + 3 * c + k] = corners[c][k]
    lowest = min(min(corners[0][2], corners[1][2]), corners[2][2])
    highest = max(max(corners[0][2], corners[1][2]), corners[2][2])
    deep = min(low, lowest) - max(highest - low, 0.0) - samples[HEIGHTS_DX]
    room[AT_PRISM + PRISM_BOTTOM] = max(samples[HEIGHTS_BOTTOM], deep)
    return corners


@jit_part
def reach_of_prisms(samples, room, count, u):
    """How far the prisms that a core is in reach along u, which points up."""
    most = -math.inf
    for k in range(count):
        t = AT_TOUCHED + 3 * k
        corners = facet(samples, int(room[t]), int(room[t + 1]), int(room[t + 2]))
        most = max(most, max(dot(u, corners[0]), max(dot(u, corners[1]), dot(u, corners[2]))))
    return most


@jit_part
def add_way(room, ways, u):
    """Add a direction to try, unless it is there or there is no room; how many there are."""
    for k in range(ways):
        w = AT_WAYS + 3 * k
        if u[0] * room[w] + u[1] * room[w + 1] + u[2] * room[w + 2] > SAME:
            return ways
    if ways == WAYS:
        return ways
    w = AT_WAYS + 3 * ways
    room[w], room[w + 1], room[w + 2] = u
    return ways + 1


@jit_part
def end_of_core(data, s, core, u):
    """The point of a core at a pose that is least along u."""
    x, y, z = turn_back(core, -u[0], -u[1], -u[2])
    x, y, z, _ = support(data, s, 0, x, y, z)
    return moved(core, (x, y, z))


@jit_part
def is_free(data, s, core, samples, room):
    """Whether a core at a pose is in no prism."""
    pose = inverse(core)
    ex, ey, ez = extents(core, half_sizes(data, s))
    first, last = cells_between(samples, 0, core[4] - ex, core[4] + ex)
    low, high = cells_between(samples, 1, core[5] - ey, core[5] + ey)
    for i in range(first, last + 1):
        for j in range(low, high + 1):
            if core[6] - ez > cell_range(samples, i, j)[1]:
                continue
            for half in range(2):
                put_prism(samples, i, j, half, core[6] - ez, room)
                if closest_cores(data, (s, -AT_PRISM), pose, 0.0, room, AT_SHARES)[0] == TOUCHING:
                    return False
    return True


@jit_part
def way_out(data, s, core, samples, room, count, ways, top):
    """The shortest way out of the ground that was found for a core: depth, the core's end, direction.

    Straight up is one. Another is taken if it is shorter and free at its end, since it leads over other prisms.
    """
    u = (0.0, 0.0, 1.0)
    p = end_of_core(data, s, core, u)
    depth = top - p[2]
    if count > PRISMS:
        return depth, p, u
    for k in range(ways):
        w = AT_WAYS + 3 * k
        v = (room[w], room[w + 1], room[w + 2])
        room[AT_DEPTHS + k] = reach_of_prisms(samples, room, count, v) - dot(v, end_of_core(data, s, core, v))
    for _ in range(TRIALS):
        best = 0
        for k in range(1, ways):
            if room[AT_DEPTHS + k] < room[AT_DEPTHS + best]:
                best = k
        w = AT_WAYS + 3 * best
        v, found = (room[w], room[w + 1], room[w + 2]), room[AT_DEPTHS + best]
        if not found < depth - 1e-12:
            break
        far = found + BEYOND
        x, y, z = core[4] + far * v[0], core[5] + far * v[1], core[6] + far * v[2]
        if is_free(data, s, (core[0], core[1], core[2], core[3], x, y, z), samples, room):
            return found, end_of_core(data, s, core, v), v
        room[AT_DEPTHS + best] = math.inf
    return depth, p, u


@jit_part
def from_prisms(data, s, core, samples, enough, room):
    """From a core at a pose, seen from the field: signed distance, the points of core and field, out of the field."""
    pose = inverse(core)
    ex, ey, ez = extents(core, half_sizes(data, s))
    left, right, front, back = core[4] - ex, core[4] + ex, core[5] - ey, core[5] + ey
    bottom, top = core[6] - ez, core[6] + ez
    best, a, b, n = enough, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    count, ways, peak = 0, 0, -math.inf
    first, last = cells_between(samples, 0, left - enough, right + enough)
    low, high = cells_between(samples, 1, front - enough, back + enough)
    for i in range(first, last + 1):
        x = beyond_cell(samples, 0, i, left, right)
        for j in range(low, high + 1):
            y = beyond_cell(samples, 1, j, front, back)
            z = max(max(bottom - cell_range(samples, i, j)[1], samples[HEIGHTS_BOTTOM] - top), 0.0)
            square = x * x + y * y + z * z
            if square > 0.0 and square >= max(best, 0.0) ** 2:
                continue
            for half in range(2):
                corners = put_prism(samples, i, j, half, bottom, room)
                found, d, at, v, corner_count, size = closest_cores(
                    data, (s, -AT_PRISM), pose, max(best, 0.0), room, AT_SHARES
                )
                if found == TOUCHING:
                    best = min(best, 0.0)
                    peak = max(peak, max(corners[0][2], max(corners[1][2], corners[2][2])))
                    if count < PRISMS:
                        t = AT_TOUCHED + 3 * count
                        room[t], room[t + 1], room[t + 2] = i, j, half
                        ways = add_way(room, ways, facet_normal(corners))
                    count += 1
                    if count <= FIRST:
                        _, _, u = depth_of_cores(data, (s, -AT_PRISM), pose, at, room, corner_count, size, CORNERS)
                        u = turn(core, -u[0], -u[1], -u[2])
                        if u[2] > STEEP:
                            ways = add_way(room, ways, u)
                elif found != FAR and d < best:
                    best, a, n = d, moved(core, at), times(1.0 / math.sqrt(dot(v, v)), v)
                    n = turn(core, n[0], n[1], n[2])
                    b = minus(a, times(d, n))
    if count > 0:
        depth, a, n = way_out(data, s, core, samples, room, count, ways, peak)
        return -depth, a, plus(a, times(depth, n)), n
    return best, a, b, n


@jit_part
def from_heights(data, p, s, q, t, enough, room):
    """From the solid data[s:] at p to the height field data[t:] at q."""
    address, size = samples_of(data, t)
    samples = floats_at(address, size)
    core = compose(inverse(q), p)
    ball = data[s + SOLID_BALL]
    h = half_sizes(data, s)
    point = (core[4], core[5], core[6])
    wide = 0.5 * (samples[HEIGHTS_NX] - 1.0) * samples[HEIGHTS_DX]
    long = 0.5 * (samples[HEIGHTS_NY] - 1.0) * samples[HEIGHTS_DY]
    over = abs(point[0]) <= wide and abs(point[1]) <= long and point[2] >= samples[HEIGHTS_BOTTOM]
    if h[0] == 0.0 and h[1] == 0.0 and h[2] == 0.0 and data[s + SOLID_POINTS] == 0.0 and over:
        d, b, n = from_point_over(samples, point, height_at(samples, point[0], point[1]), enough + ball)
        a = point
    else:
        d, a, b, n = from_prisms(data, s, core, samples, enough + ball, room)
    return d - ball, moved(q, a), moved(q, b), turn(q, n[0], n[1], n[2])


@jit
def heights_apart(data, p, s, q, t, enough):
    """As `apart` of solids.py, where one of the two is a height field; the other, if a field, too, counts as its box."""
    back = data[s + SOLID_POINTS] < 0.0
    if back:  # one call, so that it is compiled once
        p, s, q, t = q, t, p, s
    d, a, b, n = from_heights(data, p, s, q, t, enough, _scratch())
    return (d, b, a, (-n[0], -n[1], -n[2])) if back else (d, a, b, n)

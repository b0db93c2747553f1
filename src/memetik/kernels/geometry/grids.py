"""Signed distances of solids from a grid of signed distances, never more than they are.

Between samples the distance is interpolated, trilinearly. A signed distance changes by no more than the way, so with the share
w_k of each of the eight corners of a cell, and samples that are signed distances,

    |sum of w_k v_k - d(x)| <= sum of w_k |x - x_k| <= E = half the diagonal of a cell

which is subtracted as the error. Farther away it is less: each |x - y| bends up by 1/r at most where it is r, and d is the least
of them over all y that are solid, so that d(x) - |x|²/(2 r) is concave in a cell in which d >= r, and no interpolation
of it is above it. That of |x|² is above by E² at most, and in a cell with the interpolated value v no distance is below v - 3 E:

    sum of w_k v_k - d(x) <= E² / (2 (v - 3 E))        where v > 3 E

All that is solid lies in the grid. So with c the point of the grid nearest to an x outside,

    d(x)² >= |x - c|² + d(c)²        where d(c) >= 0

because the way from c to x leaves the box of the grid squarely. Of a core the least distance counts. It is found by branch and
bound: of a part of the core within a ball around c of radius r no point has a distance below d(c) - r. Parts that cannot be less
than the least found by more than the slack are dropped, the others halved; the slack is subtracted in the end.
"""

import math

from memetik.kernels.compiler.foreign_array import floats_at
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.compiler.local_array import local_floats
from memetik.kernels.geometry.closest import clamp
from memetik.kernels.geometry.gjk import TOUCHING, closest_cores
from memetik.kernels.geometry.heights import cell_at, half_sizes, samples_of
from memetik.kernels.geometry.solids import SOLID_BALL, SOLID_BOX, SOLID_DISC, SOLID_POINTS, moved
from memetik.kernels.geometry.support import CORNER, PRISM, PRISM_BOTTOM
from memetik.kernels.math.pose import compose, inverse, turn
from memetik.kernels.math.rotation import turn_back
from memetik.kernels.math.vector import dot, minus, times

# The samples: how many in x, y and z, their spacing, the error between them, half the diagonal of a cell, then their values, z
# running fastest, seen from the middle of the grid.
GRID_COUNT, GRID_SPACING, GRID_ERROR, GRID_DIAGONAL, GRID_VALUES = 0, 3, 6, 7, 8

THIN_SLACK, SOLID_SLACK = 0.05, 0.25  # shares of the spacing: of segments, and of boxes, cylinders and hulls
PARTS, HULL_PARTS = 500, 125  # of a core; after as many the slack is doubled
POLISH = 24  # steps from the best point found down to the minimum

# The scratch: that of GJK, a point as a prism, parts of the core (middle, half sizes). Halving the longest side of a part
# 20 times in each direction leaves a millionth of it.
AT_SHARES = 4 * CORNER
AT_POINT = AT_SHARES + 4
AT_PARTS = AT_POINT + PRISM
PART, STACK = 6, 64

_scratch = local_floats(AT_PARTS + STACK * PART)


@jit_part
def grid_place(samples, axis, x):
    """Along an axis: the cell that is nearest to x, the share of its end, and how far x is outside."""
    count, step = samples[GRID_COUNT + axis], samples[GRID_SPACING + axis]
    u = x / step + 0.5 * (count - 1.0)
    i = cell_at(u, int(count) - 2)
    share = min(max(u - i, 0.0), 1.0)
    return i, share, (u - i - share) * step


@jit_part
def distance_at(samples, x, y, z):
    """A lower bound on the signed distance at a point, and its gradient."""
    i, u, out_x = grid_place(samples, 0, x)
    j, v, out_y = grid_place(samples, 1, y)
    k, w, out_z = grid_place(samples, 2, z)
    ny, nz = int(samples[GRID_COUNT + 1]), int(samples[GRID_COUNT + 2])
    at = GRID_VALUES + (i * ny + j) * nz + k
    on = at + ny * nz
    c00, c01 = (
        samples[at] + w * (samples[at + 1] - samples[at]),
        samples[at + nz] + w * (samples[at + nz + 1] - samples[at + nz]),
    )
    c10, c11 = (
        samples[on] + w * (samples[on + 1] - samples[on]),
        samples[on + nz] + w * (samples[on + nz + 1] - samples[on + nz]),
    )
    low, high = c00 + v * (c01 - c00), c10 + v * (c11 - c10)
    value = low + u * (high - low)
    error, steeper = samples[GRID_ERROR], 1.0
    beyond = value - 3.0 * samples[GRID_DIAGONAL]
    square = 0.5 * samples[GRID_DIAGONAL] ** 2
    if square < error * beyond:
        error, steeper = square / beyond, 1.0 + square / (beyond * beyond)
    value -= error
    e0 = (1.0 - v) * (samples[at + 1] - samples[at]) + v * (samples[at + nz + 1] - samples[at + nz])
    e1 = (1.0 - v) * (samples[on + 1] - samples[on]) + v * (samples[on + nz + 1] - samples[on + nz])
    gx = steeper * (high - low) / samples[GRID_SPACING]
    gy = steeper * (c01 - c00 + u * (c11 - c10 - c01 + c00)) / samples[GRID_SPACING + 1]
    gz = steeper * (e0 + u * (e1 - e0)) / samples[GRID_SPACING + 2]
    away = out_x * out_x + out_y * out_y + out_z * out_z
    if away == 0.0:
        return value, (gx, gy, gz)
    gx, gy, gz = (0.0 if out_x != 0.0 else gx), (0.0 if out_y != 0.0 else gy), (0.0 if out_z != 0.0 else gz)
    if value <= 0.0:
        way = math.sqrt(away)
        return way + value, (gx + out_x / way, gy + out_y / way, gz + out_z / way)
    way = math.sqrt(away + value * value)
    return way, ((value * gx + out_x) / way, (value * gy + out_y) / way, (value * gz + out_z) / way)


@jit_part
def onto_core(data, s, room, x, y, z):
    """The point of a core, in its own axes, that is nearest to a point, and how far that is."""
    if data[s + SOLID_POINTS] > 0.0:
        for c in range(AT_POINT, AT_POINT + PRISM_BOTTOM, 3):
            room[c], room[c + 1], room[c + 2] = x, y, z
        room[AT_POINT + PRISM_BOTTOM] = z
        still = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        found, d, a, _, _, _ = closest_cores(data, (s, -AT_POINT), still, math.inf, room, AT_SHARES)
        return ((x, y, z), 0.0) if found == TOUCHING else (a, d)
    disc = data[s + SOLID_DISC]
    cx, cy = clamp(x, data[s + SOLID_BOX]), clamp(y, data[s + SOLID_BOX + 1])
    cz = clamp(z, data[s + SOLID_BOX + 2])
    aside = math.sqrt((x - cx) ** 2 + (y - cy) ** 2)
    share = 1.0 if aside <= disc else disc / aside
    p = (cx + share * (x - cx), cy + share * (y - cy), cz)
    to = minus(p, (x, y, z))
    return p, math.sqrt(dot(to, to))


@jit_part
def core_distance(samples, core, x, y, z):
    """The bound at a point of a core at a pose, and its gradient, both in the core's axes."""
    x, y, z = moved(core, (x, y, z))
    value, g = distance_at(samples, x, y, z)
    return value, turn_back(core, g[0], g[1], g[2])


@jit_part
def least_in_core(data, s, core, samples, enough, slack, room):
    """The least bound over a core, within the slack that is returned with it, and where; from `enough` on, not exact."""
    h = half_sizes(data, s)
    best, at = math.inf, (0.0, 0.0, 0.0)
    most = HULL_PARTS if data[s + SOLID_POINTS] > 0.0 else PARTS
    for c in range(3):
        room[AT_PARTS + c], room[AT_PARTS + 3 + c] = 0.0, h[c]
    count, looks = 1, 0
    while count > 0:
        count -= 1
        k = AT_PARTS + count * PART
        x, y, z = room[k], room[k + 1], room[k + 2]
        hx, hy, hz = room[k + 3], room[k + 4], room[k + 5]
        r = math.sqrt(hx * hx + hy * hy + hz * hz)
        p, aside = onto_core(data, s, room, x, y, z)
        if aside > r:
            continue  # nothing of the core is in this part of the box around it
        value = core_distance(samples, core, x, y, z)[0]
        here = value if aside == 0.0 else core_distance(samples, core, p[0], p[1], p[2])[0]
        if here < best:
            best, at = here, p
        looks += 1
        if looks == most:
            looks, slack = 0, 2.0 * slack
        if not value - r < min(best, enough + slack) - slack:
            continue
        if count + 2 > STACK:  # too small to be halved
            best, at = value - r, p
            continue
        axis = 0 if hx >= hy and hx >= hz else 1 if hy >= hz else 2
        half = 0.5 * room[k + 3 + axis]
        for c in range(PART):
            room[k + PART + c] = room[k + c]
        room[k + axis] -= half
        room[k + PART + axis] += half
        room[k + 3 + axis] = room[k + PART + 3 + axis] = half
        count += 2
    return best, at, slack


@jit_part
def polish(data, s, core, samples, best, at, step, room):
    """From a point of a core down to where the bound is least nearby, by projected gradients."""
    for _ in range(POLISH):
        _, g = core_distance(samples, core, at[0], at[1], at[2])
        steep = math.sqrt(dot(g, g))
        if steep < 1e-12:
            break
        to = minus(at, times(step / steep, g))
        p, _ = onto_core(data, s, room, to[0], to[1], to[2])
        value, _ = core_distance(samples, core, p[0], p[1], p[2])
        if value < best:
            best, at = value, p
        else:
            step *= 0.5
    return best, at


@jit_part
def from_grid(data, p, s, q, t, enough, room):
    """From the solid data[s:] at p to the grid data[t:] at q; n is the gradient, as long as the samples make it."""
    address, size = samples_of(data, t)
    samples = floats_at(address, size)
    core = compose(inverse(q), p)
    ball = data[s + SOLID_BALL]
    h = half_sizes(data, s)
    step = min(samples[GRID_SPACING], min(samples[GRID_SPACING + 1], samples[GRID_SPACING + 2]))
    thin = h[0] == 0.0 and h[1] == 0.0
    if thin and h[2] == 0.0 and data[s + SOLID_POINTS] == 0.0:
        at, slack = (0.0, 0.0, 0.0), 0.0
        best = core_distance(samples, core, 0.0, 0.0, 0.0)[0]
    else:
        slack = step * (THIN_SLACK if thin and data[s + SOLID_POINTS] == 0.0 else SOLID_SLACK)
        best, at, slack = least_in_core(data, s, core, samples, enough + ball, slack, room)
        if best - slack < enough + ball:
            best, at = polish(data, s, core, samples, best, at, 0.25 * step, room)
    _, g = core_distance(samples, core, at[0], at[1], at[2])
    square = dot(g, g)
    if square < 1e-12:
        g, square = turn_back(core, 0.0, 0.0, 1.0), 1.0
    b = minus(at, times((best - slack) / square, g))
    return best - slack - ball, moved(p, at), moved(p, b), turn(p, g[0], g[1], g[2])


@jit
def grid_apart(data, p, s, q, t, enough):
    """As `apart` of solids.py, where one of the two is a grid of distances; the other, if a field, too, counts as its box."""
    back = data[s + SOLID_POINTS] < 0.0
    if back:  # one call, so that it is compiled once
        p, s, q, t = q, t, p, s
    d, a, b, n = from_grid(data, p, s, q, t, enough, _scratch())
    return (d, b, a, (-n[0], -n[1], -n[2])) if back else (d, a, b, n)

"""Solids that hold points: a row of numbers for each, whose size follows from its place and the points.

A solid is placed by a rotation, whose columns are its axes in the frame of the points, and a middle. The size is the least
one that holds all points there, so that a search moves solids freely and never has to keep them around the points.
"""

import math

from memetik.kernels.compiler.jit import jit, jit_part

SPHERE, CAPSULE, BOX, CYLINDER = 0, 1, 2, 3

# A row: the rotation by rows, the middle, the size as in Shape, how much wider than needed a capsule is (as a share), volume.
TURN, MIDDLE, SIZE, SLACK, VOLUME = 0, 9, 12, 15, 16
SOLID_ROW = 17


@jit
def enclose(kind, points, solid, local):
    """Give a solid the size that holds all points (n, 3), move its middle into the middle of that, and return its volume.

    A capsule or a cylinder keeps its axis, a sphere its middle; a box only needs its rotation. A capsule of radius r around a
    line holds a point at height t and distance d from the line if the ends of its axis lie beyond t -+ sqrt(r^2 - d^2), so
    its axis is from the least t + sqrt(r^2 - d^2) to the largest t - sqrt(r^2 - d^2). `local` (n, 2) is scratch.
    """
    turn, middle, size = solid[TURN : TURN + 9], solid[MIDDLE : MIDDLE + 3], solid[SIZE : SIZE + 3]
    mx, my, mz = middle[0], middle[1], middle[2]
    wide = 0.0
    low_x, low_y, low_z = math.inf, math.inf, math.inf
    high_x, high_y, high_z = -math.inf, -math.inf, -math.inf
    for i in range(points.shape[0]):
        px, py, pz = points[i, 0] - mx, points[i, 1] - my, points[i, 2] - mz
        x = turn[0] * px + turn[3] * py + turn[6] * pz
        y = turn[1] * px + turn[4] * py + turn[7] * pz
        z = turn[2] * px + turn[5] * py + turn[8] * pz
        square = x * x + y * y + (z * z if kind == SPHERE else 0.0)
        local[i, 0] = z
        local[i, 1] = square
        wide = max(wide, square)
        low_x, low_y, low_z = min(low_x, x), min(low_y, y), min(low_z, z)
        high_x, high_y, high_z = max(high_x, x), max(high_y, y), max(high_z, z)
    shift_x, shift_y, shift_z = 0.0, 0.0, 0.0
    if kind == SPHERE:
        size[0] = math.sqrt(wide)
    elif kind == BOX:
        size[0], size[1], size[2] = high_x - low_x, high_y - low_y, high_z - low_z
        shift_x, shift_y, shift_z = 0.5 * (low_x + high_x), 0.5 * (low_y + high_y), 0.5 * (low_z + high_z)
    elif kind == CYLINDER:
        size[0], size[1] = math.sqrt(wide), high_z - low_z
        shift_z = 0.5 * (low_z + high_z)
    else:
        radius = math.sqrt(wide) * (1.0 + solid[SLACK])
        first, last = math.inf, -math.inf
        for i in range(points.shape[0]):
            room = math.sqrt(max(radius * radius - local[i, 1], 0.0))
            first = min(first, local[i, 0] + room)
            last = max(last, local[i, 0] - room)
        size[0], size[1] = radius, max(last - first, 0.0)
        shift_z = 0.5 * (first + last)
    middle[0] = mx + turn[0] * shift_x + turn[1] * shift_y + turn[2] * shift_z
    middle[1] = my + turn[3] * shift_x + turn[4] * shift_y + turn[5] * shift_z
    middle[2] = mz + turn[6] * shift_x + turn[7] * shift_y + turn[8] * shift_z
    solid[VOLUME] = volume(kind, size)
    return solid[VOLUME]


@jit
def volume(kind, size):
    """The volume of a solid of this size [m^3 if that is in m]."""
    if kind == SPHERE:
        return 4.0 / 3.0 * math.pi * size[0] ** 3
    if kind == BOX:
        return size[0] * size[1] * size[2]
    if kind == CYLINDER:
        return math.pi * size[0] ** 2 * size[1]
    return math.pi * size[0] ** 2 * (size[1] + 4.0 / 3.0 * size[0])


@jit_part
def is_inside(kind, solid, px, py, pz):
    """Whether a solid holds a point."""
    turn, middle, size = solid[TURN : TURN + 9], solid[MIDDLE : MIDDLE + 3], solid[SIZE : SIZE + 3]
    px, py, pz = px - middle[0], py - middle[1], pz - middle[2]
    x = turn[0] * px + turn[3] * py + turn[6] * pz
    y = turn[1] * px + turn[4] * py + turn[7] * pz
    z = turn[2] * px + turn[5] * py + turn[8] * pz
    if kind == BOX:
        return abs(x) <= 0.5 * size[0] and abs(y) <= 0.5 * size[1] and abs(z) <= 0.5 * size[2]
    if kind == CYLINDER:
        return x * x + y * y <= size[0] * size[0] and abs(z) <= 0.5 * size[1]
    if kind == CAPSULE:
        z = max(abs(z) - 0.5 * size[1], 0.0)
    return x * x + y * y + z * z <= size[0] * size[0]


@jit
def union_volume(kinds, solids, samples):
    """The volume of the union of solids, a row of `solids` each: the sum over solids of what no earlier one holds.

    That share of a solid is counted by points: `samples` (n, 3) fill the cube from -1 to 1, which is stretched over the
    solid, and those outside it are left out. A single solid has its exact volume.
    """
    total = 0.0
    for k in range(kinds.size):
        turn, middle, size = (
            solids[k, TURN : TURN + 9],
            solids[k, MIDDLE : MIDDLE + 3],
            solids[k, SIZE : SIZE + 3],
        )
        if k == 0:
            total += solids[k, VOLUME]
            continue
        if kinds[k] == BOX:
            half_x, half_y, half_z = 0.5 * size[0], 0.5 * size[1], 0.5 * size[2]
        else:
            half_x, half_y, half_z = size[0], size[0], size[0]
            if kinds[k] == CAPSULE:
                half_z += 0.5 * size[1]
            elif kinds[k] == CYLINDER:
                half_z = 0.5 * size[1]
        held, fresh = 0, 0
        for i in range(samples.shape[0]):
            x, y, z = half_x * samples[i, 0], half_y * samples[i, 1], half_z * samples[i, 2]
            px = middle[0] + turn[0] * x + turn[1] * y + turn[2] * z
            py = middle[1] + turn[3] * x + turn[4] * y + turn[5] * z
            pz = middle[2] + turn[6] * x + turn[7] * y + turn[8] * z
            if not is_inside(kinds[k], solids[k], px, py, pz):
                continue
            held += 1
            earlier = False
            for j in range(k):
                if is_inside(kinds[j], solids[j], px, py, pz):
                    earlier = True
                    break
            if not earlier:
                fresh += 1
        if held > 0:
            total += solids[k, VOLUME] * fresh / held
    return total

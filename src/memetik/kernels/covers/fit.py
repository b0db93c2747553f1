"""The least solid of a kind around points: the best of many places, then small random moves that are kept if they help.

The volume of the solid around points has kinks wherever another point touches it, so that gradients lead nowhere; an evolution
strategy of one parent and one child, whose steps grow when they help and shrink when they do not (Rechenberg's rule of one
fifth), needs none. Its random numbers are handed in, so that the same points give the same solid.
"""

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.covers.solid_sizes import BOX, MIDDLE, SIZE, SLACK, SOLID_ROW, SPHERE, TURN, VOLUME, enclose

FIRST_STEP = 0.2  # rad, and as a share of half the extent of the points
GROW, SHRINK = 1.4, 0.92  # of the step, after one that helped and one that did not: in balance at one in five
LEAST_STEP = 2e-4
NOISE = 7  # random numbers for a step: three turn the solid, three move it, one widens it


@jit
def fit(kind, points, starts, noise, finalists, best, trial, volumes, local):
    """The least solid of a kind around points (n, 3): its row into `best`; returns its volume.

    starts (s, 3, 3): rotations to begin with. The `finalists` best of them are improved by as many steps as `noise` (m, 7)
    has rows, normally distributed. Scratch: rows `trial` (2, row), `volumes` (s,) and `local` (n, 2).
    """
    parent, child = trial[PARENT], trial[CHILD]
    count = 1 if kind == SPHERE else starts.shape[0]
    for k in range(count):
        _start(points, starts[k], parent, local)
        volumes[k] = enclose(kind, points, parent, local)
    best[VOLUME] = math.inf
    for _ in range(min(finalists, count)):
        chosen = 0
        for k in range(count):
            if volumes[k] < volumes[chosen]:
                chosen = k
        volumes[chosen] = math.inf
        extent = _start(points, starts[chosen], parent, local)
        enclose(kind, points, parent, local)
        improve(kind, points, noise, extent, parent, child, local)
        if parent[VOLUME] < best[VOLUME]:
            _copy(parent, best)
    return best[VOLUME]


PARENT, CHILD = 0, 1


@jit
def improve(kind, points, noise, extent, parent, child, local):
    """Move a solid to where it is smaller around the points, by steps that are first FIRST_STEP of `extent`."""
    step = FIRST_STEP
    for k in range(noise.shape[0]):
        _copy(parent, child)
        _turn(child, step * noise[k, 0], step * noise[k, 1], step * noise[k, 2])
        for c in range(3):
            child[MIDDLE + c] += step * extent * noise[k, 3 + c]
        child[SLACK] = max(child[SLACK] + step * noise[k, 6], 0.0)
        if enclose(kind, points, child, local) < parent[VOLUME]:
            _copy(child, parent)
            step = min(GROW * step, 1.0)
        else:
            step *= SHRINK
            if step < LEAST_STEP:
                break


@jit_part
def _start(points, turn, solid, local):
    """A solid with this rotation in the middle of the points; returns half their extent."""
    for r in range(3):
        for c in range(3):
            solid[TURN + 3 * r + c] = turn[r, c]
        solid[MIDDLE + r] = 0.0
    solid[SLACK] = 0.0
    enclose(BOX, points, solid, local)
    return 0.5 * math.sqrt(solid[SIZE] ** 2 + solid[SIZE + 1] ** 2 + solid[SIZE + 2] ** 2)


@jit_part
def _turn(solid, x, y, z):
    """Turn a solid about its own axes by the quaternion (1, x/2, y/2, z/2), made one of unit length."""
    scale = 1.0 / math.sqrt(1.0 + 0.25 * (x * x + y * y + z * z))
    w, x, y, z = scale, 0.5 * scale * x, 0.5 * scale * y, 0.5 * scale * z
    for r in range(TURN, TURN + 9, 3):
        a, b, c = solid[r], solid[r + 1], solid[r + 2]
        solid[r] = a * (1.0 - 2.0 * (y * y + z * z)) + b * 2.0 * (x * y + w * z) + c * 2.0 * (x * z - w * y)
        solid[r + 1] = a * 2.0 * (x * y - w * z) + b * (1.0 - 2.0 * (x * x + z * z)) + c * 2.0 * (y * z + w * x)
        solid[r + 2] = a * 2.0 * (x * z + w * y) + b * 2.0 * (y * z - w * x) + c * (1.0 - 2.0 * (x * x + y * y))


@jit_part
def _copy(solid, out):
    for c in range(SOLID_ROW):
        out[c] = solid[c]

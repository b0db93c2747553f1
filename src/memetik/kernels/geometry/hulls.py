"""Signed distances of convex hulls from any solid: GJK while their cores are apart (gjk.py), EPA where they meet (epa.py).

Exact for every kind, cylinders too, up to rounding; the balls around the cores are subtracted at the end.
"""

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.compiler.local_array import local_floats
from memetik.kernels.geometry.epa import EDGE, FACE, depth_of_cores
from memetik.kernels.geometry.gjk import TOUCHING, closest_cores
from memetik.kernels.geometry.solids import SOLID_BALL, moved
from memetik.kernels.geometry.support import CORNER
from memetik.kernels.math.pose import compose, inverse, turn
from memetik.kernels.math.vector import dot, minus

CORNERS = 256  # of the polytope of EPA: as many as cylinders need for ten digits (tests/stress/hulls.py)
FEW_CORNERS = 64  # the same on graphics cards, where each thread keeps them in memory of its own


def scratch_size(corners: int) -> int:
    """How many numbers `exactly_apart` needs: corners, faces, edges, and the shares of the four corners of a simplex."""
    return corners * CORNER + 2 * corners * FACE + corners * EDGE + 4


_scratch = local_floats(scratch_size(CORNERS))


@jit_part
def exactly_apart(data, p, s, q, t, enough, room, corners):
    """As `apart` of solids.py, with scratch for a polytope of so many corners."""
    pose = compose(inverse(p), q)
    balls = data[s + SOLID_BALL] + data[t + SOLID_BALL]
    found, d, a, v, count, size = closest_cores(data, (s, t), pose, enough + balls, room, room.size - 4)
    if found == TOUCHING:
        d, a, n = depth_of_cores(data, (s, t), pose, a, room, count, size, corners)
        d, n = -d, (-n[0], -n[1], -n[2])
        v = (d * n[0], d * n[1], d * n[2])
    else:
        long = math.sqrt(dot(v, v))
        n = (v[0] / long, v[1] / long, v[2] / long)
    return d - balls, moved(p, a), moved(p, minus(a, v)), turn(p, n[0], n[1], n[2])


@jit
def hull_apart(data, p, s, q, t, enough):
    """As `apart` of solids.py, where at least one of the two is a hull."""
    return exactly_apart(data, p, s, q, t, enough, _scratch(), CORNERS)

"""The points that lie outermost in one of many directions: what a convex solid has to hold, nearly."""

import math

from memetik.kernels.compiler.jit import jit


@jit
def outermost(points, members, directions, heights, found):
    """For each of the directions (d, 3) into `found` (d,) the place of the outermost of those points (n, 3) that `members`
    lists; `heights` (d,) is scratch."""
    for k in range(directions.shape[0]):
        heights[k] = -math.inf
    for i in members:
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        for k in range(directions.shape[0]):
            height = directions[k, 0] * x + directions[k, 1] * y + directions[k, 2] * z
            if height > heights[k]:
                heights[k] = height
                found[k] = i

"""Soles on a surface: how deep their contact points have sunk in, and where the sole belongs instead."""

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.geometry.rays import cast

ROUNDS = 2  # a sole that was turned stands on other spots of the surface
CORNERS = 5  # contact points of a sole that has corners: its middle, then the corners in a circle
# A row of `spots`: where a contact point is, how deep it is below the surface [m], and the normal there.
SPOT_PLACE, SPOT_DEPTH, SPOT_NORMAL, SPOT_NUMBERS = 0, 3, 4, 7


@jit_part
def sink(numbers, pose, points, above, spots):
    """Write the spots of contact points (k, 3) of a sole with this pose (4x4); the number of the deepest, -1 if none is in.

    The ray of a point starts `above` [m] it and runs straight down; a point under which there is nothing is -inf deep.
    """
    deepest, found = 0.0, -1
    for k in range(points.shape[0]):
        for i in range(3):
            spots[k, i] = pose[i, 0] * points[k, 0] + pose[i, 1] * points[k, 1] + pose[i, 2] * points[k, 2] + pose[i, 3]
        x, y, z = spots[k, SPOT_PLACE], spots[k, SPOT_PLACE + 1], spots[k, SPOT_PLACE + 2]
        t, nx, ny, nz = cast(numbers, 0, x, y, z + above, 0.0, 0.0, -1.0)
        depth = above - t if t < math.inf else -math.inf
        spots[k, SPOT_DEPTH] = depth
        spots[k, SPOT_NORMAL], spots[k, SPOT_NORMAL + 1], spots[k, SPOT_NORMAL + 2] = nx, ny, nz
        if depth > deepest:
            deepest, found = depth, k
    return found


@jit_part
def across(spots, a, b):
    """From spot b of the surface to spot a."""
    x, y = spots[a, SPOT_PLACE] - spots[b, SPOT_PLACE], spots[a, SPOT_PLACE + 1] - spots[b, SPOT_PLACE + 1]
    z = spots[a, SPOT_PLACE + 2] + spots[a, SPOT_DEPTH] - spots[b, SPOT_PLACE + 2] - spots[b, SPOT_DEPTH]
    return x, y, z


@jit_part
def normal_below(spots, deepest):
    """The normal of the surface under a sole: of the plane through the spots below its corners, or of a single facet.

    Facets change from one frame to the next where a foot slides over their edges; spots do not.
    """
    flat = spots.shape[0] == CORNERS
    for k in range(spots.shape[0]):
        flat = flat and spots[k, SPOT_DEPTH] > -math.inf
    if flat:
        (ax, ay, az), (bx, by, bz) = across(spots, 1, 3), across(spots, 2, 4)
        x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        length = math.sqrt(x * x + y * y + z * z)
        if length > 1e-12 and z != 0.0:
            length = math.copysign(length, z)
            return x / length, y / length, z / length
    return spots[deepest, SPOT_NORMAL], spots[deepest, SPOT_NORMAL + 1], spots[deepest, SPOT_NORMAL + 2]


@jit_part
def turn_towards(pose, direction, goal, share, m):
    """Write the rotation of `pose` into the 4x4 m, turned by a share of the angle from its direction V to a goal."""
    vx = pose[0, 0] * direction[0] + pose[0, 1] * direction[1] + pose[0, 2] * direction[2]
    vy = pose[1, 0] * direction[0] + pose[1, 1] * direction[1] + pose[1, 2] * direction[2]
    vz = pose[2, 0] * direction[0] + pose[2, 1] * direction[1] + pose[2, 2] * direction[2]
    gx, gy, gz = goal
    x, y, z = vy * gz - vz * gy, vz * gx - vx * gz, vx * gy - vy * gx
    sine, cosine = math.sqrt(x * x + y * y + z * z), vx * gx + vy * gy + vz * gz
    angle = share * math.atan2(sine, cosine)
    if sine < 1e-12:
        x, y, z, sine = 1.0, 0.0, 0.0, 1.0
        angle = 0.0  # along the goal already, or opposite to it, where no turn is better than another
    x, y, z = x / sine, y / sine, z / sine
    s, c = math.sin(angle), math.cos(angle)
    for j in range(3):
        ax, ay, az = pose[0, j], pose[1, j], pose[2, j]
        along = (x * ax + y * ay + z * az) * (1.0 - c)
        m[0, j] = c * ax + s * (y * az - z * ay) + along * x
        m[1, j] = c * ay + s * (z * ax - x * az) + along * y
        m[2, j] = c * az + s * (x * ay - y * ax) + along * z


@jit
def place_sole(numbers, pose, points, above, share, spots, out):
    """Write where a sole with this pose (4x4) belongs, turned by a share of the way; whether it had sunk into the surface."""
    for i in range(4):
        for j in range(4):
            out[i, j] = pose[i, j]
    deepest = sink(numbers, pose, points, above, spots)
    if deepest < 0:
        return False
    down = -pose[2, 0], -pose[2, 1], -pose[2, 2]  # in the frame of the sole
    for _ in range(ROUNDS):
        nx, ny, nz = normal_below(spots, max(deepest, 0))
        turn_towards(pose, down, (-nx, -ny, -nz), share, out)
        deepest = sink(numbers, out, points, above, spots)
    if deepest >= 0:
        out[2, 3] += spots[deepest, SPOT_DEPTH]
    return True


@jit
def place_soles(numbers, poses, points, above, shares, spots, goals):
    """place_sole for many poses (n, 4, 4) and shares (n,), into goals (n, 4, 4)."""
    for k in range(poses.shape[0]):
        place_sole(numbers, poses[k], points, above, shares[k], spots, goals[k])


@jit
def deepest_point(numbers, pose, points, above, spots):
    """How deep the deepest contact point of a sole with this pose (4x4) is below the surface [m]; 0 if none is."""
    k = sink(numbers, pose, points, above, spots)
    return spots[k, SPOT_DEPTH] if k >= 0 else 0.0


@jit
def depths_of(numbers, poses, points, above, spots, depths):
    """deepest_point of many poses (n, 4, 4), into depths (n,)."""
    for k in range(poses.shape[0]):
        depths[k] = deepest_point(numbers, poses[k], points, above, spots)

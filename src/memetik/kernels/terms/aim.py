"""AIM: an axis of a frame points along a direction, or from the frame to a point, within a free half angle.

With the axis a and the wanted direction d, both unit vectors in the world, and the angle t between them:

    e = max(0, t - free) (d × a) / sin t

For a point y seen from the frame at p, d = (y - p) / |y - p|.
"""

import math

from memetik.kernels.body.motion import twist
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import load, turn
from memetik.kernels.terms.pose import add_three, put_three
from memetik.kernels.terms.records import DIRECTION, TermKind, declare

# Target: a direction or point. Data: axis in the frame, 1 for a point, half angle [rad] that is free.
AIM_AXIS, AIM_IS_POINT, AIM_FREE = 0, 3, 4


@jit
def directions(term, data, world):
    """The axis, the wanted direction, and the distance to the point (infinite for a pure direction)."""
    k = term.numbers + AIM_AXIS
    frame = load(world, term.frame, 0)
    ax, ay, az = turn(frame, data[k], data[k + 1], data[k + 2])
    k = term.target
    x, y, z = data[k], data[k + 1], data[k + 2]
    if term.other >= 0:
        other = load(world, term.other, 0)
        x, y, z = turn(other, x, y, z)
        if data[term.numbers + AIM_IS_POINT] != 0.0:
            x, y, z = x + other[4], y + other[5], z + other[6]
    if data[term.numbers + AIM_IS_POINT] == 0.0:
        return ax, ay, az, x, y, z, math.inf
    x, y, z = x - frame[4], y - frame[5], z - frame[6]
    distance = math.sqrt(x * x + y * y + z * z)
    if distance < 1e-12:  # the frame sits on the point: every direction aims at it
        return ax, ay, az, ax, ay, az, math.inf
    return ax, ay, az, x / distance, y / distance, z / distance, distance


@jit
def bend(ax, ay, az, dx, dy, dz, free):
    """d × a, the factor f that makes e = f (d × a), and its derivative by the cosine between a and d."""
    x, y, z = dy * az - dz * ay, dz * ax - dx * az, dx * ay - dy * ax
    cosine = ax * dx + ay * dy + az * dz
    sine = math.sqrt(x * x + y * y + z * z)
    if sine < 1e-9:
        if cosine > 0.0:
            return x, y, z, 1.0 if free == 0.0 else 0.0, 0.0
        # Opposite: any turn about an axis across a will do; choose one that does not depend on rounding.
        x, y, z = (0.0, az, -ay) if abs(ax) < 0.6 else (-az, 0.0, ax)
        sine = math.sqrt(x * x + y * y + z * z)
        return x, y, z, (math.pi - free) / sine, 0.0
    angle = math.atan2(sine, cosine)
    if angle <= free:
        return x, y, z, 0.0, 0.0
    f = (angle - free) / sine
    if sine < 1e-4 and cosine > 0.0 and free == 0.0:
        return x, y, z, f, -1.0 / 3.0
    return x, y, z, f, (f * cosine - 1.0) / (sine * sine)


@jit_part
def aim_residual(term, data, world, x, out):
    ax, ay, az, dx, dy, dz, _ = directions(term, data, world)
    ex, ey, ez, f, _ = bend(ax, ay, az, dx, dy, dz, data[term.numbers + AIM_FREE])
    put_three(out, term.row, f * ex, f * ey, f * ez)


@jit_part
def aim_jacobian(term, data, world, x, nodes, frames, poses, axes, scale, jacobian):
    """de = f (d × da + dd × a) + f' (d·da + dd·a) (d × a)."""
    ax, ay, az, dx, dy, dz, distance = directions(term, data, world)
    ex, ey, ez, f, slope = bend(ax, ay, az, dx, dy, dz, data[term.numbers + AIM_FREE])
    is_point = data[term.numbers + AIM_IS_POINT] != 0.0
    px, py, pz = world[term.frame, 4], world[term.frame, 5], world[term.frame, 6]
    near = 1.0 / distance
    i = frames[term.frame].node
    for side in range(2):
        while i >= 0:
            ux, uy, uz, vx, vy, vz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0  # da and dd
            if side == 0:
                tx, ty, tz, wx, wy, wz = twist(nodes, poses, axes, i, px, py, pz)
                ux, uy, uz = wy * az - wz * ay, wz * ax - wx * az, wx * ay - wy * ax
                along = dx * tx + dy * ty + dz * tz
                vx, vy, vz = near * (along * dx - tx), near * (along * dy - ty), near * (along * dz - tz)
            else:
                # The point rides on the other frame: it moves as if it were fixed there.
                reach = distance if is_point else 0.0
                tx, ty, tz, wx, wy, wz = twist(nodes, poses, axes, i, px + reach * dx, py + reach * dy, pz + reach * dz)
                if is_point:
                    along = dx * tx + dy * ty + dz * tz
                    vx, vy, vz = near * (tx - along * dx), near * (ty - along * dy), near * (tz - along * dz)
                else:
                    vx, vy, vz = wy * dz - wz * dy, wz * dx - wx * dz, wx * dy - wy * dx
            bent = slope * (dx * ux + dy * uy + dz * uz + vx * ax + vy * ay + vz * az)
            bx = f * (dy * uz - dz * uy + vy * az - vz * ay) + bent * ex
            by = f * (dz * ux - dx * uz + vz * ax - vx * az) + bent * ey
            bz = f * (dx * uy - dy * ux + vx * ay - vy * ax) + bent * ez
            add_three(jacobian, nodes[i].variable, term.row, scale * bx, scale * by, scale * bz)
            i = nodes[i].parent
        if term.other < 0:
            break
        i = frames[term.other].node


AIM = declare(TermKind(2, "aim", "rad", 3, aim_residual, aim_jacobian, goal=DIRECTION))

"""PROJECTION and PROJECTION_TURN: a ray from a frame meets a surface; the frame comes to rest there, facing it.

The ray starts at p - lift V and runs along V, a unit vector fixed to the frame at p. Where it hits a facet with the
normal n through the point h, the way from the frame to the surface along V is

    s = n·(h - p) / n·V

and eq. 4.11 of the thesis asks for s = 0 and V = -n:

    position      e = (-s V, 0)           de = (-ds V - s dV, 0),  ds = -(n·dp + s n·dV) / n·V
    orientation   e = angle (d × V) / |d × V| with d = -n

Both are exact while the ray stays on the facet. Where it misses, or grazes, the frame goes to the point c of the
surface beside it (geometry/rays.py) instead:

    position      e = (p - c, miss)       de = (e n·dp / n·e, 0), for p - c keeps its direction as c slides along

with a last row `miss` that no tolerance allows. At the rim c counts as fixed, de = (dp, 0).

A ray may end after a length; what lies beyond it is a miss. A miss may also count as satisfied, e = 0, or the frame may have
a pose of its own, such as that of an animation. Then the ray is cast from that pose and not from the frame: where it hits,
the frame goes to the point that was hit and V against the normal there, else to the position of the pose and V along its
V. Goals are fixed then, so a frame at its goal stays there.
"""

import math

from memetik.kernels.body.motion import twist
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.geometry.rays import beside, cast
from memetik.kernels.math.pose import load, turn
from memetik.kernels.terms.aim import bend
from memetik.kernels.terms.pose import add_three, put_three
from memetik.kernels.terms.records import POSITION_LOSS, TermKind, declare

# Data of both: direction of the ray in the frame, how far behind the frame it starts [m], residual of a miss [m], angle [rad]
# that is free, place of the surface in the data array (geometry/rays.py), length of the ray [m], and what a miss means. Target:
# the pose that a frame has where it meets nothing, for MISS_KEEPS alone.
PROJECTION_AXIS, PROJECTION_LIFT, PROJECTION_MISS, PROJECTION_FREE, PROJECTION_SURFACE = 0, 3, 4, 5, 6
PROJECTION_LENGTH, PROJECTION_ON_MISS = 7, 8

MISS_BESIDE, MISS_SATISFIED, MISS_KEEPS = 0, 1, 2
HIT, SLIDES, STAYS = 0, 1, 2  # what the goal is, and whether it moves along when the frame moves
GIVEN, NOTHING = 3, 4  # a goal that is given, or none
END = 1e-9  # m; a ray that ends on the surface meets it, whatever rounding says

GRAZING = 0.05  # sine of the angle between ray and facet below which the hit is too far away to be worth going there


@jit_part
def met(data, k, px, py, pz, vx, vy, vz):
    """How far from p along V the ray of the projection at data[k] meets the surface, infinite if it does not; the normal."""
    lift = data[k + PROJECTION_LIFT]
    surface = int(data[k + PROJECTION_SURFACE])
    t, nx, ny, nz = cast(data, surface, px - lift * vx, py - lift * vy, pz - lift * vz, vx, vy, vz)
    if t <= data[k + PROJECTION_LENGTH] + END and nx * vx + ny * vy + nz * vz < -GRAZING:
        return t - lift, nx, ny, nz
    return math.inf, nx, ny, nz


@jit_part
def given_goal(term, data):
    """The point where a frame with a pose of its own goes, and what V is against there."""
    k = term.numbers
    t = term.target
    px, py, pz = data[t + 4], data[t + 5], data[t + 6]
    ax, ay, az = data[k + PROJECTION_AXIS], data[k + PROJECTION_AXIS + 1], data[k + PROJECTION_AXIS + 2]
    vx, vy, vz = turn((data[t], data[t + 1], data[t + 2], data[t + 3]), ax, ay, az)
    s, nx, ny, nz = met(data, k, px, py, pz, vx, vy, vz)
    if s < math.inf:
        return px + s * vx, py + s * vy, pz + s * vz, nx, ny, nz
    return px, py, pz, -vx, -vy, -vz


@jit
def project(term, data, world):
    """What the goal is (HIT, SLIDES, ...), the way p - goal, the normal n at the goal and the direction V."""
    frame = load(world, term.frame, 0)
    k = term.numbers
    vx, vy, vz = turn(frame, data[k + PROJECTION_AXIS], data[k + PROJECTION_AXIS + 1], data[k + PROJECTION_AXIS + 2])
    px, py, pz = frame[4], frame[5], frame[6]
    on_miss = int(data[k + PROJECTION_ON_MISS])
    if on_miss == MISS_KEEPS:
        cx, cy, cz, nx, ny, nz = given_goal(term, data)
        return GIVEN, (px - cx, py - cy, pz - cz), (nx, ny, nz), (vx, vy, vz)
    s, nx, ny, nz = met(data, k, px, py, pz, vx, vy, vz)
    if s < math.inf:
        return HIT, (-s * vx, -s * vy, -s * vz), (nx, ny, nz), (vx, vy, vz)
    if on_miss == MISS_SATISFIED:
        return NOTHING, (0.0, 0.0, 0.0), (-vx, -vy, -vz), (vx, vy, vz)
    cx, cy, cz, nx, ny, nz, slides = beside(data, int(data[k + PROJECTION_SURFACE]), px, py, pz)
    return SLIDES if slides else STAYS, (px - cx, py - cy, pz - cz), (nx, ny, nz), (vx, vy, vz)


@jit_part
def free_angle(term, data, goal):
    """The angle that V may have to -n: where the orientation does not matter, any that hits."""
    free = data[term.numbers + PROJECTION_FREE]
    return math.pi if goal == NOTHING or (goal in (HIT, GIVEN) and free > 0.0) else free


@jit_part
def projection_residual(term, data, world, x, out):
    goal, (ex, ey, ez), _, _ = project(term, data, world)
    put_three(out, term.row, ex, ey, ez)
    out[term.row + 3] = data[term.numbers + PROJECTION_MISS] if goal in (SLIDES, STAYS) else 0.0


@jit_part
def projection_jacobian(term, data, world, x, nodes, frames, poses, axes, scale, jacobian):
    goal, (ex, ey, ez), (nx, ny, nz), (vx, vy, vz) = project(term, data, world)
    px, py, pz = world[term.frame, 4], world[term.frame, 5], world[term.frame, 6]
    s = -(ex * vx + ey * vy + ez * vz)
    facing = nx * vx + ny * vy + nz * vz
    height = nx * ex + ny * ey + nz * ez
    if goal == SLIDES and height == 0.0:  # on the surface: p - c would grow along the normal
        ex, ey, ez, height = nx, ny, nz, 1.0
    i = frames[term.frame].node if goal != NOTHING else -1
    while i >= 0:
        dx, dy, dz, wx, wy, wz = twist(nodes, poses, axes, i, px, py, pz)
        if goal == HIT:
            ux, uy, uz = wy * vz - wz * vy, wz * vx - wx * vz, wx * vy - wy * vx  # dV
            ds = -(nx * (dx + s * ux) + ny * (dy + s * uy) + nz * (dz + s * uz)) / facing
            dx, dy, dz = -ds * vx - s * ux, -ds * vy - s * uy, -ds * vz - s * uz
        elif goal == SLIDES:
            rise = (nx * dx + ny * dy + nz * dz) / height
            dx, dy, dz = rise * ex, rise * ey, rise * ez
        add_three(jacobian, nodes[i].variable, term.row, scale * dx, scale * dy, scale * dz)
        i = nodes[i].parent


@jit_part
def projection_turn_residual(term, data, world, x, out):
    goal, _, (nx, ny, nz), (vx, vy, vz) = project(term, data, world)
    ex, ey, ez, f, _ = bend(vx, vy, vz, -nx, -ny, -nz, free_angle(term, data, goal))
    put_three(out, term.row, f * ex, f * ey, f * ez)


@jit_part
def projection_turn_jacobian(term, data, world, x, nodes, frames, poses, axes, scale, jacobian):
    """de = f (d × dV) + f' (d·dV) (d × V), as for an axis that is aimed along d (aim.py)."""
    goal, _, (nx, ny, nz), (vx, vy, vz) = project(term, data, world)
    ex, ey, ez, f, slope = bend(vx, vy, vz, -nx, -ny, -nz, free_angle(term, data, goal))
    i = frames[term.frame].node
    while i >= 0:
        _, _, _, wx, wy, wz = twist(nodes, poses, axes, i, 0.0, 0.0, 0.0)
        ux, uy, uz = wy * vz - wz * vy, wz * vx - wx * vz, wx * vy - wy * vx  # dV
        bent = -slope * (nx * ux + ny * uy + nz * uz)
        bx, by = bent * ex - f * (ny * uz - nz * uy), bent * ey - f * (nz * ux - nx * uz)
        bz = bent * ez - f * (nx * uy - ny * ux)
        add_three(jacobian, nodes[i].variable, term.row, scale * bx, scale * by, scale * bz)
        i = nodes[i].parent


# Where the ray meets the surface, and that the frame faces it there; eq. 4.11 gives both one loss.
PROJECTION = declare(
    TermKind(
        12, "projection", "m", 4, projection_residual, projection_jacobian, "position", loss=POSITION_LOSS, paired=True
    )
)
PROJECTION_TURN = declare(
    TermKind(13, "projection turn", "rad", 3, projection_turn_residual, projection_turn_jacobian, "orientation")
)

"""PROJECTION and PROJECTION_TURN: a ray from a frame meets a surface; the frame comes to rest there, facing it.

The ray starts at p - lift V and runs along V, a unit vector fixed to the frame at p. Where it hits a facet with the
normal n through the point h, the way from the frame to the surface along V is

    s = n·(h - p) / n·V

and eq. 4.11 of the thesis asks for s = 0 and V = -n:

    position      e = (-s V, 0)           de = (-ds V - s dV, 0),  ds = -(n·dp + s n·dV) / n·V
    orientation   e = angle (d × V) / |d × V| with d = -n

Both are exact while the ray stays on the facet. Where it misses, or grazes, the frame goes to the point c of the
surface beside it (terms/geometry/rays.py) instead:

    position      e = (p - c, miss)       de = (e n·dp / n·e, 0), for p - c keeps its direction as c slides along

with a last row `miss` that no tolerance allows. At the rim c counts as fixed, de = (dp, 0).
"""

import math

from memetik.kernels.body.motion import twist
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import load, turn
from memetik.kernels.terms.aim import bend
from memetik.kernels.terms.geometry.rays import beside, cast
from memetik.kernels.terms.pose import add_three, put_three
from memetik.kernels.terms.records import POSITION_LOSS, TermKind, declare

# Data of both: direction of the ray in the frame, how far behind the frame it starts [m], residual of a miss [m], angle [rad]
# that is free, place of the surface in the data array (geometry/rays.py).
PROJECTION_AXIS, PROJECTION_LIFT, PROJECTION_MISS, PROJECTION_FREE, PROJECTION_SURFACE = 0, 3, 4, 5, 6

HIT, SLIDES, STAYS = 0, 1, 2  # what the goal is, and whether it moves along when the frame moves

GRAZING = 0.05  # sine of the angle between ray and facet below which the hit is too far away to be worth going there


@jit
def project(term, data, world):
    """What the goal is (HIT, SLIDES, STAYS), the way p - goal, the normal n at the goal and the direction V."""
    frame = load(world, term.frame, 0)
    k = term.numbers + PROJECTION_AXIS
    vx, vy, vz = turn(frame, data[k], data[k + 1], data[k + 2])
    px, py, pz = frame[4], frame[5], frame[6]
    surface = int(data[term.numbers + PROJECTION_SURFACE])
    lift = data[term.numbers + PROJECTION_LIFT]
    t, nx, ny, nz = cast(data, surface, px - lift * vx, py - lift * vy, pz - lift * vz, vx, vy, vz)
    if t < math.inf and nx * vx + ny * vy + nz * vz < -GRAZING:
        s = t - lift
        return HIT, (-s * vx, -s * vy, -s * vz), (nx, ny, nz), (vx, vy, vz)
    cx, cy, cz, nx, ny, nz, slides = beside(data, surface, px, py, pz)
    return SLIDES if slides else STAYS, (px - cx, py - cy, pz - cz), (nx, ny, nz), (vx, vy, vz)


@jit_part
def free_angle(term, data, goal):
    """The angle that V may have to -n: where the orientation does not matter, any that hits."""
    free = data[term.numbers + PROJECTION_FREE]
    return math.pi if goal == HIT and free > 0.0 else free


@jit
def projection_residual(term, data, world, x, out):
    goal, (ex, ey, ez), _, _ = project(term, data, world)
    put_three(out, term.row, ex, ey, ez)
    out[term.row + 3] = 0.0 if goal == HIT else data[term.numbers + PROJECTION_MISS]


@jit
def projection_jacobian(term, data, world, x, nodes, frames, poses, axes, scale, jacobian):
    goal, (ex, ey, ez), (nx, ny, nz), (vx, vy, vz) = project(term, data, world)
    px, py, pz = world[term.frame, 4], world[term.frame, 5], world[term.frame, 6]
    s = -(ex * vx + ey * vy + ez * vz)
    facing = nx * vx + ny * vy + nz * vz
    height = nx * ex + ny * ey + nz * ez
    if goal == SLIDES and height == 0.0:  # on the surface: p - c would grow along the normal
        ex, ey, ez, height = nx, ny, nz, 1.0
    i = frames[term.frame].node
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


@jit
def projection_turn_residual(term, data, world, x, out):
    goal, _, (nx, ny, nz), (vx, vy, vz) = project(term, data, world)
    ex, ey, ez, f, _ = bend(vx, vy, vz, -nx, -ny, -nz, free_angle(term, data, goal))
    put_three(out, term.row, f * ex, f * ey, f * ez)


@jit
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

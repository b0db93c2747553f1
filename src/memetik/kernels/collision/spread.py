"""How far any point of a solid can move while the joints move, whatever the posture.

A turn by an angle a moves a point by at most a times its distance from the axis, a slide by what it slides. The distance
from an axis is at most the sum of the lengths from there to the solid, which no posture changes but by slides. So with a ball of
radius r around the solids of a link, whose centre is c,

    R_j = |c - o_n| + r + sum of |o_k - o_(k-1)| for the motions k from j to the last one n

bounds what one radian of motion j does, and  sum of |dq_j| R_j  bounds what a movement of all joints does (Schwarzer, Saha and
Latombe 2005, Adaptive dynamic collision checking for single and multiple articulated robots in complex environments).

At a posture the distance of the ball from each axis is known. It grows only as fast as the motions behind that axis move the
ball. So a movement over a share t of the whole takes no point farther than

    m t + k t²/2        m = sum of |dq_j| times the distance now        k = sum of |dq_j| sum over i behind j of |dq_i| R_i
"""

import math

from memetik.kernels.body.records import SLIDE, TURN
from memetik.kernels.compiler.jit import jit_part
from memetik.kernels.geometry.solids import moved, three
from memetik.kernels.math.pose import axis, constant, load
from memetik.kernels.terms.distance import GROUP_CENTER, GROUP_FRAME, GROUP_RADIUS


@jit_part
def spread(nodes, frames, data, group, meet, middle, half, rate, shares):
    """How far the points of a group can move, seen from the motion `meet`, and how much faster they can become.

    Variables stay within `half` of `middle` and change by `rate`. What each motion adds goes into `shares`, by its row.
    """
    frame = int(data[group + GROUP_FRAME])
    far, curve = 0.0, 0.0
    if frame < 0:
        return far, curve
    x, y, z = moved(constant(frames[frame]), three(data, group + GROUP_CENTER))
    reach = math.sqrt(x * x + y * y + z * z) + data[group + GROUP_RADIUS]
    i = frames[frame].node
    while i != meet:
        node = nodes[i]
        ratio = abs(node.ratio)
        by = ratio * rate[node.variable]
        slide = 0.0
        if node.motion == SLIDE:
            share = by
            slide = 1.0
        else:
            share = by * reach
            curve += by * far
            if node.motion != TURN:
                slide = abs(node.pitch)
                share += by * slide
        far += share
        shares[i] = share
        if slide > 0.0:
            value = abs(node.ratio * middle[node.variable] + node.offset)
            reach += slide * (value + ratio * half[node.variable])
        reach += math.sqrt(node.px * node.px + node.py * node.py + node.pz * node.pz)
        i = node.parent
    return far, curve


@jit_part
def spread_here(nodes, poses, frames, data, group, meet, world, rate):
    """How fast the points of a group can move at this posture, seen from the motion `meet`."""
    frame = int(data[group + GROUP_FRAME])
    speed = 0.0
    if frame < 0:
        return speed
    cx, cy, cz = moved(load(world, frame, 0), three(data, group + GROUP_CENTER))
    radius = data[group + GROUP_RADIUS]
    i = frames[frame].node
    while i != meet:
        node = nodes[i]
        by = abs(node.ratio) * rate[node.variable]
        if node.motion == SLIDE:
            speed += by
        else:
            ux, uy, uz = axis(load(poses, i, 0))
            rx, ry, rz = cx - poses[i, 4], cy - poses[i, 5], cz - poses[i, 6]
            vx, vy, vz = uy * rz - uz * ry, uz * rx - ux * rz, ux * ry - uy * rx
            speed += by * (math.sqrt(vx * vx + vy * vy + vz * vz) + radius)
            if node.motion != TURN:
                speed += by * abs(node.pitch)
        i = node.parent
    return speed

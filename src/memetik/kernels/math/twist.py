"""What one motion does to a point: the building block of every Jacobian."""

from __future__ import annotations

from memetik.kernels.body.records import SCREW, SLIDE
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import axis, load


@jit_part
def write_axes(nodes, poses, axes):
    """World direction of every motion, times its ratio to the variable: what a unit of the variable does."""
    for i in range(nodes.size):
        ux, uy, uz = axis(load(poses, i, 0))
        ratio = nodes[i].ratio
        axes[i, 0] = ratio * ux
        axes[i, 1] = ratio * uy
        axes[i, 2] = ratio * uz


@jit
def twist(nodes, poses, axes, i, px, py, pz):
    """Velocity of the point (px, py, pz) and angular velocity, for a unit velocity of the variable behind node i."""
    ux, uy, uz = axes[i, 0], axes[i, 1], axes[i, 2]
    motion = nodes[i].motion
    if motion == SLIDE:
        return ux, uy, uz, 0.0, 0.0, 0.0
    rx, ry, rz = px - poses[i, 4], py - poses[i, 5], pz - poses[i, 6]
    vx, vy, vz = uy * rz - uz * ry, uz * rx - ux * rz, ux * ry - uy * rx
    if motion == SCREW:
        pitch = nodes[i].pitch
        vx, vy, vz = vx + pitch * ux, vy + pitch * uy, vz + pitch * uz
    return vx, vy, vz, ux, uy, uz

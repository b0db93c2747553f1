"""One motion: where it takes its frame, and what it does to a point, the building block of every Jacobian."""

from memetik.kernels.body.records import SCREW, SLIDE
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import axis, load
from memetik.kernels.math.sincos import sincos


@jit
def local(node, value):
    """Eq. 4 of the OFKT paper, L = S T(value): the static transform of the node followed by its motion along z."""
    w, x, y, z, px, py, pz = node.w, node.x, node.y, node.z, node.px, node.py, node.pz
    slide = 0.0
    if node.motion == SLIDE:
        slide = value
    else:
        s, c = sincos(0.5 * value)
        w, x, y, z = w * c - z * s, x * c + y * s, y * c - x * s, z * c + w * s
        if node.motion == SCREW:
            slide = node.pitch * value
    if slide != 0.0:
        # A turn about z leaves z in place, so the turned quaternion gives the same direction.
        ux, uy, uz = axis((w, x, y, z))
        px += slide * ux
        py += slide * uy
        pz += slide * uz
    return w, x, y, z, px, py, pz


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

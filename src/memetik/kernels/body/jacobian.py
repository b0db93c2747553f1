"""The geometric Jacobian of a frame, written by one walk from the frame to the root."""

from memetik.kernels.body.forward import forward, frame_pose
from memetik.kernels.body.records import SCREW, SLIDE
from memetik.kernels.compiler.jit import jit
from memetik.kernels.math.pose import axis, load


@jit
def add_columns(nodes, poses, node, px, py, pz, jacobian):
    """Add what every motion above `node` does to a point (px, py, pz) that rides on it.

    Rows 0 to 2: velocity of the point [m], u × (p - p_i) for a turn, u for a slide. Rows 3 to 5: angular velocity, u
    for a turn. A column belongs to a variable, so a variable that drives several motions collects all of them.
    """
    while node >= 0:
        record = nodes[node]
        pose = load(poses, node, 0)
        ux, uy, uz = axis(pose)
        ux, uy, uz = record.ratio * ux, record.ratio * uy, record.ratio * uz
        k = record.variable
        if record.motion == SLIDE:
            jacobian[0, k] += ux
            jacobian[1, k] += uy
            jacobian[2, k] += uz
        else:
            rx, ry, rz = px - pose[4], py - pose[5], pz - pose[6]
            jacobian[0, k] += uy * rz - uz * ry
            jacobian[1, k] += uz * rx - ux * rz
            jacobian[2, k] += ux * ry - uy * rx
            jacobian[3, k] += ux
            jacobian[4, k] += uy
            jacobian[5, k] += uz
            if record.motion == SCREW:
                jacobian[0, k] += record.pitch * ux
                jacobian[1, k] += record.pitch * uy
                jacobian[2, k] += record.pitch * uz
        node = record.parent


@jit
def frame_jacobian(nodes, frames, q, poses, jacobian):
    """Jacobian (6, variables) of the one frame in `frames`, in root axes at the frame's origin."""
    forward(nodes, q, poses)
    jacobian[:, :] = 0.0
    tip = frame_pose(frames[0], poses)
    add_columns(nodes, poses, frames[0].node, tip[4], tip[5], tip[6], jacobian)

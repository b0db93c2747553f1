"""Plain forward kinematics of a tree: every motion is evaluated, parents first."""

from memetik.kernels.body.motion import local
from memetik.kernels.compiler.jit import jit
from memetik.kernels.math.pose import compose, constant, load, store, write_matrix


@jit
def forward(nodes, q, poses):
    """Pose of every moved node in the root frame: R_i = R_parent L_i. `poses` is (nodes, 7)."""
    for i in range(nodes.size):
        node = nodes[i]
        pose = local(node, node.ratio * q[node.variable] + node.offset)
        if node.parent >= 0:
            pose = compose(load(poses, node.parent, 0), pose)
        store(pose, poses, i, 0)


@jit
def frame_pose(frame, poses):
    """Pose of one frame in the root frame, from the poses of the nodes."""
    if frame.node < 0:
        return constant(frame)
    return compose(load(poses, frame.node, 0), constant(frame))


@jit
def frame_matrices(nodes, frames, q, poses, out):
    """Forward kinematics of all frames as 4x4 matrices, out is (frames, 4, 4)."""
    forward(nodes, q, poses)
    for k in range(frames.size):
        write_matrix(frame_pose(frames[k], poses), out, k)

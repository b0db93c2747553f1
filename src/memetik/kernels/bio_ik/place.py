"""Bio IK, where the body is: forward kinematics of the tree, whole or only of what has changed (OFKT).

Both ways run the same instructions, so they agree to the last bit: without the OFKT, the tree is made to forget all first.
Row i of `tree` holds the value that node i was last computed for and its local transform, as in ofkt.py; its transform in
the root frame is the pose itself.
"""

from __future__ import annotations

from memetik.kernels.bio_ik.scratch import OFKT
from memetik.kernels.body.forward import frame_pose
from memetik.kernels.body.ofkt import clear, update_poses
from memetik.kernels.compiler.jit import jit_part
from memetik.kernels.math.pose import store


@jit_part
def place_changes(nodes, frames, x, tree, poses, world):
    """The nodes that x moves, then all frames that the terms read."""
    update_poses(nodes, x, tree, poses, 0, None)
    for f in range(frames.size):
        store(frame_pose(frames[f], poses), world, f, 0)


@jit_part
def place_body(nodes, frames, parameters, x, tree, poses, world):
    """Place all that x moves, or all there is."""
    if parameters[OFKT] == 0.0:
        clear(tree)
    place_changes(nodes, frames, x, tree, poses, world)

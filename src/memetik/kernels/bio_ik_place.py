"""Bio IK, where the body is: forward kinematics of the tree, whole or only of what has changed (OFKT).

Both ways run the same instructions, so they agree to the last bit: without the OFKT, the tree is made to forget all first.
Row i of `tree` holds the value that node i was last computed for and its local transform, as in ofkt.py; its transform in
the root frame is the pose itself.
"""

from __future__ import annotations

from memetik.kernels.bio_ik_room import OFKT
from memetik.kernels.forward import frame_pose
from memetik.kernels.jit import jit, jit_part
from memetik.kernels.ofkt import LOCAL, VALUE, clear
from memetik.kernels.pose import compose, inverse, load, local, store


@jit_part
def place_changes(nodes, frames, x, tree, poses, world):
    """Algorithm 2 of the OFKT paper, then all frames that the terms read."""
    stale = -1
    for i in range(nodes.size):
        node = nodes[i]
        value = node.ratio * x[node.variable] + node.offset
        if value != tree[i, VALUE]:
            tree[i, VALUE] = value
            store(local(node, value), tree, i, LOCAL)
            stale = max(stale, node.last)
        if i <= stale:
            pose = load(tree, i, LOCAL)
            if node.parent >= 0:
                pose = compose(load(poses, node.parent, 0), pose)
            store(pose, poses, i, 0)
    for f in range(frames.size):
        store(frame_pose(frames[f], poses), world, f, 0)


@jit
def place_body(nodes, frames, parameters, x, tree, poses, world):
    """Place all that x moves, or all there is."""
    if parameters[OFKT] == 0.0:
        clear(tree)
    place_changes(nodes, frames, x, tree, poses, world)


@jit
def predict_frames(nodes, frames, changed, value, poses, world, moved):
    """The frames that one node carries if its variable had a value: W' = R_parent L' R^-1 W (scenario 2 of the OFKT)."""
    node = nodes[changed]
    pose = local(node, node.ratio * value + node.offset)
    if node.parent >= 0:
        pose = compose(load(poses, node.parent, 0), pose)
    pose = compose(pose, inverse(load(poses, changed, 0)))
    for f in range(frames.size):
        if changed <= frames[f].node <= node.last:
            store(compose(pose, load(world, f, 0)), moved, f, 0)

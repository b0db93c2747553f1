"""OFKT, the optimised forward kinematics tree: only what changed is computed again.

Row i of `cache` holds, for node i, the value it was last computed for (column VALUE), its local transform L_i (from
LOCAL) and its transform in the root frame R_i (from REFERENCE). Equations and scenarios are those of the OFKT paper.

`counts` is None, or an int64 array of three that counts transformations: local, products in the root frame, world.
Numba compiles the counting away when it is None.
"""

import math

from memetik.kernels.body.motion import local
from memetik.kernels.compiler.jit import jit
from memetik.kernels.math.pose import compose, constant, inverse, load, store, write_matrix

VALUE, LOCAL, REFERENCE, WIDTH = 0, 1, 8, 15
COUNT_LOCAL, COUNT_REFERENCE, COUNT_WORLD = 0, 1, 2


@jit
def clear(cache):
    """Forget everything: NaN differs from every value, so the next update computes the whole tree."""
    for i in range(cache.shape[0]):
        cache[i, VALUE] = math.nan


@jit
def update(nodes, q, cache, counts):
    """Bring the tree to joint values q."""
    update_poses(nodes, q, cache, cache, REFERENCE, counts)


@jit
def update_poses(nodes, q, cache, poses, first, counts):
    """Algorithm 2 as one loop: rows are depth-first, so a changed node concerns exactly the rows up to its `last`.

    The transforms R_i stand in `poses` from column `first` on, which may be the cache itself.
    """
    stale = -1
    for i in range(nodes.size):
        node = nodes[i]
        value = node.ratio * q[node.variable] + node.offset
        if value != cache[i, VALUE]:
            cache[i, VALUE] = value
            store(local(node, value), cache, i, LOCAL)
            stale = max(stale, node.last)
            if counts is not None:
                counts[COUNT_LOCAL] += 1
        if i <= stale:
            pose = load(cache, i, LOCAL)
            if node.parent >= 0:
                pose = compose(load(poses, node.parent, first), pose)
            store(pose, poses, i, first)
            if counts is not None:
                counts[COUNT_REFERENCE] += 1


@jit
def frame_world(frame, cache, world, counts):
    """Eq. 5: W = world_from_root R, for a frame that rides on a node. `world` is a pose tuple.

    The frame's constant offset is part of the step to the world and not counted, as in the paper.
    """
    if counts is not None:
        counts[COUNT_WORLD] += 1
    if frame.node < 0:
        return compose(world, constant(frame))
    return compose(world, compose(load(cache, frame.node, REFERENCE), constant(frame)))


@jit
def predict(nodes, cache, changed, value, frame, world, counts):
    """Scenario 2: where `frame` would be if node `changed` had `value`; the cache stays as it is.

    W = world R_parent L' R^-1 R_frame: one local transform, three products, one step to the world, for any depth.
    A frame that the node does not carry stays where it is.
    """
    if frame.node < changed or frame.node > nodes[changed].last:
        return frame_world(frame, cache, world, counts)
    node = nodes[changed]
    pose = local(node, value)
    if node.parent >= 0:
        pose = compose(load(cache, node.parent, REFERENCE), pose)
    pose = compose(pose, inverse(load(cache, changed, REFERENCE)))
    pose = compose(pose, load(cache, frame.node, REFERENCE))
    if counts is not None:
        counts[COUNT_LOCAL] += 1
        counts[COUNT_REFERENCE] += 3
        counts[COUNT_WORLD] += 1
    return compose(world, compose(pose, constant(frame)))


@jit
def move_frames(nodes, frames, changed, value, poses, first, world, moved):
    """Scenario 2 for many frames: those that node `changed` carries, if its variable had `value`: W' = R_parent L' R^-1 W.

    Poses of frames as they are stand in `world`, as they would be in `moved`; the transforms R_i as in `update_poses`.
    """
    node = nodes[changed]
    pose = local(node, node.ratio * value + node.offset)
    if node.parent >= 0:
        pose = compose(load(poses, node.parent, first), pose)
    pose = compose(pose, inverse(load(poses, changed, first)))
    for f in range(frames.size):
        if changed <= frames[f].node <= node.last:
            store(compose(pose, load(world, f, 0)), moved, f, 0)


@jit
def update_frames(nodes, frames, q, cache, world, out, counts):
    """Update the tree and write all frames in the world as 4x4 matrices."""
    update(nodes, q, cache, counts)
    for k in range(frames.size):
        write_matrix(frame_world(frames[k], cache, world, counts), out, k)


@jit
def predict_frames(nodes, frames, node, value, cache, world, out, counts):
    """All frames as they would be if the variable behind `node` had `value`; node -1 moves none of them."""
    for k in range(frames.size):
        if node < 0:
            write_matrix(frame_world(frames[k], cache, world, counts), out, k)
        else:
            moved = nodes[node].ratio * value + nodes[node].offset
            write_matrix(predict(nodes, cache, node, moved, frames[k], world, counts), out, k)

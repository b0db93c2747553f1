"""Many queries of forward kinematics in one compiled loop, for measurements: nothing of Python is between them.

Before query k, row k of `edits` says which joints move a little, -1 for none; the rows are repeated as often as needed.
"""

import numpy as np

from memetik.kernels.body.forward import forward, frame_pose
from memetik.kernels.body.jacobian import add_columns
from memetik.kernels.body.ofkt import WIDTH, clear, frame_world, predict, update
from memetik.kernels.compiler.jit import jit, jit_allocating
from memetik.kernels.math.pose import compose

STEP = 1e-6  # rad or m by which a joint moves


@jit
def _move(q, joints):
    for k in joints:
        if k >= 0:
            q[k] += STEP


@jit_allocating
def replay_plain(nodes, frames, q, edits, count, world, with_jacobian):
    """The whole body each time, then the frames in the world; with a Jacobian of the last node, if wanted."""
    poses, jacobian, total = np.empty((nodes.size, 7)), np.zeros((6, q.size)), 0.0
    for e in range(count):
        _move(q, edits[e % edits.shape[0]])
        forward(nodes, q, poses)
        for f in range(frames.size):
            total += compose(world, frame_pose(frames[f], poses))[4]
        if with_jacobian:
            add_columns(nodes, poses, nodes.size - 1, poses[-1, 4], poses[-1, 5], poses[-1, 6], jacobian)
    return total + poses[-1, 4] + jacobian[0, 0]


@jit_allocating
def replay_cached(nodes, frames, q, edits, count, world):
    """What changed, by the OFKT."""
    cache, total = np.empty((nodes.size, WIDTH)), 0.0
    clear(cache)
    for e in range(count):
        _move(q, edits[e % edits.shape[0]])
        update(nodes, q, cache, None)
        for f in range(frames.size):
            total += frame_world(frames[f], cache, world, None)[4]
    return total + cache[-1, 8]


@jit_allocating
def replay_predicted(nodes, frames, q, moved, count, world):
    """Where the frames would be if one node had another value; `moved` (queries) has the node of each."""
    cache, total = np.empty((nodes.size, WIDTH)), 0.0
    clear(cache)
    update(nodes, q, cache, None)
    for e in range(count):
        node = moved[e % moved.size]
        value = q[nodes[node].variable] + STEP * (e // moved.size)
        for f in range(frames.size):
            total += predict(nodes, cache, node, value, frames[f], world, None)[4]
    return total

"""How promising every posture of a population looks, all at once.

The poses of the population's frames, seen from the root, are stored by component, (frames, 7, postures), so that one
instruction serves several postures: ranking 256 of them takes less time than two steps of the local search.
"""

import math

from memetik.kernels.body.forward import forward, frame_pose
from memetik.kernels.compiler.jit import jit, jit_inlined, jit_part
from memetik.kernels.math.pose import compose, inverse, load, store, turn
from memetik.kernels.problem.mounts import seen_from_world
from memetik.kernels.problem.quick_error import squared_angle, squared_distance


@jit_part
def is_only_child(nodes, i):
    """Whether node i follows its parent without a fork between them."""
    return i > 0 and nodes[i].parent == i - 1 and nodes[i - 1].last == nodes[i].last


@jit_part
def end_of_chain(nodes, i):
    """The last node that follows node i without a fork."""
    while i + 1 < nodes.size and nodes[i + 1].parent == i and nodes[i + 1].last == nodes[i].last:
        i += 1
    return i


@jit_part
def begins_limb(nodes, i):
    """Whether node i is the first of a limb: a chain from a fork of the tree to a tip."""
    if is_only_child(nodes, i) or (i == 0 and nodes[i].last == nodes.size - 1):  # no fork before it, or none at all
        return False
    return end_of_chain(nodes, i) == nodes[i].last


@jit_part
def before_limb(nodes, i):
    """The node that the limb of node i begins at; -1 for the root, and for a node that is part of no limb."""
    while i >= 0 and is_only_child(nodes, i):
        i -= 1
    return nodes[i].parent if i >= 0 and begins_limb(nodes, i) else -1


@jit_part
def seen_from(node, pose, poses):
    """A pose as seen from a node, the root for -1."""
    return compose(inverse(load(poses, node, 0)), pose) if node >= 0 else pose


@jit_inlined
def load_column(frame_poses, c):
    """The pose in column c."""
    return (
        frame_poses[0, c], frame_poses[1, c], frame_poses[2, c], frame_poses[3, c], frame_poses[4, c],
        frame_poses[5, c], frame_poses[6, c],
    )  # fmt: skip


@jit_part
def store_column(pose, columns, c):
    """Write a pose into column c."""
    for i in range(7):
        columns[i, c] = pose[i]


@jit
def place_population(nodes, frames, population, poses):
    """Fill the poses of the population with those of all frames for every posture; `poses` (nodes, 7) is scratch."""
    for c in range(population.genes.shape[0]):
        forward(nodes, population.genes[c], poses)
        for f in range(frames.size):
            pose = frame_pose(frames[f], poses)
            store_column(pose, population.frame_poses[f], c)
            store_column(seen_from(before_limb(nodes, frames[f].node), pose, poses), population.limb_poses[f], c)


@jit
def add_distances(frame_poses, target, weight, score):
    """Add weight times the squared distance [m²] of every posture's frame from the target; `frame_poses` is (7, postures)."""
    for c in range(score.size):
        score[c] += weight * squared_distance(target, load_column(frame_poses, c))


@jit
def add_angles(frame_poses, target, weight, score):
    """Add weight times about the squared angle to the target [rad²]."""
    for c in range(score.size):
        score[c] += weight * squared_angle(target, load_column(frame_poses, c))


@jit
def add_aims(frame_poses, axis, wanted, is_point, weight, score):
    """Add weight times about the squared angle from an axis of every posture's frame to a direction or a point, 2 (1 - a·d)."""
    for c in range(score.size):
        pose = load_column(frame_poses, c)
        x, y, z = wanted
        if is_point:
            x, y, z = x - pose[4], y - pose[5], z - pose[6]
        far = math.sqrt(x * x + y * y + z * z)
        ax, ay, az = turn(pose, axis[0], axis[1], axis[2])
        score[c] += weight * 2.0 * (1.0 - (ax * x + ay * y + az * z) / max(far, 1e-12))


@jit
def load_poses(problem, frame_poses, c, world):
    """Write the poses of all frames of posture c in the world."""
    for f in range(frame_poses.shape[0]):
        store(seen_from_world(problem, load_column(frame_poses[f], c)), world, f, 0)


@jit_part
def best_of(score):
    """The posture with the lowest score."""
    best = 0
    for c in range(1, score.size):
        if score[c] < score[best]:
            best = c
    return best


@jit
def take_best(score):
    """The posture with the lowest score; nobody takes it again."""
    best = best_of(score)
    score[best] = math.inf
    return best

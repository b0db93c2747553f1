"""How promising every posture of a population looks, all at once.

The poses of the population's frames, seen from the root, are stored by component, (frames, 7, postures), so that one
instruction serves several postures: ranking 256 of them takes less time than two steps of the local search.
"""

import math

from memetik.kernels.body.forward import forward, frame_pose
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import compose, inverse, load, store, turn
from memetik.kernels.problem.mounts import seen_from_world


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
    x, y, z = target[4], target[5], target[6]
    for c in range(score.size):
        dx, dy, dz = frame_poses[4, c] - x, frame_poses[5, c] - y, frame_poses[6, c] - z
        score[c] += weight * (dx * dx + dy * dy + dz * dz)


@jit
def add_angles(frame_poses, target, weight, score):
    """Add weight times about the squared angle to the target, 8 (1 - |q·t|), which needs no arc cosine."""
    w, x, y, z = target[0], target[1], target[2], target[3]
    for c in range(score.size):
        dot = w * frame_poses[0, c] + x * frame_poses[1, c] + y * frame_poses[2, c] + z * frame_poses[3, c]
        score[c] += weight * 8.0 * (1.0 - min(abs(dot), 1.0))


@jit
def add_aims(frame_poses, axis, wanted, is_point, weight, score):
    """Add weight times about the squared angle from an axis of every posture's frame to a direction or a point, 2 (1 - a·d)."""
    for c in range(score.size):
        pose = (
            frame_poses[0, c], frame_poses[1, c], frame_poses[2, c], frame_poses[3, c], frame_poses[4, c], frame_poses[5, c],
            frame_poses[6, c],
        )  # fmt: skip
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
        pose = frame_poses[f]
        seen = pose[0, c], pose[1, c], pose[2, c], pose[3, c], pose[4, c], pose[5, c], pose[6, c]
        store(seen_from_world(problem, seen), world, f, 0)


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

"""How promising every posture of a population looks, all at once.

The poses of the population's frames are stored by component, (frames, 7, postures), so that one instruction serves
several postures: ranking 256 of them takes less time than two steps of the local search.
"""

import math

from memetik.kernels.body.forward import forward, frame_pose
from memetik.kernels.compiler.jit import jit
from memetik.kernels.math.pose import store


@jit
def place_population(nodes, frames, population, poses, frame_poses):
    """Fill `frame_poses` with the poses of all frames for every row of the population; `poses` (nodes, 7) is scratch."""
    for c in range(population.shape[0]):
        forward(nodes, population[c], poses)
        for f in range(frames.size):
            w, x, y, z, px, py, pz = frame_pose(frames[f], poses)
            (
                frame_poses[f, 0, c],
                frame_poses[f, 1, c],
                frame_poses[f, 2, c],
                frame_poses[f, 3, c],
            ) = w, x, y, z
            frame_poses[f, 4, c], frame_poses[f, 5, c], frame_poses[f, 6, c] = px, py, pz


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
def load_poses(frame_poses, c, world):
    """Write the poses of all frames of posture c."""
    for f in range(frame_poses.shape[0]):
        pose = frame_poses[f]
        store((pose[0, c], pose[1, c], pose[2, c], pose[3, c], pose[4, c], pose[5, c], pose[6, c]), world, f, 0)


@jit
def take_best(score):
    """The posture with the lowest score; nobody takes it again."""
    best = 0
    for c in range(1, score.size):
        if score[c] < score[best]:
            best = c
    score[best] = math.inf
    return best

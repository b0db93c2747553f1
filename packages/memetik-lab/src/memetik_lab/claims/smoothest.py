"""How smooth can a path of an arm with one joint to spare be? The least largest step, by dense sampling.

Every pose of the path can be taken in a whole curve of postures. Starting from a path that is known, postures are
sampled along this curve at every pose, and dynamic programming picks one at each so that the largest change of any
joint from one pose to the next is least:

    worst(t, k) = min over j of max(worst(t - 1, j), max_i |q_i(t, k) - q_i(t - 1, j)|)

First few poses and wide fans, then all poses and narrow fans around the best so far. The first posture is given, so
that the result can be held against solvers that start there.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from memetik.types import Array
from memetik_lab.peers import SerialChain

# Which poses take part (every so-manieth), how many samples to the largest step, and how many to either side.
STAGES = (
    *((50, 15, 150), (20, 15, 80), (10, 15, 60), (5, 10, 50), (2, 10, 40)),
    *((1, 8, 24),) * 3,
    *((1, 40, 24),) * 3,
)
EXACT = 1e-9  # m and rad that a sampled posture may miss its pose by


def smoothest(chain: SerialChain, poses: Array, known: Array) -> Array:
    """The smoothest path found (steps, joints) through `poses` (steps, 4, 4), from the first posture of `known`."""
    best = path = known
    every = np.arange(len(poses))
    for stride, samples, half in STAGES:
        part = np.unique(np.append(every[::stride], every[-1]))
        fans = _fan(chain, path[part], poses[part], stride * largest_step(best) / samples, half)
        fans[0, np.arange(2 * half + 1) != half] = np.nan  # it starts where it starts
        picked = _least_largest_step(fans)
        between = np.stack([np.interp(every, part, column) for column in picked.T], axis=1)
        refined, exact = _settle(chain, between, poses)
        if exact.all() and _within(chain, refined).all():
            path = refined
            best = min(best, path, key=largest_step)
    return best


def largest_step(path: Array) -> float:
    """The largest change of any joint from one row to the next [rad]."""
    return float(np.abs(np.diff(path, axis=0)).max(initial=0.0))


def _fan(chain: SerialChain, centers: Array, poses: Array, spacing: float, half: int) -> Array:
    """Postures (poses, 2 half + 1, joints) along the self-motion of every pose, NaN where there is none."""
    fan = np.full((len(poses), 2 * half + 1, centers.shape[1]), np.nan)
    fan[:, half] = centers
    # The change of the joints that leaves the tip at rest.
    motion = np.linalg.svd(_jacobian(chain, centers)[1])[2][:, -1]
    for side in (1, -1):
        alive = np.arange(len(poses))
        q, ahead = centers, side * motion
        for k in range(1, half + 1):
            q, exact = _settle(chain, q + spacing * ahead, poses[alive])
            kept = exact & _within(chain, q)
            alive, q = alive[kept], q[kept]
            ahead = q - fan[alive, half + side * (k - 1)]
            ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
            fan[alive, half + side * k] = q
    return fan


def _least_largest_step(fans: Array) -> Array:
    """The path through the fans, one posture of each, whose largest step is least; among equals the shortest."""
    worst = np.where(np.isnan(fans[0, :, 0]), np.inf, 0.0)
    length = worst.copy()
    came_from = []
    for before, after in pairwise(fans):
        step = np.abs(after[:, None] - before[None]).max(axis=2)
        step[np.isnan(step)] = np.inf
        largest = np.maximum(step, worst)
        choice = np.argmin(largest + 1e-6 * (length + step), axis=1)
        rows = np.arange(len(choice))
        worst, length = largest[rows, choice], length[choice] + step[rows, choice]
        came_from.append(choice)
    picked = [int(np.argmin(worst + 1e-6 * length))]
    for choice in reversed(came_from):
        picked.append(int(choice[picked[-1]]))
    return fans[np.arange(len(fans)), picked[::-1]]


def _settle(chain: SerialChain, q: Array, poses: Array, iterations: int = 6) -> tuple[Array, NDArray[np.bool_]]:
    """Newton's method with the least change of the joints, for all rows at once; which rows arrived."""
    for _ in range(iterations):
        reached, jacobian = _jacobian(chain, q)
        error = _error(reached, poses)
        if np.abs(error).max(initial=0.0) < 0.01 * EXACT:
            break
        transposed = np.swapaxes(jacobian, 1, 2)
        square = jacobian @ transposed + 1e-12 * np.eye(6)
        q = q + (transposed @ np.linalg.solve(square, error[..., None]))[..., 0]
    return q, np.abs(_error(_jacobian(chain, q)[0], poses)).max(axis=1) < EXACT


def _error(reached: Array, wanted: Array) -> Array:
    """Position error and, for small angles, rotation vector (rows, 6) from `reached` to `wanted`."""
    turn = 0.5 * np.cross(reached[:, :3, :3], wanted[:, :3, :3], axis=1).sum(axis=2)
    return np.hstack([wanted[:, :3, 3] - reached[:, :3, 3], turn])


def _jacobian(chain: SerialChain, q: Array) -> tuple[Array, Array]:
    """base_from_tip (rows, 4, 4) and geometric Jacobian (rows, 6, joints) for every row of q."""
    first, *rest = chain.steps()
    pose = np.broadcast_to(first, (len(q), 4, 4))
    axes, origins = [], []
    for angle, step in zip(q.T, rest, strict=True):
        axes.append(pose[:, :3, 2])
        origins.append(pose[:, :3, 3])
        turn = np.tile(np.eye(4), (len(q), 1, 1))
        turn[:, 0, 0] = turn[:, 1, 1] = np.cos(angle)
        turn[:, 1, 0] = np.sin(angle)
        turn[:, 0, 1] = -turn[:, 1, 0]
        pose = pose @ turn @ step
    axis, origin = np.stack(axes, axis=2), np.stack(origins, axis=2)
    arm = pose[:, :3, 3, None] - origin
    return pose, np.concatenate([np.cross(axis, arm, axis=1), axis], axis=1)


def _within(chain: SerialChain, q: Array) -> NDArray[np.bool_]:
    limits = chain.limits(np.inf)
    inside: NDArray[np.bool_] = np.all((q >= limits[:, 0]) & (q <= limits[:, 1]), axis=1)
    return inside

"""The mutable side of a solve: one flat buffer that a thread owns, cut into named arrays inside the kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memetik.kernels.compiler.jit import jit


class Workspace(NamedTuple):
    """Scratch arrays for a problem with n variables, m residuals, i nodes and f frames."""

    poses: np.ndarray  # (i, 7) pose of every node
    axes: np.ndarray  # (i, 3) world direction of every motion
    world: np.ndarray  # (f, 7) pose of every frame
    jacobian: np.ndarray  # (n, m) derivative of all residuals by each variable
    system: np.ndarray  # (s, s) normal equations, s = min(n, m) at least 1
    residual: np.ndarray  # (m,)
    right: np.ndarray  # (m,)
    gradient: np.ndarray  # (n,) of the springs
    diagonal: np.ndarray  # (n,) of the springs
    step: np.ndarray  # (n,)
    free: np.ndarray  # (n,) 1, or 0 for a variable that a limit holds
    trial: np.ndarray  # (n,)
    best: np.ndarray  # (n,) the best posture of all attempts
    x: np.ndarray  # (n,) the posture at hand
    start: np.ndarray  # (n,) where the search began
    score: np.ndarray  # (p,) how good each posture of the population looks


# Of each array above; late-bound calls need the types before there is a workspace.
DIMENSIONS = (2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)


@jit
def size(nodes, frames, n, m, population):
    """How many numbers the buffer needs."""
    s = max(min(n, m), 1)
    return 10 * nodes + 7 * frames + n * m + s * s + 2 * m + 8 * n + population


@jit
def carve(buffer, nodes, frames, n, m, population):
    """Cut the buffer into the arrays of a Workspace."""
    s = max(min(n, m), 1)
    at = 0
    poses = buffer[at : at + 7 * nodes].reshape((nodes, 7))
    at += 7 * nodes
    axes = buffer[at : at + 3 * nodes].reshape((nodes, 3))
    at += 3 * nodes
    world = buffer[at : at + 7 * frames].reshape((frames, 7))
    at += 7 * frames
    jacobian = buffer[at : at + n * m].reshape((n, m))
    at += n * m
    system = buffer[at : at + s * s].reshape((s, s))
    at += s * s
    residual = buffer[at : at + m]
    at += m
    right = buffer[at : at + m]
    at += m
    gradient = buffer[at : at + n]
    at += n
    diagonal = buffer[at : at + n]
    at += n
    step = buffer[at : at + n]
    at += n
    free = buffer[at : at + n]
    at += n
    trial = buffer[at : at + n]
    at += n
    best = buffer[at : at + n]
    at += n
    x = buffer[at : at + n]
    at += n
    start = buffer[at : at + n]
    at += n
    score = buffer[at : at + population]
    return Workspace(
        poses,
        axes,
        world,
        jacobian,
        system,
        residual,
        right,
        gradient,
        diagonal,
        step,
        free,
        trial,
        best,
        x,
        start,
        score,
    )

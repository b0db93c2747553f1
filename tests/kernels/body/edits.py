"""Random edits of a cached tree beside plain forward kinematics, compiled: 100,000 of them take a second."""

from __future__ import annotations

import numba
import numpy as np

from memetik.kernels.body.forward import forward
from memetik.kernels.body.ofkt import REFERENCE, WIDTH, clear, update


@numba.njit(cache=True)
def differences(nodes, lower, upper, edits, rng):
    """Edit random subsets of the variables, from one to all; count the numbers in which OFKT and FK part."""
    q = 0.5 * (lower + upper)
    cache = np.empty((nodes.size, WIDTH))
    poses = np.empty((nodes.size, 7))
    clear(cache)
    count = 0
    for _ in range(edits):
        share = rng.random() ** 2
        q[int(rng.random() * q.size)] += 1e-3
        for k in range(q.size):
            if rng.random() < share:
                q[k] = lower[k] + rng.random() * (upper[k] - lower[k])
        update(nodes, q, cache, None)
        forward(nodes, q, poses)
        for i in range(nodes.size):
            for c in range(7):
                if cache[i, REFERENCE + c] != poses[i, c]:
                    count += 1
    return count

"""TRAC-IK: KDL's Newton method with restarts and SQP, in two threads of which the first to find a solution wins."""

from __future__ import annotations

import math

import numpy as np
from trac_ik import TracIK

from memetik.types import Array
from memetik_lab.peers.chain import BASE, TIP, SerialChain
from memetik_lab.queries import Peer, Task

FREE = 2.0 * math.pi  # limits of continuous joints, as for OptIK
ROUNDED = 1e-6  # rad: it keeps limits in single precision, and answers would lie outside by that


class Adapter(Peer):
    """Its own defaults (Speed), but for tolerance and time."""

    name = "trac_ik, 2 threads"
    slow = 10

    def __init__(self, chain: SerialChain, task: Task) -> None:
        epsilon = min(task.position, task.orientation) / math.sqrt(3.0)  # it holds for each axis
        with chain.urdf_file(FREE) as path:
            self._solver = TracIK(BASE, TIP, path, task.seconds, epsilon, "Speed")
        lower, upper = chain.limits(FREE).T
        self._solver.joint_limits = (lower + ROUNDED).tolist(), (upper - ROUNDED).tolist()

    def solve(self, target: Array, start: Array) -> Array | None:
        """The first solution found."""
        answer = self._solver.ik(target[:3, 3], target[:3, :3], start)
        return None if answer is None else np.array(answer)

"""OptIK: SLSQP on the squared pose error with random restarts, in Rust."""

from __future__ import annotations

import math
import os

import numpy as np
import optik

from memetik.types import Array
from memetik_lab.peers.chain import BASE, TIP, SerialChain
from memetik_lab.queries import Peer, Task

# It knows no continuous joints. Limits of two turns served it better than one: fewer solutions lie behind a limit.
FREE = 2.0 * math.pi


class Optik(Peer):
    """Its own defaults (mode "speed"), but for tolerance and time. It stops at |log of the pose error|^2 < tol_f."""

    def __init__(self, chain: SerialChain, task: Task, threads: int) -> None:
        self.name = f"optik, {threads} thread{'s' if threads > 1 else ''}"
        with chain.urdf_file(FREE) as path:
            self._robot = optik.Robot.from_urdf_file(path, BASE, TIP)
        self._robot.set_parallelism(threads)
        tolerance = min(task.position, task.orientation) ** 2
        self._config = optik.SolverConfig(max_time=task.seconds, tol_f=tolerance)

    def solve(self, target: Array, start: Array) -> Array | None:
        """The first solution found."""
        answer = self._robot.ik(self._config, target, start)
        return None if answer is None else np.array(answer[0])


def build(chain: SerialChain, task: Task) -> list[Peer]:
    """One thread, as all others have, and as many as there are cores, which is its default."""
    cores = os.cpu_count() or 1
    return [Optik(chain, task, threads) for threads in sorted({1, cores})]

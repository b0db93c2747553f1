"""IKPy: SciPy's bounded least squares on a chain in NumPy."""

from __future__ import annotations

import numpy as np
from ikpy.chain import Chain

from memetik.geometry import pose_distance
from memetik.types import Array
from memetik_lab.peers.chain import BASE, SerialChain
from memetik_lab.peers.restarts import Restarted
from memetik_lab.queries import Task


class Adapter(Restarted):
    """Its call cannot be given a time: it ends when it ends."""

    name = "ikpy"
    slow = 100

    def __init__(self, chain: SerialChain, task: Task) -> None:
        super().__init__(chain, task)
        mask = [False, *[True] * len(chain.turns), False]  # its own base link, the turns, the tool
        with chain.urdf_file() as path:
            self._chain = Chain.from_urdf_file(path, base_elements=[BASE], active_links_mask=mask, symbolic=False)

    def aim(self, target: Array) -> None:
        self._target = target

    def descend(self, q: Array, deadline: float) -> Array | None:
        found = self._chain.inverse_kinematics_frame(
            self._target, initial_position=[0.0, *q, 0.0], orientation_mode="all", tol=1e-12
        )
        reached = self._chain.forward_kinematics(found)
        return np.array(found[1:-1]) if self.near(*pose_distance(reached, self._target)) else None

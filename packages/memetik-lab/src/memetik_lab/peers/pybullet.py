"""PyBullet: calculateInverseKinematics, damped least squares in C++."""

from __future__ import annotations

import numpy as np
import pybullet

from memetik.geometry import pose_distance, to_quaternion, transform
from memetik.types import Array
from memetik_lab.peers.chain import SerialChain
from memetik_lab.peers.restarts import STEPS, Restarted
from memetik_lab.queries import Task

# Its default damps so much that it needs hundreds of steps; of 1e-4 and 1e-2 this was the faster on the panda.
DAMPING = 1e-4


class Adapter(Restarted):
    """The plain call: the one that takes limits only leans towards them. Limits are checked at the end."""

    name = "pybullet"

    def __init__(self, chain: SerialChain, task: Task) -> None:
        super().__init__(chain, task)
        self._client = pybullet.connect(pybullet.DIRECT)
        with chain.urdf_file(mass=1.0) as path:
            self._body = pybullet.loadURDF(path, useFixedBase=True, physicsClientId=self._client)
        self._joints = list(range(len(chain.turns)))
        self._tip = len(chain.turns)
        self._damping = [DAMPING] * len(chain.turns)

    def aim(self, target: Array) -> None:
        w, x, y, z = to_quaternion(target[:3, :3])
        self._target, self._pose = (target[:3, 3].tolist(), (x, y, z, w)), target

    def descend(self, q: Array, deadline: float) -> Array | None:
        self._place(q)
        found = pybullet.calculateInverseKinematics(
            self._body, self._tip, *self._target, jointDamping=self._damping,
            maxNumIterations=STEPS, residualThreshold=1e-9, physicsClientId=self._client,
        )  # fmt: skip
        q = np.array(found)
        return q if self.near(*pose_distance(self._place(q), self._pose)) else None

    def _place(self, q: Array) -> Array:
        """Move the joints there; where the tip is then, 4x4."""
        pybullet.resetJointStatesMultiDof(
            self._body, self._joints, [[value] for value in q], physicsClientId=self._client
        )
        state = pybullet.getLinkState(
            self._body, self._tip, computeForwardKinematics=True, physicsClientId=self._client
        )
        x, y, z, w = state[5]
        return transform(state[4], (w, x, y, z))

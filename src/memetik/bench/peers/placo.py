"""PlaCo: one quadratic program a step on Pinocchio, with limits, in C++; users write the loop."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import placo

from memetik.bench.peers.chain import TIP, SerialChain
from memetik.bench.peers.peer import Peer, Task
from memetik.bench.peers.restarts import STEPS, Restarted
from memetik.geometry import pose_error
from memetik.types import Array


class PlaCo(Restarted):
    """Joint limits on, no limit on speed, so that it converges as fast as it can."""

    name = "placo"

    def __init__(self, chain: SerialChain, task: Task) -> None:
        super().__init__(chain, task)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "robot.urdf"
            path.write_text(chain.urdf(mass=1.0))
            self._robot = placo.RobotWrapper(str(path), placo.Flags.ignore_collisions)
        self._solver = placo.KinematicsSolver(self._robot)
        self._solver.mask_fbase(True)
        self._solver.enable_joint_limits(True)
        self._task = self._solver.add_frame_task(TIP, np.eye(4))
        self._task.configure(TIP, "soft", 1.0, 1.0)
        self._solver.add_regularization_task(1e-6)

    def aim(self, target: Array) -> None:
        self._target = self._task.T_world_frame = target

    def descend(self, q: Array, deadline: float) -> Array | None:
        state = self._robot.state
        state.q = np.concatenate([state.q[:7], q])
        self._robot.state = state
        self._robot.update_kinematics()
        for _ in range(STEPS):
            if self.near(*pose_error(self._robot.get_T_world_frame(TIP), self._target)):
                return np.array(self._robot.state.q[7:])
            if time.perf_counter() > deadline:
                return None
            try:
                self._solver.solve(True)
            except RuntimeError:  # its quadratic program has no solution
                return None
            self._robot.update_kinematics()
        return None


def build(chain: SerialChain, task: Task) -> list[Peer]:
    """It takes every serial arm."""
    return [PlaCo(chain, task)]

"""PlaCo: one quadratic program a step on Pinocchio, with limits, in C++; users write the loop."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import placo

from memetik.geometry import pose_distance
from memetik.types import Array
from memetik_lab.peers.chain import TIP, SerialChain
from memetik_lab.peers.restarts import Stepped
from memetik_lab.queries import Task


class Adapter(Stepped):
    """Joint limits on, no limit on speed, so that it converges as fast as it can."""

    name = "placo"

    def __init__(self, chain: SerialChain, task: Task) -> None:
        super().__init__(chain, task)
        with chain.urdf_file(mass=1.0) as path:
            self._robot = placo.RobotWrapper(path, placo.Flags.ignore_collisions)
        self._solver = placo.KinematicsSolver(self._robot)
        self._solver.mask_fbase(True)
        self._solver.enable_joint_limits(True)
        self._task = self._solver.add_frame_task(TIP, np.eye(4))
        self._task.configure(TIP, "soft", 1.0, 1.0)
        self._solver.add_regularization_task(1e-6)

    def aim(self, target: Array) -> None:
        self._target = self._task.T_world_frame = target

    def steps(self, q: Array) -> Iterator[tuple[Array, tuple[float, float]]]:
        state = self._robot.state
        state.q = np.concatenate([state.q[:7], q])
        self._robot.state = state
        while True:
            self._robot.update_kinematics()
            yield self._robot.state.q[7:], pose_distance(self._robot.get_T_world_frame(TIP), self._target)
            try:
                self._solver.solve(True)
            except RuntimeError:  # its quadratic program has no solution
                return

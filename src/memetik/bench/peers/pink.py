"""Pink: one quadratic program a step on Pinocchio, with limits; users write the loop."""

from __future__ import annotations

import time

import numpy as np
import pink
import pinocchio as pin
from pink.limits import ConfigurationLimit
from pink.tasks import FrameTask

from memetik.bench.peers.chain import TIP, SerialChain
from memetik.bench.peers.peer import Peer, Task
from memetik.bench.peers.restarts import STEPS, Restarted
from memetik.types import Array

SOLVER = "daqp"  # what mink installs; among the fastest for problems of this size


class Pink(Restarted):
    """Whole steps (gain 1, a time step of 1 s) without a limit on speed, so that it converges as fast as it can."""

    name = "pink"

    def __init__(self, chain: SerialChain, task: Task) -> None:
        super().__init__(chain, task)
        self._model = pin.buildModelFromXML(chain.urdf())
        self._data = self._model.createData()
        self._task = FrameTask(TIP, position_cost=1.0, orientation_cost=1.0, lm_damping=1e-6)
        self._limits = [ConfigurationLimit(self._model, config_limit_gain=1.0)]

    def aim(self, target: Array) -> None:
        self._task.set_target(pin.SE3(target[:3, :3], target[:3, 3]))

    def descend(self, q: Array, deadline: float) -> Array | None:
        configuration = pink.Configuration(self._model, self._data, q, copy_data=False)
        for _ in range(STEPS):
            error = self._task.compute_error(configuration)
            if self.near(float(np.linalg.norm(error[:3])), float(np.linalg.norm(error[3:]))):
                return np.asarray(configuration.q)
            if time.perf_counter() > deadline:
                return None
            try:
                velocity = pink.solve_ik(
                    configuration, [self._task], 1.0, SOLVER, limits=self._limits, safety_break=False
                )
            except pink.exceptions.NoSolutionFound:
                return None
            configuration.integrate_inplace(velocity, 1.0)
        return None


def build(chain: SerialChain, task: Task) -> list[Peer]:
    """It takes every serial arm."""
    return [Pink(chain, task)]

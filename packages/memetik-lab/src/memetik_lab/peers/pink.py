"""Pink: one quadratic program a step on Pinocchio, with limits; users write the loop."""

from __future__ import annotations

from collections.abc import Iterator

import pink
import pinocchio as pin
from pink.limits import ConfigurationLimit
from pink.tasks import FrameTask

from memetik.types import Array
from memetik_lab.peers.chain import TIP, SerialChain
from memetik_lab.peers.restarts import Stepped, norms
from memetik_lab.queries import Task

SOLVER = "daqp"  # what mink installs; among the fastest for problems of this size


class Adapter(Stepped):
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

    def steps(self, q: Array) -> Iterator[tuple[Array, tuple[float, float]]]:
        now = pink.Configuration(self._model, self._data, q, copy_data=False)
        while True:
            yield now.q, norms(self._task.compute_error(now))
            try:
                velocity = pink.solve_ik(now, [self._task], 1.0, SOLVER, limits=self._limits, safety_break=False)
            except pink.exceptions.NoSolutionFound:
                return
            now.integrate_inplace(velocity, 1.0)

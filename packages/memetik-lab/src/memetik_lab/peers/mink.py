"""mink: one quadratic program a step on MuJoCo, with limits; users write the loop."""

from __future__ import annotations

from collections.abc import Iterator

import mink
import mujoco

from memetik.types import Array
from memetik_lab.peers.chain import TIP, SerialChain
from memetik_lab.peers.restarts import Stepped, norms
from memetik_lab.queries import Task

SOLVER = "daqp"


class Adapter(Stepped):
    """Whole steps (gain 1, a time step of 1 s) without a limit on speed, so that it converges as fast as it can."""

    name = "mink"

    def __init__(self, chain: SerialChain, task: Task) -> None:
        super().__init__(chain, task)
        keep_tip = '<mujoco><compiler fusestatic="false"/></mujoco>'
        urdf = chain.urdf(mass=1.0).replace("</robot>", f"{keep_tip}</robot>")
        self._configuration = mink.Configuration(mujoco.MjModel.from_xml_string(urdf))
        self._task = mink.FrameTask(TIP, "body", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-6)
        self._limits = [mink.ConfigurationLimit(self._configuration.model, gain=1.0)]

    def aim(self, target: Array) -> None:
        self._task.set_target(mink.SE3.from_matrix(target))

    def steps(self, q: Array) -> Iterator[tuple[Array, tuple[float, float]]]:
        self._configuration.update(q)
        while True:
            yield self._configuration.q, norms(self._task.compute_error(self._configuration))
            try:
                velocity = mink.solve_ik(self._configuration, [self._task], 1.0, SOLVER, limits=self._limits)
            except mink.NoSolutionFound:
                return
            self._configuration.integrate_inplace(velocity, 1.0)

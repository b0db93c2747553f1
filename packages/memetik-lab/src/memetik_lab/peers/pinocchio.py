"""Pinocchio: the closed-loop inverse kinematics of its documentation, a Python loop around its C++ kinematics."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pinocchio as pin

from memetik.types import Array
from memetik_lab.peers.chain import TIP, SerialChain
from memetik_lab.peers.restarts import Stepped, norms
from memetik_lab.queries import Task

# The documentation steps by 0.1 with a damping of 1e-12. Of steps of 0.1, 0.5 and 1 and dampings of 1e-12, 1e-6, 1e-4 and
# 1e-2 these solved the most on four arms.
STEP, DAMPING = 1.0, 1e-6


class Adapter(Stepped):
    """Damped least squares on log6 of the pose error. It knows no limits: they are checked at the end."""

    name = "pinocchio CLIK"

    def __init__(self, chain: SerialChain, task: Task) -> None:
        super().__init__(chain, task)
        self._model = pin.buildModelFromXML(chain.urdf())
        self._data = self._model.createData()
        self._tip = self._model.getFrameId(TIP)

    def aim(self, target: Array) -> None:
        self._target = pin.SE3(target[:3, :3], target[:3, 3])

    def steps(self, q: Array) -> Iterator[tuple[Array, tuple[float, float]]]:
        while True:
            pin.framesForwardKinematics(self._model, self._data, q)
            missing = self._data.oMf[self._tip].actInv(self._target)
            error = pin.log(missing).vector
            yield q, norms(error)
            jacobian = -pin.Jlog6(missing.inverse()) @ pin.computeFrameJacobian(self._model, self._data, q, self._tip)
            step = -jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + DAMPING * np.eye(6), error)
            q = pin.integrate(self._model, q, STEP * step)

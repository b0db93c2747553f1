"""KDL: Newton-Raphson with joint limits, in C++, with the random restarts that its plugin for ROS adds."""

from __future__ import annotations

import math

import numpy as np
import PyKDL

from memetik.types import Array
from memetik_lab.peers.chain import SerialChain
from memetik_lab.peers.restarts import STEPS, Restarted
from memetik_lab.queries import Task


class Adapter(Restarted):
    """ChainIkSolverPos_NR_JL; limits are clamped after each of its steps."""

    name = "kdl"

    def __init__(self, chain: SerialChain, task: Task) -> None:
        super().__init__(chain, task)
        first, *rest = (_frame(step) for step in chain.steps())
        arm = PyKDL.Chain()
        arm.addSegment(PyKDL.Segment(PyKDL.Joint(PyKDL.Joint.Fixed), first))
        for step in rest:
            arm.addSegment(PyKDL.Segment(PyKDL.Joint(PyKDL.Joint.RotZ), step))
        forward, velocity = PyKDL.ChainFkSolverPos_recursive(arm), PyKDL.ChainIkSolverVel_pinv(arm)
        bounds = _array(self.lower), _array(self.upper)
        tolerance = min(task.position, task.orientation) / math.sqrt(3.0)  # it holds for each axis
        self._parts = (arm, forward, velocity, bounds)  # the solver keeps bare references to these
        self._solver = PyKDL.ChainIkSolverPos_NR_JL(arm, *bounds, forward, velocity, STEPS, tolerance)
        self._answer = PyKDL.JntArray(len(chain.turns))

    def aim(self, target: Array) -> None:
        self._target = _frame(target)

    def descend(self, q: Array, deadline: float) -> Array | None:
        if self._solver.CartToJnt(_array(q), self._target, self._answer) < 0:
            return None
        return np.array([self._answer[k] for k in range(self._answer.rows())])


def _frame(pose: Array) -> PyKDL.Frame:
    return PyKDL.Frame(PyKDL.Rotation(*pose[:3, :3].ravel()), PyKDL.Vector(*pose[:3, 3]))


def _array(values: Array) -> PyKDL.JntArray:
    array = PyKDL.JntArray(len(values))
    for k, value in enumerate(values):
        array[k] = value
    return array

"""Robotics Toolbox: Levenberg-Marquardt with random restarts, in C++."""

from __future__ import annotations

import itertools

from roboticstoolbox import ET, ETS

from memetik.types import Array
from memetik_lab.peers.chain import SerialChain
from memetik_lab.queries import Peer, Task

GAIN = 0.1  # for Chan's damping 1.0 to 0.01 are advised; of 1.0, 0.1 and 0.01 this was the fastest on most arms


class Adapter(Peer):
    """ik_LM with Chan's damping and joint limits. It takes no time limit: it stops after 100 searches of 30 steps."""

    name = "roboticstoolbox ik_LM"

    def __init__(self, chain: SerialChain, task: Task) -> None:
        *steps, tool = chain.steps()
        joints = ((ET.SE3(step), ET.Rz(qlim=lim)) for step, lim in zip(steps, chain.limits(), strict=True))
        self._ets = ETS([*itertools.chain.from_iterable(joints), ET.SE3(tool)])
        self._tolerance = 0.5 * min(task.position, task.orientation) ** 2  # of half the squared pose error

    def solve(self, target: Array, start: Array) -> Array | None:
        """The first solution found within the limits."""
        answer = self._ets.ik_LM(target, q0=start, tol=self._tolerance, joint_limits=True, method="chan", k=GAIN)
        found: Array | None = answer.q if answer.success else None
        return found

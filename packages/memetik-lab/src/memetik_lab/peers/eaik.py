"""EAIK: all solutions of a six-joint arm in closed form, where its geometry has one, in C++."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
from eaik.IK_Homogeneous import HomogeneousRobot

from memetik.types import Array
from memetik_lab.peers.chain import SerialChain
from memetik_lab.queries import Peer, Task


class Eaik(Peer):
    """It knows no limits: its angles are within half a turn of zero."""

    name = "eaik (closed form)"
    whole_turns = True

    def __init__(self, chain: SerialChain) -> None:
        frames = accumulate(chain.steps(), np.matmul)  # base_from_joint at zero angles, then base_from_tip
        self._robot = HomogeneousRobot(np.array(list(frames)))
        self.solvable = bool(self._robot.hasKnownDecomposition())

    def solve(self, target: Array, start: Array) -> Array | None:
        """All solutions, a row each, with its least-squares answers among them."""
        return np.asarray(self._robot.IK(target).Q)


def build(chain: SerialChain, task: Task) -> list[Peer]:
    """Six joints in an arrangement that it can take apart, or none."""
    if len(chain.turns) != 6:
        return []
    arm = Eaik(chain)
    return [arm] if arm.solvable else []

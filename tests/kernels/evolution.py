"""What Bio IK's kernels take, in Python's hands, for tests that call them one by one."""

from __future__ import annotations

import numpy as np

from memetik.kernels.bio_ik_objective import Omega
from memetik.kernels.bio_ik_room import ANALYTIC, MEMORY, RMSE, TALLY, Hand
from memetik.kernels.lbfgsb import places_size, room_size
from memetik.kernels.ofkt import WIDTH, clear
from memetik.problem import Problem
from memetik.solvers.bio_ik import _motions
from tests.kernels.flat import Flat


class Evolution(Flat):
    """A problem with an objective function and a hand."""

    def __init__(self, problem: Problem, loss: int = RMSE, gradient: int = ANALYTIC, ofkt: bool = False) -> None:
        super().__init__(problem)
        c = self.compiled
        n, t, i, f = c.active.size, c.terms.size, c.nodes.size, c.frames.size
        tree = np.zeros((i, WIDTH))
        clear(tree)
        self.hand = Hand(
            self.work, tree, np.zeros((i, 6)), np.zeros((f, 7)), np.zeros(t), np.zeros(t), np.zeros(n), np.zeros(n),
            np.zeros(TALLY), np.zeros(room_size(n, MEMORY)), np.zeros(places_size(n, MEMORY), dtype=np.int64),
            np.zeros(2, dtype=np.int64),
        )  # fmt: skip
        strides = np.array([np.ones(n), c.bounds[0], c.bounds[1]])
        blocks = not c.only_guides
        affects, motions = c.affects.astype(np.float64), _motions(c).astype(np.float64)
        self.omega = Omega(self.problem, affects, motions, strides, loss, gradient, ofkt, blocks)
        self.weights = c.terms["weight"].copy()

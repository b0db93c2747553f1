"""A compiled problem with the scratch of the sweeping kernels, for tests that call them one by one."""

from __future__ import annotations

import math

import numpy as np

from memetik.kernels.sweeps.ccd import sweep_to_root, sweep_to_tips
from memetik.kernels.sweeps.coupled import link_variables
from memetik.kernels.sweeps.fabrik_backward import sweep_backward
from memetik.kernels.sweeps.fabrik_forward import sweep_forward
from memetik.kernels.sweeps.fabrik_tips import SWEPT
from memetik.kernels.sweeps.moments import MOMENTS
from memetik.kernels.sweeps.pull import total_loss
from tests.kernels.flat import Flat


class Sweeping(Flat):
    """One sweep at a time, from variables to variables."""

    def __init__(self, problem):
        super().__init__(problem)
        n, frames = self.nodes.size, self.frames.size
        self.deepest, self.above = np.zeros(self.active.size, dtype=np.int64), np.zeros(n, dtype=np.int64)
        link_variables(self.nodes, self.deepest, self.above)
        self.moved, self.swept, self.moments = np.zeros((frames, 7)), np.zeros((n, SWEPT)), np.zeros((n, MOMENTS))

    def loss(self, x, softness=0.0):
        """What CCD minimises."""
        self.place(x)
        return total_loss(self.terms, self.data, self.work.world, softness)

    def ccd(self, x, direction="tip_to_root", longest=math.inf):
        """One sweep of CCD."""
        x = np.array(x)
        self.place(x)
        sweep = sweep_to_root if direction == "tip_to_root" else sweep_to_tips
        sweep(self.problem, x, 0.0, longest, self.deepest, self.above, self.work, self.moved)
        return x

    def fabrik_forward(self, x, ahead=1.0, far=1.0):
        """The first half of a sweep of FABRIK; the links are in `swept`."""
        x = np.array(x)
        self.place(x)
        w = self.work
        sweep_forward(
            self.problem, x, 0.0, ahead, far, self.deepest, self.above, w.poses, w.world, self.swept, self.moments
        )
        return x

    def track_targets(self, x, ahead=1.0, far=1.0):
        """The second half, from where the first left the links."""
        x = np.array(x)
        w = self.work
        sweep_backward(
            self.problem, x, 0.0, ahead, far, self.deepest, self.above, w.poses, w.world, self.swept, self.moments
        )
        return x

    def fabrik(self, x, ahead=1.0, far=1.0):
        """One sweep of FABRIK, forward and backward."""
        return self.track_targets(self.fabrik_forward(x, ahead, far), ahead, far)

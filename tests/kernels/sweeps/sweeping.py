"""A compiled problem with the scratch of the sweeping kernels, for tests that call them one by one."""

from __future__ import annotations

import math

import numpy as np

from memetik.kernels.runtime.record import allocate
from memetik.kernels.sweeps.ccd import sweep_to_root, sweep_to_tips
from memetik.kernels.sweeps.coupled import link_variables
from memetik.kernels.sweeps.fabrik import sweep_backward
from memetik.kernels.sweeps.fabrik_forward import sweep_forward
from memetik.kernels.sweeps.pull import total_loss
from memetik.kernels.sweeps.sweep_record import Reaching
from tests.kernels.flat import Flat


class Sweeping(Flat):
    """One sweep at a time, from variables to variables."""

    def __init__(self, problem):
        super().__init__(problem)
        self.own = allocate(Reaching, self.compiled.sizes, restarts=False, longest=math.inf, ahead=1.0)
        self.sweeps = self.own.sweeps
        self.sweeps.weights[:] = 1.0
        link_variables(self.nodes, self.sweeps.deepest, self.sweeps.above)

    def loss(self, x, softness=0.0):
        """What CCD minimises."""
        self.place(x)
        return total_loss(self.terms, self.data, self.work.world, softness)

    def within_limits(self, x):
        """Whether all variables are."""
        return ((x >= self.variables["lower"]) & (x <= self.variables["upper"])).all()

    def ccd(self, x, direction="tip_to_root", longest=math.inf, weights=1.0):
        """One sweep of CCD."""
        self.sweeps.weights[:] = weights
        x = np.array(x)
        self.place(x)
        sweep = sweep_to_root if direction == "tip_to_root" else sweep_to_tips
        sweep(self.problem, x, self.sweeps._replace(longest=longest), self.work)
        return x

    def fabrik_forward(self, x, ahead=1.0, far=1.0):
        """The first half of a sweep of FABRIK; the links are in own.swept."""
        x = np.array(x)
        self.place(x)
        sweep_forward(self.problem, x, ahead, far, self.own, self.work)
        return x

    def track_targets(self, x, ahead=1.0, far=1.0):
        """The second half, from where the first left the links."""
        x = np.array(x)
        sweep_backward(self.problem, x, ahead, far, self.own, self.work)
        return x

    def fabrik(self, x, ahead=1.0, far=1.0):
        """One sweep of FABRIK, forward and backward."""
        return self.track_targets(self.fabrik_forward(x, ahead, far), ahead, far)

"""A compiled problem with a workspace of its own, for tests that call the solving kernels one by one."""

from __future__ import annotations

import numpy as np

from memetik.kernels.compiler.cancel import new_clock
from memetik.kernels.problem.budget import OUTCOME
from memetik.kernels.problem.evaluate import count_residuals, linearise, measure, place
from memetik.kernels.problem.losses import average, write_losses
from memetik.kernels.problem.workspace import Workspace, carve, size
from memetik.problem import Problem
from memetik.solvers import memetic_plan


def workspace(nodes: int, frames: int, n: int, m: int, population: int) -> Workspace:
    """A workspace in Python's hands; compiled kernels cannot return arrays, so the plain function cuts it."""
    cut = getattr(carve, "py_func", carve)
    return cut(np.zeros(size(nodes, frames, n, m, population)), nodes, frames, n, m, population)


class Flat:
    """The arguments of the kernels, named as in their signatures."""

    def __init__(self, problem: Problem) -> None:
        self.compiled = c = problem.compiled
        self.nodes, self.frames, self.terms, self.data, self.bounds, self.spans, self.active, _ = c.record
        self.problem = c.record[:6]
        shape = (c.nodes.size, c.frames.size, c.active.size, count_residuals(c.terms), memetic_plan.POPULATION)
        self.work = workspace(*shape)
        self.outcome = np.zeros(OUTCOME + 2 * c.terms.size)
        self.clock = new_clock()

    def place(self, x):
        """Forward kinematics into the workspace."""
        place(self.nodes, self.frames, x, self.work.poses, self.work.world)

    def measure(self, x, softness=0.0):
        """Forward kinematics and residuals: squared error, its hard part, and whether all are satisfied."""
        self.place(x)
        return measure(self.terms, self.data, self.work.world, x, softness, self.work.residual)

    def linearise(self, x, softness=0.0):
        """Residuals and derivatives into the workspace, scaled."""
        self.measure(x, softness)
        w = self.work
        linearise(
            self.nodes, self.frames, self.terms, self.data, x, softness, w.poses, w.world, w.axes, w.residual,
            w.jacobian, w.gradient, w.diagonal,
        )  # fmt: skip

    def fitness(self, x):
        """Forward kinematics and eq. 4.3 of the thesis."""
        self.place(x)
        losses = np.empty(self.terms.size)
        write_losses(self.terms, self.data, self.work.world, x, self.work.residual, losses)
        return average(self.terms, losses, self.terms["weight"].copy(), True)

    def sample(self, rng):
        """Variables drawn within the limits."""
        return rng.uniform(self.bounds[2], self.bounds[3])

"""A compiled problem with a workspace of its own, for tests that call the solving kernels one by one."""

from __future__ import annotations

import numpy as np

from memetik.kernels.problem.evaluate import linearise, measure, place
from memetik.kernels.problem.losses import PUBLISHED, average, write_losses
from memetik.kernels.problem.problem_record import VARIABLE, Run
from memetik.kernels.problem.workspace import Workspace
from memetik.kernels.runtime.cancel import new_clock
from memetik.kernels.runtime.record import allocate
from memetik.kernels.search.search_record import SearchScratch
from memetik.problem import Problem
from memetik.solvers import memetic_plan

NO_BLOCKS = {"own": 0, "tall": 0, "own+tall": 0, "border": 0}  # sizes of a workspace without them


def variables_of(lower, upper, whole_turn=0, row_begin=0, row_end=0):
    """Variables with these limits, to draw from as well where they are finite."""
    variables = np.zeros(np.broadcast(lower, upper).size, dtype=VARIABLE)
    variables["lower"] = variables["sample_lower"] = lower
    variables["upper"] = variables["sample_upper"] = upper
    variables["whole_turn"], variables["row_begin"], variables["row_end"] = whole_turn, row_begin, row_end
    return variables


class Flat:
    """The arguments of the kernels, named as in their signatures."""

    def __init__(self, problem: Problem) -> None:
        self.compiled = c = problem.compiled
        self.problem = c.record
        self.nodes, self.frames, self.terms, self.variables, self.limits, self.data, self.affects, *_ = c.record
        self.active = c.active
        self.work = allocate(Workspace, c.sizes)
        self.scratch = allocate(SearchScratch, {**c.sizes, "population": memetic_plan.POPULATION})
        self.outcome, self.clock, self.state = np.zeros(c.outcome_size), new_clock(), np.zeros(1, dtype=np.uint64)

    def run(self, most=10**6, deadline=0.0, seed=0):
        """A run that reports into `outcome`."""
        return Run(seed, most, deadline, self.clock, self.state, self.outcome)

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
        linearise(self.problem, x, softness, self.work)

    def fitness(self, x):
        """Forward kinematics and eq. 4.3 of the thesis."""
        self.place(x)
        losses = np.empty(self.terms.size)
        write_losses(self.terms, self.data, self.work.world, x, self.work.residual, losses)
        return average(self.terms, losses, self.terms["weight"].copy(), PUBLISHED)

    def sample(self, rng):
        """Variables drawn within the limits."""
        return rng.uniform(self.variables["sample_lower"], self.variables["sample_upper"])

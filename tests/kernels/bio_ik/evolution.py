"""What Bio IK's kernels take, in Python's hands, for tests that call them one by one."""

from __future__ import annotations

from memetik.kernels.bio_ik.bio_ik_record import read_worker
from memetik.kernels.bio_ik.function_pointers import call_differentiate, call_exploit, call_look
from memetik.kernels.body.ofkt import clear
from memetik.kernels.compiler.jit import jit
from memetik.kernels.runtime.record import table_of
from memetik.problem import Problem
from memetik.solvers.bio_ik import BioIK, BioIKScratch
from tests.kernels.flat import Flat


@jit
def look_at(table, weights, x, slopes):
    """A way in from Python."""
    return call_look(read_worker(table).settings.look, table, weights, x, slopes)


@jit
def differentiate_at(table, weights, x, fitness):
    call_differentiate(read_worker(table).settings.differentiate, table, weights, x, fitness)


@jit
def exploit_at(table, e, state):
    call_exploit(read_worker(table).settings.exploit, table, e, state)


class Evolution(Flat):
    """A problem with what a search of Bio IK has for it; strides are 1. Options are those of the solver."""

    def __init__(self, problem: Problem, **options) -> None:
        super().__init__(problem)
        self.scratch = BioIKScratch(BioIK(**options), problem)
        self.shared, self.own = self.scratch.shared, self.scratch.own
        self.worker = self.scratch.workers[0]
        self.tally = self.worker.scratch.tally[0]
        clear(self.worker.scratch.tree)
        self.weights = self.shared.given
        self.weights[:] = self.terms["weight"]
        self.shared.stride[:] = 1.0
        self.shared.lower[:], self.shared.upper[:] = self.variables["lower"], self.variables["upper"]
        self.shared.reached[0] = self.shared.elites.size

    def fitness(self, x):
        """Of a posture, for no evaluation."""
        spent = int(self.tally.spent)
        phi = look_at(self.own, self.weights, x, 0)
        self.tally.spent = spent
        return phi

    def gradient(self, x):
        """Fitness and its gradient, also of a posture that satisfies all."""
        phi = look_at(self.own, self.weights, x, 0)
        differentiate_at(self.own, self.weights, x, phi)
        return phi, self.worker.scratch.gradient.copy()

    def exploit(self, e, **settings):
        """Elite e becomes offspring e, with other settings if given."""
        worker = self.worker._replace(settings=self.worker.settings._replace(**settings))
        exploit_at(table_of(worker), e, self.state)

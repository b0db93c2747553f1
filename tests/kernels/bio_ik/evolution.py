"""What Bio IK's kernels take, in Python's hands, for tests that call them one by one."""

from __future__ import annotations

import types

import numpy as np

from memetik.kernels.bio_ik import scratch as room
from memetik.kernels.bio_ik.function_pointers import call_differentiate, call_exploit, call_look
from memetik.kernels.bio_ik.scratch import ANALYTIC, DIFFERENTIATE, EXPLOIT, LOOK, REACHED, RMSE, SPENT
from memetik.kernels.body.ofkt import clear
from memetik.kernels.compiler.jit import jit
from memetik.problem import Problem
from memetik.solvers.bio_ik import GRADIENTS, LOSSES, BioIK, BioIKScratch
from tests.kernels.flat import Flat


@jit
def look_at(problem, parameters, places, room, weights, x, slopes):
    """A way in from Python."""
    return call_look(places[LOOK], problem, parameters, places, room, 0, weights, x, slopes)


@jit
def differentiate_at(problem, parameters, places, room, weights, x, fitness):
    call_differentiate(places[DIFFERENTIATE], problem, parameters, places, room, 0, weights, x, fitness)


@jit
def exploit_at(problem, parameters, places, room, e, state):
    call_exploit(places[EXPLOIT], problem, parameters, places, room, 0, e, state)


def plain(kernel):
    """A kernel as a Python function, with what it cuts arrays by: compiled ones cannot return arrays."""
    function = getattr(kernel, "py_func", kernel)
    cut = getattr(room.carve_population, "py_func", room.carve_population)
    return types.FunctionType(function.__code__, {**function.__globals__, "carve_population": cut})


class Evolution(Flat):
    """A problem with a colony and a hand, as the search of Bio IK has them; strides are 1."""

    def __init__(
        self, problem: Problem, loss: int = RMSE, gradient: int = ANALYTIC, ofkt: bool = False, **options
    ) -> None:
        super().__init__(problem)
        c = self.compiled
        self.solver = BioIK(loss=LOSSES[loss], gradient=GRADIENTS[gradient], ofkt=ofkt, **options)
        self.scratch = BioIKScratch(self.solver, problem)
        self.shared = plain(room.carve_shared)(self.problem, *self.scratch.search)
        self.worker = plain(room.carve_worker)(self.problem, *self.scratch.search, 0)
        clear(self.worker.tree)
        self.weights = self.shared.given
        self.weights[:] = c.terms["weight"]
        self.shared.strides[:] = np.array([np.ones(c.active.size), c.bounds[0], c.bounds[1]])
        self.scratch.places[REACHED] = self.shared.elites.size
        self.state = np.zeros(1, dtype=np.uint64)

    def fitness(self, x):
        """Of a posture, for no evaluation."""
        spent = self.worker.tally[SPENT]
        phi = look_at(self.problem, *self.scratch.search, self.weights, x, 0)
        self.worker.tally[SPENT] = spent
        return phi

    def gradient(self, x):
        """Fitness and its gradient, also of a posture that satisfies all."""
        phi = look_at(self.problem, *self.scratch.search, self.weights, x, 0)
        differentiate_at(self.problem, *self.scratch.search, self.weights, x, phi)
        return phi, self.worker.gradient.copy()

    def exploit(self, e):
        """Elite e becomes offspring e."""
        exploit_at(self.problem, *self.scratch.search, e, self.state)

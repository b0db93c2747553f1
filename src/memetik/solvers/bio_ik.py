"""Bio IK: see kernels/bio_ik.py for the method."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from memetik.kernels import bio_ik as kernel
from memetik.kernels.evaluate import count_residuals
from memetik.kernels.terms import DISTANCE
from memetik.problem import Problem
from memetik.solution import Solution
from memetik.solvers.budget import DEFAULT, Budget
from memetik.solvers.method import run

_DESKS = WeakKeyDictionary()


@dataclass(frozen=True)
class BioIK:
    population: int | None = None
    elites: int | None = None
    seed: int = 0
    loss: str = "rmse"
    gradient: str = "analytic"
    ofkt: bool = False
    steps: int = 300
    exploitation: bool = True
    adoption: bool = True
    wipe_out: bool = True
    weight_interpolation: bool = True
    momentum: bool = True
    niching: bool = True

    def solve(self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT) -> Solution:
        c = problem.compiled
        desk = _DESKS.setdefault(c, {})
        if self not in desk:
            desk[self] = self._prepare(c)
        parameters, places, room = desk[self]
        return run(
            problem, start, budget, "bioik", kernel.search, seed=self.seed, parameters=parameters, places=places, room=room
        )

    def _prepare(self, c):
        n, t = c.active.size, c.terms.size
        psi, kappa = self.population or 80, self.elites or 2
        several = np.bincount(c.nodes["variable"], minlength=n) != 1
        motion = np.zeros(n)
        motion[c.nodes["variable"]] = np.arange(c.nodes.size)
        motion[several] = -1
        yields = (c.terms["soft"] != 0) | (c.terms["kind"] == DISTANCE)
        if c.roomy is not None: yields |= c.roomy
        parameters = np.concatenate([[
            psi, kappa, self.steps, ["rmse", "mean"].index(self.loss), ["analytic", "ofkt", "differences"].index(self.gradient),
            self.ofkt, 0, self.exploitation, self.adoption, self.wipe_out, self.weight_interpolation, self.momentum, self.niching,
        ], yields, motion, c.affects.ravel()])
        room = kernel.search_size(psi, c.nodes.size, c.frames.size, n, count_residuals(c.terms), t)
        places = kernel.search_places(psi, kappa, n)
        return parameters, np.zeros(int(places),dtype=np.int64), np.zeros(int(room))

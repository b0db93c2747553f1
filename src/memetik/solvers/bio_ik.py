"""Bio IK, the algorithm of the thesis (Starke 2018): see kernels/bio_ik/search.py."""

from __future__ import annotations

import functools
import time
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.errors import ProblemError
from memetik.kernels.bio_ik import function_pointers as late
from memetik.kernels.bio_ik import search as kernel
from memetik.kernels.bio_ik.exploit import exploit, look
from memetik.kernels.bio_ik.gradient import by_chain_rule, by_differences
from memetik.kernels.bio_ik.history import ELITE, FIRST, FITNESS, GENERATION, GENES, PLACE, SECOND
from memetik.kernels.bio_ik.scratch import ADVANCE, DIFFERENTIATE, EXPLOIT, HISTORY, LOOK, MINIMUM, NEXT
from memetik.kernels.compiler.function_pointers import address
from memetik.kernels.compiler.jit import COMPILED
from memetik.kernels.lbfgsb.function_pointers import minimum_address
from memetik.kernels.lbfgsb.minimiser import advance
from memetik.kernels.terms.records import CONTACT
from memetik.problem import Problem
from memetik.problem.compile import Compiled
from memetik.problem.scratch import Pool, Scratch
from memetik.solution import Solution
from memetik.solvers.budget import DEFAULT, Budget, require_task
from memetik.solvers.elite_threads import EliteThreads
from memetik.solvers.history import History
from memetik.solvers.method import run_in
from memetik.solvers.seeded import Seeded
from memetik.types import Array

LOSSES = ("rmse", "mean")
GRADIENTS = ("analytic", "ofkt", "differences")

# Lines through the parameters that Table 5.4 of the thesis uses, individuals by degrees of freedom and elites by
# objectives; section 5.2 finds a wide range of them to do equally well.
INDIVIDUALS, INDIVIDUALS_PER_JOINT, FEWEST, MOST = 56.0, 3.5, 50, 180
ELITES, ELITES_PER_OBJECTIVE, FEWEST_ELITES, MOST_ELITES = 1.6, 0.29, 2, 5


class BioIKScratch(Scratch):
    """Scratch of one search. `rows` is for how many individuals of its history there is room."""

    def __init__(self, solver: BioIK, problem: Problem, rows: int = 0) -> None:
        c = problem.compiled
        super().__init__(c)
        n, terms = c.active.size, c.terms.size
        psi, kappa = solver.sizes(c)
        workers = min(solver.threads, kappa) if COMPILED and not problem.has_functions else 1
        switches = (
            psi, kappa, solver.steps, LOSSES.index(solver.loss), GRADIENTS.index(solver.gradient), solver.ofkt, rows,
            solver.exploitation, solver.adoption, solver.wipe_out, solver.weight_interpolation, solver.momentum,
            solver.niching, workers,
        )  # fmt: skip
        size = int(kernel.search_size(psi, kappa, workers, c.nodes.size, c.frames.size, n, c.residuals, terms))
        self.places = np.zeros(int(kernel.search_places(psi, kappa, workers, n)), dtype=np.int64)
        self.places[[LOOK, EXPLOIT, DIFFERENTIATE, ADVANCE, MINIMUM]] = _addresses(solver.gradient)
        self.places[NEXT] = kappa  # nothing to do yet
        history = 1 + rows * (GENES + n) if rows else 0
        self.parameters = np.concatenate([switches, _yields(c), _motions(c), c.affects.ravel()]).astype(np.float64)
        self.room = np.zeros(size + history)
        self.threads = EliteThreads(self.record, *self.search) if workers > 1 else None

    @property
    def search(self) -> tuple[Array, NDArray[np.int64], Array]:
        """The arrays of the search, in the order of the kernels' arguments."""
        return self.parameters, self.places, self.room


@dataclass(frozen=True)
class BioIK(Seeded):
    """Memetic evolution: a population of postures, recombined, mutated and drawn to the fit ones, the elites among them
    exploited by L-BFGS-B, until one satisfies every objective.

    population, elites: how many individuals, and how many of them are exploited in each generation. Unless given, 50 to
    180 by degrees of freedom and 2 to 5 by objectives.
    loss: "rmse" takes the root mean square of the objectives' losses (eq. 4.3 of the thesis), "mean" their mean.
    gradient: "analytic" by the chain rule; "ofkt" by differences, one joint at a time predicted by the OFKT; "differences"
    with the body placed anew for each joint.
    ofkt: place bodies through the OFKT; the same bits, more slowly, because offspring change every joint.
    steps: iterations of L-BFGS-B that an elite gets at most in one generation.
    threads: how many exploit elites at the same time, where that saves time. The answer is the same.
    The other switches leave out a phase of the algorithm, to see what it is worth.

    Takes every objective, any number of tips, any joint. The same seed gives the same answer, bit for bit. An evaluation is
    one placement of the body: an individual, an iteration of L-BFGS-B, or one gene changed for a gradient by differences.
    `solution.attempts` is the number of generations.
    """

    population: int | None = None
    elites: int | None = None
    seed: int = 0
    loss: str = "rmse"
    gradient: str = "analytic"
    ofkt: bool = False
    steps: int = 300
    threads: int = 1
    exploitation: bool = True
    adoption: bool = True
    wipe_out: bool = True
    weight_interpolation: bool = True
    momentum: bool = True
    niching: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, known in (("loss", LOSSES), ("gradient", GRADIENTS)):
            if not isinstance(getattr(self, name), str) or getattr(self, name) not in known:
                raise ProblemError(f"BioIK: {name} is {getattr(self, name)!r}; choose one of {', '.join(known)}.")
        for name, value, least in (
            ("population", self.population, 2),
            ("elites", self.elites, 1),
            ("steps", self.steps, 1),
            ("threads", self.threads, 1),
        ):
            if value is not None and not value >= least:
                raise ProblemError(f"BioIK: {name} is {value}; at least {least} is needed.")
        if self.population is not None and self.elites is not None and self.elites > self.population:
            raise ProblemError(f"BioIK: {self.elites} elites cannot be chosen from {self.population} individuals.")

    def solve(self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT) -> Solution:
        """The first posture that satisfies every objective, evolved from `start` (the body's home unless given)."""
        require_task(problem, budget, "bioik")
        begin = time.perf_counter()
        plans = problem.compiled.plans
        pool: Pool[BioIKScratch] = plans.get(self) or plans.setdefault(self, Pool(lambda: BioIKScratch(self, problem)))
        scratch = pool.lease(budget.token)
        solution = self._run(problem, start, budget, scratch, begin)
        pool.give_back(scratch)
        return solution

    def evolve(
        self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT
    ) -> tuple[Solution, History]:
        """The same solution, with every individual on the way to it."""
        require_task(problem, budget, "bioik")
        begin = time.perf_counter()
        c = problem.compiled
        psi, kappa = self.sizes(c)
        generations = 2 + budget.evaluations // max(psi - kappa, 1)
        rows = min(generations * psi, budget.evaluations + generations * kappa + psi)
        scratch = BioIKScratch(self, problem, rows)
        solution = self._run(problem, start, budget, scratch, begin)
        return solution, _history(problem, problem.start(start), scratch)

    def sizes(self, c: Compiled) -> tuple[int, int]:
        """How many individuals and elites a problem gets."""
        objectives = c.terms.size - int(c.terms["paired"].sum())
        psi = self.population or min(max(round(INDIVIDUALS + INDIVIDUALS_PER_JOINT * c.active.size), FEWEST), MOST)
        kappa = min(max(round(ELITES + ELITES_PER_OBJECTIVE * objectives), FEWEST_ELITES), MOST_ELITES, psi)
        return max(psi, self.elites or 0), self.elites or kappa

    def _run(
        self, problem: Problem, start: ArrayLike | None, budget: Budget, scratch: BioIKScratch, begin: float
    ) -> Solution:
        with scratch.threads or nullcontext():
            return run_in(
                scratch, problem, start, budget, "bioik", kernel.search, seed=self.seed, parameters=scratch.parameters,
                places=scratch.places, room=scratch.room, begin=begin,
            )  # fmt: skip


@functools.cache
def _addresses(gradient: str) -> tuple[int, ...]:
    """Where the parts of the search are that are called by address."""
    return (
        address(look, late.LOOK),
        address(exploit, late.EXPLOIT),
        address(by_chain_rule if gradient == "analytic" else by_differences, late.DIFFERENTIATE),
        address(advance, late.ADVANCE),
        minimum_address(),
    )


def _yields(c: Compiled) -> NDArray[np.bool_]:
    """Terms that pull although they are satisfied: guides, and tolerances with room."""
    yields: NDArray[np.bool_] = (c.terms["soft"] != 0) | (c.terms["loss"] == CONTACT)
    return yields if c.roomy is None else yields | c.roomy


def _motions(c: Compiled) -> NDArray[np.int64]:
    """The one motion that each variable drives, -1 if there is none or several."""
    drives = c.nodes["variable"]
    motions = np.full(c.active.size, -1)
    motions[drives] = np.arange(len(drives))
    motions[np.bincount(drives, minlength=c.active.size) != 1] = -1
    return motions


def _history(problem: Problem, start: Array, scratch: BioIKScratch) -> History:
    c = problem.compiled
    wide, rows = GENES + c.active.size, int(scratch.parameters[HISTORY])
    record = scratch.room[-(1 + rows * wide) :]
    table = record[1 : 1 + int(record[0]) * wide].reshape(-1, wide)
    generation, place = table[:, GENERATION].astype(np.int64), table[:, PLACE].astype(np.int64)
    first = np.flatnonzero(place == 0)  # where each generation starts
    before = np.concatenate([[0], first])[generation]
    parents = table[:, [FIRST, SECOND]].astype(np.int64)
    return History(
        tuple(problem.body.joint_names[k] for k in c.active),
        c.bounds[2].copy(),
        c.bounds[3].copy(),
        start,
        c.active.copy(),
        generation,
        table[:, GENES:].copy(),
        table[:, FITNESS].copy(),
        table[:, ELITE] != 0.0,
        np.where(parents >= 0, parents + before[:, None], -1),
    )

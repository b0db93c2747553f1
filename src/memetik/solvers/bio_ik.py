"""Bio IK, the algorithm of the thesis (Starke 2020): see kernels/bio_ik/search.py."""

from __future__ import annotations

import dataclasses
import time
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.errors import ProblemError, UnknownNameError
from memetik.geometry.checks import instance
from memetik.kernels.bio_ik import function_pointers as signatures
from memetik.kernels.bio_ik.bio_ik_record import Record, Settings, Shared, Worker
from memetik.kernels.bio_ik.bio_ik_record import Scratch as WorkerScratch
from memetik.kernels.bio_ik.exploit import MEMORY, exploit, look
from memetik.kernels.bio_ik.gradient import by_chain_rule, by_differences
from memetik.kernels.bio_ik.search import search
from memetik.kernels.compiler.compile_time import split_time
from memetik.kernels.compiler.function_pointers import lasting_address
from memetik.kernels.compiler.jit import COMPILED
from memetik.kernels.lbfgsb.minimiser import ADVANCE, advance, new_minimiser
from memetik.kernels.lbfgsb.minimum import FIND_MINIMUM, find_minimum
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS
from memetik.kernels.problem.losses import MEAN, PUBLISHED, SMOOTH
from memetik.kernels.runtime.cancel import new_clock
from memetik.kernels.runtime.record import allocate, table_of
from memetik.kernels.search.all_solutions import largest_change
from memetik.kernels.terms.records import CONTACT, HYPERBOLA
from memetik.kernels.tracking.tracking import SAVED
from memetik.problem import Problem
from memetik.problem.compile import Compiled
from memetik.problem.scratch import Pool, Scratch
from memetik.solution import Solution
from memetik.solvers.budget import DEFAULT, Budget, require_task
from memetik.solvers.elite_threads import EliteThreads
from memetik.solvers.family import record_of
from memetik.solvers.history import History
from memetik.solvers.method import ask_for, run_in
from memetik.solvers.seeded import Seeded, parameter
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
        ask_for(search, *_callees(solver))  # before the terms are compiled, which the base class does
        super().__init__(c)
        psi, kappa = solver.sizes(c)
        workers = min(solver.threads, kappa) if COMPILED and not problem.has_functions else 1
        sizes = {**c.sizes, "population": psi, "elites": kappa, "workers": workers, "rows": rows}
        self.shared = allocate(
            Shared, sizes, yields=(_yields(c) & solver.yielding).view(np.uint8), motions=_motions(c), clock=self.clock
        )
        self.shared.next[0] = kappa  # nothing to do yet
        bounds = {"lower": self.shared.lower, "upper": self.shared.upper}
        settings, record = _settings(solver), allocate(Record, sizes)
        self.workers = [
            Worker(
                new_minimiser(c.active.size, MEMORY, **bounds), self.arrays.problem, settings, self.shared, record,
                allocate(WorkerScratch, sizes, clock=new_clock() if h else self.clock),
            )
            for h in range(workers)
        ]  # fmt: skip
        self.own = table_of(self.workers[0])
        self.threads = EliteThreads(self.workers) if workers > 1 else None


def _at_least(least: int, default: int | None) -> Any:
    return parameter(default, lambda value: value >= least, f"at least {least} is needed")


def _one_of(names: tuple[str, ...]) -> Any:
    """The first of them, unless given."""
    known = ", ".join(names)
    return parameter(names[0], lambda value: isinstance(value, str) and value in names, f"choose one of {known}")


@dataclass(frozen=True)
class BioIK(Seeded):
    """Memetic evolution: a population of postures, recombined, mutated and drawn to the fit ones, the elites among them
    exploited by L-BFGS-B, until one satisfies every objective.

    population, elites: how many individuals, and how many of them are exploited in each generation. Unless given, 50 to
    180 by degrees of freedom and 2 to 5 by objectives.
    loss: "rmse" takes the root mean square of the objectives' losses (eq. 4.3 of the thesis), "mean" their mean.
    gradient: "analytic" by the chain rule; "ofkt" by differences, one joint at a time predicted by the OFKT; "differences"
    with the body placed again for each joint.
    ofkt: place bodies through the OFKT; the same bits, more slowly, because offspring change every joint.
    steps: iterations of L-BFGS-B that an elite gets at most in one generation.
    threads: how many exploit elites at the same time, where that saves time. The answer is the same.
    yielding: guides, and tolerances with room, count less from where the search stands still because of them; without, all
    weights stay, and where a Displacement is all that guides there is no second search without it.
    patience: generations that the solution may stand, all elites exploited to their end, before all is drawn again; an
    improvement of less than 1 % is none. 0: eq. 4.23 alone decides, that the solution was not replaced and no elite gains at all.
    strides: genes of weak effect go further at once in the exploitation, as the first individuals show.
    whole_turns: a joint whose limits hold a whole turn meets none in the exploitation, since each angle has a copy within them.
    early_stop: an elite is left alone after eight iterations that gain less than 1 %.
    smooth_projection: a Projection loses the root mean square of its position and orientation losses. Without, it loses
    their mean (eq. 4.11), whose square has a crease where one of them is zero, in which L-BFGS-B stands still.
    The other switches leave out a phase of the algorithm, to see what it is worth. `as_published` chooses what the thesis has.

    Takes every objective, any number of tips, any joint. The same seed gives the same answer, bit for bit. An evaluation is
    one placement of the body: an individual, an iteration of L-BFGS-B, or one gene changed for a gradient by differences.
    `solution.attempts` is the number of generations. Where a Displacement is all that guides, it searches without it, too, and
    what that gives counts, unless it is much farther away.
    """

    population: int | None = _at_least(2, None)
    elites: int | None = _at_least(1, None)
    seed: int = 0
    loss: str = _one_of(LOSSES)
    gradient: str = _one_of(GRADIENTS)
    ofkt: bool = False
    steps: int = _at_least(1, 300)
    threads: int = _at_least(1, 1)
    exploitation: bool = True
    adoption: bool = True
    wipe_out: bool = True
    weight_interpolation: bool = True
    momentum: bool = True
    niching: bool = True
    yielding: bool = True
    patience: int = _at_least(0, 4)
    strides: bool = True
    whole_turns: bool = True
    early_stop: bool = True
    smooth_projection: bool = True

    @classmethod
    def as_published(cls, problem: Problem, **parameters: Any) -> BioIK:
        """Bio IK as the thesis has it: what differs from the default is said in docs/bio_ik.md.

        problem: what it shall solve, which decides how long an elite is exploited. The thesis exploits it on a thread of its
        own for as long as another breeds the psi - kappa offspring, at 2n + 1 transformations each with n joints. An
        iteration of L-BFGS-B takes as many for the posture and 5 for each of the n differences (Table 4.2 of the thesis), so
        steps = (psi - kappa) (2n + 1) / (7n + 1), rounded, at least 1.
        parameters: others of `BioIK`, or other values of these.

        Gradients are by differences through the OFKT, all genes go at the same stride and within their limits, elites are
        exploited for that long whether they gain or not, no guide yields, a projection loses the mean of eq. 4.11, and all is
        drawn again by eq. 4.23 alone. What is counted in steps here is time in the thesis, so that an answer does not depend on
        the machine.

            import memetik as mk

            problem = mk.Problem(mk.load("ur5"), mk.Position("tool0", (0.3, 0.2, 0.4)))
            solution = mk.solvers.BioIK.as_published(problem, seed=1).solve(problem)
        """
        compiled = instance(problem, Problem, ProblemError, "a problem. Give mk.Problem(body, objectives).").compiled
        known = [field.name for field in dataclasses.fields(cls)]
        for name in parameters:
            if name not in known:
                raise UnknownNameError("parameter", name, known, "method 'bioik'", every=True)
        psi, kappa = cls(**parameters).sizes(compiled)
        n = compiled.active.size
        steps = max(1, round((psi - kappa) * (2 * n + 1) / (7 * n + 1)))
        published = {
            "gradient": "ofkt", "ofkt": True, "steps": steps, "yielding": False, "patience": 0, "strides": False,
            "whole_turns": False, "early_stop": False, "smooth_projection": False,
        }  # fmt: skip
        return cls(**{**published, **parameters})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.population is not None and self.elites is not None and self.elites > self.population:
            raise ProblemError(f"BioIK: {self.elites} elites cannot be chosen from {self.population} individuals.")

    def solve(self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT) -> Solution:
        """The first posture that satisfies every objective, evolved from `start` (the body's home unless given)."""
        require_task(problem, budget, "bioik", generations=True)
        begin = time.perf_counter()
        c = problem.compiled
        pool: Pool[BioIKScratch] = c.plans.get(self) or c.plans.setdefault(
            self, Pool(lambda: BioIKScratch(self, problem), calls_python=c.calls_python)
        )
        scratch = pool.lease(budget.token)
        solution = self._run(problem, start, budget, scratch, begin)
        pool.give_back(scratch)
        return solution

    def evolve(
        self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT
    ) -> tuple[Solution, History]:
        """The same solution, with every individual on the way to it."""
        require_task(problem, budget, "bioik", generations=True)
        begin = time.perf_counter()
        c = problem.compiled
        psi, kappa = self.sizes(c)
        generations = 2 + budget.evaluations // max(psi - kappa, 1)
        if budget.generations is not None:
            generations = min(generations, 2 * budget.generations + 1)  # after each, all may be drawn again
        rows = min(generations * psi, budget.evaluations + generations * kappa + psi)
        scratch = BioIKScratch(self, problem, rows)
        solution = self._run(problem, start, budget, scratch, begin)
        return solution, _history(problem, problem.start(start), scratch.workers[0].record)

    def sizes(self, c: Compiled) -> tuple[int, int]:
        """How many individuals and elites a problem gets."""
        objectives = c.terms.size - int(c.terms["paired"].sum())
        psi = self.population or min(max(round(INDIVIDUALS + INDIVIDUALS_PER_JOINT * c.active.size), FEWEST), MOST)
        kappa = min(max(round(ELITES + ELITES_PER_OBJECTIVE * objectives), FEWEST_ELITES), MOST_ELITES, psi)
        return max(psi, self.elites or 0), self.elites or kappa

    def _run(
        self, problem: Problem, start: ArrayLike | None, budget: Budget, scratch: BioIKScratch, begin: float
    ) -> Solution:
        scratch.shared.task[0]["generations"] = budget.generations or 0
        with scratch.threads or nullcontext():
            if self.yielding and problem.compiled.displacement_only:
                return self._nearer(problem, start, budget, scratch, begin)
            return run_in(scratch, problem, start, budget, "bioik", search, scratch.own, seed=self.seed, begin=begin)

    def _nearer(
        self, problem: Problem, start: ArrayLike | None, budget: Budget, scratch: BioIKScratch, begin: float
    ) -> Solution:
        """Of what is found with and without guides that want small changes, the solution that is nearer to the start.

        They make farther postures unfit, but also those on the way from the start to the nearest solution: a heavy one made
        jumps along a path larger, not smaller. So they count only where they save a good part of the way.
        """
        solve = partial(run_in, scratch, problem, start, method="bioik", search=search, own=scratch.own, seed=self.seed)
        guided = solve(budget, begin=begin)
        left, seconds = budget.evaluations - guided.evaluations, budget.seconds - split_time(begin)[0]
        if not guided.success or left < 1 or seconds <= 0.0:
            return guided
        if budget.generations is not None:
            if guided.attempts >= budget.generations:
                return guided
            scratch.shared.task[0]["generations"] = budget.generations - guided.attempts
        scratch.shared.task[0]["unguided"] = 1
        unguided = solve(dataclasses.replace(budget, evaluations=left, seconds=seconds), begin=begin)
        scratch.shared.task[0]["unguided"] = 0
        c, origin = problem.compiled, problem.start(start)
        ways = [largest_change(each.q[c.active], origin[c.active], c.variables, c.balls) for each in (guided, unguided)]
        best = unguided if unguided.success and SAVED * ways[1] <= ways[0] else guided
        for number in (EVALUATIONS, ATTEMPTS):
            best.numbers[number] = guided.numbers[number] + unguided.numbers[number]
        best.seconds, best.compile_seconds = split_time(begin)
        return best


def _differentiate(solver: BioIK) -> Any:
    return by_chain_rule if solver.gradient == "analytic" else by_differences


def _callees(solver: BioIK) -> list[tuple[Any, Any]]:
    """What the search calls by address, in the order of need."""
    return [
        (look, signatures.LOOK), (exploit, signatures.EXPLOIT), (_differentiate(solver), signatures.DIFFERENTIATE),
        (advance, ADVANCE), (find_minimum, FIND_MINIMUM),
    ]  # fmt: skip


def _settings(solver: BioIK) -> Settings:
    """What the kernels are told of a solver."""
    return record_of(
        solver, Settings, {},
        norm=MEAN if solver.loss == "mean" else SMOOTH if solver.smooth_projection else PUBLISHED,
        gradient=GRADIENTS.index(solver.gradient),
        look=lasting_address(look, signatures.LOOK),
        exploit=lasting_address(exploit, signatures.EXPLOIT),
        differentiate=lasting_address(_differentiate(solver), signatures.DIFFERENTIATE),
        advance=lasting_address(advance, ADVANCE),
    )  # fmt: skip


def _yields(c: Compiled) -> NDArray[np.bool_]:
    """Terms that pull although they are satisfied: guides, and tolerances with room."""
    yields: NDArray[np.bool_] = (c.terms["soft"] != 0) | np.isin(c.terms["loss"], (CONTACT, HYPERBOLA))
    return yields if c.loose_tolerances is None else yields | c.loose_tolerances


def _motions(c: Compiled) -> NDArray[np.int64]:
    """The one motion that each variable drives, -1 if there is none or several."""
    drives = c.nodes["variable"]
    motions = np.full(c.active.size, -1)
    motions[drives] = np.arange(len(drives))
    motions[np.bincount(drives, minlength=c.active.size) != 1] = -1
    return motions


def _history(problem: Problem, start: Array, record: Record) -> History:
    c, count = problem.compiled, record.count[0]
    generation = record.generation[:count].copy()
    first = np.flatnonzero(record.place[:count] == 0)  # where each generation starts
    before = np.concatenate([[0], first])[generation]
    parents = record.parents[:count]
    return History(
        tuple(problem.body.joint_names[k] for k in c.active),
        c.variables["sample_lower"].copy(),
        c.variables["sample_upper"].copy(),
        start,
        c.active.copy(),
        generation,
        record.genes[:count].copy(),
        record.fitness[:count].copy(),
        record.elite[:count] != 0,
        np.where(parents >= 0, parents + before[:, None], -1),
    )

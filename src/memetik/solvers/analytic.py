"""Closed forms: all solutions at once, from geometry instead of search.

An arm with few joints, or with axes that meet or run parallel, splits into questions with formulas for answers, and each
question has a handful of answers. What comes out is every posture that puts the tip on the target, whole turns apart.

    two links in a plane                                position     2 solutions
    shoulder and elbow, 4 or 5 joints (NAO)             full pose    2 or 4
    6 joints, three axes in a row meet (KUKA, ...)      full pose    up to 8
    6 joints, three in a row are parallel (UR, ...)     full pose    up to 8
    7 joints, one of them held (iiwa, Panda, ...)       full pose    up to 8 for each value of the held joint

An arm counts as what it is meant to be if its file has angles rounded to 1.5708 and offsets to micrometres, say: Newton steps
bring what the formulas offer onto the body as given, to the last digit.

The formulas know nothing of limits: whole turns are added to come near the start and within them, and what does not fit
is no solution. Then each is verified by forward kinematics, as the answer of every method is. Without a solution, what comes
nearest is brought to a least-squares minimum within the limits.

Shines where all solutions are wanted, or the certainty that there is none. Fails, with an error, on every other body and
every other wish; with seven joints a solution can exist between the values that were tried.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memetik.errors import RefusedError
from memetik.kernels.closed_form.arm_record import ROWS, Geometry
from memetik.kernels.compiler.compile_time import split_time
from memetik.kernels.compiler.function_pointers import lasting_address
from memetik.kernels.problem.budget import OUTCOME
from memetik.kernels.problem.function_pointers import STAGE
from memetik.kernels.problem.problem_record import Problem as FlatProblem
from memetik.kernels.problem.verify import REACHED
from memetik.kernels.runtime.record import allocate, table_of
from memetik.kernels.search.closed_form_attempt import AnalyticArrays, closed_form_stage
from memetik.kernels.terms.pose import MASK
from memetik.kernels.terms.records import POINT
from memetik.problem import Problem, require_problem
from memetik.problem.compile import Compiled
from memetik.problem.serial_arm import arm_of
from memetik.sharing import cached_property
from memetik.solution import Solution
from memetik.solvers.budget import DEFAULT, Budget, require_task
from memetik.solvers.closed_forms import closed_form
from memetik.solvers.memetic import later_stages
from memetik.solvers.memetic_plan import MemeticPlan, MemeticScratch
from memetik.solvers.seeded import Seeded
from memetik.types import Array

EXACT = 1e-6  # m for each metre of the arm, or rad, that a solution may be off the target


@dataclass(frozen=True)
class Analytic(Seeded):
    """Closed-form solutions of one tip of an arm: a Pose, or the Position of a planar arm of two links.

    The Pose may be given as a Position and an Orientation, and Displacement guides may say what is near.

    Draws nothing at random, so the seed changes nothing. One evaluation is one posture measured.
    """

    seed: int = 0

    def solve(self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT) -> Solution:
        """The nearest solution (see mk.solve_all); `start` is the body's home unless given.

        Without one, a minimum of the errors within the limits, next to what the formulas offer.
        """
        begin = time.perf_counter()
        require_task(problem, budget, "analytic")
        plan = analytic_plan(problem)
        q = problem.start(start)
        scratch = plan.lease(budget.token)
        scratch.take_budget(budget)
        outcome = np.empty(scratch.numbers)
        status = scratch.search_from(scratch.call, q, outcome, self.seed, math.inf)
        status = later_stages(scratch, q, outcome, status, self.seed, begin)
        problem.raise_faults(scratch.clock)
        plan.give_back(scratch)
        took, compiling = split_time(begin)
        return Solution(problem, q, status, outcome, took, "analytic", compiling)

    def solve_all(self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT) -> list[Solution]:
        """All solutions, nearest first; an empty list if there is none.

        Of up to six joints these are all there are, whole turns apart, unless the budget ends it. Postures that are only
        within the tolerances are among them if nothing else is on the target. Where the target leaves an
        angle open there are endlessly many: those with the angle of the start, or next to it. Of seven joints these are all
        for the values at which one joint was held.
        """
        begin = time.perf_counter()
        require_task(problem, budget, "analytic")
        plan = analytic_plan(problem)
        q = problem.start(start)
        scratch = plan.lease(budget.token)
        scratch.spend(budget.evaluations, budget.seconds if budget.seconds < math.inf else 0.0)
        found = scratch.analytic.candidates  # type: ignore[attr-defined]  # an AnalyticScratch
        found.every[0] = 1
        scratch.search_from(scratch.call, q, scratch.outcome, self.seed, math.inf)
        found.every[0] = 0
        problem.raise_faults(scratch.clock)
        active = problem.compiled.active
        rows = np.flatnonzero(found.statuses[: found.count[0]] == REACHED)
        rows = rows[np.argsort(found.costs[rows], kind="stable")]
        hard = OUTCOME + np.flatnonzero(problem.compiled.terms["soft"] == 0)
        exact = (found.outcomes[np.ix_(rows, hard)] <= EXACT * max(plan.arm.size, 1.0)).all(axis=1)
        rows = rows[exact] if exact.any() else rows
        postures, verdicts, numbers = found.postures[rows], found.outcomes[rows, OUTCOME:], scratch.outcome[:OUTCOME]
        outcomes = np.hstack((np.tile(numbers, (rows.size, 1)), verdicts))
        plan.give_back(scratch)
        took, compiling = split_time(begin)
        solutions = []
        for posture, outcome in zip(postures, outcomes, strict=True):
            vector = q.copy()
            vector[active] = posture
            solutions.append(Solution(problem, vector, REACHED, outcome, took, "analytic", compiling))
        return solutions

    def check(self, problem: Problem) -> None:
        """Raise what `solve` would if there is no closed form, without solving."""
        require_problem(problem, "analytic")
        analytic_plan(problem)


class AnalyticPlan(MemeticPlan):
    """The closed form of a compiled problem, and scratch for its calls: the stages of the flagship, but for the first."""

    relaxes = has_lanes = False
    attempt = 0

    def __init__(self, compiled: Compiled, arm: Geometry) -> None:
        self._given = arm
        super().__init__(compiled)
        self.sizes["candidates"] = ROWS * (arm.values.size + 1) + 1

    def _arm(self) -> Geometry:
        return self._given

    def complete(self) -> None:
        """Nothing: no search follows."""

    def new_scratch(self, source: Array | None = None) -> AnalyticScratch:
        return AnalyticScratch(self, source)

    @cached_property
    def search(self) -> int:
        """The address of the closed form, the first stage."""
        return lasting_address(closed_form_stage, STAGE)


class AnalyticScratch(MemeticScratch):
    """Scratch for a solve in closed form."""

    @property
    def problem(self) -> FlatProblem:
        return self.compiled.record

    @cached_property
    def analytic(self) -> AnalyticArrays:
        """All arrays of the solve, as a record."""
        return allocate(AnalyticArrays, self.plan.sizes, memetic=self.memetic)

    @cached_property
    def table(self) -> Any:
        return table_of(self.analytic)


def analytic_plan(problem: Problem) -> AnalyticPlan:
    """The plan of a problem, made at the first need."""
    c = problem.compiled
    plan: AnalyticPlan | None = c.plans.get(AnalyticPlan)
    return plan or c.plans.setdefault(AnalyticPlan, AnalyticPlan(c, _closed_form(problem)))


def _closed_form(problem: Problem) -> Geometry:
    """The closed form of a problem, or the error that says why there is none."""
    c = problem.compiled
    point = c.terms.size == 1 and c.terms[0]["goal"] == POINT and not c.terms[0]["soft"] and c.terms[0]["other"] < 0
    if point:
        numbers = int(c.terms[0]["numbers"]) + MASK
        point = bool(c.data[numbers : numbers + 3].all())
    if not (point or c.pose):
        raise RefusedError(
            "method 'analytic' takes one Pose in the world with both tolerances (or Position and Orientation of one frame), "
            "perhaps with Displacements without tolerance, or one Position of a planar arm of two links, not "
            f"{', '.join(map(repr, problem.objectives))}. Method 'memetic' takes every objective."
        )
    arm = arm_of(c)
    form = None if arm is None else closed_form(arm, c.variables, whole_pose=len(c.pose) > 0)
    if form is None:
        raise RefusedError(
            f"method 'analytic' has no closed form for {problem.objectives[0]!r} on body {problem.body.name!r}, whose tip "
            f"hangs on {c.active.size} joints. It takes the Position of two links in a plane, or the Pose of an arm of turning "
            "joints: 4 or 5 with a shoulder and an elbow, 6 of which three in a row meet in a point or are parallel, or 7 that "
            "are such an arm while one is held. Method 'memetic' takes every body."
        )
    return form

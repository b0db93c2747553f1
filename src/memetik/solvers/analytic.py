"""Closed forms: all solutions at once, from geometry instead of search.

An arm with few joints, or with axes that meet or run parallel, splits into questions with formulas for answers, and each
question has a handful of answers. What comes out is every posture that puts the tip on the target, whole turns apart.

    two links in a plane                                position     2 solutions
    shoulder and elbow, 4 or 5 joints (NAO)             full pose    2 or 4
    6 joints, three axes in a row meet (KUKA, ...)      full pose    up to 8
    6 joints, three in a row are parallel (UR, ...)     full pose    up to 8
    7 joints, one of them held (iiwa, Panda, ...)       full pose    up to 8 for each value of the held joint

The formulas know nothing of limits: whole turns are added to come near the start and within them, and what does not fit
is no solution. Then each is verified by forward kinematics, as the answer of every method is.

Shines where all solutions are wanted, or the certainty that there is none. Fails, with an error, on every other body and
every other wish; with seven joints a solution can exist between the values that were tried.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memetik.errors import RefusedError
from memetik.kernels.closed_form.candidates import solve_closed_form
from memetik.kernels.closed_form.record import MOST, AnalyticArrays, Geometry
from memetik.kernels.compiler.compile_time import split_time
from memetik.kernels.compiler.record import allocate, table_of
from memetik.kernels.problem.budget import OUTCOME
from memetik.kernels.problem.verify import REACHED
from memetik.kernels.terms.pose import MASK
from memetik.kernels.terms.records import POINT
from memetik.problem import Problem, require_problem
from memetik.problem.compile import Compiled
from memetik.problem.scratch import Pool, Scratch
from memetik.solution import Solution
from memetik.solvers.budget import DEFAULT, Budget, require_task
from memetik.solvers.closed_forms import closed_form
from memetik.solvers.seeded import Seeded
from memetik.solvers.serial_arm import arm_of
from memetik.types import Array


@dataclass(frozen=True)
class Analytic(Seeded):
    """Closed-form solutions of one tip of an arm: a Pose, or the Position of a planar arm of two links.

    Draws nothing at random, so the seed changes nothing. One evaluation is one posture verified.
    """

    seed: int = 0

    def solve(self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT) -> Solution:
        """The solution nearest to `start` (the body's home unless given), by the joint that moves most.

        Without one, the posture within the limits that comes nearest to the target of those that the formulas offer.
        """
        scratch, q, status, begin = self._run(problem, start, budget, every=False)
        outcome = scratch.outcome.copy()
        _plan(problem).give_back(scratch)
        took, compiling = split_time(begin)
        return Solution(problem, q, status, outcome, took, "analytic", compiling)

    def solve_all(self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT) -> list[Solution]:
        """All solutions, nearest to `start` first; an empty list if there is none."""
        scratch, q, _, begin = self._run(problem, start, budget, every=True)
        found, active = scratch.analytic.candidates, problem.compiled.active
        rows = np.flatnonzero(found.statuses[: found.count[0]] == REACHED)
        rows = rows[np.argsort(found.costs[rows], kind="stable")]
        postures, verdicts, numbers = found.postures[rows], found.outcomes[rows, OUTCOME:], scratch.outcome[:OUTCOME]
        outcomes = np.hstack((np.tile(numbers, (rows.size, 1)), verdicts))
        _plan(problem).give_back(scratch)
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
        _plan(problem)

    def _run(
        self, problem: Problem, start: ArrayLike | None, budget: Budget, *, every: bool
    ) -> tuple[AnalyticScratch, Array, int, float]:
        """Solve in scratch that the caller gives back: it, the joint vector, the status, and when it began."""
        begin = time.perf_counter()
        require_task(problem, budget, "analytic")
        plan = _plan(problem)
        q = problem.start(start)
        scratch = plan.lease(budget.token)
        seconds = budget.seconds if budget.seconds < math.inf else 0.0
        status = solve_closed_form(scratch.table, q, scratch.outcome, budget.evaluations, seconds, every)
        problem.raise_faults(scratch.clock)
        return scratch, q, status, begin


class AnalyticPlan(Pool["AnalyticScratch"]):
    """The closed form of a compiled problem, and scratch for its calls."""

    def __init__(self, compiled: Compiled, arm: Geometry) -> None:
        super().__init__(lambda: AnalyticScratch(self))
        self.compiled, self.arm = compiled, arm
        values = arm.values.size
        self.sizes = {**compiled.sizes, "values": values, "candidates": MOST * (values + 1) + 1}


class AnalyticScratch(Scratch):
    """Scratch for a solve in closed form."""

    def __init__(self, plan: AnalyticPlan) -> None:
        super().__init__(plan.compiled)
        self.analytic = allocate(AnalyticArrays, plan.sizes, solve=self.arrays, arm=plan.arm)

    @cached_property
    def table(self) -> Any:
        """All arrays of the solve."""
        return table_of(self.analytic)


def _plan(problem: Problem) -> AnalyticPlan:
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
    if not (point or c.one_pose):
        raise RefusedError(
            "method 'analytic' takes one Pose in the world with both tolerances and nothing else, or one Position of a planar "
            f"arm of two links, not {', '.join(map(repr, problem.objectives))}. Method 'memetic' takes every objective."
        )
    arm = arm_of(c)
    bounds = np.array([c.variables["sample_lower"], c.variables["sample_upper"]])
    form = None if arm is None else closed_form(arm, c.one_pose, bounds)
    if form is None:
        raise RefusedError(
            f"method 'analytic' has no closed form for {problem.objectives[0]!r} on body {problem.body.name!r}, whose tip "
            f"hangs on {c.active.size} joints. It takes the Position of two links in a plane, or the Pose of an arm of turning "
            "joints: 4 or 5 with a shoulder and an elbow, 6 of which three in a row meet in a point or are parallel, or 7 that "
            "are such an arm while one is held. Method 'memetic' takes every body."
        )
    return form

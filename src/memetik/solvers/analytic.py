"""Closed forms: all solutions at once, from geometry instead of search.

An arm with few joints, or with axes that meet or run parallel, splits into questions with formulas for answers, and each
question has a handful of answers. What comes out is every posture that puts the tip on the target, whole turns apart.

    two links in a plane                                position     2 solutions
    shoulder and elbow, 4 or 5 joints (NAO)             full pose    2 or 4
    6 joints that EAIK can take apart (UR, KUKA, ...)   full pose    up to 16
    7 joints, one of them held (iiwa, Panda, ...)       full pose    as many for each value of the held joint

The formulas know nothing of limits: whole turns are added to come near the start and within them, and what does not fit
is no solution. Then each is verified by forward kinematics, as the answer of every method is.

Shines where all solutions are wanted, or the certainty that there is none. Fails, with an error, on every other body and
every other wish; with seven joints a solution can exist between the values that were tried.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.errors import RefusedError
from memetik.kernels.closed_form.filter_candidates import Candidates, filter_candidates
from memetik.kernels.compiler.compile_time import split_time
from memetik.kernels.compiler.record import allocate
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, MOVED, OUTCOME, TIMED_OUT
from memetik.kernels.problem.limits import move_inside
from memetik.kernels.problem.verify import REACHED
from memetik.kernels.terms.pose import MASK
from memetik.kernels.terms.records import POINT
from memetik.problem import Problem, require_problem
from memetik.problem.scratch import Scratch, scratch_pool
from memetik.solution import Solution
from memetik.solvers.budget import DEFAULT, Budget, require_task
from memetik.solvers.closed_forms import ClosedForm, closed_form
from memetik.solvers.decomposition import by_decomposition
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
        return self._find(problem, start, budget, first=True)[0]

    def solve_all(self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT) -> list[Solution]:
        """All solutions, nearest to `start` first; an empty list if there is none."""
        return [solution for solution in self._find(problem, start, budget, first=False) if solution.success]

    def check(self, problem: Problem) -> None:
        """Raise what `solve` would if there is no closed form, or no package that knows it, without solving."""
        require_problem(problem, "analytic")
        _form(problem)

    def _find(self, problem: Problem, start: ArrayLike | None, budget: Budget, *, first: bool) -> list[Solution]:
        """Filter what the closed form offers, up to the `first` solution or all of it; what is nearest comes first."""
        begin = time.perf_counter()
        require_task(problem, budget, "analytic")
        c = problem.compiled
        form = _form(problem)
        q = problem.start(start)
        numbers = np.zeros(OUTCOME)
        numbers[[ATTEMPTS, MOVED]] = 1.0, move_inside(q, c.limits)
        pool = scratch_pool(c)
        scratch = pool.lease(budget.token)
        scratch.take_targets()
        scratch.outcome[EVALUATIONS] = 0.0
        at = int(c.terms[0]["target"])
        offers = _Offers(scratch, q)
        for rows in form.offers(scratch.arrays.problem.data[at : at + 7], q[c.active]):
            offers.add(rows)
            late = split_time(begin)[0] >= budget.seconds
            if late or scratch.outcome[EVALUATIONS] >= budget.evaluations or (first and offers.reached.size):
                numbers[TIMED_OUT] = late and not (first and offers.reached.size)
                break
        numbers[EVALUATIONS] = scratch.outcome[EVALUATIONS]
        problem.raise_faults(scratch.clock)
        best = offers.best()
        took, compiling = split_time(begin)
        found = [
            Solution(problem, offers.vector(row), status, np.append(numbers, verdict), took, "analytic", compiling)
            for row, status, verdict in best
        ]
        pool.give_back(scratch)
        return found


class _Offers:
    """Postures that a closed form offered, each as it is after filtering (kernels/closed_form/filter_candidates.py)."""

    def __init__(self, scratch: Scratch, q: Array) -> None:
        self._scratch, self._c, self._q = scratch, scratch.compiled, q
        self._candidates = self._empty(0)

    def _empty(self, count: int) -> Candidates:
        return allocate(Candidates, {**self._c.sizes, "candidates": count})

    def add(self, rows: Array) -> None:
        """Filter more of them."""
        known = len(self._candidates.costs)
        more = self._empty(len(rows))
        more.postures[:] = rows
        if known:
            more = Candidates(*map(np.concatenate, zip(self._candidates, more, strict=True)))
        self._candidates = more
        filter_candidates(self._scratch.table, more, known, self._q, self._scratch.outcome)

    @property
    def reached(self) -> NDArray[np.int64]:
        """The rows that are solutions."""
        return np.flatnonzero(self._candidates.statuses == REACHED)

    def best(self) -> list[tuple[int, int, Array]]:
        """Row, status and verdict of the solutions, nearest to the start first, or of the one that misses least."""
        rows = self.reached[np.argsort(self._candidates.costs[self.reached], kind="stable")]
        if not rows.size and not np.isfinite(self._candidates.costs).any():
            self.add(self._q[self._c.active][np.newaxis])  # nothing was offered that can be measured
        if not rows.size:
            rows = np.array([np.nanargmin(self._candidates.costs)])
        found = self._candidates
        return [(int(row), int(found.statuses[row]), found.outcomes[row, OUTCOME:]) for row in rows]

    def vector(self, row: int) -> Array:
        """The joint vector of the whole body."""
        vector = self._q.copy()
        vector[self._c.active] = self._candidates.postures[row]
        return vector


def _form(problem: Problem) -> ClosedForm:
    """The closed form of a problem, found once."""
    c = problem.compiled
    known: ClosedForm | None = c.plans.get(Analytic)
    if known is not None:
        return known
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
    form = None if arm is None else closed_form(arm, c.one_pose, partial(by_decomposition, bounds=bounds))
    if form is None:
        raise RefusedError(
            f"method 'analytic' has no closed form for {problem.objectives[0]!r} on body {problem.body.name!r}, whose tip "
            f"hangs on {c.active.size} joints. It takes the Position of two links in a plane, or the Pose of an arm of turning "
            "joints: 4 or 5 with a shoulder and an elbow, or 6 or 7 that EAIK can take apart. Method 'memetic' takes every body."
        )
    c.plans[Analytic] = form
    return form

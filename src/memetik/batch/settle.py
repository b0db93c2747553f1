"""Rows that a graphics card has missed, where the processor knows better: it solves them again.

A device goes by weights. While all tolerances are met, priorities change nothing, so what it reached stands. Only where something
has to give way do levels count, and going down rank by rank (kernels/search/priorities.py) is work for the processor. So is what
pushes solids apart, and to make sure that a closed form has no solution: a device does neither for the few rows that need it.
"""

from __future__ import annotations

import numpy as np

from memetik.batch.launchers import looks_last
from memetik.batch.solution import Answers
from memetik.batch.threads import solve_on_threads
from memetik.problem import Problem
from memetik.problem.columns import Columns
from memetik.solution import Status
from memetik.solvers.budget import Budget
from memetik.solvers.memetic_plan import MemeticPlan
from memetik.types import Array


def settle_missed(
    answers: Answers, problem: Problem, columns: Columns, starts: Array, seed: int, budget: Budget, threads: int | None,
    plan: MemeticPlan | None = None,
) -> tuple[Answers, int]:  # fmt: skip
    """The answers, those that were missed as the processor gives them if it knows better; also how many these are.

    Where nothing can be missed, these are all: a device makes one descent, and does not look for the lowest cost.

    plan: of another method than memetic, which always does.
    """
    c = problem.compiled
    if not answers.status.any() and not c.only_guides:  # REACHED is 0
        return answers, 0
    missed = np.arange(len(answers.q)) if c.only_guides else np.flatnonzero(answers.status != Status.REACHED)
    if not (c.only_guides or c.has_levels or plan is not None or looks_last(c, columns.places)):
        return answers, 0
    rows = Columns(columns.places, np.ascontiguousarray(columns.rows[missed]), columns.targets)
    again, _ = solve_on_threads(problem, rows, starts[missed], seed, budget, threads, lambda done: None, plan)
    whole = Answers(answers.q.copy(), answers.status.copy(), answers.numbers.copy(), answers.seconds.copy())
    whole.q[missed], whole.status[missed] = again.q, again.status
    whole.numbers[missed], whole.seconds[missed] = again.numbers, again.seconds
    return whole, int(missed.size)

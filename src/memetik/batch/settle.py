"""Priorities of rows that a graphics card has missed: the processor solves them anew.

A card goes by weights. While all tolerances are met, priorities change nothing, so what it reached stands. Only where something
has to give way do levels count, and going down rank by rank (kernels/memetic/priorities.py) is work for the processor.
"""

from __future__ import annotations

import numpy as np

from memetik.batch.solution import Answers
from memetik.batch.threads import solve_on_threads
from memetik.problem import Problem
from memetik.problem.columns import Columns
from memetik.solution import Status
from memetik.solvers.budget import Budget
from memetik.types import Array


def settle_missed(
    answers: Answers, problem: Problem, columns: Columns, starts: Array, seed: int, budget: Budget, threads: int | None
) -> tuple[Answers, int]:
    """The answers, those that were missed as the processor gives them if there are priorities; also how many these are."""
    missed = np.flatnonzero(answers.status != Status.REACHED)
    if not problem.compiled.has_levels or missed.size == 0:
        return answers, 0
    rows = Columns(columns.places, np.ascontiguousarray(columns.rows[missed]), columns.targets)
    again, _ = solve_on_threads(problem, rows, starts[missed], seed, budget, threads, lambda done: None)
    whole = Answers(answers.q.copy(), answers.status.copy(), answers.numbers.copy(), answers.seconds.copy())
    whole.q[missed], whole.status[missed] = again.q, again.status
    whole.numbers[missed], whole.seconds[missed] = again.numbers, again.seconds
    return whole, int(missed.size)

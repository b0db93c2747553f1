"""What a launch reads and writes; on the card these are arrays in its memory."""

from typing import NamedTuple

import numpy as np

from memetik.kernels.compiler.record import Array, counters, flags, floats, integers, records


class Tasks(NamedTuple):
    """Targets and starts, and which rows of them are to be solved.

    Task t is for row which[t // spread]. With stream 0 it sets out from the start, otherwise from a posture of its own,
    drawn from stream + t % spread.
    """

    spread: int  # tasks for a row
    stream: int
    seed: int
    most: int  # evaluations of a task
    columns: Array = integers("columns")  # where targets go in the data of the problem
    targets: Array = floats("rows", "columns")
    starts: Array = floats("rows", "dof")
    which: Array = records(np.int32, "chosen")


class Results(NamedTuple):
    """What becomes of each task."""

    q: Array = floats("tasks", "dof")
    statuses: Array = records(np.int8, "tasks")
    outcomes: Array = floats("tasks", "outcome")  # as of a solve (problem/budget.py)


class ThreadScratch(NamedTuple):
    """Scratch of the general search, a row for each thread."""

    data: Array = floats("threads", "numbers")
    outcome: Array = floats("threads", "outcome")
    clock: Array = integers("threads", "clock")
    state: Array = counters("threads", 1)
    work: Array = floats("threads", "workspace")
    score: Array = floats("threads", "population")
    used: Array = flags("threads", "population")
    failed: Array = flags("threads", "terms")
    chosen: Array = flags("threads", "variables")

"""What a launch reads and writes; on the card these are arrays in its memory."""

from typing import NamedTuple

import numba
import numpy as np

from memetik.kernels.body.records import FRAME, NODE
from memetik.kernels.compiler.record import Array, counters, flags, floats, integers, records
from memetik.kernels.memetic.record import Population
from memetik.kernels.problem.record import Problem

SIMULATED: bool = getattr(numba.config, "ENABLE_CUDASIM", False)  # device code as plain Python, a thread at a time
LANES = 1 if SIMULATED else 32  # threads of a warp; in the simulator they cannot meet without all others
WORDS = 12 + 2 * LANES  # with which the shared memory of a warp begins (warp.py)


class Tasks(NamedTuple):
    """Targets and starts, and which rows of them are to be solved.

    Task t is for row which[t // spread], or for row t if `which` is empty. With stream 0 it sets out from the start,
    otherwise from a posture of its own, drawn from stream + t % spread.
    """

    number: int  # tasks
    spread: int  # tasks for a row
    stream: int
    seed: int
    most: int  # evaluations of a task
    columns: Array = integers("columns")  # where targets go in the data of the problem
    targets: Array = floats("rows", "columns")
    starts: Array = floats("starts", "dof")  # one for each row, or one for all
    which: Array = records(np.int32, "chosen")


class Results(NamedTuple):
    """What becomes of each task."""

    q: Array = floats("tasks", "dof")
    statuses: Array = records(np.int8, "tasks")
    outcomes: Array = floats("tasks", "outcome")  # as of a solve (problem/budget.py)


class Launch(NamedTuple):
    """All that a kernel is given."""

    problem: Problem
    population: Population
    tasks: Tasks
    results: Results
    counter: Array = records(np.int32, 1)  # the number of the next task


class WarpScratch(NamedTuple):
    """Scratch of the general search, a row for each warp."""

    clock: Array = integers("warps", "clock")
    state: Array = counters("warps", 1)
    buffer: Array = floats("warps", "buffer")  # what does not fit into shared memory
    lanes: Array = floats("warps", LANES, "lane")  # poses and residuals for each lane
    score: Array = floats("warps", "population")
    used: Array = flags("warps", "population")
    failed: Array = flags("warps", "terms")
    chosen: Array = flags("warps", "variables")
    limb_score: Array = floats("warps", "population")


class Tree(NamedTuple):
    """The motions of a body as the lanes share them."""

    rows: Array = integers("nodes")  # all motions, level by level: those of a level hang on those before
    levels: Array = integers("levels")  # where each level begins in `rows`, and where the last one ends
    pairs: Array = integers("pairs", 2)  # a term and a motion that moves it, or -1 for all that do
    stumps: Array = records(NODE, "nodes")  # every motion as if it hung on the root
    stump_frames: Array = records(
        FRAME, "nodes", "frames"
    )  # for every motion the frames that it carries, the others on none


class WarpLaunch(NamedTuple):
    """A launch with a warp for each task."""

    launch: Launch
    scratch: WarpScratch
    tree: Tree
    shared: int  # 1 if shared memory holds what a warp works on

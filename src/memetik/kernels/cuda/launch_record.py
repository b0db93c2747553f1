"""What a launch reads and writes; on the device these are arrays in its memory."""

from typing import NamedTuple

import numba
import numpy as np

from memetik.kernels.body.records import FRAME, NODE
from memetik.kernels.closed_form.arm_record import Geometry
from memetik.kernels.problem.problem_record import Problem
from memetik.kernels.runtime.record import Array, counters, flags, floats, integers, records
from memetik.kernels.search.search_record import Population

SIMULATED: bool = getattr(numba.config, "ENABLE_CUDASIM", False)  # device code as plain Python, a thread at a time
LANES = 1 if SIMULATED else 32  # threads of a warp; in the simulator they cannot meet without all others
WORDS = 12 + 2 * LANES  # with which the shared memory of a warp begins (warp.py)


class Tasks(NamedTuple):
    """Targets and starts, and which rows of them are to be solved.

    Task t is for row which[t // spread], or for row t // spread if `which` is empty. It draws from stream + t % spread: stream
    0 sets out from the start, any other from a posture of its own.
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


class Round(NamedTuple):
    """What a launch found, and where it is to go."""

    tried: Results  # of the tasks
    results: Results  # of the rows
    number: int  # rows that the launch was for
    spread: int  # tasks of each
    terms: int
    fresh: int  # 1 if the rows have no result yet
    which: Array = records(np.int32, "chosen")  # the rows, all if it is empty
    missed: Array = records(np.int32, "rows")  # those that are still missed, in no order
    count: Array = records(np.int32, 1)  # how many


class Look(NamedTuple):
    """Answers to all but the contacts of a problem, at which these are looked at (contacts.py)."""

    problem: Problem
    results: Results  # of the tasks, in the order of the terms without contacts
    number: int  # tasks
    fresh: int  # 1 if the rows have no result yet
    contact_free: Array = integers("terms")  # the number of each term among those without contacts, -1 for a contact


class FormLaunch(NamedTuple):
    """A launch for an arm with a closed form."""

    launch: Launch
    arm: Geometry


START = -1  # besides the kinds of targets (kernels/terms/targets.py): a joint vector
CODES = 8  # a complaint about an array is its row times this, and what is wrong


class Incoming(NamedTuple):
    """An array on the device that is to be written as rows of numbers (inputs.py)."""

    kind: int  # of target, or a start
    rows: int
    columns: int  # of a row, or of one of its matrices
    address: int
    single: int  # 1 for single precision
    row_stride: int  # in items ...
    stride: int  # ... along the next axis ...
    last_stride: int  # ... and the last, if there is one
    column: int  # where the numbers of the target begin in a row
    first: int  # of these, where a point begins
    base: Array = floats("base")  # the numbers that a target has besides; of a start, what locks hold it at, or NaN
    numbers: Array = floats("rows", "columns")
    complaint: Array = integers(1)


class Marks(NamedTuple):
    """Which rows are reached."""

    statuses: Array = records(np.int8, "rows")
    success: Array = flags("rows")


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
    resumed: Array = flags("warps", 1)


class Tree(NamedTuple):
    """The motions of a body as the lanes share them."""

    springs: int  # how many terms pull at single variables
    rows: Array = integers("nodes")  # all motions, level by level: those of a level hang on those before
    levels: Array = integers("levels")  # where each level begins in `rows`, and where the last one ends
    pairs: Array = integers("pairs", 2)  # a term and a motion that moves it, or -1 for all that do
    stumps: Array = records(NODE, "nodes")  # every motion as if it hung on the root
    stump_frames: Array = records(
        FRAME, "nodes", "frames"
    )  # for every motion the frames that it carries, the others on none
    couples: Array = integers(
        "couples", 6
    )  # a row and a column of J J^T, where what moves both begins and ends, how many
    shared: Array = integers("shared")  # variables that move both, one couple after another


class WarpLaunch(NamedTuple):
    """A launch with a warp for each task."""

    launch: Launch
    scratch: WarpScratch
    tree: Tree
    shared: int  # 1 if shared memory holds what a warp works on


class BodiesLaunch(NamedTuple):
    """A launch with a thread for each task (bodies.py)."""

    launch: Launch
    parameters: Array = floats(
        "parameters"
    )  # scales and tolerances of the terms, lower and upper limits of the variables

"""What solving kernels are given: the problem, and one run on it."""

from typing import NamedTuple

from memetik.kernels.body.records import BALL, FRAME, MOUNT, NODE
from memetik.kernels.problem.workspace import Workspace
from memetik.kernels.runtime.record import Array, counters, flags, floats, integers, item, reader, records
from memetik.kernels.terms.records import TERM

# A variable: a joint value that some objective depends on. Kernels work on vectors of variables.
VARIABLE = item(
    index=int,  # in the joint vector
    row_begin=int,  # the residuals that it moves: the first, and past the last
    row_end=int,
    whole_turn=int,  # 1 if it is an angle and whole turns of it change nothing
    ball=int,  # 1 if it is a turn of a ball, whose steps are rotations
    lower=float,  # limits [rad or m], perhaps infinite
    upper=float,
    sample_lower=float,  # finite limits to draw postures from
    sample_upper=float,
)

# Residuals that only these variables move, besides those of the trunk, which move several blocks (problem/blocks.py).
BLOCK = item(
    row_begin=int,  # the residuals: the first, and past the last
    row_end=int,
    begin=int,  # the variables, as places in `order`
    end=int,
    gather=int,  # addresses of the kernels for several blocks (blocks.py); only those of the first block count
    step=int,
)

# The limits of one entry of the joint vector, whether it is a variable or not.
LIMIT = item(lower=float, upper=float)


class Problem(NamedTuple):
    """A problem as kernels read it. None of it changes but `data`, of which every run has a copy.

    With mounts, every run has copies of nodes and frames, too, as they are with the root where the data have it.
    """

    nodes: Array = records(NODE, "nodes")  # the motions that the frames hang on, parents first
    frames: Array = records(FRAME, "frames")  # the frames that terms read
    terms: Array = records(TERM, "terms")  # what is measured
    variables: Array = records(VARIABLE, "variables")
    limits: Array = records(LIMIT, "dof")  # of the whole joint vector
    data: Array = floats("numbers")  # targets and other numbers of the terms
    affects: Array = flags("terms", "variables")  # 1 where the variable moves the term
    blocks: Array = records(BLOCK, "blocks")  # of all residuals, in their order
    order: Array = integers("variables")  # those that move no residual, those of each block, those of the trunk
    balls: Array = records(BALL, "balls")  # joints that step by rotations; none for methods that change single values
    mounts: Array = records(MOUNT, "mounts")  # what hangs on the root, if the root has a pose in the world


class Run(NamedTuple):
    """One solve: what it may spend, where its random numbers come from, and what it reports."""

    seed: int
    most: int  # evaluations
    deadline: float  # on the clock of `now`; 0 for none
    clock: Array = integers("clock")  # time and cancellation (runtime/cancel.py)
    state: Array = counters(1)  # of the random numbers
    outcome: Array = floats(
        "outcome"
    )  # budget.py; behind OUTCOME the error of every term, then whether it is satisfied


class SolveArrays(NamedTuple):
    """The arrays of a solve, of which every call has its own but for the problem."""

    problem: Problem
    work: Workspace
    source: Array = floats("numbers")  # the data as users set it, copied into the problem's when a solve begins
    clock: Array = integers("clock")
    state: Array = counters(1)


solve_arrays = reader(SolveArrays)

"""The ways from Python into the search. What a call needs besides, to look at the start or to set a target, is done in the
same crossing: from Python each look would take longer than the crossing itself.

Python says what is wrong with its arguments in words. So where something is, nothing is done and the answer is UNUSUAL.

The search and the conversion of targets are called by address: the machine code is the same, and so are the bits, whichever
way a problem is solved.
"""

from typing import NamedTuple

from numba.core import types

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.problem.function_pointers import TABLE, VECTOR, call_stage
from memetik.kernels.problem.verify import REACHED
from memetik.kernels.runtime.cancel import AT_FIRST, keep_gil, take_gil
from memetik.kernels.runtime.record import Array, floats, integers, item, reader, records
from memetik.kernels.search.search_record import MemeticArrays, memetic_arrays
from memetik.kernels.terms.function_pointers import call_write_pose
from memetik.kernels.terms.targets import OK

UNUSUAL = -1  # no status: something is for Python to look at

# A joint that is locked: where it stands in a joint vector, and at which value.
LOCKED = item(index=int, value=float)
# What a search may spend: evaluations, and seconds, 0 for no limit.
SPENDING = item(most=int, seconds=float)


class SearchCall(NamedTuple):
    """A search as Python calls it: all that stays the same from one solve to the next."""

    search: int  # its address (STAGE in problem/function_pointers.py)
    keeps_gil: int  # how long it keeps the GIL (`keep_gil` of runtime/cancel.py)
    table: Array = integers("words")  # all that it reads and writes
    spending: Array = records(SPENDING, 1)


search_call = reader(SearchCall)


class BoundPose(NamedTuple):
    """One full pose that is solved again and again, for other targets: all that stays the same."""

    arrays: MemeticArrays
    search: int  # address of the search (STAGE in problem/function_pointers.py)
    write: int  # address of the conversion of targets (WRITE_POSE in terms/function_pointers.py)
    place: int  # of the target in the data
    seed: int
    most: int  # evaluations of the search
    seconds: float  # 0 for no limit
    usual: Array = floats(1)  # a start that is shorter is not looked at
    locked: Array = records(LOCKED, "locked")
    q: Array = floats("dof")  # from the start to the answer
    last: Array = floats("dof")  # the last answer that can be started from
    outcome: Array = floats("outcome")


bound_pose = reader(BoundPose)


@jit_part
def start_is_valid(start, dof, usual):
    """Whether it has one number for each joint and is shorter than what is doubted; NaN never is."""
    square = 0.0
    for k in range(start.size):
        square += start[k] * start[k]
    return start.size == dof and square < usual * usual


@jit
def search_from(table, q, outcome, seed, usual):
    """The first stage of a solve (stages.py) from the joint vector q as the user gave it; the table is a SearchCall's."""
    call = search_call(table)
    solve = memetic_arrays(call.table).solve
    if not start_is_valid(q, solve.problem.limits.size, usual):
        return UNUSUAL
    keep_gil(solve.clock, call.keeps_gil)
    spending = call.spending[0]
    status = call_stage(call.search, call.table, q, outcome, seed, spending.most, spending.seconds)
    take_gil(solve.clock)
    return status


# As Python calls it.
SEARCH_FROM = types.int64(TABLE, VECTOR, VECTOR, types.int64, types.float64)


@jit
def step_pose(table, target, start):
    """Set the target of a bound pose, a 4x4 matrix, and search from a joint vector. The answer stands in q."""
    bound = bound_pose(table)
    q = bound.q
    if not start_is_valid(start, q.size, bound.usual[0]):
        return UNUSUAL
    if call_write_pose(bound.write, target, bound.arrays.solve.source, bound.place) != OK:
        return UNUSUAL
    for k in range(q.size):
        q[k] = start[k]
    for k in range(bound.locked.size):
        q[bound.locked[k].index] = bound.locked[k].value
    clock = bound.arrays.solve.clock
    keep_gil(clock, AT_FIRST)
    status = call_stage(bound.search, table, q, bound.outcome, bound.seed, bound.most, bound.seconds)
    take_gil(clock)
    if status == REACHED:
        for k in range(q.size):
            bound.last[k] = q[k]
    return status


# As Python calls it: target and start lie as the user has them.
STEP_POSE = types.int64(TABLE, types.float64[:, :], types.float64[:])

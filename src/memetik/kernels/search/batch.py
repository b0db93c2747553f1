"""Many solves in one call: row after row of targets, while the other threads of Python do the same with other rows."""

from typing import NamedTuple

from memetik.kernels.compiler.jit import jit_free, jit_part
from memetik.kernels.problem.function_pointers import call_stage
from memetik.kernels.problem.problem_record import solve_arrays
from memetik.kernels.problem.verify import CLOSEST, REACHED
from memetik.kernels.runtime.cancel import CAUGHT
from memetik.kernels.runtime.clock import now
from memetik.kernels.runtime.record import Array, floats, integers, records
from memetik.kernels.search.stages import left_of, run_stages


class Rows(NamedTuple):
    """Targets and starts, and what becomes of each row."""

    columns: Array = integers("columns")  # where the targets go in the data of the problem
    targets: Array = floats("rows", "columns")
    q: Array = floats("rows", "dof")  # where each solve starts, and its answer
    statuses: Array = records("int8", "rows")
    outcomes: Array = floats("rows", "outcome")
    seconds: Array = floats("rows")  # what each solve took, or its share of what several took side by side


@jit_part
def take_target(rows, k, source):
    """Set the target of row k."""
    for c in range(rows.columns.size):
        source[rows.columns[c]] = rows.targets[k, c]


@jit_part
def solve_row(rows, k, stages, table, shares, only_guides, seed, seconds):
    """Solve row k, in place."""
    arrays = solve_arrays(table)
    clock, q, outcome = arrays.clock, rows.q[k], rows.outcomes[k]
    take_target(rows, k, arrays.source)
    begin = now(clock)
    status = call_stage(stages.search, table, q, outcome, seed, shares.search, shares.seconds * seconds)
    if status == CLOSEST or (only_guides and status == REACHED):
        left = left_of(seconds, begin, clock)
        status = run_stages(stages, table, q, outcome, status, seed, shares, left, clock)
    rows.statuses[k] = status
    after = now(clock)
    rows.seconds[k] = after - begin
    return after


@jit_free
def solve_rows(rows, stages, table, shares, only_guides, seed, seconds, pause):
    """Solve one problem for every row, in place. Returns how many rows it came to within `pause` seconds, at least one.

    The table belongs to one thread.
    """
    clock = solve_arrays(table).clock
    end = now(clock) + pause
    for k in range(rows.q.shape[0]):
        after = solve_row(rows, k, stages, table, shares, only_guides, seed, seconds)
        if after >= end or clock[CAUGHT] != 0:
            return k + 1
    return rows.q.shape[0]

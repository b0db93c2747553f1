"""Many solves in one call: row after row of targets, while the other threads of Python do the same with other rows."""

from __future__ import annotations

from memetik.kernels.compiler.cancel import CAUGHT
from memetik.kernels.compiler.clock import now
from memetik.kernels.compiler.function_pointers import call_stage
from memetik.kernels.compiler.jit import jit_free
from memetik.kernels.memetic.stages import left_of, run_stages
from memetik.kernels.problem.verify import CLOSEST, REACHED


@jit_free
def solve_rows(
    search, stages, search_table, table, data, places, targets, q, numbers, statuses, lasted, shares, only_guides, seed,
    seconds, pause, clock,
):  # fmt: skip
    """Solve one problem for every row of `targets`, whose columns go to data[places], from the same row of q, in place.

    Returns how many rows it came to solve within `pause` seconds, at least one.

    `search` is the address of the first stage, with a table of its own; `stages` those of the others (run_stages). `shares` are
    the evaluations that each row may have spent after the search, before the last stage, and in all. A row of `numbers`
    is the outcome of a solve, `lasted` how long it took [s]. The tables, `data` and `clock` belong to one thread.
    """
    end = now(clock) + pause
    for k in range(q.shape[0]):
        for c in range(places.size):
            data[places[c]] = targets[k, c]
        begin = now(clock)
        status = call_stage(search, search_table, q[k], numbers[k], seed, shares[0], seconds)
        if status == CLOSEST or (only_guides and status == REACHED):
            left = left_of(seconds, begin, clock)
            status = run_stages(stages, table, q[k], numbers[k], status, seed, shares[1], shares[2], left, clock)
        statuses[k] = status
        after = now(clock)
        lasted[k] = after - begin
        if after >= end or clock[CAUGHT] != 0:
            return k + 1
    return q.shape[0]

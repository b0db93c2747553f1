"""Between two launches of a batch: of the tasks of each row the best is kept, and the rows that are still missed are listed.

Nothing of it leaves the device but the number of rows that are missed.
"""

import math
from typing import Any

import numba.cuda

from memetik.kernels.cuda.launch_record import LANES, SIMULATED, Round
from memetik.kernels.cuda.table import device_reader
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, OUTCOME
from memetik.kernels.problem.verify import REACHED

cuda: Any = numba.cuda  # it has no types

read = device_reader(Round)

WARP = 0xFFFFFFFF  # all 32 threads


@cuda.jit
def list_missed(table):
    """List the rows that are missed, where a task of each wrote its result in its place; a row a thread."""
    given = read(table)
    row = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < given.number and given.results.statuses[row] != REACHED:
        given.missed[cuda.atomic.add(given.count, 0, 1)] = row


@cuda.jit
def keep_best(table):
    """Keep the first task of a row that reached its target, or else the one that came nearest, if it is nearer than before.

    A row a warp.
    """
    given = read(table)
    lane, at = cuda.threadIdx.x, cuda.blockIdx.x
    tried, results, terms = given.tried, given.results, given.terms
    row = at
    if given.which.size > 0:
        row = given.which[at]
    first, end = at * given.spread, (at + 1) * given.spread
    found, chosen, least = end, first, math.inf
    evaluations, attempts = 0.0, 0.0
    for task in range(first + lane, end, LANES):
        evaluations += tried.outcomes[task, EVALUATIONS]
        attempts += tried.outcomes[task, ATTEMPTS]
        if tried.statuses[task] == REACHED:
            found = min(found, task)
        missing = 0.0
        for t in range(terms):
            missing += tried.outcomes[task, OUTCOME + t]
        if missing < least:
            chosen, least = task, missing
    if not SIMULATED:
        apart = 16
        while apart > 0:
            found = min(found, cuda.shfl_xor_sync(WARP, found, apart))
            evaluations += cuda.shfl_xor_sync(WARP, evaluations, apart)
            attempts += cuda.shfl_xor_sync(WARP, attempts, apart)
            other, missing = cuda.shfl_xor_sync(WARP, chosen, apart), cuda.shfl_xor_sync(WARP, least, apart)
            if missing < least or (missing == least and other < chosen):
                chosen, least = other, missing
            apart //= 2
    before = math.inf
    if given.fresh == 0:
        evaluations += results.outcomes[row, EVALUATIONS]
        attempts += results.outcomes[row, ATTEMPTS]
        before = 0.0
        for t in range(terms):
            before += results.outcomes[row, OUTCOME + t]
    if not SIMULATED:
        cuda.syncwarp(WARP)  # all have read what is written now
    reached = found < end
    if reached:
        chosen = found
    if reached or given.fresh != 0 or least < before:
        for k in range(lane, results.q.shape[1], LANES):
            results.q[row, k] = tried.q[chosen, k]
        for k in range(lane, results.outcomes.shape[1], LANES):
            results.outcomes[row, k] = tried.outcomes[chosen, k]
        if lane == 0:
            results.statuses[row] = tried.statuses[chosen]
    if not SIMULATED:
        cuda.syncwarp(WARP)
    if lane == 0:
        results.outcomes[row, EVALUATIONS], results.outcomes[row, ATTEMPTS] = evaluations, attempts
        if not reached:
            given.missed[cuda.atomic.add(given.count, 0, 1)] = row

"""What all methods share: from a joint vector into the search of one method, and out with a verified answer."""

from __future__ import annotations

import math

from memetik.kernels.compiler.function_pointers import call_search
from memetik.kernels.compiler.jit import jit_free
from memetik.kernels.memetic.search import move_inside
from memetik.kernels.problem.budget import ERROR, MOVED, OUTCOME, deadline_after
from memetik.kernels.problem.evaluate import count_residuals
from memetik.kernels.problem.verify import verify
from memetik.kernels.problem.workspace import carve
from memetik.kernels.terms.springs import rest_at_start


@jit_free
def drive(
    nodes, frames, terms, data, bounds, spans, active, limits, q, search, seed, most, seconds, parameters, places, room,
    flags, clock, state, buffer, outcome,
):  # fmt: skip
    """Solve from the joint vector q and write the answer into it. Returns the status of the verified answer.

    `search` is the address of the kernel that does the work of a method (SEARCH in function_pointers.py). It starts at x, counts
    its evaluations, stops when `spent` says so (budget.py), and hands every posture worth keeping to `remember`; the best
    of them is the answer. `parameters` are the numbers of the method, `places` (int64) and `room` (float64) its scratch.
    """
    n = active.size
    work = carve(buffer, nodes.size, frames.size, n, count_residuals(terms), 0)
    for k in range(OUTCOME):
        outcome[k] = 0.0
    outcome[ERROR] = math.inf
    deadline = deadline_after(seconds, clock)
    x, start = work.x, work.start
    if move_inside(q, limits):
        outcome[MOVED] = 1.0
    for k in range(n):
        x[k] = start[k] = q[active[k]]
        work.best[k] = x[k]  # the answer if no posture can be measured
    rest_at_start(terms, data, start)
    problem = (nodes, frames, terms, data, bounds, spans)
    call_search(search, problem, x, seed, most, deadline, parameters, places, room, clock, state, outcome, work)
    for k in range(n):
        x[k] = work.best[k]
        start[k] = q[active[k]]
    errors, satisfied = outcome[OUTCOME : OUTCOME + terms.size], outcome[OUTCOME + terms.size :]
    status = verify(
        nodes, frames, terms, data, bounds, x, start, work.poses, work.world, work.residual, errors, satisfied
    )
    for k in range(n):
        q[active[k]] = x[k]
    return status

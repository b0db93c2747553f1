"""How every solve begins and ends, and what all methods but the flagship share in between."""

import math

from numba.core import types

from memetik.kernels.compiler.jit import jit, jit_free, jit_inlined
from memetik.kernels.problem.budget import ERROR, MOVED, OUTCOME, deadline_after
from memetik.kernels.problem.function_pointers import TABLE, VECTOR, call_search
from memetik.kernels.problem.limits import move_inside
from memetik.kernels.problem.mounts import place_root
from memetik.kernels.problem.problem_record import Run, solve_arrays
from memetik.kernels.problem.verify import verify
from memetik.kernels.terms.springs import rest_at_start, springs_cost


@jit
def begin_solve(arrays, q, outcome, seed, most, seconds):
    """Take the targets as they are now and the variables of q, moved inside the limits. Returns the run."""
    problem, work = arrays.problem, arrays.work
    for k in range(problem.data.size):
        problem.data[k] = arrays.source[k]  # a target that is set meanwhile counts for the next solve
    place_root(problem)
    for k in range(OUTCOME):
        outcome[k] = 0.0
    outcome[ERROR] = math.inf
    run = Run(seed, most, deadline_after(seconds, arrays.clock), arrays.clock, arrays.state, outcome)
    if move_inside(q, problem.limits):
        outcome[MOVED] = 1.0
    for k in range(work.x.size):
        work.x[k] = work.start[k] = q[problem.variables[k].index]
        work.best[k] = work.x[k]  # the answer if no posture can be measured
    rest_at_start(problem.terms, problem.data, work.start)
    return run


@jit
def cost_of(problem, x, work):
    """The sum of squares of all scaled residuals, those of guides in full, at a posture that was just verified."""
    terms, total = problem.terms, 0.0
    for t in range(terms.size):
        square = springs_cost(terms[t], problem.data, x) if terms[t].rows == 0 else 0.0
        for i in range(terms[t].row, terms[t].row + terms[t].rows):
            square += work.residual[i] * work.residual[i]
        total += square * terms[t].scale * terms[t].scale
    return total


@jit_inlined
def end_solve(problem, q, x, outcome, work):
    """Verify x and write it into q, where it began. Returns the status."""
    for k in range(x.size):
        work.start[k] = q[problem.variables[k].index]
    status = verify(problem, x, outcome, work)
    outcome[ERROR] = cost_of(problem, x, work)
    for k in range(x.size):
        q[problem.variables[k].index] = x[k]
    return status


# From Python, as below: (search, own, table, q, outcome, seed, most, seconds)
SOLVE_BY = types.int64(types.int64, TABLE, TABLE, VECTOR, VECTOR, types.int64, types.int64, types.float64)


@jit_free
def solve_by(search, own, table, q, outcome, seed, most, seconds):
    """Solve from the joint vector q and write the answer into it. Returns the status of the verified answer.

    `search` is the address of the kernel that does the work of a method (SEARCH in function_pointers.py). It starts at
    work.x, counts its evaluations, stops when `spent` says so (budget.py), and hands every posture worth keeping to
    `remember`; the best of them is the answer. `own` is the table of the method's settings and scratch.
    """
    arrays = solve_arrays(table)
    problem, work = arrays.problem, arrays.work
    run = begin_solve(arrays, q, outcome, seed, most, seconds)
    call_search(search, problem, run, own, work)
    for k in range(work.x.size):
        work.x[k] = work.best[k]
    return end_solve(problem, q, work.x, outcome, work)


@jit
def judge(table, q, outcome):
    """The status of a joint vector as it stands, with the errors of all terms written behind OUTCOME."""
    arrays = solve_arrays(table)
    problem, work = arrays.problem, arrays.work
    for k in range(work.x.size):
        work.x[k] = work.start[k] = q[problem.variables[k].index]
    return verify(problem, work.x, outcome, work)

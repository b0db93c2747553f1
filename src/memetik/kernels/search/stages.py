"""The stages of one solve: search; refinement of the best posture where something was missed; relaxation of wide tolerances;
priorities.

A stage is a kernel (table, q, outcome, seed, most, seconds) that takes all arrays as one table (MemeticArrays in
search_record.py), goes on from the joint vector q in place, and returns the status of what it leaves there. `most` counts the
evaluations of all stages so far. Whoever solves, one problem from Python or many in a loop, calls the same machine code of
each stage by address, and so gets the same bits.
"""

import numba
from numba.core import types

from memetik.kernels.compiler.jit import jit, jit_free, jit_part
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, MOVED, OUTCOME, TIMED_OUT
from memetik.kernels.problem.evaluate import measure, place, term_error
from memetik.kernels.problem.function_pointers import PROBLEM, SOLVE, VECTOR, WORKSPACE, call_stage
from memetik.kernels.problem.guides import FAINT
from memetik.kernels.problem.least_squares import bounded_step, linear_model
from memetik.kernels.problem.problem_record import Problem, SolveArrays
from memetik.kernels.problem.solve import begin_solve, judge
from memetik.kernels.problem.verify import CLOSEST, REACHED, verify
from memetik.kernels.runtime.clock import now
from memetik.kernels.search.priorities import keep_start
from memetik.kernels.search.refine import refine_vector
from memetik.kernels.search.search import solve
from memetik.kernels.search.search_record import Callees, memetic_arrays
from memetik.kernels.terms.records import TERM

YIELDING = 0.1  # what is left of the pull of an objective that is satisfied with room to spare


@jit
def copy(source, to):
    """Write all of one array into another of its size."""
    for k in range(source.size):
        to[k] = source[k]


@jit_part
def search_stage(table, q, outcome, seed, most, seconds):
    """The first stage, for every problem but a single pose, which has pose_search.py."""
    arrays = memetic_arrays(table)
    callees = Callees(arrays.attempt, arrays.addresses[0].next_start)
    return solve(arrays.solve, arrays.population, arrays.scratch, callees, q, outcome, seed, 0, most, seconds)


@jit_part
def refine_stage(table, q, outcome, seed, most, seconds):
    """The second stage: bring the best posture to a true minimum."""
    terms = memetic_arrays(table).solve.problem.terms
    softness = 1.0  # if there are only guides, of different priorities: else restarts.py has this stage
    for t in range(terms.size):
        if not terms[t].soft:
            softness = FAINT
    return refine_vector(table, q, outcome, softness, most, seconds)


@jit_part
def relax_stage(table, q, outcome, seed, most, seconds):
    """The third stage: let objectives that are satisfied with room to spare pull less, if that satisfies the others.

    All objectives are minimised together, so one with a wide tolerance can hold another back for no good. Those within a
    wide tolerance (`roomy`) become guides, and the answer counts if they still are.
    """
    arrays = memetic_arrays(table)
    problem, relax = arrays.solve.problem, arrays.relax
    left = most - int(outcome[EVALUATIONS])
    any_yields = False
    for t in range(problem.terms.size):
        relax.terms[t] = problem.terms[t]
        if arrays.loose_tolerances[t] and outcome[OUTCOME + problem.terms.size + t] != 0.0:
            relax.terms[t].soft = 1
            relax.terms[t].scale *= YIELDING
            any_yields = True
    if left < 1 or not any_yields:
        return CLOSEST
    copy(outcome, relax.outcome)
    copy(problem.data, relax.data)
    copy(q, relax.q)
    relaxed = Problem(
        problem.nodes, problem.frames, relax.terms, problem.variables, problem.limits, problem.data, problem.affects,
        problem.blocks, problem.order, problem.balls, problem.mounts,
    )  # fmt: skip
    own = SolveArrays(relaxed, arrays.solve.work, relax.data, arrays.solve.clock, arrays.solve.state)
    callees = Callees(arrays.attempt_softly, arrays.addresses[0].next_start)
    solve(own, arrays.population, arrays.scratch, callees, relax.q, outcome, seed, 0, left, seconds)
    copy(relax.data, problem.data)  # what follows the start is about the start of the whole solve
    outcome[EVALUATIONS] += relax.outcome[EVALUATIONS]
    outcome[ATTEMPTS] += relax.outcome[ATTEMPTS]
    outcome[MOVED] += relax.outcome[MOVED]
    status = judge(table, relax.q, outcome)
    if status == REACHED:
        copy(relax.q, q)
        return REACHED
    copy(relax.outcome[OUTCOME:], outcome[OUTCOME:])  # no better: what was found before stands
    return CLOSEST


@jit_part
def left_of(seconds, begin, clock):
    """What is left of the seconds since `begin`; never zero, which means no deadline, unless there was none."""
    return max(seconds - (now(clock) - begin), 1e-9) if seconds > 0.0 else 0.0


@jit_free
def run_stages(stages, table, q, outcome, status, seed, shares, seconds, clock):
    """The stages after the search, as far as they are called for. Returns the status of the answer."""
    begin = now(clock) if seconds > 0.0 else 0.0
    only_guides = status == REACHED
    if stages.priorities != 0:
        keep_start(table)
    if outcome[TIMED_OUT] == 0.0 and outcome[EVALUATIONS] < shares.first:
        status = call_stage(stages.refine, table, q, outcome, seed, shares.first, left_of(seconds, begin, clock))
    if status == CLOSEST and stages.relax != 0 and outcome[TIMED_OUT] == 0.0:
        status = call_stage(stages.relax, table, q, outcome, seed, shares.relaxed, left_of(seconds, begin, clock))
    if stages.priorities != 0 and (status == CLOSEST or only_guides):
        # Also if the search ran out of time: of its time a share was kept for this.
        status = call_stage(stages.priorities, table, q, outcome, seed, shares.most, left_of(seconds, begin, clock))
    return status


# The largest parts of the search and of its local search, with the types of their arguments, for two processes to share
# (compiler/second_compiler.py); before them what several contain.
_MATRIX, _TERM = types.float64[:, ::1], numba.from_dtype(TERM)
SEARCH_PARTS = (
    (place, (PROBLEM.types[0], PROBLEM.types[1], VECTOR, _MATRIX, _MATRIX)),
    (term_error, (_TERM, VECTOR, VECTOR, VECTOR)),
    (begin_solve, (SOLVE, VECTOR, VECTOR, types.int64, types.int64, types.float64)),
    (verify, (PROBLEM, VECTOR, VECTOR, WORKSPACE)),
    (measure, (_TERM[::1], VECTOR, _MATRIX, VECTOR, types.float64, VECTOR)),
    (linear_model, (PROBLEM, VECTOR, types.float64, WORKSPACE)),
    (bounded_step, (PROBLEM, VECTOR, types.float64, types.float64, WORKSPACE)),
)

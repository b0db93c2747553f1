"""memetic for solids that keep apart: solve without them, look, push out what touches, start elsewhere.

Distances are dear and rarely count: most of a search is about coming near the targets, and most of what satisfies these
is free or almost free. So the problem without its contacts (`Bare`), which has methods of its own, is solved first, the
whole problem is measured once at its answer, and only if something touches there the whole problem is descended, from
where all else is satisfied already. If that fails, the next start is the posture of the population that suits the targets
best, and after these a random one.

Of the many rows that contacts may take, most are empty. The descent leaves these out, because a step takes the square of
the rows at least.
"""

import math
from typing import NamedTuple

from memetik.kernels.compiler.clock import now
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.compiler.random import seed_stream
from memetik.kernels.compiler.record import Array, floats, reader, records
from memetik.kernels.memetic.descent import DAMPING, LONGEST_STEP, STALL, STALLS, STEPS
from memetik.kernels.memetic.population_poses import take_best
from memetik.kernels.memetic.record import MemeticArrays, SearchScratch, memetic_arrays
from memetik.kernels.memetic.search import SHARE, rank
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, TIMED_OUT, remember, spent
from memetik.kernels.problem.evaluate import measure, place
from memetik.kernels.problem.function_pointers import call_attempt, call_stage
from memetik.kernels.problem.least_squares import LEAST_DAMPING, bounded_step, linear_model, take_step
from memetik.kernels.problem.limits import sample
from memetik.kernels.problem.record import VARIABLE, Problem
from memetik.kernels.problem.solve import begin_solve, end_solve
from memetik.kernels.problem.verify import CLOSEST, REACHED, verify
from memetik.kernels.problem.workspace import Workspace
from memetik.kernels.terms.records import CONTACT, TERM


class Push(NamedTuple):
    """The whole problem with the rows that are in use only."""

    terms: Array = records(TERM, "terms")
    variables: Array = records(VARIABLE, "variables")
    residual: Array = floats("residuals")


class Bare(NamedTuple):
    """The problem without its contacts: the same joints, the same numbers."""

    memetic: MemeticArrays  # first, so that the table of this record is that of its stages, too
    scratch: SearchScratch  # of the choice among starts; the stages use their own
    push: Push
    guided: int  # 1 if the problem has guides, which only the descent of the whole problem knows to weigh
    search: int  # address of its first stage
    q: Array = floats("dof")
    outcome: Array = floats("outcome")


bare_arrays = reader(Bare)


@jit_part
def time_left(run):
    """Until the deadline [s]; never zero, which means no deadline, unless there is none."""
    return max(run.deadline - now(run.clock), 1e-9) if run.deadline > 0.0 else 0.0


@jit_part
def next_start(whole, bare, starts, run):
    """The next best posture of the population for what the bare problem wants, then random ones, in work.x.

    Joints that only move what must not touch, such as fingers, stay where the solve began, as long as there is a population.
    """
    problem, work, scratch = whole.solve.problem, whole.solve.work, bare.scratch
    own = bare.memetic.solve.problem
    if starts == 0:
        for t in range(scratch.failed.size):
            scratch.failed[t] = 1 - own.terms[t].soft
        for c in range(scratch.used.size):
            scratch.used[c] = 0
        rank(own, bare.memetic.population, scratch, bare.memetic.solve.work)
    if starts < scratch.score.size // SHARE:
        c = take_best(scratch.score)
        for k in range(work.x.size):
            moves = own.variables[k].row_end > 0
            work.x[k] = bare.memetic.population.genes[c, k] if moves else work.start[k]
    else:
        for k in range(work.x.size):
            work.x[k] = sample(problem.variables[k], run.state)


@jit_part
def leave_out_empty_rows(problem, push, work):
    """The problem and the workspace at a posture that was just measured, with no more rows for contacts than are close."""
    terms, variables, affects = problem.terms, problem.variables, problem.affects
    n, m = work.jacobian.shape
    for k in range(n):
        push.variables[k] = variables[k]
        push.variables[k].row_begin, push.variables[k].row_end = m, 0
    row = 0
    for t in range(terms.size):
        push.terms[t] = terms[t]
        rows, first = terms[t].rows, terms[t].row
        if rows == 0:
            continue
        if terms[t].loss == CONTACT:
            while rows > 1 and work.residual[first + rows - 1] == 0.0:
                rows -= 1
        for i in range(rows):
            push.residual[row + i] = work.residual[first + i]
        push.terms[t].row, push.terms[t].rows = row, rows
        for k in range(n):
            if affects[t, k]:
                push.variables[k].row_begin = min(push.variables[k].row_begin, row)
                push.variables[k].row_end = row + rows
        row += rows
    for k in range(n):
        if push.variables[k].row_end == 0:
            push.variables[k].row_begin = 0
    s = min(n, row)
    less = Problem(
        problem.nodes, problem.frames, push.terms, push.variables, problem.limits, problem.data, affects,
        problem.blocks[:0], problem.order, problem.balls, problem.mounts,
    )  # fmt: skip
    return less, Workspace(
        work.poses, work.axes, work.world, work.jacobian.reshape(n * m)[: n * row].reshape((n, row)),
        work.system.reshape(work.system.size)[: s * s].reshape((s, s)), push.residual[:row], work.right[:row],
        work.gradient, work.diagonal, work.step, work.free, work.trial, work.best, work.x, work.start, work.columns,
        work.border, work.reduced, work.square, work.ease, work.shares, work.trunk,
    )  # fmt: skip


@jit
def push_out(problem, push, x, run, work):
    """The descent of descent.py from a posture where something touches, without the empty rows of contacts."""
    last, failures = math.inf, 0
    for step in range(STEPS + 1):
        place(problem.nodes, problem.frames, x, work.poses, work.world)
        run.outcome[EVALUATIONS] += 1.0
        error, hard, satisfied = measure(problem.terms, problem.data, work.world, x, 0.0, work.residual)
        remember(x, hard, run, work)
        failures = failures + 1 if error > STALL * last else 0
        if satisfied or failures >= STALLS or step == STEPS or not math.isfinite(error) or spent(run):
            return satisfied
        last = error
        less, view = leave_out_empty_rows(problem, push, work)
        linear_model(less, x, 0.0, view)
        bounded_step(less, x, DAMPING * 0.5 * error + LEAST_DAMPING, LONGEST_STEP, view)
        take_step(x, less, view)
    return False


@jit
def contact_stage(table, q, outcome, seed, most, seconds):
    """The first stage (stages.py) of a problem with contacts and more."""
    whole = memetic_arrays(table)
    bare = bare_arrays(whole.bare)
    problem, work = whole.solve.problem, whole.solve.work
    run = begin_solve(whole.solve, q, outcome, seed, most, seconds)
    seed_stream(run.state, seed, 0)
    x, starts = work.x, 0
    for k in range(q.size):
        bare.q[k] = q[k]
    while True:
        for k in range(x.size):
            bare.q[problem.variables[k].index] = x[k]
        left = most - int(outcome[EVALUATIONS]) - 1  # one is for the look at the contacts
        found = CLOSEST
        if left > 0:
            found = call_stage(bare.search, whole.bare, bare.q, bare.outcome, seed + starts, left, time_left(run))
            outcome[EVALUATIONS] += bare.outcome[EVALUATIONS]
            outcome[ATTEMPTS] += bare.outcome[ATTEMPTS]
            outcome[TIMED_OUT] = max(outcome[TIMED_OUT], bare.outcome[TIMED_OUT])
        for k in range(x.size):
            x[k] = bare.q[problem.variables[k].index]
        outcome[EVALUATIONS] += 1.0
        if found == REACHED and verify(problem, x, outcome, work) == REACHED:
            for k in range(x.size):
                q[problem.variables[k].index] = x[k]
            return REACHED
        if found != REACHED or spent(run):
            place(problem.nodes, problem.frames, x, work.poses, work.world)
            remember(x, measure(problem.terms, problem.data, work.world, x, 0.0, work.residual)[1], run, work)
        if found == REACHED and not spent(run):
            outcome[ATTEMPTS] += 1.0
            if bare.guided:
                satisfied = call_attempt(whole.attempt, problem, x, run, work)
            else:
                satisfied = push_out(problem, bare.push, x, run, work)
            if satisfied:
                return end_solve(problem, q, x, outcome, work)
        if spent(run):
            return end_solve(problem, q, work.best, outcome, work)
        next_start(whole, bare, starts, run)
        starts += 1

"""memetic for solids that keep apart: solve without them, look, push out what touches, start elsewhere.

Distances are dear and rarely count: most of a search is about coming near the targets, and most of what satisfies these
is free or almost free. So the problem without its contacts (`ContactFree`), which has methods of its own, is solved first, the
whole problem is measured once at its answer, and only if something touches there the whole problem is descended, from
where all else is satisfied already. If that fails, the search without contacts goes on where it ended: with the postures of
its population that it has not started from, and after these random ones. (To search again from another posture leads to the
same answers again, in which the same links touch: on a humanoid a hundred times in a row.) The postures of the population are
free themselves (free_postures.py), so that what is near them often is.

Of the many rows that contacts may take, most are empty. The descent leaves these out, because a step takes the square of
the rows at least. Of the many pairs it measures those only that were near when it last looked, until something has moved so
far that others can be near; and those that it finds close are the ones of which it takes the Jacobian.
"""

import math
from typing import NamedTuple

from memetik.kernels.compiler.jit import jit, jit_fast, jit_part
from memetik.kernels.contacts.sliding_step import POINT_ROOM, Slide
from memetik.kernels.math.linear import factorise, substitute
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, TIMED_OUT, remember, spent, time_left
from memetik.kernels.problem.evaluate import measure, place
from memetik.kernels.problem.function_pointers import call_attempt, call_stage
from memetik.kernels.problem.least_squares import (
    bounded_step,
    linear_model,
    shorten,
    step_by_variables,
    stop_at_limits,
    take_step,
)
from memetik.kernels.problem.limits import sample
from memetik.kernels.problem.problem_record import VARIABLE, Problem
from memetik.kernels.problem.solve import begin_solve, end_solve
from memetik.kernels.problem.verify import CLOSEST, REACHED, verify
from memetik.kernels.problem.workspace import Workspace
from memetik.kernels.runtime.random import seed_stream
from memetik.kernels.runtime.record import Array, floats, integers, reader, records
from memetik.kernels.search.descent import (
    DAMPING,
    LONGEST_STEP,
    STALL,
    STALLS,
    STEPS,
    damping_of,
    failures_in_row,
    is_over,
)
from memetik.kernels.search.population_poses import take_best
from memetik.kernels.search.search import SHARE, rank
from memetik.kernels.search.search_record import MemeticArrays, SearchScratch, memetic_arrays
from memetik.kernels.terms.distance import CONTACT_DATA, DISTANCE_FOUND, DISTANCE_LISTS, DISTANCE_MARGIN, near_lists
from memetik.kernels.terms.records import CONTACT, TERM

ALONG = 0.01  # of the margin: how far from a surface a track runs along it
ONE_ATTEMPT = (
    STEPS + 1
)  # evaluations for one pose from another start; a longer search would take the starts of the one before
LONGEST_PUSH = 0.5  # rad or m: what is to be kept is satisfied already, and a long step along it loses it
SLACK = 0.1  # m; pairs that are so much farther apart than they should be are looked at again when something has moved half of it


class Push(NamedTuple):
    """The whole problem with the pairs that are near, and with the rows that are in use only."""

    near: Array = records(TERM, "terms")  # with the pairs that are near
    terms: Array = records(TERM, "terms")  # with those that are too close, and their rows
    variables: Array = records(VARIABLE, "variables")
    residual: Array = floats("residuals")
    rows: Array = integers("residuals")  # that a variable moves
    data: Array = floats(
        "push_numbers"
    )  # of the problem; behind them, for each contact, the pairs that are near and too close
    world: Array = floats("frames", 3)  # where the frames were when the pairs that are near were found


def push_room(numbers: int, terms: int, residuals: int) -> int:
    """How many numbers a Push has for a problem of so many."""
    return 2 * (numbers + DISTANCE_LISTS * terms) + CONTACT_DATA * residuals + POINT_ROOM


class ContactFree(NamedTuple):
    """The problem without its contacts: the same joints, the same numbers."""

    memetic: MemeticArrays  # first, so that the table of this record is that of its stages, too
    scratch: SearchScratch  # of the choice among starts; the stages use their own
    push: Push
    slide: Slide
    guided: int  # 1 if the problem has guides, which only the descent of the whole problem knows to weigh
    search: int  # address of its first stage
    q: Array = floats("dof")
    outcome: Array = floats("outcome")


contact_free_arrays = reader(ContactFree)


@jit_part
def next_start(whole, contact_free, starts, run):
    """For one pose: the next best posture of the population for what the bare problem wants, then random ones, in work.x.

    Joints that only move what must not touch, such as fingers, stay where the solve began, as long as there is a population.
    """
    work, scratch = whole.solve.work, contact_free.scratch
    own = contact_free.memetic.solve.problem
    if starts == 0:
        for t in range(scratch.failed.size):
            scratch.failed[t] = 1 - own.terms[t].soft
        for c in range(scratch.used.size):
            scratch.used[c] = 0
        rank(own, contact_free.memetic.population, scratch, contact_free.memetic.solve.work)
    restart(whole, contact_free, starts, run)
    known = starts < scratch.score.size // SHARE
    c = take_best(scratch.score) if known else 0
    for k in range(work.x.size):
        if own.variables[k].row_end > 0:
            work.x[k] = contact_free.memetic.population.genes[c, k] if known else sample(own.variables[k], run.state)


@jit_part
def restart(whole, contact_free, starts, run):
    """Back to the start, in work.x; joints that only move what must not touch go elsewhere if many searches have failed."""
    work, variables = whole.solve.work, contact_free.memetic.solve.problem.variables
    for k in range(work.x.size):
        idle = variables[k].row_end == 0 and starts >= contact_free.scratch.score.size // SHARE
        work.x[k] = sample(variables[k], run.state) if idle else work.start[k]


@jit_part
def take_near_pairs(problem, push, work):
    """Find the pairs that are near at a posture that was just placed, and make room for those that are too close."""
    end = problem.data.size
    for t in range(problem.terms.size):
        push.near[t] = problem.terms[t]
        if problem.terms[t].loss != CONTACT:
            continue
        near, source = end, problem.terms[t].numbers
        lists, close = near_lists(problem.terms[t], push.data, work.world, SLACK, near + DISTANCE_LISTS)
        for k in range(DISTANCE_LISTS):
            push.data[near + k] = push.data[close + k] = push.data[source + k]
        push.data[near + DISTANCE_FOUND] = close
        push.near[t].numbers, push.near[t].count = near, lists
        end = close + DISTANCE_LISTS + problem.terms[t].rows * CONTACT_DATA
    for f in range(push.world.shape[0]):
        for i in range(3):
            push.world[f, i] = work.world[f, 4 + i]


@jit_part
def are_near_pairs_known(push, work):
    """Whether no frame has moved so far that other pairs can be too close."""
    for f in range(push.world.shape[0]):
        square = 0.0
        for i in range(3):
            square += (work.world[f, 4 + i] - push.world[f, i]) ** 2
        if square > 0.25 * SLACK * SLACK:
            return False
    return True


@jit_part
def leave_out_empty_rows(problem, push, work):
    """The problem and the workspace at a posture that was just measured, with no more rows for contacts than are close."""
    terms, variables, affects = push.near, problem.variables, problem.affects
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
            push.terms[t].numbers, push.terms[t].count = int(push.data[terms[t].numbers + DISTANCE_FOUND]), 0
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
        problem.nodes, problem.frames, push.terms, push.variables, problem.limits, push.data, affects,
        problem.blocks[:0], problem.order, problem.balls, problem.mounts,
    )  # fmt: skip
    return less, Workspace(
        work.poses, work.axes, work.world, work.jacobian.reshape(n * m)[: n * row].reshape((n, row)),
        work.system.reshape(work.system.size)[: s * s].reshape((s, s)), push.residual[:row], work.right[:row],
        work.gradient, work.diagonal, work.step, work.free, work.trial, work.best, work.x, work.start, work.columns,
        work.border, work.reduced, work.square, work.ease, work.shares, work.trunk,
    )  # fmt: skip


@jit_fast
def step_by_few_residuals(variables, damping, rows, work):
    """The step of problem/least_squares.py through a system as large as the residuals, of which each variable moves few.

    Contacts are the last residuals, so what an arm moves is its own target, at the beginning, and some of these.
    """
    n, m = work.jacobian.shape[0], work.residual.size
    for i in range(m):
        work.right[i] = work.residual[i]
        for j in range(i + 1):
            work.system[i, j] = 0.0
        work.system[i, i] = damping
    for k in range(n):
        work.step[k] = 0.0
        if work.free[k] == 0.0:
            continue
        count = 0
        for i in range(variables[k].row_begin, variables[k].row_end):
            rows[count] = i
            count += 1 if work.jacobian[k, i] != 0.0 else 0
        ease = damping / (damping + work.diagonal[k])
        pull = work.gradient[k] / (damping + work.diagonal[k])
        for p in range(count):
            i = rows[p]
            work.right[i] -= work.jacobian[k, i] * pull
            a = work.jacobian[k, i] * ease
            for q in range(p + 1):
                work.system[i, rows[q]] += a * work.jacobian[k, rows[q]]
    factorise(work.system, m)
    substitute(work.system, m, work.right)
    for k in range(n):
        if work.free[k] != 0.0:
            s = 0.0
            for i in range(variables[k].row_begin, variables[k].row_end):
                s += work.jacobian[k, i] * work.right[i]
            work.step[k] = -(damping * s + work.gradient[k]) / (damping + work.diagonal[k])


@jit_part
def bounded_push(problem, x, damping, rows, work):
    """The bounded step of problem/least_squares.py, with few residuals of many for each variable."""
    for k in range(x.size):
        work.trial[k] = 0.0
    for _ in range(2):
        if work.residual.size <= work.step.size:
            step_by_few_residuals(problem.variables, damping, rows, work)
        else:
            step_by_variables(problem.variables, damping, work)
        if not stop_at_limits(problem, x, LONGEST_PUSH, work):
            break
    shorten(LONGEST_PUSH, work)


@jit_part
def held(terms, data, residual):
    """The part of the squared error that is of pairs far enough apart, if not by the margin."""
    total = 0.0
    for t in range(terms.size):
        term = terms[t]
        if term.loss == CONTACT and not term.soft:
            for i in range(term.row, term.row + term.rows):
                if residual[i] <= data[term.numbers + DISTANCE_MARGIN]:
                    total += (term.scale * residual[i]) ** 2
    return total


@jit_part
def hold(terms, data, residual, aim):
    """Let these pairs stay as they are, and bring the others apart by this share of the margin.

    To push them on to the margin, which some cannot reach, takes twice the evaluations on a humanoid, for nothing: they are free.
    """
    for t in range(terms.size):
        term = terms[t]
        if term.loss == CONTACT:
            margin = data[term.numbers + DISTANCE_MARGIN]
            for i in range(term.row, term.row + term.rows):
                residual[i] = residual[i] - (1.0 - aim) * margin if residual[i] > margin else 0.0


@jit
def attempt_along(problem, x, run, work):
    """One attempt of a track that may run along a surface: the descent of search/descent.py, which lets be what does not touch.

    One that aims at the margin, and ends within it, comes back from it in the next step: it chatters.
    """
    last, failures = math.inf, 0.0
    for step in range(STEPS + 1):
        place(problem.nodes, problem.frames, x, work.poses, work.world)
        run.outcome[EVALUATIONS] += 1.0
        error, hard, satisfied = measure(problem.terms, problem.data, work.world, x, 0.0, work.residual)
        remember(x, hard, run, work)
        error = max(error - held(problem.terms, problem.data, work.residual), 0.0)
        failures = failures_in_row(error, last, STALL, failures)
        if is_over(satisfied, failures, STALLS, step, STEPS) or not math.isfinite(error) or spent(run):
            return satisfied
        last = error
        hold(problem.terms, problem.data, work.residual, ALONG)
        linear_model(problem, x, 0.0, work)
        bounded_step(problem, x, damping_of(DAMPING, error), LONGEST_STEP, work)
        take_step(x, problem, work)
    return False


@jit
def push_out(problem, push, x, run, work):
    """The descent of search/descent.py from a posture where something touches, without the empty rows of contacts."""
    last, failures = math.inf, 0.0
    for k in range(problem.data.size):
        push.data[k] = problem.data[k]
    for step in range(STEPS + 1):
        place(problem.nodes, problem.frames, x, work.poses, work.world)
        run.outcome[EVALUATIONS] += 1.0
        if step == 0 or not are_near_pairs_known(push, work):
            take_near_pairs(problem, push, work)
        error, hard, satisfied = measure(push.near, push.data, work.world, x, 0.0, work.residual)
        remember(x, hard, run, work)
        error = max(error - held(push.near, push.data, work.residual), 0.0)
        failures = failures_in_row(error, last, STALL, failures)
        if is_over(satisfied, failures, STALLS, step, STEPS) or not math.isfinite(error) or spent(run):
            return satisfied
        last = error
        less, view = leave_out_empty_rows(problem, push, work)
        hold(less.terms, less.data, view.residual, 1.0)
        linear_model(less, x, 0.0, view)
        bounded_push(less, x, damping_of(DAMPING, error), push.rows, view)
        take_step(x, less, view)
    return False


@jit
def contact_stage(table, q, outcome, seed, most, seconds):
    """The first stage (search/stages.py) of a problem with contacts and more."""
    whole = memetic_arrays(table)
    contact_free = contact_free_arrays(whole.contact_free)
    problem, work = whole.solve.problem, whole.solve.work
    run = begin_solve(whole.solve, q, outcome, seed, most, seconds)
    seed_stream(run.state, seed, 0)
    x, starts = work.x, 0
    one_pose, resumed = contact_free.memetic.attempt == 0, contact_free.memetic.scratch.resumed
    for k in range(q.size):
        contact_free.q[k] = q[k]
    resumed[0] = 0
    while True:
        for k in range(x.size):
            contact_free.q[problem.variables[k].index] = x[k]
        left = most - int(outcome[EVALUATIONS]) - 1  # one is for the look at the contacts
        if one_pose and starts > 0:
            left = min(left, ONE_ATTEMPT)
        found = CLOSEST
        if left > 0:
            found = call_stage(
                contact_free.search,
                whole.contact_free,
                contact_free.q,
                contact_free.outcome,
                seed + starts,
                left,
                time_left(run),
            )
            outcome[EVALUATIONS] += contact_free.outcome[EVALUATIONS]
            outcome[ATTEMPTS] += contact_free.outcome[ATTEMPTS]
            outcome[TIMED_OUT] = max(outcome[TIMED_OUT], contact_free.outcome[TIMED_OUT])
        for k in range(x.size):
            x[k] = contact_free.q[problem.variables[k].index]
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
            if contact_free.guided:
                satisfied = call_attempt(whole.attempt, problem, x, run, work)
            else:
                satisfied = push_out(problem, contact_free.push, x, run, work)
            if satisfied:
                return end_solve(problem, q, x, outcome, work)
        if spent(run):
            return end_solve(problem, q, work.best, outcome, work)
        if one_pose:
            next_start(whole, contact_free, starts, run)
        else:
            resumed[0] = 1
            restart(whole, contact_free, starts, run)
        starts += 1

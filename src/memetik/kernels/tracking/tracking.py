"""Targets that move: each step starts from the last solution, and a far one is taken only if none is near.

Where nothing is within tolerance, being calm is worth more than coming closer elsewhere: the step goes to the bottom of the
valley that it is in, level by level where objectives have priorities, and stays there until something is.

Guides alone cannot be missed; minimum_tracking.py follows them.

Where guides stand beside objectives that can be missed, these come first: a step satisfies them from where the last one ended,
and then goes some way towards a lower cost of the guides (search/guide_descent.py).

Where solids must not touch, the step slides along surfaces (contacts/slide.py). Only what it leaves is for the ways above.

Guides that only ask for small changes can lead a descent astray, to a farther solution than it finds without them. So both are
looked at, and they count only where they save a good part of the way.
"""

import math
from typing import NamedTuple

from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, EVALUATIONS, OUTCOME, deadline_after, spent
from memetik.kernels.problem.function_pointers import call_attempt, call_stage
from memetik.kernels.problem.guides import FAINT
from memetik.kernels.problem.limits import clamp
from memetik.kernels.problem.problem_record import Run
from memetik.kernels.problem.solve import begin_solve
from memetik.kernels.problem.verify import CLOSEST, REACHED, verify
from memetik.kernels.runtime.cancel import AT_FIRST, CAUGHT, keep_gil, take_gil
from memetik.kernels.runtime.random import seed_stream, uniform
from memetik.kernels.runtime.record import Array, floats, integers
from memetik.kernels.search.search_record import call_refine, call_settle_levels, memetic_arrays
from memetik.kernels.terms.springs import rest_at_start
from memetik.kernels.tracking.minimum_tracking import follow_minimum
from memetik.kernels.tracking.pieces import scaled_change

NEARBY = 24  # postures tried around the last one, farther and farther away, before a jump is accepted
SAVED = 0.7  # where guides want small changes: the share of the way without them that is worth to follow them
JUMPED = 3  # beside the statuses of a solution: within tolerance, but farther than allowed from the step before


class Path(NamedTuple):
    """The targets of a track, and what becomes of each step."""

    columns: Array = integers("columns")  # where the targets go in the data of the problem
    targets: Array = floats("steps", "columns")
    q: Array = floats("steps", "dof")
    errors: Array = floats("steps", "terms")
    statuses: Array = integers("steps")
    ratio: Array = floats("variables")  # changes are multiplied by it before they are compared with the jump
    first: int = 0  # the step to begin with, if those before it were followed in the same scratch
    until_lost: bool = False  # whether to end at the first step that is lost or jumped to, after one that was not


@jit
def track_targets(table, path, attempt, slide, q, outcome, seed, most, seconds, jump):
    """Write a joint vector for every row of targets; q is where it starts. Returns the lost row, or how many there are.

    attempt, slide: addresses of the local search, and of the one that slides along surfaces (a stage, 0 for none).
    A step that cannot be reached ends at the bottom of its valley, and its status says so. The budget is for one step.
    """
    whole = memetic_arrays(table)
    arrays, only_guides, calm = whole.solve, whole.only_guides != 0, whole.displacement_only
    softness, addresses = 1.0 if only_guides else FAINT, whole.addresses[0]
    problem, work, data, variables = arrays.problem, arrays.work, arrays.problem.data, arrays.problem.variables
    x, last, n = work.x, work.start, work.x.size
    keep_gil(arrays.clock, AT_FIRST)
    first = path.first
    if first == 0:
        begin_solve(arrays, q, outcome, seed, most, seconds)
    for k in range(n):
        last[k] = q[variables[k].index]
    for step in range(first, path.q.shape[0]):
        for k in range(q.size):
            path.q[step, k] = q[k]
    if first == 0:
        seed_stream(arrays.state, seed, 2)
    evaluations, searched = 0.0, 0.0
    steps = path.targets.shape[0]
    done = steps
    for step in range(first, steps):
        for c in range(path.columns.size):
            data[path.columns[c]] = path.targets[step, c]
        rest_at_start(problem.terms, data, last)
        for k in range(OUTCOME):
            outcome[k] = 0.0
        run = Run(seed, most, deadline_after(seconds, arrays.clock), arrays.clock, arrays.state, outcome)
        status, nearest = -1, math.inf
        if addresses.restart != 0:
            searched, status = follow_minimum(table, path, step, searched, run)
            nearest = scaled_change(x, last, path.ratio, variables, problem.balls)
        for trial in range(NEARBY + 1 + calm if status < 0 else 0):
            unguided = calm != 0 and trial == 1
            for k in range(n):
                # First from where it is: going on as before would be quicker and less smooth. Then from around there.
                x[k] = last[k]
                if trial > calm:
                    reach = 0.05 * (trial - calm) * (variables[k].sample_upper - variables[k].sample_lower)
                    x[k] = clamp(last[k] + reach * (uniform(run.state) - 0.5), variables[k])
            outcome[ERROR] = math.inf
            outcome[ATTEMPTS] += 1.0
            slides = slide != 0 and trial == 0
            if slides:
                slid = call_stage(slide, table, q, outcome, seed, most, seconds)
                # What a track starts from may be far from its targets: there a valley is not enough.
                slides = slid == REACHED or (slid == CLOSEST and step > 0)
                if not slides:
                    for k in range(n):
                        x[k] = last[k]
            if unguided:
                call_attempt(addresses.attempt_bare, problem, x, run, work)
            elif not slides and step > 0 and addresses.attempt_calmly != 0:
                call_attempt(addresses.attempt_calmly, problem, x, run, work)
            elif not slides:
                call_attempt(attempt, problem, x, run, work)
            judged = verify(problem, x, outcome, work)
            if trial == 0 and not slides and (judged == CLOSEST or only_guides):
                if not spent(run):
                    for k in range(n):
                        work.best[k] = x[k] if only_guides else last[k]
                    call_refine(addresses.refine, problem, softness, run, work)
                    for k in range(n):
                        x[k] = work.best[k]
                        last[k] = (
                            path.q[step - 1, variables[k].index] if step > 0 else q[variables[k].index]
                        )  # was scratch
                if whole.has_levels:
                    call_settle_levels(addresses.settle_levels, problem, whole.levels, x, last, run, work)
                judged = verify(problem, x, outcome, work)
            distance = scaled_change(x, last, path.ratio, variables, problem.balls)
            way = SAVED * distance if unguided else distance
            if status < 0 or judged < status or (judged == status == REACHED and way < nearest):
                status, nearest = judged, distance
                for k in range(n):
                    path.q[step, variables[k].index] = x[k]
                for t in range(problem.terms.size):
                    path.errors[step, t] = outcome[OUTCOME + t]
            near_enough = (nearest <= jump or step == 0) and not (calm != 0 and trial == 0)
            if (status == REACHED and near_enough) or only_guides or spent(run):
                break
        if status == REACHED and nearest > jump and step > 0:
            status = JUMPED
        path.statuses[step] = status
        for k in range(n):
            last[k] = path.q[step, variables[k].index]
        evaluations += outcome[EVALUATIONS]
        lost = status != REACHED and (step == 0 or path.statuses[step - 1] == REACHED)
        if run.clock[CAUGHT] != 0 or (path.until_lost and lost):
            done = step
            break
    outcome[EVALUATIONS] = evaluations
    take_gil(arrays.clock)
    return done

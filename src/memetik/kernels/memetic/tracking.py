"""Targets that move: each step starts from the last solution, and a far one is taken only if none is near.

Where nothing is within tolerance, being calm is worth more than coming closer elsewhere: the step goes to the bottom of the
valley that it is in, and stays there until something is.
"""

from __future__ import annotations

import math

from memetik.kernels.compiler.cancel import CAUGHT
from memetik.kernels.compiler.function_pointers import call_attempt
from memetik.kernels.compiler.jit import jit
from memetik.kernels.compiler.random import seed_stream, uniform
from memetik.kernels.memetic.all_solutions import apart
from memetik.kernels.memetic.refine import FAINT, refine
from memetik.kernels.memetic.search import move_inside
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, OUTCOME, deadline_after, spent
from memetik.kernels.problem.evaluate import count_residuals
from memetik.kernels.problem.verify import CLOSEST, REACHED, verify
from memetik.kernels.problem.workspace import carve
from memetik.kernels.terms.springs import rest_at_start

NEARBY = 24  # postures tried around the last one, farther and farther away, before a jump is accepted
JUMPED = 3  # beside the statuses of a solution: within tolerance, but farther than allowed from the step before


@jit
def examine(problem, x, last, errors, satisfied, work):
    """The status of a posture, with its errors."""
    nodes, frames, terms, data, bounds, spans = problem
    return verify(nodes, frames, terms, data, bounds, x, last, work.poses, work.world, work.residual, errors, satisfied)


@jit
def track_targets(
    nodes, frames, terms, data, bounds, spans, active, limits, q, attempt, seed, most, seconds, jump, places, targets,
    path, path_errors, statuses, flags, clock, state, buffer, outcome,
):  # fmt: skip
    """Write a joint vector for every row of `targets`, whose columns go to data[places]; q is where it starts.

    A step that cannot be reached ends at the bottom of its valley, and its status says so. The budget is for one step.
    """
    n = active.size
    work = carve(buffer, nodes.size, frames.size, n, count_residuals(terms), 0)
    problem = (nodes, frames, terms, data, bounds, spans)
    x, last = work.x, work.start
    move_inside(q, limits)
    for step in range(path.shape[0]):
        for k in range(q.size):
            path[step, k] = q[k]
    for k in range(n):
        last[k] = q[active[k]]
    seed_stream(state, seed, 2)
    evaluations = 0.0
    errors, satisfied = outcome[OUTCOME : OUTCOME + terms.size], outcome[OUTCOME + terms.size :]
    for step in range(targets.shape[0]):
        for c in range(places.size):
            data[places[c]] = targets[step, c]
        rest_at_start(terms, data, last)
        for k in range(OUTCOME):
            outcome[k] = 0.0
        deadline = deadline_after(seconds, clock)
        status, nearest = -1, math.inf
        for trial in range(NEARBY + 1):
            for k in range(n):
                # First from where it is: going on as before would be quicker and less smooth. Then from around there.
                x[k] = last[k]
                if trial > 0:
                    reach = 0.05 * trial * (bounds[3, k] - bounds[2, k])
                    x[k] = min(max(last[k] + reach * (uniform(state) - 0.5), bounds[0, k]), bounds[1, k])
            outcome[ERROR] = math.inf
            outcome[ATTEMPTS] += 1.0
            call_attempt(attempt, problem, x, most, deadline, clock, outcome, work)
            judged = examine(problem, x, last, errors, satisfied, work)
            if trial == 0 and judged == CLOSEST and not spent(outcome, most, deadline, clock):
                for k in range(n):
                    work.best[k] = last[k]
                refine(problem, FAINT, most, deadline, clock, outcome, work)
                for k in range(n):
                    x[k] = work.best[k]
                    last[k] = path[step - 1, active[k]] if step > 0 else q[active[k]]  # was scratch in between
                judged = examine(problem, x, last, errors, satisfied, work)
            distance = apart(x, last, bounds)
            if status < 0 or judged < status or (judged == status == REACHED and distance < nearest):
                status, nearest = judged, distance
                for k in range(n):
                    path[step, active[k]] = x[k]
                for t in range(terms.size):
                    path_errors[step, t] = errors[t]
            if (status == REACHED and (nearest <= jump or step == 0)) or spent(outcome, most, deadline, clock):
                break
        if status == REACHED and nearest > jump and step > 0:
            status = JUMPED
        statuses[step] = status
        for k in range(n):
            last[k] = path[step, active[k]]
        evaluations += outcome[0]
        if clock[CAUGHT] != 0:
            break
    outcome[0] = evaluations

"""Many solutions of one problem: attempts from all over the population, kept if they differ from those before."""

from __future__ import annotations

import math

from memetik.kernels.compiler.function_pointers import call_attempt
from memetik.kernels.compiler.jit import jit
from memetik.kernels.compiler.random import seed_stream, uniform
from memetik.kernels.memetic.search import move_inside
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, MOVED, OUTCOME, deadline_after, spent
from memetik.kernels.problem.evaluate import count_residuals
from memetik.kernels.problem.verify import REACHED, verify
from memetik.kernels.problem.workspace import carve
from memetik.kernels.terms.springs import rest_at_start


@jit
def apart(x, other, bounds):
    """The largest difference of two postures over their variables [rad or m]; whole turns do not count."""
    largest = 0.0
    for k in range(x.size):
        difference = abs(x[k] - other[k])
        if bounds[4, k] != 0.0:
            difference = abs(difference - 2.0 * math.pi * round(difference / (2.0 * math.pi)))
        largest = max(largest, difference)
    return largest


@jit
def find_all(
    nodes, frames, terms, data, bounds, spans, active, limits, population, q, attempt, seed, most, seconds, patience,
    distinct, solutions, solution_errors, flags, clock, state, buffer, outcome,
):  # fmt: skip
    """Fill the rows of `solutions` (in variables); returns how many. Stops when they are full, when `patience` attempts
    in a row brought nothing new, or when the budget is spent."""
    n = active.size
    work = carve(buffer, nodes.size, frames.size, n, count_residuals(terms), population.shape[0])
    problem = (nodes, frames, terms, data, bounds, spans)
    for k in range(OUTCOME):
        outcome[k] = 0.0
    errors, satisfied = outcome[OUTCOME : OUTCOME + terms.size], outcome[OUTCOME + terms.size :]
    deadline = deadline_after(seconds, clock)
    x, start = work.x, work.start
    if move_inside(q, limits):
        outcome[MOVED] = 1.0
    for k in range(n):
        x[k] = start[k] = q[active[k]]
    rest_at_start(terms, data, start)
    seed_stream(state, seed, 1)
    found, idle = 0, 0
    while found < solutions.shape[0] and idle < patience:
        outcome[ERROR] = math.inf
        outcome[ATTEMPTS] += 1.0
        idle += 1
        if call_attempt(attempt, problem, x, most, deadline, clock, outcome, work):
            status = verify(
                nodes, frames, terms, data, bounds, x, start, work.poses, work.world, work.residual, errors, satisfied
            )
            fresh = status == REACHED
            for s in range(found):
                fresh = fresh and apart(x, solutions[s], bounds) > distinct
            if fresh:
                for k in range(n):
                    solutions[found, k] = x[k]
                for t in range(terms.size):
                    solution_errors[found, t] = errors[t]
                found += 1
                idle = 0
        if spent(outcome, most, deadline, clock):
            break
        c = int(outcome[ATTEMPTS]) - 1
        for k in range(n):
            if c < population.shape[0]:
                x[k] = population[c, k]
            else:
                x[k] = bounds[2, k] + (bounds[3, k] - bounds[2, k]) * uniform(state)
    return found

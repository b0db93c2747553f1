"""Many solutions of one problem: attempts from all over the population, kept if they differ from those before."""

import math
from typing import NamedTuple

from memetik.kernels.body.balls import angle_between
from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, OUTCOME, spent
from memetik.kernels.problem.function_pointers import call_attempt
from memetik.kernels.problem.limits import sample
from memetik.kernels.problem.solve import begin_solve, cost_of
from memetik.kernels.problem.verify import REACHED, verify
from memetik.kernels.runtime.cancel import AT_FIRST, keep_gil, take_gil
from memetik.kernels.runtime.random import seed_stream
from memetik.kernels.runtime.record import Array, floats
from memetik.kernels.search.search_record import memetic_arrays


class Found(NamedTuple):
    """Where solutions go."""

    solutions: Array = floats("most", "variables")
    errors: Array = floats("most", "terms")
    costs: Array = floats("most")


@jit
def apart(x, other, variables, balls):
    """The largest difference of two postures [rad or m]: of a ball the angle between its rotations, else of a variable, where
    whole turns do not count."""
    largest = largest_turn(x, other, balls)
    for k in range(x.size):
        if not variables[k].ball:
            difference = abs(x[k] - other[k])
            if variables[k].whole_turn:
                difference = abs(difference - 2.0 * math.pi * round(difference / (2.0 * math.pi)))
            largest = max(largest, difference)
    return largest


@jit
def largest_change(x, last, variables, balls):
    """By how much a joint moves at most from one posture to the next [rad or m]: as `apart`, but a whole turn is a way to go."""
    largest = largest_turn(x, last, balls)
    for k in range(x.size):
        if not variables[k].ball:
            largest = max(largest, abs(x[k] - last[k]))
    return largest


@jit
def largest_turn(x, other, balls):
    """The largest angle between the rotations of balls [rad]."""
    largest = 0.0
    for i in range(balls.size):
        largest = max(largest, angle_between(balls[i], x, other))
    return largest


@jit
def find_all(table, found, attempt, q, outcome, seed, most, seconds, patience, distinct):
    """Fill the rows of `found`; returns how many. Stops when they are full, when `patience` attempts in a row brought nothing
    new, or when the budget is spent."""
    arrays = memetic_arrays(table)
    problem, work, genes = arrays.solve.problem, arrays.solve.work, arrays.population.genes
    keep_gil(arrays.solve.clock, AT_FIRST)
    run = begin_solve(arrays.solve, q, outcome, seed, most, seconds)
    x, variables = work.x, problem.variables
    seed_stream(run.state, seed, 1)
    count, idle = 0, 0
    while count < found.solutions.shape[0] and idle < patience:
        outcome[ERROR] = math.inf
        outcome[ATTEMPTS] += 1.0
        idle += 1
        if call_attempt(attempt, problem, x, run, work):
            fresh = verify(problem, x, outcome, work) == REACHED
            for s in range(count):
                fresh = fresh and apart(x, found.solutions[s], variables, problem.balls) > distinct
            if fresh:
                for k in range(x.size):
                    found.solutions[count, k] = x[k]
                for t in range(problem.terms.size):
                    found.errors[count, t] = outcome[OUTCOME + t]
                found.costs[count] = cost_of(problem, x, work)
                count += 1
                idle = 0
        if spent(run):
            break
        c = int(outcome[ATTEMPTS]) - 1
        for k in range(x.size):
            x[k] = genes[c, k] if c < genes.shape[0] else sample(variables[k], run.state)
    take_gil(arrays.solve.clock)
    return count

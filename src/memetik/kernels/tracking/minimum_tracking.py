"""Targets that only guide, one step of a track: nothing can be missed, so it is the cost that says where to go.

The first step goes to the lowest cost found. Each of the others goes to the minimum next to the step before. Where that leaves a
cost, restarts look for a lower one: with the whole budget where the cost has grown much since they last did, else with a share of
it, so that steps in a row find what one of them may overlook. The path leaves its minimum only for one that costs far less.
"""

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.problem.budget import ERROR, EVALUATIONS, OUTCOME, spent, time_left
from memetik.kernels.problem.function_pointers import call_stage
from memetik.kernels.problem.solve import cost_of
from memetik.kernels.problem.verify import verify
from memetik.kernels.search.restarts import negligible_cost
from memetik.kernels.search.search_record import call_refine, memetic_arrays

FIRST = 10  # the first step has so many times the budget of the others
GROWN = 2.0  # the whole budget of a step is spent where the cost has grown by this factor ...
LOOKING = 10  # ... and elsewhere one in so many of its evaluations
LOWER = 0.5  # another minimum is gone to if it costs less than this share


@jit_part
def load_step(path, step, variables, x):
    """Write the posture of a step into x."""
    for k in range(x.size):
        x[k] = path.q[step, variables[k].index]


@jit_part
def store_step(x, path, step, variables):
    """Write x into the posture of a step."""
    for k in range(x.size):
        path.q[step, variables[k].index] = x[k]


@jit_part
def write_errors(outcome, path, step):
    """Write the errors of a step."""
    for t in range(path.errors.shape[1]):
        path.errors[step, t] = outcome[OUTCOME + t]


@jit
def follow_minimum(table, path, step, searched, run):
    """Write a step of the path. Its posture is left in work.x, that of the step before in work.start.

    searched: the cost for which the whole budget last looked for a lower one. Returns what it is now, and the status.
    """
    whole = memetic_arrays(table)
    problem, work, local = whole.solve.problem, whole.solve.work, whole.levels.start
    addresses, variables, outcome = whole.addresses[0], problem.variables, run.outcome
    if step == 0:
        status = call_stage(addresses.restart, table, path.q[0], outcome, run.seed, FIRST * run.most, time_left(run))
        write_errors(outcome, path, 0)
        load_step(path, 0, variables, work.x)
        load_step(path, 0, variables, work.start)
        return outcome[ERROR], status
    load_step(path, step - 1, variables, work.best)
    call_refine(addresses.refine, problem, 1.0, run, work)
    load_step(path, step - 1, variables, work.start)
    for k in range(local.size):
        work.x[k] = work.best[k]
    status = verify(problem, work.x, outcome, work)
    cost = cost_of(problem, work.x, work)
    for k in range(local.size):
        local[k] = work.x[k]
    store_step(local, path, step, variables)
    write_errors(outcome, path, step)
    if cost > negligible_cost(problem.terms) and not spent(run):
        most = run.most
        if cost > GROWN * searched:
            searched = cost
        else:
            searched, most = min(searched, cost), min(most, int(outcome[EVALUATIONS]) + most // LOOKING)
        found = call_stage(addresses.restart, table, path.q[step], outcome, run.seed + step, most, time_left(run))
        if outcome[ERROR] < LOWER * cost:
            status, searched = found, outcome[ERROR]
            write_errors(outcome, path, step)
        else:
            store_step(local, path, step, variables)
    load_step(path, step, variables, work.x)
    load_step(path, step - 1, variables, work.start)
    return searched, status

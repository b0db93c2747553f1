"""The loop that all Jacobian methods share: look, step, and begin again elsewhere where steps gain nothing.

A method is one kernel (STEP in function_pointers.py) that moves a posture which was just measured. An attempt repeats it until
all terms are satisfied or the error stalls; the next attempt begins at a random posture, or there is none. Guides fade as
they do in memetic: the balance of all terms is found first, then they give way until the rest is satisfied.
"""

from __future__ import annotations

import math

from memetik.kernels.compiler.function_pointers import call_step
from memetik.kernels.compiler.jit import jit
from memetik.kernels.compiler.random import seed_stream
from memetik.kernels.memetic.descent import STAGES
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, EVALUATIONS, remember, spent
from memetik.kernels.problem.evaluate import measure, place
from memetik.kernels.problem.limits import sample
from memetik.kernels.problem.whole_turns import turn_back

# What stands first among the parameters; behind them, from OWN, those of the method.
RESTARTS = 0  # 1: begin again elsewhere after a stall
PATIENCE = 1  # so many steps in a row without progress are a stall
PROGRESS = 2  # share of the squared error that a step must take off to count
LONGEST = 3  # no variable moves further in a step [rad or m]
OWN = 4

# What stands first in the room; behind it, from MEMORY, what a method keeps from step to step.
LAST = 0  # squared error of the posture that the method last stepped from; infinite tells it to begin afresh
MEMORY = 1

BALANCED = 0.02  # while guides pull, their balance is found when steps take off less than this


@jit
def first_stage(terms, attempts):
    """Where in STAGES an attempt begins: with full guides at first, with fainter ones later, without if there are none."""
    for t in range(terms.size):
        if terms[t].soft:
            return min(2 * (attempts - 1), STAGES.size - 1)
    return STAGES.size - 1


@jit
def note(x, error, hard, satisfied, outcome, work):
    """Keep the best posture: one that satisfies all beats all others, and among those the least error with guides."""
    remember(x, -1.0 / (1.0 + error) if satisfied else hard, outcome, work)


@jit
def attempt(problem, x, step, most, deadline, parameters, room, clock, outcome, work):
    """Steps from x, in place, until all terms are satisfied, or nothing is gained, or the budget is spent.

    Returns whether some posture satisfied all terms.
    """
    nodes, frames, terms, data, variables = (
        problem.nodes,
        problem.frames,
        problem.terms,
        problem.data,
        problem.variables,
    )
    stage = first_stage(terms, int(outcome[ATTEMPTS]))
    room[LAST] = lowest = math.inf
    idle = 0
    while True:
        turn_back(x, variables)
        place(nodes, frames, x, work.poses, work.world)
        outcome[EVALUATIONS] += 1.0
        error, hard, satisfied = measure(terms, data, work.world, x, STAGES[stage], work.residual)
        note(x, error, hard, satisfied, outcome, work)
        if (satisfied and STAGES[stage] == 0.0) or spent(outcome, most, deadline, clock):
            return outcome[ERROR] < 0.0
        progress = parameters[PROGRESS] if STAGES[stage] == 0.0 else BALANCED
        if error <= (1.0 - progress) * lowest:
            lowest, idle = error, 0
        else:
            idle += 1
        if (
            idle < parameters[PATIENCE]
            and math.isfinite(error)
            and call_step(step, problem, x, STAGES[stage], error, parameters, room, work)
        ):
            continue
        if outcome[ERROR] < 0.0 or stage == STAGES.size - 1:
            return outcome[ERROR] < 0.0
        stage += 1
        room[LAST] = lowest = math.inf
        idle = 0


@jit
def iterate(problem, x, seed, most, deadline, parameters, places, room, clock, state, outcome, work):
    """The search (SEARCH in compiler/function_pointers.py) of a method whose step is at the address places[0]."""
    variables = problem.variables
    while True:
        outcome[ATTEMPTS] += 1.0
        if attempt(problem, x, places[0], most, deadline, parameters, room, clock, outcome, work):
            return
        if parameters[RESTARTS] == 0.0 or spent(outcome, most, deadline, clock):
            return
        seed_stream(state, seed, int(outcome[ATTEMPTS]))
        for k in range(x.size):
            x[k] = sample(variables[k], state)

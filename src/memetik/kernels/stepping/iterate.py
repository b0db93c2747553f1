"""The loop that all Jacobian methods share: look, step, and begin again elsewhere where steps gain nothing.

A method is one kernel (STEP below) that moves a posture which was just measured, and a record that begins with a
SteppingRecord. An attempt repeats the step until all terms are satisfied or the error stalls; the next attempt begins
at a random posture, or there is none. Guides fade as they do in memetic: the balance of all terms is found first, then
they give way until the rest is satisfied.
"""

import math
from typing import NamedTuple

from numba.core import types

from memetik.kernels.compiler.function_pointers import caller
from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, EVALUATIONS, remember, spent
from memetik.kernels.problem.evaluate import measure, place
from memetik.kernels.problem.function_pointers import PROBLEM, TABLE, VECTOR, WORKSPACE
from memetik.kernels.problem.guides import FADING, any_guides, first_fading
from memetik.kernels.problem.least_squares import shorten, step_from
from memetik.kernels.problem.limits import sample, turn_back
from memetik.kernels.runtime.random import seed_stream
from memetik.kernels.runtime.record import Array, floats, reader

# (problem, x, softness, error, own, work): one step of a method with the table of its record; false if it leads nowhere
STEP = types.boolean(PROBLEM, VECTOR, types.float64, types.float64, TABLE, WORKSPACE)
call_step = caller(STEP)

BALANCED = 0.02  # while guides pull, their balance is found when steps take off less than this


class SteppingRecord(NamedTuple):
    """What all methods have in common, first in the record of each."""

    step: int  # address of the kernel that makes the method
    restarts: bool  # begin again elsewhere after a stall
    patience: int  # so many steps in a row without progress are a stall
    progress: float  # share of the squared error that a step must take off to count
    longest_step: float  # no variable moves further in a step [rad or m]
    last: Array = floats(1)  # squared error of the posture last stepped from; infinite tells the method to begin afresh


read_stepping = reader(SteppingRecord)


@jit
def note(x, error, hard, satisfied, run, work):
    """Keep the best posture: one that satisfies all beats all others, and among those the least error with guides."""
    remember(x, -1.0 / (1.0 + error) if satisfied else hard, run, work)


@jit
def move(origin, x, longest, problem, work):
    """Put x where work.step leads from `origin`, no variable further than `longest`; false if that is nowhere new."""
    shorten(longest, work)
    return step_from(origin, 1.0, x, problem, work)


@jit
def attempt(problem, x, run, own, work):
    """Steps from x, in place, until all terms are satisfied, or nothing is gained, or the budget is spent.

    Returns whether some posture satisfied all terms.
    """
    stepping, outcome = read_stepping(own), run.outcome
    last = FADING.size - 1
    fading = first_fading(int(outcome[ATTEMPTS])) if any_guides(problem.terms) else last
    stepping.last[0] = lowest = math.inf
    idle = 0
    while True:
        softness = FADING[fading]
        turn_back(x, problem.variables)
        place(problem.nodes, problem.frames, x, work.poses, work.world)
        outcome[EVALUATIONS] += 1.0
        error, hard, satisfied = measure(problem.terms, problem.data, work.world, x, softness, work.residual)
        note(x, error, hard, satisfied, run, work)
        if (satisfied and softness == 0.0) or spent(run):
            return outcome[ERROR] < 0.0
        progress = stepping.progress if softness == 0.0 else BALANCED
        if error <= (1.0 - progress) * lowest:
            lowest, idle = error, 0
        else:
            idle += 1
        goes_on = idle < stepping.patience and math.isfinite(error)
        if goes_on and call_step(stepping.step, problem, x, softness, error, own, work):
            continue
        if outcome[ERROR] < 0.0 or fading == last:
            return outcome[ERROR] < 0.0
        fading += 1
        stepping.last[0] = lowest = math.inf
        idle = 0


@jit
def iterate(problem, run, own, work):
    """The search (SEARCH in problem/function_pointers.py) of all methods."""
    while True:
        run.outcome[ATTEMPTS] += 1.0
        if attempt(problem, work.x, run, own, work) or not read_stepping(own).restarts or spent(run):
            return
        seed_stream(run.state, run.seed, int(run.outcome[ATTEMPTS]))
        for k in range(work.x.size):
            work.x[k] = sample(problem.variables[k], run.state)

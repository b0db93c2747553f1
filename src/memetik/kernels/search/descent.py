"""The local search of memetic: damped Gauss-Newton steps within the limits, given up early where nothing is gained."""

import math

from memetik.kernels.compiler.jit import jit_inlined, jit_part
from memetik.kernels.compiler.lanes import select
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, remember, spent
from memetik.kernels.problem.evaluate import measure, place
from memetik.kernels.problem.guides import FADING, first_fading
from memetik.kernels.problem.least_squares import (
    LEAST_DAMPING,
    bounded_step,
    linear_model,
    prepare_step,
    shorten,
    step_by_limbs,
    take_step,
)

# A step is damped by this share of half the squared error: bold near the solution, careful far from it.
DAMPING = 0.1
LIMBS_DAMPING = 0.05  # where the errors are those of several limbs
LONGEST_STEP = 1.5  # rad or m, for the joint that moves most
STEPS = 12  # an attempt that takes longer rarely succeeds
STALL = 0.5  # a step should at least halve the squared error ...
STALLS = 2  # ... and may fail to do so once in a row
# Where limbs can start afresh one by one, the next attempt is likely to succeed, and this one is given up sooner.
LIMBS_STALL = 0.4

# While soft terms pull, the balance is found when a step gains less than 2 %.
BALANCE_STALL, BALANCE_STEPS = 0.98, 30


@jit_inlined
def failures_in_row(error, last, stall, failures):
    """How many steps in a row have gained too little; for numbers and for lanes."""
    return select(error > stall * last, failures + 1.0, 0.0)


@jit_inlined
def is_over(satisfied, failures, stalls, taken, steps):
    """Whether an attempt ends with a posture: it is satisfied, stalled, or has taken all its steps."""
    return satisfied | (failures >= stalls) | (taken >= steps)


@jit_inlined
def damping_of(share, error):
    """The damping of a step from a posture with this squared error."""
    return share * 0.5 * error + LEAST_DAMPING


@jit_inlined
def shortening_of(longest):
    """The share of a step whose longest entry is this, of which none is longer than LONGEST_STEP."""
    return LONGEST_STEP / max(longest, LONGEST_STEP)


@jit_inlined
def newton_step(problem, x, damping, softness, work):
    """One damped step from a posture that was just measured; writes work.step, at most LONGEST_STEP long."""
    linear_model(problem, x, softness, work)
    prepare_step(problem, work)
    step_by_limbs(problem, damping, work)
    shorten(LONGEST_STEP, work)


@jit_inlined
def descend(problem, x, softness, run, work):
    """Step downhill until satisfied (with softness 0), stalled or out of budget. Returns whether it is satisfied."""
    share, stall, stalls, steps = DAMPING, STALL, STALLS, STEPS
    if problem.blocks.size > 1:
        share, stall = LIMBS_DAMPING, LIMBS_STALL
    if softness > 0.0:
        stall, stalls, steps = BALANCE_STALL, 1, BALANCE_STEPS
    last = math.inf
    failures = 0.0
    for step in range(steps + 1):
        place(problem.nodes, problem.frames, x, work.poses, work.world)
        run.outcome[EVALUATIONS] += 1.0
        error, hard, satisfied = measure(problem.terms, problem.data, work.world, x, softness, work.residual)
        remember(x, hard, run, work)
        failures = failures_in_row(error, last, stall, failures)
        if is_over(satisfied and softness == 0.0, failures, stalls, step, steps) or spent(run):
            return satisfied
        if not math.isfinite(error):  # some objective is not defined here; a step would lead nowhere
            return False
        last = error
        linear_model(problem, x, softness, work)
        bounded_step(problem, x, damping_of(share, error), LONGEST_STEP, work)
        take_step(x, problem, work)
    return False


@jit_part
def attempt(problem, x, run, work):
    """One attempt where every term can block."""
    return descend(problem, x, 0.0, run, work)


@jit_part
def attempt_softly(problem, x, run, work):
    """One attempt with terms that guide: find the balance first, then let them fade until the rest is satisfied.

    Where the balance led astray before, the next attempts begin with fainter guides.
    """
    for k in range(first_fading(int(run.outcome[ATTEMPTS])), FADING.size):
        satisfied = descend(problem, x, FADING[k], run, work)
        if satisfied or spent(run):
            return satisfied
    return False

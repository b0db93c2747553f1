"""Inverse kinematics by L-BFGS-B: descents of half the sum of squared residuals, from the start and then from anywhere."""

from __future__ import annotations

import math

from memetik.kernels.compiler.jit import jit
from memetik.kernels.compiler.random import seed_stream
from memetik.kernels.lbfgsb.minimiser import (
    ACCEPT,
    GIVE_UP,
    GO_ON,
    RUNNING,
    Rules,
    advance,
    begin,
    least_value,
    room_size,
)
from memetik.kernels.memetic.descent import STAGES
from memetik.kernels.memetic.refine import FAINT
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, remember, spent
from memetik.kernels.problem.evaluate import linearise, measure, place
from memetik.kernels.problem.limits import sample
from memetik.kernels.problem.whole_turns import open_limits

# A descent is given up when so many evaluations do not take a tenth off, or a thousandth while guides pull. Of 4 to 30
# evaluations and 1 to 70 %, these are within 10 % of the least cost per solution, on an arm and on a humanoid.
PATIENCE, STALL, BALANCE_STALL = 8, 0.9, 0.999
NEVER_STALL = 2.0
GRADIENT_TOLERANCE = 1e-10
SETTLE = 300  # evaluations kept back to bring the closest posture to its minimum
UNLIMITED = 1 << 60


@jit
def room_for_search(n, memory):
    """How many floats a search needs: the limits, and the scratch of a descent."""
    return 2 * n + room_size(n, memory)


@jit
def half_squares(problem, x, softness, gradient, outcome, work):
    """f = 1/2 sum of squared scaled residuals, guides counting `softness` times; writes its gradient J^T r.

    Returns f, and whether every term that can block is satisfied.
    """
    nodes, frames, terms, data, variables = (
        problem.nodes,
        problem.frames,
        problem.terms,
        problem.data,
        problem.variables,
    )
    place(nodes, frames, x, work.poses, work.world)
    outcome[EVALUATIONS] += 1.0
    error, hard, satisfied = measure(terms, data, work.world, x, softness, work.residual)
    remember(x, hard, outcome, work)
    if not math.isfinite(error):  # some objective is not defined here, and has no slope either
        return error, False
    linearise(
        nodes, frames, terms, data, x, softness, work.poses, work.world, work.axes, work.residual, work.jacobian,
        work.gradient, work.diagonal,
    )  # fmt: skip
    for k in range(x.size):
        uphill = work.gradient[k]
        for i in range(variables[k].row_begin, variables[k].row_end):
            uphill += work.jacobian[k, i] * work.residual[i]
        gradient[k] = uphill
    return 0.5 * error, satisfied


@jit
def bend(gradient, variables, work):
    """How much f bends along its gradient, by Gauss and Newton: g.(J^T J + D).g / g.g; one where it does not."""
    residuals, springs, square = 0.0, 0.0, 0.0
    for i in range(work.residual.size):
        work.right[i] = 0.0
    for k in range(gradient.size):
        square += gradient[k] * gradient[k]
        springs += work.diagonal[k] * gradient[k] * gradient[k]
        for i in range(variables[k].row_begin, variables[k].row_end):
            work.right[i] += work.jacobian[k, i] * gradient[k]
    for i in range(work.residual.size):
        residuals += work.right[i] * work.right[i]
    bent = residuals + springs
    return bent / square if bent > 0.0 and math.isfinite(bent) else 1.0


@jit
def descend(problem, x, softness, stall, memory, most, deadline, clock, outcome, places, room, work):
    """One descent, in place, until satisfied (with softness 0), stalled, at a minimum, or out of budget.

    L-BFGS-B takes the curvature to be one until it has made a step, so f is divided by what it is at the start: far from
    there, a first step as long as the gradient goes through every limit. Returns whether the posture it ends with
    satisfies every term that can block. Joints that turn freely may end outside their limits, by whole turns.
    """
    n = x.size
    lower, upper, room = room[:n], room[n : 2 * n], room[2 * n :]
    open_limits(problem.variables, lower, upper)
    rules = Rules(UNLIMITED, UNLIMITED, GRADIENT_TOLERANCE, 0.0, memory)
    gradient = room[:n]
    begin(rules, x, lower, upper, places, room)
    best_satisfied = False
    evaluations, milestone, scale = 0, 0.0, 1.0
    reason = RUNNING
    while reason == RUNNING:
        f, satisfied = half_squares(problem, x, softness, gradient, outcome, work)
        if evaluations == 0:
            scale = 1.0 / bend(gradient, problem.variables, work) if math.isfinite(f) else 1.0
        f *= scale
        for k in range(x.size):
            gradient[k] *= scale
        if f < least_value(x, room):
            best_satisfied = satisfied
        verdict = GO_ON
        if satisfied and softness == 0.0:
            verdict = ACCEPT
        elif spent(outcome, most, deadline, clock):
            verdict = GIVE_UP
        elif evaluations % PATIENCE == 0:
            least = min(f, least_value(x, room))
            if evaluations > 0 and least > stall * milestone:
                verdict = GIVE_UP
            milestone = least
        evaluations += 1
        reason = advance(rules, f, verdict, x, lower, upper, places, room)
    return best_satisfied


@jit
def attempt(problem, x, guided, patient, memory, most, deadline, clock, outcome, places, room, work):
    """One attempt: with guides find the balance first, then let them fade until the rest is satisfied.

    Where the balance led astray before, the next attempts begin with fainter guides. A patient one never stalls.
    """
    last = STAGES.size - 1
    stage = min(2 * (int(outcome[ATTEMPTS]) - 1), last) if guided else last
    while True:
        stall = STALL if stage == last else BALANCE_STALL
        if patient:
            stall = NEVER_STALL
        if descend(problem, x, STAGES[stage], stall, memory, most, deadline, clock, outcome, places, room, work):
            return True
        if stage == last or spent(outcome, most, deadline, clock):
            return False
        stage += 1


@jit
def draw(x, seed, stream, variables, state):
    """A posture within the limits, from a stream of its own."""
    seed_stream(state, seed, stream)
    for k in range(x.size):
        x[k] = sample(variables[k], state)


@jit
def search(problem, x, seed, most, deadline, parameters, places, room, clock, state, outcome, work):
    """Descend from x, then from postures drawn within the limits, until one satisfies all terms or the budget is spent.

    parameters: how many pairs to remember, and whether to start again. When nothing satisfies all terms, the last part
    of the budget brings the closest posture to its minimum.
    """
    terms, variables = problem.terms, problem.variables
    memory, restarts = int(parameters[0]), parameters[1] != 0.0
    guided, blocking = False, False
    for t in range(terms.size):
        guided = guided or terms[t].soft != 0
        blocking = blocking or terms[t].soft == 0
    patient = not (restarts and blocking)  # a single descent, or guides alone, whose balance is what counts
    first = most - min(SETTLE, most // 4) if restarts else most
    while True:
        outcome[ATTEMPTS] += 1.0
        reached = attempt(problem, x, guided, patient, memory, first, deadline, clock, outcome, places, room, work)
        if reached or not restarts or spent(outcome, first, deadline, clock):
            break
        draw(x, seed, int(outcome[ATTEMPTS]), variables, state)
    if not reached:
        for k in range(x.size):
            x[k] = work.best[k]
        if restarts and not spent(outcome, most, deadline, clock):
            descend(problem, x, FAINT, NEVER_STALL, memory, most, deadline, clock, outcome, places, room, work)
    for k in range(x.size):
        work.best[k] = x[k]

"""Inverse kinematics by L-BFGS-B: descents of half the sum of squared residuals, from the start and then from anywhere."""

import math
from typing import NamedTuple

from memetik.kernels.compiler.jit import jit
from memetik.kernels.lbfgsb.minimiser import ACCEPT, GIVE_UP, GO_ON, RUNNING, advance, begin
from memetik.kernels.lbfgsb.minimiser_record import Minimiser
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, remember, spent
from memetik.kernels.problem.evaluate import linearise, measure, place
from memetik.kernels.problem.guides import FADING, FAINT, any_guides, first_fading
from memetik.kernels.problem.limits import open_limits, sample
from memetik.kernels.problem.problem_record import Run
from memetik.kernels.runtime.random import seed_stream
from memetik.kernels.runtime.record import reader

# A descent is given up when so many evaluations do not take a tenth off, or a thousandth while guides pull. Of 4 to 30
# evaluations and 1 to 70 %, these are within 10 % of the least cost per solution, on an arm and on a humanoid.
PATIENCE, STALL, BALANCE_STALL = 8, 0.9, 0.999
NEVER_STALL = 2.0
GRADIENT_TOLERANCE = 1e-10
SETTLE = 300  # evaluations kept back to bring the closest posture to its minimum
UNLIMITED = 1 << 60


class Descents(NamedTuple):
    """What a search needs."""

    minimiser: Minimiser
    restarts: bool  # whether to start again from postures drawn within the limits
    calls: int  # evaluations that a gradient takes besides that of its value, where a function has to be asked for it


read_descents = reader(Descents)


@jit
def half_squares(problem, x, softness, gradient, run, work):
    """f = 1/2 sum of squared scaled residuals, guides counting `softness` times; writes its gradient J^T r.

    Returns f, and whether every term that can block is satisfied.
    """
    variables = problem.variables
    place(problem.nodes, problem.frames, x, work.poses, work.world)
    run.outcome[EVALUATIONS] += 1.0
    error, hard, satisfied = measure(problem.terms, problem.data, work.world, x, softness, work.residual)
    remember(x, hard, run, work)
    if not math.isfinite(error):  # some objective is not defined here, and has no slope either
        return error, False
    linearise(problem, x, softness, work)
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
def descend(problem, own, softness, stall, run, work):
    """One descent from line.x, in place, until satisfied (with softness 0), stalled, at a minimum, or out of budget.

    L-BFGS-B takes the curvature to be one until it has made a step, so f is divided by what it is at the start: far from
    there, a first step as long as the gradient goes through every limit. Returns whether the posture it ends with
    satisfies every term that can block. Joints that turn freely may end outside their limits, by whole turns.
    """
    descents = read_descents(own)
    line = descents.minimiser.line
    x, gradient, progress = line.x, line.gradient, line.progress[0]
    open_limits(problem.variables, line.lower, line.upper)
    begin(own, UNLIMITED, UNLIMITED, GRADIENT_TOLERANCE, 0.0)
    best_satisfied = False
    evaluations, milestone, scale = 0, 0.0, 1.0
    reason = RUNNING
    while reason == RUNNING:
        f, satisfied = half_squares(problem, x, softness, gradient, run, work)
        run.outcome[EVALUATIONS] += descents.calls
        if evaluations == 0:
            scale = 1.0 / bend(gradient, problem.variables, work) if math.isfinite(f) else 1.0
        f *= scale
        for k in range(x.size):
            gradient[k] *= scale
        if f < progress.least:
            best_satisfied = satisfied
        verdict = GO_ON
        if satisfied and softness == 0.0:
            verdict = ACCEPT
        elif spent(run):
            verdict = GIVE_UP
        elif evaluations % PATIENCE == 0:
            least = min(f, progress.least)
            if evaluations > 0 and least > stall * milestone:
                verdict = GIVE_UP
            milestone = least
        evaluations += 1
        reason = advance(own, f, verdict)
    return best_satisfied


@jit
def attempt(problem, own, guided, patient, run, work):
    """One attempt: with guides find the balance first, then let them fade until the rest is satisfied.

    Where the balance led astray before, the next attempts begin with fainter guides. A patient one never stalls.
    """
    last = FADING.size - 1
    stage = first_fading(int(run.outcome[ATTEMPTS])) if guided else last
    while True:
        stall = STALL if stage == last else BALANCE_STALL
        if patient:
            stall = NEVER_STALL
        if descend(problem, own, FADING[stage], stall, run, work):
            return True
        if stage == last or spent(run):
            return False
        stage += 1


@jit
def draw(x, seed, stream, variables, state):
    """A posture within the limits, from a stream of its own."""
    seed_stream(state, seed, stream)
    for k in range(x.size):
        x[k] = sample(variables[k], state)


@jit
def search(problem, run, own, work):
    """Descend from work.x, then from postures drawn within the limits, until one satisfies all terms or the budget is spent.

    When nothing satisfies all terms, the last part of the budget brings the closest posture to its minimum.
    """
    descents, terms = read_descents(own), problem.terms
    x, restarts = descents.minimiser.line.x, descents.restarts
    guided, blocking = any_guides(terms), False
    for t in range(terms.size):
        blocking = blocking or terms[t].soft == 0
    patient = not (restarts and blocking)  # a single descent, or guides alone, whose balance is what counts
    first = run.most - min(SETTLE, run.most // 4) if restarts else run.most
    early = Run(run.seed, first, run.deadline, run.clock, run.state, run.outcome)
    for k in range(x.size):
        x[k] = work.x[k]
    while True:
        run.outcome[ATTEMPTS] += 1.0
        reached = attempt(problem, own, guided, patient, early, work)
        if reached or not restarts or spent(early):
            break
        draw(x, run.seed, int(run.outcome[ATTEMPTS]), problem.variables, run.state)
    if not reached:
        for k in range(x.size):
            x[k] = work.best[k]
        if restarts and not spent(run):
            descend(problem, own, FAINT, NEVER_STALL, run, work)
    for k in range(x.size):
        work.best[k] = x[k]

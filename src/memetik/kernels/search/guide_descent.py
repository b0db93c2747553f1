"""Local searches that minimise the guides among the postures that satisfy everything else.

The search of a solve (descent.py) begins with guides at full strength and lets them fade. That finds a solution from afar; but
where the guides cannot be had, it leaves a solution and comes back to another one. Here a posture first satisfies the others,
and every step after that leads from one such posture to another with a lower cost of the guides: a Gauss-Newton step of all terms
in which guides are faint, so that they only use the directions that the others leave free, then a descent of the others alone.
"""

import math

from memetik.kernels.compiler.jit import jit_inlined, jit_part
from memetik.kernels.problem.budget import ERROR, EVALUATIONS, spent
from memetik.kernels.problem.evaluate import measure, place
from memetik.kernels.problem.guides import FAINT
from memetik.kernels.problem.least_squares import LEAST_DAMPING, bounded_step, linear_model, take_step
from memetik.kernels.search.descent import LONGEST_STEP, attempt_softly, descend
from memetik.kernels.search.refine import look, refine
from memetik.kernels.search.restarts import negligible_cost

STEPS = 40  # a posture that takes more creeps
DAMPING = 0.1  # the share of half the guides' cost that damps a step at first, and what steps make of it ...
BOLDER, WARIER, WARIEST = 0.3, 8.0, 1e4  # ... that gain, and that do not; the most
GAIN = 1e-4  # a step that gains less than this share of the guides' cost ends it
CALM = 0.1  # rad or m; the guides of a moving target may move a joint as far as the rest does, or so far


@jit_inlined
def guides_cost(problem, x, run, work):
    """The squared error of the guides at a posture, which is measured for a linear model."""
    place(problem.nodes, problem.frames, x, work.poses, work.world)
    run.outcome[EVALUATIONS] += 1.0
    total, hard, _ = measure(problem.terms, problem.data, work.world, x, 1.0, work.residual)
    return total - hard


@jit_part
def minimise_guides(problem, x, far, run, work):
    """From x, which satisfies all that can block, downhill along such postures, in place; no joint moves by more than `far`."""
    best = work.best
    run.outcome[ERROR] = -math.inf  # descents keep no posture, which they would do in work.best
    for k in range(x.size):
        best[k] = x[k]
    cost, enough = guides_cost(problem, best, run, work), negligible_cost(problem.terms)
    damping = DAMPING
    for _ in range(STEPS):
        if not cost > enough or damping > WARIEST or not far > 0.0 or spent(run):
            break
        linear_model(problem, best, FAINT, work)
        bounded_step(problem, best, damping * 0.5 * FAINT * cost + LEAST_DAMPING, min(far, LONGEST_STEP), work)
        for k in range(x.size):
            x[k] = best[k]
        take_step(x, problem, work)
        satisfied = descend(problem, x, 0.0, run, work)
        ahead = guides_cost(problem, x, run, work) if satisfied else math.inf
        if ahead < cost:
            moved = 0.0
            for k in range(x.size):
                moved = max(moved, abs(x[k] - best[k]))
                best[k] = x[k]
            far -= moved
            gain, cost = cost - ahead, ahead
            damping *= BOLDER
            if gain < GAIN * cost:
                break
        else:
            damping *= WARIER
            guides_cost(problem, best, run, work)
    for k in range(x.size):
        x[k] = best[k]


@jit_part
def centre(problem, x, run, work):
    """One more step of the terms that can block, from x, which satisfies them, in place; it stays where that would not.

    A descent ends anywhere within the tolerances. Guides that used what is left of them would move the joints to and fro.
    """
    run.outcome[ERROR] = -math.inf  # descents keep no posture, which they would do in work.best
    for k in range(x.size):
        work.best[k] = x[k]
    error = look(problem, x, 0.0, run, work)
    linear_model(problem, x, 0.0, work)
    bounded_step(problem, x, DAMPING * 0.5 * error + LEAST_DAMPING, LONGEST_STEP, work)
    take_step(x, problem, work)
    if not descend(problem, x, 0.0, run, work):
        for k in range(x.size):
            x[k] = work.best[k]


@jit_part
def attempt_calmly(problem, x, run, work):
    """One attempt for a target that moves, with the posture before in work.start: what can block first, then the guides, as far
    as that is calm."""
    if not descend(problem, x, 0.0, run, work):
        return False
    centre(problem, x, run, work)
    far = CALM
    for k in range(x.size):
        far = max(far, abs(x[k] - work.start[k]))
    minimise_guides(problem, x, far, run, work)
    return True


@jit_part
def attempt_minimum(problem, x, run, work):
    """One attempt that ends in a minimum: of the guides among the postures that satisfy the rest, if there is a rest."""
    if not attempt_softly(problem, x, run, work):
        return False
    hard = False
    for t in range(problem.terms.size):
        hard = hard or problem.terms[t].soft == 0
    if hard:
        minimise_guides(problem, x, math.inf, run, work)
        return True
    for k in range(x.size):
        work.best[k] = x[k]
    refine(problem, 1.0, run, work)
    for k in range(x.size):
        x[k] = work.best[k]
    return True

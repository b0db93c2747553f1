"""memetic: a population of postures, the most promising exploited by a fast local search until one satisfies all.

It keeps the idea of Bio IK and puts the work where it pays. The population is drawn once for a problem and its forward
kinematics kept, so choosing where to start next costs no evaluation (selection). A failed attempt passes on the limbs
that are already satisfied and takes the others from the posture that suits their targets best (recombination). A
posture is exploited once only (niching), and when the best of the population is used up, fresh ones are drawn (wipe-out).
"""

from __future__ import annotations

import math

from memetik.kernels.compiler.function_pointers import call_attempt, call_residual
from memetik.kernels.compiler.jit import jit
from memetik.kernels.compiler.random import seed_stream, uniform
from memetik.kernels.memetic.population_poses import add_angles, add_distances, load_poses, take_best
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, EVALUATIONS, MOVED, OUTCOME, deadline_after, spent
from memetik.kernels.problem.evaluate import count_residuals, place, term_error
from memetik.kernels.problem.quick_error import quick_error, unmasked
from memetik.kernels.problem.verify import verify
from memetik.kernels.problem.workspace import carve
from memetik.kernels.terms.pose import target_pose
from memetik.kernels.terms.records import ORIENTATION, POSITION, SPRINGS
from memetik.kernels.terms.springs import rest_at_start

FRESH = 8  # postures drawn for one start after the population is used up
SHARE = 8  # one in this many of the population is exploited before that


@jit
def blame(problem, x, affects, failed, chosen, work):
    """Choose the variables that move a term that is not satisfied, and mark every term that only they move.

    Returns whether other terms are marked than before.
    """
    nodes, frames, terms, data, bounds, spans = problem
    for k in range(x.size):
        chosen[k] = 0
    for t in range(terms.size):
        if terms[t].soft:
            continue
        if terms[t].kind != SPRINGS:
            call_residual(terms[t].residual, terms[t], data, work.world, x, work.residual)
        if not term_error(terms[t], data, x, work.residual)[1]:
            for k in range(x.size):
                chosen[k] |= affects[t, k]
    changed = False
    for t in range(terms.size):
        mark = 0 if terms[t].soft else 1
        for k in range(x.size):
            if affects[t, k] and not chosen[k]:
                mark = 0
        if failed[t] != mark:
            failed[t] = mark
            changed = True
    return changed


@jit
def rank(problem, population, frame_poses, failed, used, work):
    """Score every posture of the population by the marked terms; one that was exploited before is out."""
    nodes, frames, terms, data, bounds, spans = problem
    score = work.score
    for c in range(score.size):
        score[c] = math.inf if used[c] else 0.0
    for t in range(terms.size):
        if not failed[t]:
            continue
        term = terms[t]
        weight = term.scale * term.scale
        if term.kind == POSITION and term.other < 0 and unmasked(term, data):
            add_distances(frame_poses[term.frame], target_pose(term, data, work.world), weight, score)
        elif term.kind == ORIENTATION and term.other < 0 and unmasked(term, data):
            add_angles(frame_poses[term.frame], target_pose(term, data, work.world), weight, score)
        else:
            for c in range(score.size):
                load_poses(frame_poses, c, work.world)
                score[c] += weight * quick_error(term, data, work.world, population[c], work.right)


@jit
def draw(problem, x, chosen, failed, most, state, outcome, work):
    """The best of a few fresh postures: only the chosen variables are drawn, the rest stays."""
    nodes, frames, terms, data, bounds, spans = problem
    n = x.size
    least = math.inf
    for k in range(n):
        work.trial[k] = x[k]
    for _ in range(FRESH):
        if outcome[EVALUATIONS] + 1.0 >= most:  # leave one for the attempt that follows
            break
        for k in range(n):
            if chosen[k]:
                work.trial[k] = bounds[2, k] + (bounds[3, k] - bounds[2, k]) * uniform(state)
        place(nodes, frames, work.trial, work.poses, work.world)
        outcome[EVALUATIONS] += 1.0
        total = 0.0
        for t in range(terms.size):
            if failed[t]:
                total += terms[t].scale ** 2 * quick_error(terms[t], data, work.world, work.trial, work.right)
        if total < least:
            least = total
            for k in range(n):
                x[k] = work.trial[k]


@jit
def search(problem, affects, population, frame_poses, x, attempt, most, deadline, flags, clock, state, outcome, work):
    """Attempt after attempt from x, in place, until one satisfies all terms or the budget is spent."""
    nodes, frames, terms, data, bounds, spans = problem
    n = x.size
    failed = flags[: terms.size]
    chosen = flags[terms.size : terms.size + n]
    used = flags[terms.size + n :]
    for k in range(flags.size):
        flags[k] = 0
    exploited = 0
    while True:
        outcome[ATTEMPTS] += 1.0
        if call_attempt(attempt, problem, x, most, deadline, clock, outcome, work):
            return
        if spent(outcome, most, deadline, clock):
            break
        if blame(problem, x, affects, failed, chosen, work):
            rank(problem, population, frame_poses, failed, used, work)
        if exploited < population.shape[0] // SHARE:
            exploited += 1
            c = take_best(work.score)
            used[c] = 1
            for k in range(n):
                if chosen[k]:
                    x[k] = population[c, k]
        else:
            draw(problem, x, chosen, failed, most, state, outcome, work)
    for k in range(n):
        x[k] = work.best[k]


@jit
def solve(
    nodes, frames, terms, data, bounds, spans, active, limits, affects, population, frame_poses, q, attempt, seed, stream,
    most, seconds, flags, clock, state, buffer, outcome,
):  # fmt: skip
    """Solve from the joint vector q and write the answer into it. Returns the status of the verified answer.

    `attempt` is the address of the local search that fits the problem. `active` are the places in q of the
    variables that matter; all others keep their value, if it is within the `limits`. `bounds` has the rows lower, upper,
    the same two with finite stand-ins for sampling, and 1 for angles that may be turned by whole turns. Stream 0 of the
    seed sets out from q itself, any other from a posture that it draws, so that several can share one problem. Behind the
    numbers of the search, `outcome` receives the error of every term and whether it is satisfied.
    """
    n = active.size
    m = count_residuals(terms)
    work = carve(buffer, nodes.size, frames.size, n, m, population.shape[0])
    problem = (nodes, frames, terms, data, bounds, spans)
    for k in range(OUTCOME):
        outcome[k] = 0.0
    outcome[ERROR] = math.inf
    deadline = deadline_after(seconds, clock)
    x, start = work.x, work.start
    if move_inside(q, limits):
        outcome[MOVED] = 1.0
    seed_stream(state, seed, stream)
    for k in range(n):
        x[k] = start[k] = q[active[k]]
        work.best[k] = x[k]  # the answer if no posture can be measured
        if stream > 0:
            x[k] = bounds[2, k] + (bounds[3, k] - bounds[2, k]) * uniform(state)
    rest_at_start(terms, data, start)
    search(problem, affects, population, frame_poses, x, attempt, most, deadline, flags, clock, state, outcome, work)
    errors, satisfied = outcome[OUTCOME : OUTCOME + terms.size], outcome[OUTCOME + terms.size :]
    status = verify(
        nodes, frames, terms, data, bounds, x, start, work.poses, work.world, work.residual, errors, satisfied
    )
    for k in range(n):
        q[active[k]] = x[k]
    return status


@jit
def move_inside(q, limits):
    """Move a joint vector inside the limits; whether it was not."""
    moved = False
    for k in range(q.size):
        value = min(max(q[k], limits[0, k]), limits[1, k])
        moved = moved or value != q[k]
        q[k] = value
    return moved

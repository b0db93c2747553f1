"""The local search of a track that may run along surfaces, frame by frame (sliding_step.py has its steps).

It goes on from the posture of the last frame until its steps are short, whether the targets are met or not: where they cannot be,
it ends at the bottom of the valley that it is in, as near as the surfaces let it come. What touches in the end, or does not come
to rest, is left to the searches that follow in a track.
"""

import math

from memetik.kernels.compiler.jit import jit
from memetik.kernels.contacts.contact_search import ALONG, are_near_pairs_known, contact_free_arrays, take_near_pairs
from memetik.kernels.contacts.sliding_step import (
    constrained_step,
    error_left,
    linearise_gaps,
    linearise_rest,
    take_contacts,
    write_system,
)
from memetik.kernels.problem.budget import EVALUATIONS, deadline_after, spent
from memetik.kernels.problem.evaluate import measure, place, term_error
from memetik.kernels.problem.least_squares import shorten, take_step
from memetik.kernels.problem.problem_record import Run
from memetik.kernels.problem.verify import CLOSEST, INVALID, REACHED
from memetik.kernels.search.search_record import memetic_arrays
from memetik.kernels.terms.records import CONTACT

STEPS, MOST = 16, 64  # of a frame, and where these do not come to rest
LONGEST = 0.3  # rad or m, for the joint that moves most
SLOWLY = 0.1  # steps to and fro whose squares shrink by less than this are too long
SHORT = 1e-6  # rad or m; a step no longer than this ends the search
CALM = 1e-3  # rad or m; the longest last step of a posture that is at rest
LEAST_DAMPING = 1e-6  # lambda where the targets can be met
# What steps to and fro make of the share of the error that is left in lambda, what each frame leaves of that, and the most.
STIFFER, SOFTER, STIFFEST = 2.0, 0.7, 1e3


@jit
def slide_stage(table, q, outcome, seed, most, seconds):
    """From work.start to work.x. Returns REACHED, CLOSEST for the bottom of a valley, or INVALID where it comes to no end."""
    whole = memetic_arrays(table)
    contact_free = contact_free_arrays(whole.contact_free)
    problem, work, push, slide = whole.solve.problem, whole.solve.work, contact_free.push, contact_free.slide
    run = Run(
        seed, most, deadline_after(seconds, whole.solve.clock), whole.solve.clock, whole.solve.state, outcome
    )  # fmt: skip
    x = work.x
    for k in range(problem.data.size):
        push.data[k] = problem.data[k]
    for k in range(x.size):
        x[k] = work.start[k]
        slide.last_step[k] = 0.0
    slide.stiff[0] = max(SOFTER * slide.stiff[0], 1.0)
    longest, held = math.inf, 0
    for step in range(MOST + 1):
        place(problem.nodes, problem.frames, x, work.poses, work.world)
        outcome[EVALUATIONS] += 1.0
        if step == 0 or not are_near_pairs_known(push, work):
            take_near_pairs(problem, push, work)
        error, _, satisfied = measure(push.near, push.data, work.world, x, 0.0, work.residual)
        if not math.isfinite(error):
            return INVALID
        at_rest = longest <= SHORT or (longest <= CALM and step >= STEPS) or (satisfied and held == 0)
        if at_rest or step == MOST or spent(run):
            break
        take_contacts(slide, push.near, push.data, work.world, ALONG)
        linearise_rest(problem, x, work)
        linearise_gaps(slide, push.data, problem, work)
        write_system(slide, problem.terms, LEAST_DAMPING + slide.stiff[0] * slide.left[0], work)
        held = constrained_step(slide, problem.variables, x, work)
        shorten(LONGEST, work)
        slide.left[0] = error_left(problem.terms, work)
        longest, forth, length, last = 0.0, 0.0, 0.0, 0.0
        for k in range(x.size):
            longest = max(longest, abs(work.step[k]))
            forth += work.step[k] * slide.last_step[k]
            length += work.step[k] * work.step[k]
            last += slide.last_step[k] * slide.last_step[k]
            slide.last_step[k] = work.step[k]
        if forth < 0.0 and length > SLOWLY * last:
            slide.stiff[0] = min(STIFFER * slide.stiff[0], STIFFEST)
        take_step(x, problem, work)
    if satisfied:
        return REACHED
    for t in range(problem.terms.size):
        contact = problem.terms[t].loss == CONTACT
        if contact and not term_error(push.near[t], push.data, x, work.residual)[1]:
            return INVALID
        if whole.levels.ranks[t] != (0 if contact else 1):
            return INVALID
    return CLOSEST if longest <= CALM else INVALID

"""memetic: a population of postures, the most promising exploited by a fast local search until one satisfies all.

It keeps the idea of Bio IK and puts the work where it pays. The population is drawn once for a problem and its forward
kinematics kept, so choosing where to start next costs no evaluation (selection). A failed attempt passes on the limbs
that are already satisfied and takes the others from the posture that suits their targets best (recombination). A
posture is exploited once only (niching), and when the best of the population is used up, fresh ones are drawn (wipe-out).

Most first attempts succeed, so where the next one starts is a kernel of its own, called by address: a first solve need not
wait until it is compiled.
"""

import math

from memetik.kernels.compiler.jit import jit, jit_inlined, jit_part
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, spent
from memetik.kernels.problem.evaluate import place, term_error
from memetik.kernels.problem.function_pointers import call_attempt
from memetik.kernels.problem.limits import sample
from memetik.kernels.problem.mounts import seen_from_root
from memetik.kernels.problem.quick_error import quick_error, unmasked
from memetik.kernels.problem.solve import begin_solve, end_solve
from memetik.kernels.runtime.random import seed_stream
from memetik.kernels.search.population_poses import (
    add_aims,
    add_angles,
    add_distances,
    begins_limb,
    best_of,
    end_of_chain,
    load_poses,
    seen_from,
    take_best,
)
from memetik.kernels.search.search_record import call_next_start
from memetik.kernels.terms.aim import AIM_AXIS, AIM_FREE, AIM_IS_POINT
from memetik.kernels.terms.function_pointers import call_residual
from memetik.kernels.terms.pose import target_pose
from memetik.kernels.terms.records import CONTACT, DIRECTION, POINT, ROTATION

FRESH = 8  # postures drawn for one start after the population is used up
SHARE = 8  # one in this many of the population is exploited before that
UNFINISHED = -2  # no status: the search could not go on
BETTER = 0.5  # a limb is replaced by one that leaves less than this share of its squared error


@jit
def mark_unsatisfied_joints(problem, x, failed, chosen, work):
    """Choose the variables that move a term that is not satisfied, and mark every term that only they move.

    Returns whether other terms are marked than before.
    """
    terms, data, affects = problem.terms, problem.data, problem.affects
    for k in range(x.size):
        chosen[k] = 0
    for t in range(terms.size):
        if terms[t].soft:
            continue
        if terms[t].rows > 0:
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
def rank(problem, population, scratch, work):
    """Score every posture of the population by the marked terms; one that was exploited before is out.

    Whole positions, orientations and directions in the world have a fast path, over all postures at once (population_poses.py).
    Contacts do not count beside other terms: they say little about where a descent ends, and take longer than it does.
    """
    terms, data = problem.terms, problem.data
    score, frame_poses = scratch.score, population.frame_poses
    for c in range(score.size):
        score[c] = math.inf if scratch.used[c] else 0.0
    only_contacts = True
    for t in range(terms.size):
        if scratch.failed[t] and terms[t].loss != CONTACT:
            only_contacts = False
    for t in range(terms.size):
        if not scratch.failed[t] or (terms[t].loss == CONTACT and not only_contacts):
            continue
        term = terms[t]
        weight = term.scale * term.scale
        if term.goal == POINT and term.other < 0 and unmasked(term, data):
            target = seen_from_root(problem, target_pose(term, data, work.world))
            add_distances(frame_poses[term.frame], target, weight, score)
        elif term.goal == ROTATION and term.other < 0 and unmasked(term, data):
            target = seen_from_root(problem, target_pose(term, data, work.world))
            add_angles(frame_poses[term.frame], target, weight, score)
        elif (
            term.goal == DIRECTION
            and term.other < 0
            and data[term.numbers + AIM_FREE] == 0.0
            and not problem.mounts.size
        ):
            k, to = term.numbers + AIM_AXIS, term.target
            axis, wanted = (data[k], data[k + 1], data[k + 2]), (data[to], data[to + 1], data[to + 2])
            is_point = data[term.numbers + AIM_IS_POINT] != 0.0
            add_aims(frame_poses[term.frame], axis, wanted, is_point, weight, score)
        else:
            for c in range(score.size):
                load_poses(problem, frame_poses, c, work.world)
                score[c] += weight * quick_error(term, data, work.world, population.genes[c], work.right)


@jit
def choose_limbs(problem, population, scratch, x, run, work):
    """Give every limb with a marked term the joint values that suit its targets best where x has put its beginning.

    Whole postures of many limbs that all suit are rare; limbs that do are many. A limb that gains little keeps what it has: it
    is too short for where it is, and would only be stretched or bent to its limits.
    """
    nodes, frames, terms, data = problem.nodes, problem.frames, problem.terms, problem.data
    score = scratch.limb_score
    place(nodes, frames, x, work.poses, work.world)
    run.outcome[EVALUATIONS] += 1.0
    for limb in range(nodes.size):
        if not begins_limb(nodes, limb):
            continue
        for c in range(score.size):
            score[c] = 0.0
        now = 0.0
        for t in range(terms.size):
            term = terms[t]
            if not scratch.failed[t] or term.frame < 0 or not limb <= frames[term.frame].node <= nodes[limb].last:
                continue
            if (term.goal == POINT or term.goal == ROTATION) and term.other < 0 and unmasked(term, data):
                target = target_pose(term, data, work.world)
                if nodes[limb].parent >= 0:
                    target = seen_from(nodes[limb].parent, target, work.poses)
                else:
                    target = seen_from_root(problem, target)
                weight = term.scale * term.scale
                if term.goal == POINT:
                    add_distances(population.limb_poses[term.frame], target, weight, score)
                else:
                    add_angles(population.limb_poses[term.frame], target, weight, score)
                now += weight * quick_error(term, data, work.world, x, work.right)
        best = best_of(score)
        if score[best] < BETTER * now:
            for i in range(limb, nodes[limb].last + 1):
                if scratch.chosen[nodes[i].variable]:
                    x[nodes[i].variable] = population.genes[best, nodes[i].variable]


@jit
def draw(problem, x, scratch, run, work):
    """The best of a few fresh postures: only the chosen variables are drawn, the rest stays."""
    nodes, frames, terms, data, variables = (
        problem.nodes,
        problem.frames,
        problem.terms,
        problem.data,
        problem.variables,
    )
    n = x.size
    least = math.inf
    for k in range(n):
        work.trial[k] = x[k]
    for _ in range(FRESH):
        if run.outcome[EVALUATIONS] + 1.0 >= run.most:  # leave one for the attempt that follows
            break
        for k in range(n):
            if scratch.chosen[k]:
                work.trial[k] = sample(variables[k], run.state)
        place(nodes, frames, work.trial, work.poses, work.world)
        run.outcome[EVALUATIONS] += 1.0
        total = 0.0
        for t in range(terms.size):
            if scratch.failed[t]:
                total += terms[t].scale ** 2 * quick_error(terms[t], data, work.world, work.trial, work.right)
        if total < least:
            least = total
            for k in range(n):
                x[k] = work.trial[k]


@jit_part
def next_start(problem, population, scratch, exploited, resumed, run, work):
    """Put work.x, where an attempt has failed, to where the next one starts. Returns how many postures are exploited.

    exploited: how many of the population were before. resumed: whether there was no attempt, see `search`.
    """
    x, used = work.x, scratch.used
    if resumed or mark_unsatisfied_joints(problem, x, scratch.failed, scratch.chosen, work):
        rank(problem, population, scratch, work)
    if exploited < used.size // SHARE:
        c = take_best(scratch.score)
        used[c] = 1
        for k in range(x.size):
            if scratch.chosen[k]:
                x[k] = population.genes[c, k]
        if end_of_chain(problem.nodes, 0) + 1 < problem.nodes.size and run.outcome[EVALUATIONS] + 1.0 < run.most:
            choose_limbs(problem, population, scratch, x, run, work)
        return exploited + 1
    draw(problem, x, scratch, run, work)
    return exploited


@jit_inlined
def search(problem, population, scratch, callees, run, work):
    """Attempt after attempt from work.x, in place, until one satisfies all terms or the budget is spent.

    A search that is resumed has satisfied them before, in a posture that was not good enough for another reason.
    Returns whether it came to its end: it does not where it needs `next_start` and has no address of it.
    """
    x, used = work.x, scratch.used
    resumed, exploited = scratch.resumed[0] != 0, 0
    for k in range(used.size):
        used[k] = used[k] if resumed else 0
        exploited += used[k]
    for t in range(scratch.failed.size):
        scratch.failed[t] = 1 - problem.terms[t].soft if resumed else 0
    for k in range(x.size):
        scratch.chosen[k] = 1 if resumed and problem.variables[k].row_end > 0 else 0
    while True:
        if not resumed:
            run.outcome[ATTEMPTS] += 1.0
            if call_attempt(callees.attempt, problem, x, run, work):
                return True
            if spent(run):
                break
        if callees.next_start == 0:
            return False
        exploited = call_next_start(
            callees.next_start, problem, population, scratch, exploited, resumed, run, work
        )  # fmt: skip
        resumed = False
    for k in range(x.size):
        x[k] = work.best[k]
    return True


@jit_inlined
def solve(arrays, population, scratch, callees, q, outcome, seed, stream, most, seconds):
    """Solve from the joint vector q and write the answer into it. Returns the status of the verified answer.

    `callees` has the address of the local search that fits the problem. Stream 0 of the seed sets out from q itself, any
    other from a posture that it draws, so that several can share one problem. UNFINISHED says that the solve has to be begun
    again, with the address of `next_start`.
    """
    problem, work = arrays.problem, arrays.work
    run = begin_solve(arrays, q, outcome, seed, most, seconds)
    seed_stream(run.state, seed, stream)
    if stream > 0:
        for k in range(work.x.size):
            work.x[k] = sample(problem.variables[k], run.state)
    if not search(problem, population, scratch, callees, run, work):
        return UNFINISHED
    return end_solve(problem, q, work.x, outcome, work)

"""The search for a better goal, a few evaluations in every tick in which the goal misses something.

An alternative goal is the best posture that attempts from elsewhere have found. Every other attempt starts near the goal: a
stretched elbow does not bend by any gradient, but it does from a posture beside it. The others start as those of
memetic do (search/search.py): from the posture of the population that suits the missed terms best, with the limbs that
are satisfied left as they are. The alternative goal goes on from where it was in every tick, since targets move. It becomes the
goal at once if it satisfies all terms and is near, and else when it has been better for as long as the way to it would
take: it satisfies all terms, or misses them by far less. So no valley holds the goal for ever, and a target that is out
of reach for a moment makes no limb swing round.

Where each evaluation looks at contacts, a tick has one step of all this (seek.py), so that it takes not much longer than others.
"""

import math

from memetik.kernels.body.balls import settle_balls
from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, EVALUATIONS, spent
from memetik.kernels.problem.evaluate import measure, place
from memetik.kernels.problem.function_pointers import call_attempt
from memetik.kernels.problem.least_squares import LEAST_DAMPING, bounded_step, linear_model, take_step
from memetik.kernels.problem.limits import clamp, wrap_towards
from memetik.kernels.problem.problem_record import Problem, Run
from memetik.kernels.problem.verify import CLOSEST, REACHED, verify
from memetik.kernels.runtime.random import uniform
from memetik.kernels.search.all_solutions import apart
from memetik.kernels.search.descent import DAMPING, LIMBS_DAMPING, LONGEST_STEP, STALL, STALLS, failures_in_row
from memetik.kernels.search.population_poses import take_best
from memetik.kernels.search.search import SHARE, draw, mark_unsatisfied_joints, rank

NEAR = 0.5  # rad or m; an alternative goal that satisfies all and is nearer to the goal than this need not wait
PATIENCE = 0.05  # s that any other has to be better, besides the time that the slowest joint takes to get there
MISSING = 4.0  # times as long for one that misses something, too
CLEARLY = 0.5  # times the squared error of the goal: what an alternative goal that misses something has to come below
NEARER = 0.9  # times the way to the alternative goal, or its error: what a newcomer has to come below
# Share of a joint's range around the goal that attempts start within, and how many times it is doubled.
AROUND, WIDER = 0.01, 6
LONGEST_ATTEMPT = 14  # evaluations of an attempt that goes on from tick to tick
BEGINNING = 3  # evaluations that the beginning of an attempt may take where a tick has one step
ROUNDS = 2  # of the share of the population that is exploited; the second draws fresh postures


@jit
def judged_by(problem, terms):
    """The problem with other tolerances."""
    return Problem(
        problem.nodes, problem.frames, terms, problem.variables, problem.limits, problem.data, problem.affects,
        problem.blocks, problem.order, problem.balls, problem.mounts,
    )  # fmt: skip


@jit
def as_users_see_it(own):
    """The whole problem with the user's tolerances."""
    return judged_by(own.memetic.solve.problem, own.terms)


@jit
def descend_from(problem, work, terms, attempt, run):
    """The local search at an address from work.x, in place. Returns its status by these terms; the outcome has the error."""
    run.outcome[ERROR] = 1e300
    for k in range(work.x.size):
        work.best[k] = work.x[k]
    if call_attempt(attempt, problem, work.x, run, work):
        return REACHED
    for k in range(work.x.size):
        work.x[k] = work.best[k]
    return verify(judged_by(problem, terms), work.x, run.outcome, work)


@jit
def step_once(problem, share, run, work):
    """One step from work.x, in place, damped by this share of half the squared error, unless the posture satisfies all terms.
    Returns whether it does; the outcome has its squared error, and work.best the posture."""
    for k in range(work.x.size):
        work.best[k] = work.x[k]
    place(problem.nodes, problem.frames, work.x, work.poses, work.world)
    run.outcome[EVALUATIONS] += 1.0
    error, _, satisfied = measure(problem.terms, problem.data, work.world, work.x, 0.0, work.residual)
    run.outcome[ERROR] = error
    if not satisfied and math.isfinite(error):
        linear_model(problem, work.x, 0.0, work)
        bounded_step(problem, work.x, share * 0.5 * error + LEAST_DAMPING, LONGEST_STEP, work)
        take_step(work.x, problem, work)
    return satisfied


@jit
def step_whole(own, run):
    """The same for the whole problem as the user sees it."""
    problem = as_users_see_it(own)
    share = LIMBS_DAMPING if problem.blocks.size > 1 else DAMPING
    return step_once(problem, share, run, own.memetic.solve.work)


@jit
def descend_whole(own, run):
    """The same for the whole problem."""
    return descend_from(own.memetic.solve.problem, own.memetic.solve.work, own.terms, own.attempt, run)


@jit
def way_to(own, x):
    """How long the slowest joint takes from where it is to a posture at full speed [s]."""
    variables, longest = own.memetic.solve.problem.variables, 0.0
    for k in range(x.size):
        j = variables[k].index
        longest = max(longest, abs(x[k] - own.q[j]) / own.movers[j].velocity)
    return longest


@jit
def start_at_body(own):
    """Whole turns are taken off towards where the joints are."""
    problem, work = own.memetic.solve.problem, own.memetic.solve.work
    for k in range(work.start.size):
        work.start[k] = own.q[problem.variables[k].index]


@jit
def pursue_alternative(own, run):
    """The alternative goal goes on from where it was."""
    state, problem, work = own.state[0], own.memetic.solve.problem, own.memetic.solve.work
    start_at_body(own)
    for k in range(work.x.size):
        work.x[k] = own.alternative[k]
    if own.slices:
        satisfied = step_whole(own, run) or step_whole(
            own, run
        )  # a step is judged by the measurement before the next one
        state.alternative_status = REACHED if satisfied else CLOSEST
    else:
        state.alternative_status = descend_whole(own, run)
    state.alternative_error = run.outcome[ERROR]
    wrap_towards(work.x, work.start, problem.variables)
    for k in range(work.x.size):
        own.alternative[k] = work.x[k]


@jit
def draw_near(own, run):
    """A posture around the goal in work.x, to start from."""
    state, variables, work = own.state[0], own.memetic.solve.problem.variables, own.memetic.solve.work
    share = AROUND * 2.0 ** (state.attempts // 2 % WIDER)
    for k in range(work.x.size):
        reach = share * (variables[k].sample_upper - variables[k].sample_lower)
        work.x[k] = clamp(own.x[k] + reach * (2.0 * uniform(run.state) - 1.0), variables[k])


@jit
def draw_far(own, run):
    """A posture to start from in work.x: the goal, with the limbs that miss something from elsewhere."""
    state, memetic, work = own.state[0], own.memetic, own.memetic.solve.work
    problem, scratch = as_users_see_it(own), own.memetic.scratch
    mark_unsatisfied_joints(problem, work.x, scratch.failed, scratch.chosen, work)
    share = scratch.used.size // SHARE
    if state.exploited >= ROUNDS * share:
        state.exploited = 0
        for c in range(scratch.used.size):
            scratch.used[c] = 0
    state.exploited += 1
    if state.exploited <= share:
        rank(problem, memetic.population, scratch, work)
        c = take_best(scratch.score)
        scratch.used[c] = 1
        for k in range(work.x.size):
            if scratch.chosen[k]:
                work.x[k] = memetic.population.genes[c, k]
    else:
        draw(problem, work.x, scratch, run, work)


@jit
def measure_goal(own, run):
    """Write its squared error, and leave it in work.x, placed."""
    problem, work = own.memetic.solve.problem, own.memetic.solve.work
    for k in range(work.x.size):
        work.x[k] = own.x[k]
    place(problem.nodes, problem.frames, work.x, work.poses, work.world)
    run.outcome[EVALUATIONS] += 1.0
    own.state[0].goal_error = measure(problem.terms, problem.data, work.world, work.x, 0.0, work.residual)[1]


@jit
def beats_alternative(own, x, status, error):
    """Whether the newcomer x is better than the alternative goal."""
    state = own.state[0]
    if not state.has_alternative or status != state.alternative_status:
        return not state.has_alternative or status < state.alternative_status
    if status == REACHED:
        return way_to(own, x) < NEARER * way_to(own, own.alternative)
    return error < NEARER * state.alternative_error


@jit
def limited(run, most):
    """The run with no more than so many evaluations from now on."""
    most = min(run.most, int(run.outcome[EVALUATIONS]) + most)
    return Run(run.seed, most, run.deadline, run.clock, run.state, run.outcome)


@jit
def begin_attempt(own, run):
    """Write where the next attempt starts into work.x."""
    state = own.state[0]
    run.outcome[ATTEMPTS] += 1.0
    measure_goal(own, run)
    state.attempts += 1
    if state.attempts % 2:
        draw_near(own, run)
    else:
        draw_far(own, run)


@jit
def attempt_better(own, run):
    """Go on with the attempt of the last tick, or begin one; what beats the alternative goal becomes the alternative goal."""
    state, problem, work = own.state[0], own.memetic.solve.problem, own.memetic.solve.work
    if state.attempted > 0:
        for k in range(work.x.size):
            work.x[k] = own.attempted[k]
    else:
        begin_attempt(own, run)
    if spent(run):
        state.attempted = 0
        return
    start_at_body(own)
    before = int(run.outcome[EVALUATIONS])
    status = descend_whole(own, run)
    state.attempted += int(run.outcome[EVALUATIONS]) - before
    if not spent(run) or state.attempted >= LONGEST_ATTEMPT:
        state.attempted = 0
    wrap_towards(work.x, work.start, problem.variables)
    for k in range(work.x.size):
        own.attempted[k] = work.x[k]
    if beats_alternative(own, work.x, status, run.outcome[ERROR]):
        state.attempted = 0
        become_alternative(own, work.x, status, run.outcome[ERROR])


@jit
def become_alternative(own, x, status, error):
    """Let x be the alternative goal."""
    state = own.state[0]
    state.has_alternative, state.alternative_status, state.alternative_error = 1, status, error
    for k in range(x.size):
        own.alternative[k] = x[k]


@jit
def attempt_slice(own, run):
    """One step of the attempt that goes on, or its beginning; what beats the alternative goal on its way takes its place."""
    state, problem, work = own.state[0], own.memetic.solve.problem, own.memetic.solve.work
    if state.attempted == 0:
        begin_attempt(own, limited(run, BEGINNING))
        state.attempted, state.failures, state.attempt_error = 1, 0.0, math.inf
        for k in range(work.x.size):
            own.attempted[k] = work.x[k]
        return
    start_at_body(own)
    for k in range(work.x.size):
        work.x[k] = own.attempted[k]
    status, error = REACHED if step_whole(own, run) else CLOSEST, run.outcome[ERROR]
    settle_balls(problem.balls, work.best, work.start)
    wrap_towards(work.best, work.start, problem.variables)
    if beats_alternative(own, work.best, status, error):
        become_alternative(own, work.best, status, error)
    state.attempted += 1
    state.failures = failures_in_row(error, state.attempt_error, STALL, state.failures)
    state.attempt_error = error
    if status == REACHED or not error < math.inf or state.failures >= STALLS or state.attempted > LONGEST_ATTEMPT:
        state.attempted = 0
    for k in range(work.x.size):
        own.attempted[k] = work.x[k]


@jit
def is_due(own):
    """Whether the alternative goal has been better for long enough to become the goal; counts this tick."""
    state, problem = own.state[0], own.memetic.solve.problem
    if not state.has_alternative:
        return False
    satisfies = state.alternative_status == REACHED
    if satisfies != (state.alternative_satisfied != 0):
        state.alternative_satisfied, state.waited = int(satisfies), 0.0
    if not (satisfies or state.alternative_error < CLEARLY * state.goal_error):
        state.waited = 0.0
        return False
    if satisfies and apart(own.alternative, own.x, problem.variables, problem.balls) <= NEAR:
        return True
    state.waited += own.pace[0].tick
    patience = PATIENCE + way_to(own, own.alternative)
    return state.waited >= (patience if satisfies else MISSING * patience)


@jit
def challenge(own, run):
    """One tick of the search. Returns whether the alternative goal is to become the goal."""
    if own.state[0].has_alternative:
        pursue_alternative(own, run)
    if not spent(run):
        attempt_better(own, run)
    return is_due(own)

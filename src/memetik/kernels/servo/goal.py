"""The goal posture for the targets as they are now.

It is refined from the goal before by the local search of memetic, so it stays on its branch while there is one. Where targets are
out of reach it is the bottom of its valley, to which it moves a few evaluations in each tick. Guides move it as far as all else
leaves it free, and where contacts keep the joints from it, it is but a step away from them.
"""

import math

from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.budget import ERROR, EVALUATIONS, spent
from memetik.kernels.problem.evaluate import measure, place
from memetik.kernels.problem.guides import FAINT
from memetik.kernels.problem.least_squares import LEAST_DAMPING, bounded_step, linear_model, take_step
from memetik.kernels.problem.problem_record import Problem, Run
from memetik.kernels.problem.verify import CLOSEST, INVALID, REACHED, verify
from memetik.kernels.search.descent import DAMPING, LONGEST_STEP
from memetik.kernels.search.refine import refine
from memetik.kernels.servo.alternative import descend_from, judged_by, step_once, way_to
from memetik.kernels.servo.braking import fastest_to_stop, velocity_range
from memetik.kernels.terms.springs import rest_at_start

GUIDED = 0.2  # s in which the way to the balance of the guides shrinks by 1/e
GUIDED_SPEED = 0.25  # of the velocity and the acceleration that joints have: how guides move the goal at most
BEHIND = 0.1  # s at full speed; joints that are farther behind the goal do not slow it down
AGREED = 1e-9  # rad or m; a goal that is out of reach by less is not
SLOWER = 4  # how many shares of the drift are tried in a tick, each half of the one before
BRAKED = (
    0.1  # of the acceleration that joints have: how the goal slows before limits, since other joints make up for it
)
JUMP = 0.5  # rad or m; a goal that moves farther in one tick is looked for from where the joints are, too
BOLDER = 0.2  # times the damping of a search: of the one step from where contacts keep the joints
REFINING = 12  # evaluations that a goal which misses something is refined by in each tick


@jit
def search_goal(own, run):
    """The local search from the goal, and from where the joints are if that leads far. Leaves a posture in work.x."""
    problem, work, x = own.reach.problem, own.reach.work, own.x
    for k in range(x.size):
        x[k] = work.x[k] = work.start[k] = own.goal[problem.variables[k].index]
    status = descend_from(problem, work, own.reach_terms, own.reach_hard, run)
    farthest = 0.0
    for k in range(x.size):
        farthest = max(farthest, abs(work.x[k] - x[k]))
    if farthest <= JUMP or spent(run):
        return status
    for k in range(x.size):
        x[k] = work.x[k]
        work.x[k] = work.start[k] = own.q[problem.variables[k].index]
    other = descend_from(problem, work, own.reach_terms, own.reach_hard, run)
    if other > status or (other == status and way_to(own, x) <= way_to(own, work.x)):
        for k in range(x.size):
            work.x[k] = x[k]
        return status
    return other


@jit
def goal_leaps(own):
    """Whether the goal in work.x goes much farther than in the tick before, as where targets come less often than ticks."""
    variables, tick, now, before = own.reach.problem.variables, own.pace[0].tick, 0.0, 0.0
    for k in range(own.x.size):
        j = variables[k].index
        mover = own.movers[j]
        step = abs(own.reach.work.x[k] - own.goal[j]) - mover.acceleration * tick * tick
        now, before = max(now, step / mover.velocity), max(before, abs(own.goal_step[j]) / mover.velocity)
    return now > 2.0 * before


@jit
def write_easy_limits(own):
    """Write how far each variable may go in this tick into own.easy, so that its joint brakes softly before its limits."""
    variables, easy, tick = own.reach.problem.variables, own.easy, own.pace[0].tick
    for k in range(own.x.size):
        if variables[k].ball:
            continue
        before, brake = own.goal[variables[k].index], BRAKED * own.movers[variables[k].index].acceleration
        lower = before - tick * fastest_to_stop(before - variables[k].lower, brake, tick)
        upper = before + tick * fastest_to_stop(variables[k].upper - before, brake, tick)
        easy[k].lower, easy[k].upper = max(lower, variables[k].lower), min(upper, variables[k].upper)


@jit
def is_easy(own):
    """Whether the goal in work.x is within these limits."""
    x, easy, inside = own.reach.work.x, own.easy, True
    for k in range(x.size):
        inside = inside and (own.reach.problem.variables[k].ball or easy[k].lower <= x[k] <= easy[k].upper)
    return inside


@jit
def within_easy_limits(own):
    """The problem whose solution is the goal, with the limits of this tick."""
    problem = own.reach.problem
    return Problem(
        problem.nodes, problem.frames, problem.terms, own.easy, problem.limits, problem.data, problem.affects,
        problem.blocks, problem.order, problem.balls, problem.mounts,
    )  # fmt: skip


@jit
def ease_goal(own, run):
    """Where the goal in work.x runs into limits of joints, let these slow down before and others make up for it. Returns whether
    the goal moves on as it did, without a leap.

    A joint that stops at once makes the others change their velocities at once, which they cannot, and the tips leave their way.
    """
    if goal_leaps(own):
        return False
    write_easy_limits(own)
    if is_easy(own):
        return True
    work, x, variables = own.reach.work, own.x, own.reach.problem.variables
    for k in range(x.size):
        x[k] = work.x[k]
        work.x[k] = work.start[k] = own.goal[variables[k].index]
    if descend_from(within_easy_limits(own), work, own.reach_terms, own.reach_hard, run) != REACHED:
        for k in range(x.size):
            work.x[k] = x[k]
    return True


@jit
def limit_drift(own):
    """Turn the step to the balance of the guides, in work.step, into that of this tick.

    The way shrinks by 1/e in GUIDED seconds, and the drift takes no more than a share of the velocity and the acceleration that
    joints have, so that they can follow it and the targets. All joints are slowed down in proportion: the drift stays among the
    postures that satisfy all else.
    """
    variables, tick, step = own.reach.problem.variables, own.pace[0].tick, own.reach.work.step
    share, ease, total = 1.0, 1.0, 0.0
    for k in range(step.size):
        mover = own.movers[variables[k].index]
        fastest = GUIDED_SPEED * min(mover.velocity, mover.acceleration * GUIDED)
        total += step[k]
        if share * abs(step[k]) > fastest * GUIDED:
            share = fastest * GUIDED / abs(step[k])
    share = share / max(GUIDED, tick) if math.isfinite(total) else 0.0
    for k in range(step.size):
        step[k] = share * step[k] if share > 0.0 else 0.0
        most = GUIDED_SPEED * own.movers[variables[k].index].acceleration * tick
        if ease * abs(step[k] - own.drift[k]) > most:
            ease = most / abs(step[k] - own.drift[k])
    for k in range(step.size):
        own.drift[k] += ease * (step[k] - own.drift[k])
        step[k] = own.drift[k] * tick


@jit
def drift_within(own, share, problem, run):
    """Take this share of the step of the guides from the goal in own.x, within the limits of a problem, and satisfy all else.
    Returns whether it is."""
    work = own.reach.work
    for k in range(own.x.size):
        work.x[k] = work.start[k] = own.x[k]
        work.step[k] = share * own.drift[k] * own.pace[0].tick
    take_step(work.x, problem, work)
    return descend_from(problem, work, own.reach_terms, own.reach_hard, run) == REACHED


@jit
def drift_on(own, share, eased, run):
    """The same within the limits of this tick, if possible."""
    if eased and drift_within(own, share, within_easy_limits(own), run):
        return True
    return drift_within(own, share, own.reach.problem, run)


@jit
def out_of_reach(own):
    """How much farther than they can the joints would have to go in this tick to be at the goal in work.x, as a share of their
    velocity; none where they are far behind."""
    variables, tick, most = own.reach.problem.variables, own.pace[0].tick, 0.0
    for k in range(own.x.size):
        j = variables[k].index
        mover, rest = own.movers[j], own.reach.work.x[k] - own.q[j]
        if variables[k].ball:
            continue
        if abs(rest) > BEHIND * mover.velocity:
            return 0.0
        low, high = velocity_range(mover, own.q[j], own.velocity[j], tick)
        most = max(most, (max(rest - high * tick, low * tick - rest) - AGREED) / (mover.velocity * tick))
    return most


@jit
def yield_to_guides(own, eased, run):
    """Move the goal in work.x, which satisfies all else, towards the balance of the guides.

    The way there is that of one Gauss-Newton step in which guides are faint, so that it uses only what the others leave free. It
    changes continuously with the posture, which the end of a longer search does not. On the way all else stays satisfied, if
    possible within the limits of this tick.

    Near a singularity the goal may move much faster than the drift. Where it leads away from joints that are a little behind, the
    drift slows down and waits for them: what has a tolerance comes first.
    """
    problem, work, x = own.reach.problem, own.reach.work, own.x
    for k in range(x.size):
        x[k] = work.start[k] = work.x[k]
    place(problem.nodes, problem.frames, work.x, work.poses, work.world)
    run.outcome[EVALUATIONS] += 1.0
    error, hard, _ = measure(problem.terms, problem.data, work.world, work.x, 1.0, work.residual)
    linear_model(problem, work.x, FAINT, work)
    bounded_step(problem, work.x, DAMPING * 0.5 * FAINT * (error - hard) + LEAST_DAMPING, LONGEST_STEP, work)
    limit_drift(own)
    share, best, least = 1.0, 0.0, math.inf
    for _ in range(SLOWER):
        lacking = out_of_reach(own) if drift_on(own, share, eased, run) else math.inf
        if lacking < least:
            best, least = share, lacking
        if lacking <= 0.0:
            break
        share *= 0.5
    if best != share and not (best > 0.0 and drift_on(own, best, eased, run)):
        best = 0.0
        for k in range(x.size):
            work.x[k] = x[k]
    for k in range(x.size):
        own.drift[k] *= best


@jit
def step_towards_goal(own, run):
    """One damped step from where the joints are, for a goal that contacts keep them from. Leaves a posture in work.x.

    A single step changes continuously with the posture. Solutions far away differ from tick to tick, and joints that slide along
    an obstacle would turn round and round after them.
    """
    problem, work = own.reach.problem, own.reach.work
    for k in range(work.x.size):
        work.x[k] = work.start[k] = own.q[problem.variables[k].index]
    satisfied = step_once(problem, BOLDER * DAMPING, run, work)
    own.state[0].missed = run.outcome[ERROR]
    return REACHED if satisfied else CLOSEST


@jit
def take_goal(own, status):
    """Let the posture in work.x be the goal, unless it is none. Returns its status."""
    x, variables = own.x, own.reach.problem.variables
    for k in range(x.size):
        if status != INVALID:
            x[k] = own.reach.work.x[k]
            own.goal[variables[k].index] = x[k]
    return status


@jit
def renew_goal(own, run):
    """Find the goal for the targets as they are now, contacts apart. Returns its status by the user's tolerances."""
    problem, work, x = own.reach.problem, own.reach.work, own.x
    for k in range(x.size):
        x[k] = own.goal[problem.variables[k].index]
    rest_at_start(problem.terms, problem.data, x)
    status = step_towards_goal(own, run) if own.state[0].hindered > 0.0 else search_goal(own, run)
    eased = status == REACHED and own.state[0].hindered <= 0.0 and ease_goal(own, run)
    if status == REACHED and own.reach_attempt != own.reach_hard:
        yield_to_guides(own, eased, run)
        return take_goal(own, status)
    for k in range(x.size):
        own.drift[k] = 0.0
    if status == CLOSEST and own.state[0].hindered <= 0.0 and not spent(run):
        for k in range(x.size):
            work.best[k] = work.x[k]
        most = min(run.most, int(run.outcome[EVALUATIONS]) + REFINING)
        refine(problem, FAINT, Run(run.seed, most, run.deadline, run.clock, run.state, run.outcome), work)
        for k in range(x.size):
            work.x[k] = work.start[k] = work.best[k]
        status = verify(judged_by(problem, own.reach_terms), work.x, run.outcome, work)
    return take_goal(own, status)

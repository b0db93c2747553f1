"""One tick of a servo: the goal posture for the targets as they are now, and a step towards it that keeps every limit.

The goal is refined from the goal before by the local search of memetic, so it stays on its branch while there is one.
The joints go after it (pace.py) and never wait for it: whatever the search does, what is returned obeys velocity,
acceleration and position. Where targets are out of reach the goal is the bottom of its valley, to which it moves a few
evaluations in each tick.
"""

import math

from numba.core import types

from memetik.kernels.compiler.function_pointers import caller
from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, OUTCOME, TIMED_OUT, deadline_after, spent
from memetik.kernels.problem.evaluate import measure, place, term_error
from memetik.kernels.problem.function_pointers import PROBLEM, RUN, TABLE, WORKSPACE
from memetik.kernels.problem.guides import FAINT
from memetik.kernels.problem.least_squares import LEAST_DAMPING, bounded_step, linear_model, take_step
from memetik.kernels.problem.limits import clamp
from memetik.kernels.problem.mounts import place_root
from memetik.kernels.problem.problem_record import Problem, Run
from memetik.kernels.problem.verify import CLOSEST, ENDED, INVALID, REACHED, verify
from memetik.kernels.runtime.cancel import CAUGHT
from memetik.kernels.runtime.record import numba_type
from memetik.kernels.search.descent import DAMPING, LONGEST_STEP
from memetik.kernels.search.refine import refine
from memetik.kernels.servo.alternative import challenge, descend_from, judged_by, limited, way_to
from memetik.kernels.servo.braking import fastest_to_stop
from memetik.kernels.servo.contacts import nearest_pair
from memetik.kernels.servo.detour import (
    BLOCKED,
    NO_DETOUR,
    follow_detour,
    looks_for_way,
    start_at_joints,
    try_detour,
    watch_progress,
)
from memetik.kernels.servo.keep_apart import keep_apart
from memetik.kernels.servo.moving_mean import RESTED, TICKS, advance_mean
from memetik.kernels.servo.pace import approach, plan_velocities, slow_down_lead, take_velocities
from memetik.kernels.servo.record import ServoArrays, servo_arrays
from memetik.kernels.terms.function_pointers import call_residual, call_write_pose
from memetik.kernels.terms.records import CONTACT
from memetik.kernels.terms.springs import rest_at_start

GUIDED = 0.2  # s in which the way to the balance of the guides shrinks by 1/e
GUIDED_SPEED = 0.25  # of the velocity and the acceleration that joints have: how guides move the goal at most
BRAKED = (
    0.1  # of the acceleration that joints have: how the goal slows before limits, since other joints make up for it
)
TREMBLING = 0.02  # s over which it is judged whether the goal trembles
FAINTEST = 1e-6  # rad or m; turning round by less is no trembling
OUTRUN = 10.0  # times as much as a goal trembles in a tick: a trend above hides it
CALM = 0.02  # s over which a goal that trembles is averaged
JUMP = 0.5  # rad or m; a goal that moves farther in one tick is looked for from where the joints are, too
BOLDER = 0.2  # times the damping of a search: of the one step from where contacts keep the joints
SEARCH_ENDS, CONTACTS_END = 0.5, 0.9  # of the time that a tick may take: when the search and the looks at contacts end
REFINING = 12  # evaluations that a goal which misses something is refined by in each tick

# One tick, and one with the target of the one pose that is wanted.
TICK, TICK_POSE = types.int64(TABLE), types.int64(TABLE, types.float64[:, ::1])
call_tick = caller(TICK)


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
def read_world(own):
    """Take the numbers of the user's problem as they are now, such as where obstacles and the root stand, and the targets."""
    solve = own.memetic.solve
    moved = False
    for m in range(own.mirrored.shape[0]):
        for k in range(own.mirrored[m, 0], own.mirrored[m, 1]):
            moved = moved or solve.source[k] != own.live[k]
            solve.source[k] = own.live[k]
    if moved:
        own.contacts.state[0].moved = 1
    for k in range(solve.source.size):
        solve.problem.data[k] = solve.source[k]
    place_root(solve.problem)
    place_root(own.reach.problem)


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
def drift_on(own, problem, run):
    """Take the step of the guides in this tick from the goal in own.x, and satisfy all else again. Returns whether it is."""
    work = own.reach.work
    for k in range(own.x.size):
        work.x[k] = work.start[k] = own.x[k]
    take_step(work.x, problem, work)
    return descend_from(problem, work, own.reach_terms, own.reach_hard, run) == REACHED


@jit
def yield_to_guides(own, eased, run):
    """Move the goal in work.x, which satisfies all else, towards the balance of the guides.

    The way there is that of one Gauss-Newton step in which guides are faint, so that it uses only what the others leave free. It
    changes continuously with the posture, which the end of a longer search does not. On the way all else stays satisfied, if
    possible within the limits of this tick.
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
    if eased and drift_on(own, within_easy_limits(own), run):
        return
    for k in range(x.size):
        work.step[k] = own.drift[k] * own.pace[0].tick
    if not drift_on(own, problem, run):
        for k in range(x.size):
            work.x[k], own.drift[k] = x[k], 0.0


@jit
def step_towards_goal(own, run):
    """One damped step from where the joints are, for a goal that contacts keep them from. Leaves a posture in work.x.

    A single step changes continuously with the posture. Solutions far away differ from tick to tick, and joints that slide along
    an obstacle would turn round and round after them.
    """
    problem, work = own.reach.problem, own.reach.work
    for k in range(work.x.size):
        work.x[k] = work.start[k] = own.q[problem.variables[k].index]
    place(problem.nodes, problem.frames, work.x, work.poses, work.world)
    run.outcome[EVALUATIONS] += 1.0
    error, _, satisfied = measure(problem.terms, problem.data, work.world, work.x, 0.0, work.residual)
    own.state[0].missed = error
    if satisfied:
        return REACHED
    linear_model(problem, work.x, 0.0, work)
    bounded_step(problem, work.x, BOLDER * DAMPING * 0.5 * error + LEAST_DAMPING, LONGEST_STEP, work)
    take_step(work.x, problem, work)
    return CLOSEST


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


@jit
def take_alternative(own):
    """The alternative goal becomes the goal; nothing is led by the leap."""
    state, variables = own.state[0], own.memetic.solve.problem.variables
    for k in range(own.x.size):
        own.x[k], own.drift[k] = own.alternative[k], 0.0
        own.goal[variables[k].index] = own.alternative[k]
    for j in range(own.goal.size):
        own.aim_before[j], own.aim_step[j] = own.goal[j], 0.0
        own.goal_last[j] = own.halfway[j] = own.aim[j] = own.goal[j]
        own.tremble[j] = own.trend[j] = own.goal_step[j] = 0.0
    state.goal_status, state.has_alternative, state.waited = state.alternative_status, 0, 0.0
    state.switches += 1


@jit
def seek_better(own, run):
    """Look for a better goal where this one misses something, or for a way around where contacts keep the joints from it."""
    state = own.state[0]
    blocked = state.blocked > max(state.patience, BLOCKED)
    if not own.reconfigures:
        return
    if (state.goal_status == REACHED or state.hindered > 0.0) and not blocked:
        state.has_alternative, state.waited, state.attempted = 0, 0.0, 0
        return
    if blocked:  # what an alternative goal has to be better than is where the joints are
        start_at_joints(own)
    run = limited(run, own.background)
    if looks_for_way(own, run):
        try_detour(own, run)
    elif challenge(own, run):
        if own.contacts.pairs.size > 0:
            try_detour(own, run)
        else:
            take_alternative(own)


@jit
def smooth_goal(own):
    """Write the aim of the joints, which is the goal, averaged twice where it trembles.

    How much it does is the mean of the steps by which it turns round from tick to tick, beside that of all its steps. What only
    moves does not tremble, and is not averaged, nor is a leap.
    """
    tick = own.pace[0].tick
    new = min(tick / TREMBLING, 1.0)
    for j in range(own.goal.size):
        goal, step, before = own.goal[j], own.goal[j] - own.goal_last[j], own.goal_step[j]
        back = min(abs(step), abs(before)) if step * before < 0.0 else 0.0
        own.tremble[j] += new * (back - own.tremble[j])
        own.trend[j] += new * (step - own.trend[j])
        own.goal_last[j], own.goal_step[j] = goal, step
        if own.tremble[j] <= FAINTEST:
            own.halfway[j] = own.aim[j] = goal
            continue
        share = (own.tremble[j] - FAINTEST) / (own.tremble[j] + OUTRUN * abs(own.trend[j]))
        weight = tick / (tick + share * CALM)
        own.halfway[j] += weight * (goal - own.halfway[j])
        own.aim[j] += weight * (own.halfway[j] - own.aim[j])


@jit
def lead_by_goal(own):
    """The velocity of the aim: the smaller of its last two steps, none where they differ in direction.

    An aim that leaps now and then, as with targets that come less often than ticks, leads nobody.
    """
    tick = own.pace[0].tick
    for j in range(own.goal.size):
        step = own.aim[j] - own.aim_before[j]
        before = own.aim_step[j]
        alike = step * before > 0.0
        own.lead[j] = (step if abs(step) < abs(before) else before) / tick if alike else 0.0
        own.aim_before[j], own.aim_step[j] = own.aim[j], step
    slow_down_lead(own.movers, own.lead)


@jit
def come_to_rest(own):
    """Nothing is wanted: the goal is where the joints are, and they brake."""
    for j in range(own.q.size):
        own.goal[j] = own.aim_before[j] = own.goal_last[j] = own.halfway[j] = own.aim[j] = own.q[j]
        own.aim_step[j] = own.lead[j] = 0.0


@jit
def average_plan(own):
    """Write the posture that is returned: the mean of what was planned in the last ticks, within each joint's window."""
    tick = own.pace[0].tick
    if own.averages:
        rests = True
        for j in range(own.q.size):
            rests = rests and own.velocity[j] == 0.0
        own.counts[RESTED] = own.counts[RESTED] + 1 if rests else 0
        advance_mean(own, own.q, own.posture)
    for j in range(own.q.size):
        after = own.mean[j] if own.averages else own.q[j]
        own.posture_velocity[j] = (after - own.posture[j]) / tick
        own.posture[j] = after


@jit
def write_ideal(own):
    """Write the velocities that lead to the aim; where joints do not wait for each other, as if each had no limit."""
    for j in range(own.q.size):
        if own.pace[0].together:
            own.ideal[j] = own.wanted[j]
            continue
        rest = own.aim[j] - own.q[j] - own.lead[j] * own.pace[0].tick
        own.ideal[j] = own.lead[j] + math.copysign(approach(rest, own.movers[j], own.pace[0]), rest)


@jit
def sum_up_history(own):
    """Write the sums of what was planned in the last ticks, less what is planned now, and, within the window of each variable's
    mean, the largest of these differences and the largest velocity."""
    contacts, variables, history, tick = own.contacts, own.reach.problem.variables, own.history, own.pace[0].tick
    for k in range(contacts.lag.size):
        j = variables[k].index
        contacts.lag[k] = contacts.fastest[k] = 0.0
        later, total = own.q[j], 0.0
        for i in range(own.movers[j].window):
            before = history[(own.counts[TICKS] - 1 - i) % history.shape[0], j]
            total += before - own.q[j]
            own.recent[i, j] = total
            contacts.lag[k] = max(contacts.lag[k], abs(before - own.q[j]))
            contacts.fastest[k] = max(contacts.fastest[k], abs(later - before) / tick)
            later = before


@jit
def judge(own):
    """Measure all that is wanted at the posture that is returned, by the user's tolerances. Returns its status.

    Contacts are not measured again where keep_apart has shown that there are none.
    """
    solve, terms, state = own.memetic.solve, own.terms, own.contacts.state[0]
    problem, work = solve.problem, solve.work
    apart = own.contacts.pairs.size > 0 and state.exact != 0 and state.late == 0 and state.soon >= 0.0
    status = REACHED
    for k in range(own.x.size):
        own.x[k] = own.posture[problem.variables[k].index]
        if own.x[k] != clamp(own.x[k], problem.variables[k]):
            status = INVALID
    place(problem.nodes, problem.frames, own.x, work.poses, work.world)
    for t in range(terms.size):
        term = terms[t]
        error, good = 0.0, True
        if not (apart and term.loss == CONTACT and not term.soft):
            if term.rows > 0:
                call_residual(term.residual, term, problem.data, work.world, own.x, work.residual)
            error, good = term_error(term, problem.data, own.x, work.residual)
        own.outcome[OUTCOME + t] = error
        own.outcome[OUTCOME + terms.size + t] = 1.0 if good or term.soft else 0.0
        if not good and not term.soft:
            status = max(status, CLOSEST if math.isfinite(error) else INVALID)
    return status


@jit
def tick_servo(table):
    """One tick. Returns the status of the posture that is then in `posture`."""
    own = servo_arrays(table)
    solve, state, outcome = own.memetic.solve, own.state[0], own.search_outcome
    for k in range(OUTCOME):
        outcome[k] = 0.0
    outcome[ATTEMPTS] = 1.0
    own.contacts.state[0].deadline = deadline_after(CONTACTS_END * own.seconds, solve.clock)
    read_world(own)
    if own.averages:
        sum_up_history(own)
    if state.released:
        come_to_rest(own)
    else:
        end = deadline_after(SEARCH_ENDS * own.seconds, solve.clock)
        half = Run(0, own.most // 2, end, solve.clock, solve.state, outcome)
        whole = Run(0, own.most, end, solve.clock, solve.state, outcome)
        if state.detour != NO_DETOUR:
            follow_detour(own, limited(whole, own.background))
        else:
            state.goal_status = renew_goal(own, half)
            seek_better(own, whole)
        smooth_goal(own)
        lead_by_goal(own)
    plan_velocities(own.movers, own.pace[0], own.q, own.velocity, own.aim, own.lead, own.wanted)
    if own.contacts.pairs.size > 0:
        for k in range(own.x.size):
            own.unhindered[k] = own.wanted[solve.problem.variables[k].index]
        write_ideal(own)
        keep_apart(own)
        watch_progress(own)
        if own.contacts.state[0].late:
            outcome[TIMED_OUT] = 1.0
    take_velocities(own.movers, own.pace[0], own.q, own.velocity, own.aim, own.wanted)
    average_plan(own)
    status = judge(own)
    return status if solve.clock[CAUGHT] == 0 else ENDED


@jit
def least_distance(table):
    """The least distance of all pairs that are kept apart, at the posture that is returned and in the world as it is now [m]."""
    own = servo_arrays(table)
    read_world(own)
    return nearest_pair(own)[0]


@jit
def tick_pose_servo(table, target):
    """The same after setting the target of the one pose that is wanted, a 4x4 matrix. Returns what is wrong with the matrix
    below zero; the target before it counts then.

    It calls the tick by address, which is compiled once for both.
    """
    own = servo_arrays(table)
    complaint = call_write_pose(own.write, target, own.memetic.solve.source, own.place)
    status = call_tick(own.tick, table)
    return status if complaint == 0 else -8 * complaint - status


# The largest parts of a tick, with the types of their arguments, for two processes to share (compiler/second_compiler.py).
TICK_PARTS = (
    (challenge, (numba_type(ServoArrays), RUN)),
    (refine, (PROBLEM, types.float64, RUN, WORKSPACE)),
    (keep_apart, (numba_type(ServoArrays),)),
)

"""One tick of a servo: the goal posture for the targets as they are now, and a step towards it that keeps every limit.

The goal is refined from the goal before by the local search of memetic, so it stays on its branch while there is one.
The joints go after it (pace.py) and never wait for it: whatever the search does, what is returned obeys velocity,
acceleration and position. Where targets are out of reach the goal is the bottom of its valley, to which it moves a few
evaluations in each tick.
"""

from numba.core import types

from memetik.kernels.compiler.cancel import CAUGHT
from memetik.kernels.compiler.function_pointers import caller
from memetik.kernels.compiler.jit import jit
from memetik.kernels.compiler.record import numba_type
from memetik.kernels.memetic.descent import DAMPING, LONGEST_STEP
from memetik.kernels.memetic.refine import refine
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, OUTCOME, deadline_after, spent
from memetik.kernels.problem.evaluate import measure, place
from memetik.kernels.problem.function_pointers import PROBLEM, RUN, TABLE, WORKSPACE
from memetik.kernels.problem.guides import FAINT
from memetik.kernels.problem.least_squares import LEAST_DAMPING, bounded_step, linear_model, take_step
from memetik.kernels.problem.limits import clamp
from memetik.kernels.problem.mounts import place_root
from memetik.kernels.problem.record import Run
from memetik.kernels.problem.verify import CLOSEST, ENDED, INVALID, REACHED, verify
from memetik.kernels.servo.contacts import nearest_pair
from memetik.kernels.servo.detour import (
    BLOCKED,
    NO_DETOUR,
    begin_detour,
    follow_detour,
    start_at_joints,
    watch_progress,
)
from memetik.kernels.servo.keep_apart import keep_apart
from memetik.kernels.servo.pace import plan_velocities, slow_down_lead, take_velocities
from memetik.kernels.servo.record import ServoArrays, servo_arrays
from memetik.kernels.servo.rival import as_users_see_it, challenge, descend_from, judged_by, way_to
from memetik.kernels.terms.function_pointers import call_write_pose
from memetik.kernels.terms.springs import rest_at_start

GUIDED = 0.2  # s in which the way to the balance of the guides shrinks by 1/e
GUIDED_SPEED = 0.25  # of the velocity and the acceleration that joints have: how guides move the goal at most
JUMP = 0.5  # rad or m; a goal that moves farther in one tick is looked for from where the joints are, too
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
def read_world(own):
    """Take the numbers of the user's problem as they are now, such as where obstacles and the root stand, and the targets."""
    solve = own.memetic.solve
    for m in range(own.mirrored.shape[0]):
        for k in range(own.mirrored[m, 0], own.mirrored[m, 1]):
            solve.source[k] = own.live[k]
    for k in range(solve.source.size):
        solve.problem.data[k] = solve.source[k]
    place_root(solve.problem)
    place_root(own.reach.problem)


@jit
def drift_to_balance(own):
    """Write into work.x where a goal is after this tick that drifts from x towards the balance of all guides, in work.x.

    The way shrinks by 1/e in GUIDED seconds, and the drift takes no more than a share of the velocity and the acceleration that
    joints have, so that they can follow it and the targets.
    """
    variables, tick, x = own.reach.problem.variables, own.pace[0].tick, own.reach.work.x
    share = 1.0
    for k in range(x.size):
        fastest = GUIDED_SPEED * own.movers[variables[k].index].velocity
        if share * abs(x[k] - own.x[k]) > fastest * GUIDED:
            share = fastest * GUIDED / abs(x[k] - own.x[k])
    for k in range(x.size):
        change = GUIDED_SPEED * own.movers[variables[k].index].acceleration * tick
        wanted = share * (x[k] - own.x[k]) / max(GUIDED, tick)
        own.drift[k] = min(max(wanted, own.drift[k] - change), own.drift[k] + change)
        x[k] = clamp(own.x[k] + own.drift[k] * tick, variables[k])


@jit
def yield_to_guides(own, run):
    """Move the goal in work.x, which satisfies all else, towards the balance of the guides.

    On the way all else stays satisfied, so guides that cannot be met move nothing but what is free to move.
    """
    problem, work, x = own.reach.problem, own.reach.work, own.x
    for k in range(x.size):
        x[k] = work.start[k] = work.x[k]
    if descend_from(problem, work, own.reach_terms, own.reach_attempt, run) != REACHED:
        for k in range(x.size):
            work.x[k] = x[k]
    drift_to_balance(own)
    if descend_from(problem, work, own.reach_terms, own.reach_hard, run) != REACHED:
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
    if satisfied:
        return REACHED
    linear_model(problem, work.x, 0.0, work)
    bounded_step(problem, work.x, DAMPING * 0.5 * error + LEAST_DAMPING, LONGEST_STEP, work)
    take_step(work.x, problem, work)
    return CLOSEST


@jit
def renew_goal(own, run):
    """Find the goal for the targets as they are now, contacts apart. Returns its status by the user's tolerances."""
    problem, work, x = own.reach.problem, own.reach.work, own.x
    for k in range(x.size):
        x[k] = own.goal[problem.variables[k].index]
    rest_at_start(problem.terms, problem.data, x)
    status = step_towards_goal(own, run) if own.state[0].hindered > 0.0 else search_goal(own, run)
    if status == REACHED and own.reach_attempt != own.reach_hard:
        yield_to_guides(own, run)
    elif status == CLOSEST and own.state[0].hindered <= 0.0 and not spent(run):
        for k in range(x.size):
            work.best[k] = work.x[k]
        most = min(run.most, int(run.outcome[EVALUATIONS]) + REFINING)
        refine(problem, FAINT, Run(run.seed, most, run.deadline, run.clock, run.state, run.outcome), work)
        for k in range(x.size):
            work.x[k] = work.start[k] = work.best[k]
        status = verify(judged_by(problem, own.reach_terms), work.x, run.outcome, work)
    for k in range(x.size):
        if status != INVALID:
            x[k] = work.x[k]
            own.goal[problem.variables[k].index] = x[k]
    return status


@jit
def take_rival(own):
    """The rival becomes the goal; nothing is led by the leap."""
    state, variables = own.state[0], own.memetic.solve.problem.variables
    for k in range(own.x.size):
        own.x[k] = own.rival[k]
        own.goal[variables[k].index] = own.rival[k]
    for j in range(own.goal.size):
        own.goal_before[j], own.step_before[j] = own.goal[j], 0.0
    state.goal_status, state.has_rival, state.waited = state.rival_status, 0, 0.0
    state.switches += 1


@jit
def seek_better(own, run):
    """Look for a better goal where this one misses something, or for a way around where contacts keep the joints from it."""
    state = own.state[0]
    blocked = state.blocked > max(state.patience, BLOCKED)
    if not own.reconfigures:
        return
    if (state.goal_status == REACHED or state.hindered > 0.0) and not blocked:
        state.has_rival, state.waited = 0, 0.0
        return
    if blocked:  # what a rival has to be better than is where the joints are
        start_at_joints(own)
    if challenge(own, run):
        if own.contacts.pairs.size > 0:
            begin_detour(own, run)
        else:
            take_rival(own)


@jit
def lead_by_goal(own):
    """The velocity of the goal: the smaller of its last two steps, none where they differ in direction.

    A goal that leaps now and then, as with targets that come less often than ticks, leads nobody.
    """
    tick = own.pace[0].tick
    for j in range(own.goal.size):
        step = own.goal[j] - own.goal_before[j]
        before = own.step_before[j]
        alike = step * before > 0.0
        own.lead[j] = (step if abs(step) < abs(before) else before) / tick if alike else 0.0
        own.goal_before[j], own.step_before[j] = own.goal[j], step
    slow_down_lead(own.movers, own.lead)


@jit
def come_to_rest(own):
    """Nothing is wanted: the goal is where the joints are, and they brake."""
    for j in range(own.q.size):
        own.goal[j] = own.goal_before[j] = own.q[j]
        own.step_before[j] = own.lead[j] = 0.0


@jit
def tick_servo(table):
    """One tick. Returns the status of the posture that is then in `q`."""
    own = servo_arrays(table)
    solve, state, outcome = own.memetic.solve, own.state[0], own.search_outcome
    for k in range(OUTCOME):
        outcome[k] = 0.0
    outcome[ATTEMPTS] = 1.0
    read_world(own)
    if state.released:
        come_to_rest(own)
    else:
        end = deadline_after(own.seconds, solve.clock)
        half = Run(0, own.most // 2, end, solve.clock, solve.state, outcome)
        whole = Run(0, own.most, end, solve.clock, solve.state, outcome)
        if state.detour != NO_DETOUR:
            follow_detour(own, whole)
        else:
            state.goal_status = renew_goal(own, half)
            seek_better(own, whole)
        lead_by_goal(own)
    plan_velocities(own.movers, own.pace[0], own.q, own.velocity, own.goal, own.lead, own.wanted)
    if own.contacts.pairs.size > 0:
        for k in range(own.x.size):
            own.unhindered[k] = own.wanted[solve.problem.variables[k].index]
        keep_apart(own)
        watch_progress(own)
    take_velocities(own.movers, own.pace[0], own.q, own.velocity, own.goal, own.wanted)
    for k in range(own.x.size):
        own.x[k] = solve.work.start[k] = own.q[solve.problem.variables[k].index]
    status = verify(as_users_see_it(own), own.x, own.outcome, solve.work)
    return status if solve.clock[CAUGHT] == 0 else ENDED


@jit
def least_distance(table):
    """The least distance of all pairs that are kept apart, at the posture in `q` and in the world as it is now [m]."""
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

"""One tick of a servo: the goal posture for the targets as they are now, and a step towards it that keeps every limit.

The joints go after the goal (goal.py, aim.py, pace.py) and never wait for it: whatever the search does, what is returned obeys
velocity, acceleration and position.
"""

import math

from numba.core import types

from memetik.kernels.compiler.function_pointers import caller
from memetik.kernels.compiler.jit import jit
from memetik.kernels.problem.budget import ATTEMPTS, OUTCOME, TIMED_OUT, deadline_after
from memetik.kernels.problem.evaluate import place, term_error
from memetik.kernels.problem.function_pointers import PROBLEM, RUN, TABLE, WORKSPACE
from memetik.kernels.problem.limits import clamp
from memetik.kernels.problem.mounts import place_root
from memetik.kernels.problem.problem_record import Run
from memetik.kernels.problem.verify import CLOSEST, ENDED, INVALID, REACHED
from memetik.kernels.runtime.cancel import CAUGHT
from memetik.kernels.runtime.record import numba_type
from memetik.kernels.search.refine import refine
from memetik.kernels.servo.aim import come_to_rest, lead_by_goal, smooth_goal
from memetik.kernels.servo.alternative import challenge
from memetik.kernels.servo.contacts import nearest_pair
from memetik.kernels.servo.detour import NO_DETOUR, follow_detour, watch_progress
from memetik.kernels.servo.goal import renew_goal
from memetik.kernels.servo.keep_apart import keep_apart
from memetik.kernels.servo.moving_mean import RESTED, TICKS, advance_mean
from memetik.kernels.servo.pace import approach, plan_velocities, take_velocities
from memetik.kernels.servo.record import ServoArrays, servo_arrays
from memetik.kernels.servo.seek import seek_better
from memetik.kernels.terms.function_pointers import call_residual, call_write_pose
from memetik.kernels.terms.records import CONTACT

MOST_IDEAL = 4.0  # times the velocity that a joint has: what contacts see of what it would like, at most
SEARCH_ENDS, CONTACTS_END = 0.5, 0.9  # of the time that a tick may take: when the search and the looks at contacts end

# One tick, and one with the target of the one pose that is wanted.
TICK, TICK_POSE = types.int64(TABLE), types.int64(TABLE, types.float64[:, ::1])
call_tick = caller(TICK)


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
    """Write the velocities that lead to the aim; where joints do not wait for each other, as if each had no limit.

    All of them are scaled down together, so that none is far faster than its joint can be. Else contacts would leave joints at
    their limits, now these and now those, whatever they did in the tick before.
    """
    if own.pace[0].together:
        for j in range(own.q.size):
            own.ideal[j] = own.wanted[j]
        return
    share = 1.0
    for j in range(own.q.size):
        rest = own.aim[j] - own.q[j] - own.lead[j] * own.pace[0].tick
        own.ideal[j] = own.lead[j] + math.copysign(approach(rest, own.movers[j], own.pace[0]), rest)
        if share * abs(own.ideal[j]) > MOST_IDEAL * own.movers[j].velocity:
            share = MOST_IDEAL * own.movers[j].velocity / abs(own.ideal[j])
    for j in range(own.q.size):
        own.ideal[j] *= share


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
            follow_detour(own, whole)
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

"""Which pairs of solids are close enough to matter in a tick, and how near they are.

Of many pairs only few are close, and the others need not be measured in every tick. Each group of solids has an odometer, the
sum of how far any of its points can have moved in every tick so far. A pair whose distance was d when the odometers of both
groups read s together is at least d + s - s' apart when they read s'. It is measured again only when this bound falls below what
the pair may need: the way on which its points could approach each other before the body stops.

    need = sum over joints k of R_k D_k,        R_k the longest lever that joint k has on a point of either group,
                                                D_k the way of joint k from its largest velocity of this tick to a stop

These pairs are candidates. Most joints are slower than they could be, so few candidates matter: those that the velocities at hand
could bring too close, which is the same sum with the ways of these velocities. They are measured, and are the close pairs of a
tick. Whenever other velocities are to be tried, the candidates that these could bring too close are added.
"""

import math

from memetik.kernels.collision.spread import spread
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.problem.evaluate import place
from memetik.kernels.runtime.clock import now
from memetik.kernels.servo.braking import stopping_distance, velocity_range
from memetik.kernels.servo.odometers import REST, advance_odometers
from memetik.kernels.terms.distance import GROUP_FRAME, GROUP_RADIUS, ball_center, nearest

BUFFER = 2e-4  # m beyond the required distance that motions are planned to keep, since distances are not linear
CREDIT = 0.02  # m beyond what is needed up to which a distance is measured, so that the next ticks need not
AMPLE = (
    2.0  # times what velocities need: what is closer is listed, so that velocities a little larger need no more pairs
)
HORIZON = 0.25  # s ahead for which a moving obstacle is taken to go on as it does
FORGETTING = 0.1  # s in which what a row lacked because it is linear is forgotten
LONG_AGO = -1_000_000  # a tick


@jit
def fill_levers(problem, contacts, middle, half, rate, shares):
    """Write the longest lever of every variable on the points of each group and, behind them, of each pair of links."""
    levers = contacts.levers
    for g in range(contacts.groups.size):
        add_levers(problem, contacts.groups[g].place, -1, g, levers, middle, half, rate, shares)
    for p in range(contacts.pairs.size):
        pair = contacts.pairs[p]
        if pair.lever >= contacts.groups.size:
            add_levers(problem, pair.first, pair.meet, pair.lever, levers, middle, half, rate, shares)
            add_levers(problem, pair.second, pair.meet, pair.lever, levers, middle, half, rate, shares)


@jit_part
def add_levers(problem, group, meet, row, levers, middle, half, rate, shares):
    """Add the levers of the motions between `meet` and a group to a row."""
    nodes, frame = problem.nodes, int(problem.data[group + GROUP_FRAME])
    if frame < 0:
        return
    spread(nodes, problem.frames, problem.data, group, meet, middle, half, rate, shares)
    i = problem.frames[frame].node
    while i != meet:
        levers[row, nodes[i].variable] += shares[i]
        i = nodes[i].parent


@jit
def forget_distances(contacts):
    """Measure every pair again in the next tick, because the body or the world is elsewhere."""
    state = contacts.state[0]
    state.tick, state.candidates, state.listed, state.count = 0, 0, 0, 0
    state.limited, state.braking, state.late, state.moved = 0, 0, 0, 1
    for p in range(contacts.pairs.size):
        pair = contacts.pairs[p]
        pair.reach, pair.bias, pair.settled, pair.fresh, pair.other_ticks = -math.inf, 0.0, 0, LONG_AGO, 0
    for g in range(contacts.groups.size):
        group = contacts.groups[g]
        group.speed, group.since, group.interval, group.seen = 0.0, REST, 1, 0


@jit_part
def plan_stops(own):
    """Write the range of every variable's velocity in this tick, and its time constant: the way to a stop over the velocity."""
    contacts, variables, pace = own.contacts, own.memetic.solve.problem.variables, own.pace[0]
    contacts.state[0].longest_stop = pace.response
    for k in range(variables.size):
        j = variables[k].index
        low, high = velocity_range(own.movers[j], own.q[j], own.velocity[j], pace.tick)
        top = max(abs(low), abs(high))
        stop = stopping_distance(top, own.movers[j].acceleration, pace.tick) / top if top > 0.0 else pace.tick
        contacts.program.low[k], contacts.program.high[k] = low, high
        contacts.stop[k] = max(stop, pace.response)
        contacts.way[k] = max(top * contacts.stop[k], contacts.lag[k])
        contacts.state[0].longest_stop = max(contacts.state[0].longest_stop, stop)
    for g in range(contacts.groups.size):
        need = contacts.groups[g].speed * HORIZON
        for k in range(variables.size):
            need += contacts.levers[g, k] * contacts.way[k]
        contacts.groups[g].need = need


@jit_part
def need_of(contacts, pair):
    """How far the points of a pair can approach each other before the body stops [m]."""
    if pair.lever < contacts.groups.size:
        return contacts.groups[pair.one].need + contacts.groups[pair.other].need
    return lever_sum(contacts, pair.lever, contacts.way)


@jit_part
def lever_sum(contacts, row, ways):
    """How far points with these levers move at most while variables go such ways [m]."""
    total = 0.0
    for k in range(ways.size):
        total += contacts.levers[row, k] * ways[k]
    return total


@jit_part
def ball_gap(data, world, first, second):
    """The distance between the balls around two groups, a lower bound of theirs."""
    ax, ay, az = ball_center(data, world, first)
    bx, by, bz = ball_center(data, world, second)
    way = math.sqrt((ax - bx) ** 2 + (ay - by) ** 2 + (az - bz) ** 2)
    return way - data[first + GROUP_RADIUS] - data[second + GROUP_RADIUS]


@jit_part
def is_late(own):
    """Whether the time for looking at contacts is over in this tick; remembers it."""
    state = own.contacts.state[0]
    if state.deadline > 0.0 and now(own.memetic.solve.clock) >= state.deadline:
        state.late = 1
    return state.late != 0


@jit_part
def approach_speed(contacts, pair, n):
    """How fast obstacles of a pair come nearer along the normal [m/s], zero if they do not."""
    speed = 0.0
    one, other = contacts.groups[pair.one], contacts.groups[pair.other]
    if one.speed > 0.0:
        speed -= one.vx * n[0] + one.vy * n[1] + one.vz * n[2]
        speed += max(one.speed - math.sqrt(one.vx**2 + one.vy**2 + one.vz**2), 0.0)  # what it may turn
    if other.speed > 0.0:
        speed += other.vx * n[0] + other.vy * n[1] + other.vz * n[2]
        speed += max(other.speed - math.sqrt(other.vx**2 + other.vy**2 + other.vz**2), 0.0)
    return max(speed, 0.0)


@jit_part
def add_pair(own, p, gap, need, found):
    """List a close pair."""
    contacts, state, pair = own.contacts, own.contacts.state[0], own.contacts.pairs[p]
    c = state.count
    _, a, b, n = found
    contacts.close[c], contacts.measured[c], contacts.gap[c], contacts.needed[c] = p, 1, gap, need
    for i in range(3):
        contacts.points[c, i], contacts.points[c, 3 + i], contacts.points[c, 6 + i] = a[i], b[i], n[i]
    contacts.approach[c] = approach_speed(contacts, pair, n)
    state.count += 1
    state.listed += 1


@jit_part
def travelled_by(contacts, pair):
    """The sum of the odometers of both groups of a pair."""
    return contacts.groups[pair.one].travelled + contacts.groups[pair.other].travelled


@jit_part
def find_candidates(own):
    """Write which pairs some velocities of this tick could bring too close."""
    contacts, solve = own.contacts, own.memetic.solve
    data, world, state = solve.problem.data, solve.work.world, contacts.state[0]
    state.candidates, kept = 0, 1.0 - min(own.pace[0].tick / FORGETTING, 1.0)
    for p in range(contacts.pairs.size):
        pair = contacts.pairs[p]
        travelled = travelled_by(contacts, pair)
        bound = pair.reach - travelled - pair.required - BUFFER
        need = contacts.groups[pair.one].need + contacts.groups[pair.other].need
        if bound < need:
            need = need_of(contacts, pair)
        if bound >= need:
            continue
        apart = ball_gap(data, world, pair.first, pair.second)
        pair.reach = max(pair.reach, apart + travelled)
        if apart >= pair.required + BUFFER + need + CREDIT:
            continue
        pair.bias *= kept
        contacts.candidates[state.candidates] = p
        state.candidates += 1


@jit_part
def add_close_pairs(own, v, share):
    """List the candidates that velocities could bring too close if they were so many times v. Returns how many were added.

    Pairs with obstacles that move, and those of which several features count, are listed whatever the velocities are.
    """
    contacts, solve = own.contacts, own.memetic.solve
    problem, work, state = solve.problem, solve.work, contacts.state[0]
    before, placed = state.listed, False
    for k in range(v.size):
        contacts.ahead[k] = max(abs(v[k]) * contacts.stop[k], contacts.lag[k])
    for g in range(contacts.groups.size):
        contacts.groups[g].ahead = lever_sum(contacts, g, contacts.ahead)
    for i in range(state.candidates):
        pair = contacts.pairs[contacts.candidates[i]]
        if pair.settled == state.tick:
            continue
        one, other = contacts.groups[pair.one], contacts.groups[pair.other]
        anyway = one.speed > 0.0 or other.speed > 0.0 or pair.other_ticks > 0
        gap = pair.reach - travelled_by(contacts, pair) - pair.required - BUFFER
        if not anyway and gap - pair.bias >= share * (one.ahead + other.ahead):
            continue
        ahead = one.ahead + other.ahead
        if pair.lever >= contacts.groups.size:
            ahead = lever_sum(contacts, pair.lever, contacts.ahead)
        if not anyway and gap - pair.bias >= share * ahead:
            continue
        if is_late(own):
            break
        if not placed:
            place_at_plan(own)
            placed = True
        need = need_of(contacts, pair)
        ample = need if anyway else min(need, max(share, AMPLE) * ahead + pair.bias)
        enough = pair.required + BUFFER + ample + CREDIT
        found = nearest(problem.data, work.world, pair.first, pair.second, enough)
        pair.reach = found[0] + travelled_by(contacts, pair)
        gap = found[0] - pair.required - BUFFER
        if gap >= need:
            pair.settled = state.tick
        if gap >= ample:
            continue
        if state.listed == contacts.close.size // 2:  # the other half is for features that were nearest before
            state.overflow = 1
            break
        pair.settled = state.tick
        add_pair(own, contacts.candidates[i], gap, need, found)
    return state.listed - before


@jit_part
def place_at_plan(own):
    """Place the body at the posture before this tick, as it was planned."""
    contacts, solve = own.contacts, own.memetic.solve
    problem, work = solve.problem, solve.work
    for k in range(contacts.x.size):
        contacts.x[k] = own.q[problem.variables[k].index]
    place(problem.nodes, problem.frames, contacts.x, work.poses, work.world)


@jit_part
def look_around(own):
    """All that a tick needs to know about contacts, at the posture before it and in the world as it is now."""
    state = own.contacts.state[0]
    state.late, state.overflow, state.listed, state.count, state.begun, state.rows = 0, 0, 0, 0, 0, 0
    state.tick += 1
    place_at_plan(own)
    advance_odometers(own)
    plan_stops(own)
    find_candidates(own)


@jit
def nearest_pair(own):
    """The least distance of all pairs at the posture that is returned [m], and the pair, -1 for none."""
    contacts, solve = own.contacts, own.memetic.solve
    problem, work = solve.problem, solve.work
    for k in range(contacts.x.size):
        contacts.x[k] = own.posture[problem.variables[k].index]
    place(problem.nodes, problem.frames, contacts.x, work.poses, work.world)
    least, found_pair = math.inf, -1
    for p in range(contacts.pairs.size):
        pair = contacts.pairs[p]
        if ball_gap(problem.data, work.world, pair.first, pair.second) >= least:
            continue
        found = nearest(problem.data, work.world, pair.first, pair.second, least)[0]
        if found < least:
            least, found_pair = found, p
    return least, found_pair

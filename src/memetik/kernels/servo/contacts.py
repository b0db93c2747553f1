"""Which pairs of solids are close enough to matter in a tick, how near they are, and how their distance changes.

Of many pairs only few are close, and the others need not be measured in every tick. Each group of solids has an odometer, the
sum of how far any of its points can have moved in every tick so far. A pair whose distance was d when the odometers of both
groups read s together is at least d + s - s' apart when they read s'. It is measured again only when this bound falls below what
the pair may need: the way on which its points could approach each other before the body stops.

    need = sum over joints k of R_k D_k,        R_k the longest lever that joint k has on a point of either group,
                                                D_k the way of joint k from its largest velocity of this tick to a stop
"""

import math

from memetik.kernels.body.motion import twist, write_axes
from memetik.kernels.collision.spread import spread
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import load
from memetik.kernels.problem.evaluate import place
from memetik.kernels.servo.braking import stopping_distance, velocity_range
from memetik.kernels.servo.record import WORLD_NUMBERS
from memetik.kernels.terms.distance import GROUP_FRAME, GROUP_RADIUS, GROUP_SOLIDS, balls_apart, nearest

BUFFER = 2e-4  # m beyond the required distance that motions are planned to keep, for what lies between two looks
CREDIT = 0.02  # m beyond what is needed up to which a distance is measured, so that the next ticks need not
HORIZON = 0.25  # s ahead for which a moving obstacle is taken to go on as it does
REST = 100  # ticks without a change after which an obstacle counts as standing
FASTEST_OBSTACLE = 5.0  # m/s; what changes its place faster has been put there and does not move
FORGETTING = 0.1  # s in which what a row lacked because it is linear is forgotten
ALIKE = 0.99  # cosine between the slopes of one pair above which they are of the same features
REMEMBERED = 50  # ticks for which features count that were nearest before
RECOVERY = 0.1  # m/s at which pairs that are too close are brought apart


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
    """Measure every pair anew in the next tick, because the body or the world is elsewhere."""
    contacts.state[0].count, contacts.state[0].limited, contacts.state[0].braking = 0, 0, 0
    for p in range(contacts.pairs.size):
        pair = contacts.pairs[p]
        pair.reach, pair.bias, pair.fresh, pair.other_ticks = -math.inf, 0.0, 0, 0
    for g in range(contacts.groups.size):
        group = contacts.groups[g]
        group.speed, group.since, group.interval, group.seen = 0.0, REST, 1, 0


@jit_part
def turned_by(a, k, pose):
    """A bound of the angle between the rotation a[k:] and that of a pose [rad]."""
    along = a[k] * pose[0] + a[k + 1] * pose[1] + a[k + 2] * pose[2] + a[k + 3] * pose[3]
    sign = 1.0 if along >= 0.0 else -1.0
    square = 0.0
    for i in range(4):
        square += (a[k + i] - sign * pose[i]) ** 2
    # The chord of unit quaternions is 2 sin(angle / 4); angle / chord is at most pi / sqrt(2) for a short turn.
    return 2.23 * math.sqrt(square)


@jit_part
def advance_link(contacts, data, world, g):
    """Advance the odometer of a group on a link."""
    group, before = contacts.groups[g], contacts.before[g]
    pose = load(world, int(data[group.place + GROUP_FRAME]), 0)
    if group.seen:
        way = math.sqrt((pose[4] - before[4]) ** 2 + (pose[5] - before[5]) ** 2 + (pose[6] - before[6]) ** 2)
        group.travelled += way + turned_by(before, 0, pose) * data[group.place + GROUP_RADIUS]
    for i in range(7):
        before[i] = pose[i]
    group.seen = 1


@jit_part
def advance_obstacle(contacts, data, tick, g):
    """Advance the odometer of an obstacle and estimate its velocity. Returns whether it has another shape than before."""
    group, before, place_of = contacts.groups[g], contacts.before[g], contacts.groups[g].place
    solid = place_of + GROUP_SOLIDS
    same, moves = True, False
    for i in range(WORLD_NUMBERS):
        if data[place_of + i] != before[i]:
            moves = True
            # The ball around it moves with it; all else but the pose is its shape.
            same = same and (1 <= i <= 3 or GROUP_SOLIDS <= i < GROUP_SOLIDS + 7)
    group.since = min(group.since + 1, REST)
    if group.seen and not moves:
        if group.since > 2 * group.interval:
            group.speed = 0.0
        return False
    known = group.seen and same
    if known:
        pose = (
            data[solid], data[solid + 1], data[solid + 2], data[solid + 3], data[solid + 4], data[solid + 5],
            data[solid + 6],
        )  # fmt: skip
        dx, dy, dz = (
            pose[4] - before[GROUP_SOLIDS + 4],
            pose[5] - before[GROUP_SOLIDS + 5],
            pose[6] - before[GROUP_SOLIDS + 6],
        )
        way = (
            math.sqrt(dx * dx + dy * dy + dz * dz)
            + turned_by(before, GROUP_SOLIDS, pose) * data[place_of + GROUP_RADIUS]
        )
        group.travelled += way
        # A world that changes less often than ticks come moves by steps; its speed is that from one change to the next.
        group.interval = group.since if group.since < REST else 1
        seconds = group.interval * tick
        group.speed = way / seconds
        group.vx, group.vy, group.vz = dx / seconds, dy / seconds, dz / seconds
        if group.speed > FASTEST_OBSTACLE:
            group.speed = 0.0
    else:
        group.speed, group.interval = 0.0, 1
    group.since, group.seen = 0, 1
    for i in range(WORLD_NUMBERS):
        before[i] = data[place_of + i]
    return not known


@jit_part
def advance_odometers(own):
    """Advance the odometers of all groups to where these are now, and forget the distances of obstacles with new shapes."""
    contacts, solve = own.contacts, own.memetic.solve
    data, world = solve.problem.data, solve.work.world
    renewed = False
    for g in range(contacts.groups.size):
        if data[contacts.groups[g].place + GROUP_FRAME] >= 0.0:
            advance_link(contacts, data, world, g)
        else:
            changed = advance_obstacle(contacts, data, own.pace[0].tick, g)
            contacts.groups[g].renewed = int(changed)
            renewed = renewed or changed
    if renewed:
        for p in range(contacts.pairs.size):
            pair = contacts.pairs[p]
            if contacts.groups[pair.one].renewed or contacts.groups[pair.other].renewed:
                pair.reach = -math.inf


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
        contacts.way[k] = top * contacts.stop[k]
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
    need = 0.0
    for k in range(contacts.way.size):
        need += contacts.levers[pair.lever, k] * contacts.way[k]
    return need


@jit_part
def find_close_pairs(own):
    """List the pairs that are as close as they may need, with a row each for the velocities that keep them apart."""
    contacts, solve = own.contacts, own.memetic.solve
    data, world, state = solve.problem.data, solve.work.world, contacts.state[0]
    state.count, state.overflow = 0, 0
    for p in range(contacts.pairs.size):
        pair = contacts.pairs[p]
        travelled = contacts.groups[pair.one].travelled + contacts.groups[pair.other].travelled
        bound = pair.reach - travelled - pair.required - BUFFER
        need = contacts.groups[pair.one].need + contacts.groups[pair.other].need
        if bound < need:
            need = need_of(contacts, pair)
        if bound >= need:
            pair.fresh = 0
            continue
        enough = pair.required + BUFFER + need + CREDIT
        if balls_apart(data, world, pair.first, pair.second, enough):
            pair.reach = enough + travelled
            continue
        found = nearest(data, world, pair.first, pair.second, enough)
        pair.reach = found[0] + travelled
        gap = found[0] - pair.required - BUFFER
        if gap >= need:
            continue
        if state.count + 2 > contacts.close.size:
            state.overflow = 1
            continue
        add_pair(own, p, gap, need, found)


@jit_part
def add_slopes(own, node, p, n, sign, row):
    """Add how the variables move the point p of a node along n."""
    problem, work = own.memetic.solve.problem, own.memetic.solve.work
    i = node
    while i >= 0:
        v = twist(problem.nodes, work.poses, work.axes, i, p[0], p[1], p[2])
        own.contacts.slopes[row, problem.nodes[i].variable] += sign * (n[0] * v[0] + n[1] * v[1] + n[2] * v[2])
        i = problem.nodes[i].parent


@jit_part
def approach_speed(contacts, data, pair, a, b, n):
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
def write_slopes(own, c, pair, found):
    """Write the derivative of the distance of a pair by each variable."""
    contacts, problem = own.contacts, own.memetic.solve.problem
    _, a, b, n = found
    for k in range(contacts.stop.size):
        contacts.slopes[c, k] = 0.0
    one, other = int(problem.data[pair.first + GROUP_FRAME]), int(problem.data[pair.second + GROUP_FRAME])
    if one >= 0:
        add_slopes(own, problem.frames[one].node, a, n, 1.0, c)
    if other >= 0:
        add_slopes(own, problem.frames[other].node, b, n, -1.0, c)


@jit_part
def write_rows(own, c, p, gap, speed):
    """Write the two rows of a close pair, for the velocities v of the variables and the slope g of its distance:

        sum_k g_k T_k v_k >= limit      the way to a stop, with the time constant T_k of each variable, may take up the gap
        sum_k g_k v_k >= pace           and until then the gap shrinks by no more than 1/e in `response`

    Where an obstacle approaches at `speed`, all time constants are at least what the body needs to become as fast, and the gap
    counts less what the obstacle comes nearer meanwhile. So a body that can is as fast as the obstacle before the gap is used up.
    """
    contacts, variables, tick = own.contacts, own.memetic.solve.problem.variables, own.pace[0].tick
    program, slopes, seconds = contacts.program, contacts.slopes, 0.0
    if speed > 0.0:
        ability = 0.0
        for k in range(contacts.stop.size):
            ability += abs(slopes[c, k]) * own.movers[variables[k].index].acceleration
        seconds = max(contacts.state[0].longest_stop, 2.0 * speed / ability if ability > 0.0 else HORIZON)
        seconds = min(seconds, HORIZON)
    for k in range(contacts.stop.size):
        program.rows[2 * c, k] = slopes[c, k] * max(contacts.stop[k], seconds)
        program.rows[2 * c + 1, k] = slopes[c, k]
    stop, response = max(contacts.state[0].longest_stop, seconds), max(own.pace[0].response, tick)
    contacts.close[c], contacts.gap[c], contacts.approach[c] = p, gap, speed
    program.limits[2 * c] = min(-gap, RECOVERY * stop) + seconds * speed + contacts.pairs[p].bias
    program.limits[2 * c + 1] = min(-gap / response, RECOVERY) + speed


@jit_part
def is_other_feature(contacts, c, p):
    """Whether the slopes of a pair point elsewhere than in the last tick, since other features of its solids are the nearest."""
    along, now, last = 0.0, 0.0, 0.0
    for k in range(contacts.stop.size):
        along += contacts.slopes[c, k] * contacts.last_slopes[p, k]
        now += contacts.slopes[c, k] * contacts.slopes[c, k]
        last += contacts.last_slopes[p, k] * contacts.last_slopes[p, k]
    return along < ALIKE * math.sqrt(now * last)


@jit_part
def remember(contacts, c, p, gap):
    """Keep the slopes of a pair for the next ticks, and those that they replace if these are of other features."""
    pair, offset = contacts.pairs[p], gap
    if pair.fresh and is_other_feature(contacts, c, p):
        pair.other_offset, pair.other_ticks = pair.last_offset, REMEMBERED
        for k in range(contacts.stop.size):
            contacts.other_slopes[p, k] = contacts.last_slopes[p, k]
    for k in range(contacts.stop.size):
        contacts.last_slopes[p, k] = contacts.slopes[c, k]
        offset -= contacts.slopes[c, k] * contacts.x[k]
    pair.last_offset, pair.fresh = offset, 1


@jit_part
def add_pair(own, p, gap, need, found):
    """List a close pair, and behind it the features that were nearest in one of the last ticks.

    A link that lies along an obstacle, or that has several solids, is nearest now at one end and now at the other. With rows for
    the one at hand alone, the joints would turn round in every tick. The gap at the other is what it was, plus its slopes times
    what the joints have moved since.
    """
    contacts, state, pair = own.contacts, own.contacts.state[0], own.contacts.pairs[p]
    c = state.count
    _, a, b, n = found
    write_slopes(own, c, pair, found)
    pair.bias *= 1.0 - min(own.pace[0].tick / FORGETTING, 1.0)
    speed = approach_speed(contacts, own.memetic.solve.problem.data, pair, a, b, n)
    write_rows(own, c, p, gap, speed)
    contacts.measured[c] = 1
    state.count += 1
    remember(contacts, c, p, gap)
    if pair.other_ticks == 0:
        return
    pair.other_ticks -= 1
    other = pair.other_offset
    for k in range(contacts.stop.size):
        other += contacts.other_slopes[p, k] * contacts.x[k]
    if other < need:
        c = state.count
        for k in range(contacts.stop.size):
            contacts.slopes[c, k] = contacts.other_slopes[p, k]
        write_rows(own, c, p, other, speed)
        contacts.measured[c] = 0
        state.count += 1


@jit_part
def look_around(own):
    """All that a tick needs to know about contacts, at the posture before it and in the world as it is now."""
    contacts, solve = own.contacts, own.memetic.solve
    problem, work = solve.problem, solve.work
    for k in range(contacts.x.size):
        contacts.x[k] = own.q[problem.variables[k].index]
    place(problem.nodes, problem.frames, contacts.x, work.poses, work.world)
    write_axes(problem.nodes, work.poses, work.axes)
    advance_odometers(own)
    plan_stops(own)
    find_close_pairs(own)


@jit
def nearest_pair(own):
    """The least distance of all pairs beyond what each requires at the posture in own.q [m], and the pair, -1 for none."""
    contacts, solve = own.contacts, own.memetic.solve
    problem, work = solve.problem, solve.work
    for k in range(contacts.x.size):
        contacts.x[k] = own.q[problem.variables[k].index]
    place(problem.nodes, problem.frames, contacts.x, work.poses, work.world)
    least, found_pair = math.inf, -1
    for p in range(contacts.pairs.size):
        pair = contacts.pairs[p]
        if balls_apart(problem.data, work.world, pair.first, pair.second, least):
            continue
        found = nearest(problem.data, work.world, pair.first, pair.second, least)[0]
        if found < least:
            least, found_pair = found, p
    return least, found_pair

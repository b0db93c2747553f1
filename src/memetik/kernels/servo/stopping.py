"""The way on which all joints brake to a stop after a tick, and how near pairs come on it.

It is looked at from posture to posture. What levers and velocities show to be far away at a posture is not measured there. Of a
pair that is near, no point moves between two postures by more than the smaller of

    d_i + c                         d_i the distance of the pair at the first one, c what it has to keep
    SPACING, or the whole way over LOOKS if that is more

Both solids are apart by d_i at the first and by at least c at the second, so where the first bound counts they do not touch in
between either. Only where the whole way over MOST_LOOKS is more than d_i + c, that is not proved.

With a limit on jerk, what is returned is the mean of the postures of the last ticks. The way is that of the mean then, while what
is planned brakes.
"""

import math

from memetik.kernels.compiler.jit import jit_part
from memetik.kernels.problem.evaluate import place
from memetik.kernels.servo.braking import stopping_distance
from memetik.kernels.servo.contacts import BUFFER, is_late, lever_sum
from memetik.kernels.terms.distance import balls_apart, nearest

LOOKS, MOST_LOOKS = 12, 24  # parts of the way that a step is at least, for far pairs and for all
SPACING = 4e-3  # m
ALMOST = 1e-9  # m
FOREVER = 1e9  # ticks


@jit_part
def way_after(brake, speed, ticks, tick):
    """How far a joint is so many ticks after one at a speed, from which on it loses `brake` in every tick."""
    n = min(float(ticks), math.floor(speed / brake))
    return tick * (speed * (n + 1.0) - 0.5 * brake * n * (n + 1.0))


@jit_part
def sum_of_ways(brake, speed, ticks, tick):
    """The sum of these ways after 0, 1, ... so many ticks."""
    n = min(float(ticks), math.floor(speed / brake))
    braking = tick * (0.5 * speed - brake * n / 6.0) * (n + 1.0) * (n + 2.0)
    return braking + (ticks - n) * way_after(brake, speed, ticks, tick)


@jit_part
def place_on_way(own, v, ticks):
    """Write into contacts.x the posture of the way so many ticks after this one."""
    variables, tick = own.memetic.solve.problem.variables, own.pace[0].tick
    for k in range(v.size):
        j = variables[k].index
        window, brake, speed = own.movers[j].window, own.movers[j].acceleration * tick, abs(v[k])
        if window == 1:
            way, before = way_after(brake, speed, ticks, tick), 0.0
        elif ticks + 1 < window:
            way, before = sum_of_ways(brake, speed, ticks, tick) / window, own.recent[window - 2 - ticks, j] / window
        else:
            gone = sum_of_ways(brake, speed, ticks - window, tick) if ticks >= window else 0.0
            way, before = (sum_of_ways(brake, speed, ticks, tick) - gone) / window, 0.0
        own.contacts.x[k] = own.q[j] + before + math.copysign(way, v[k])


@jit_part
def speed_after(own, v, k, ticks):
    """A bound of how fast variable k is so many ticks after one with velocity v, and from then on."""
    mover = own.movers[own.memetic.solve.problem.variables[k].index]
    if mover.window > 1:
        return max(abs(v[k]), own.contacts.fastest[k])
    return max(abs(v[k]) - mover.acceleration * own.pace[0].tick * ticks, 0.0)


@jit_part
def ticks_to_stop(own, v):
    """After how many more ticks all rest."""
    variables, tick, longest = own.memetic.solve.problem.variables, own.pace[0].tick, 0
    for k in range(v.size):
        mover = own.movers[variables[k].index]
        longest = max(longest, int(abs(v[k]) / (mover.acceleration * tick)) + mover.window - 1)
    return longest


@jit_part
def begin_way(own):
    """Write the gap of each close pair that has none yet where the way begins: at the posture that was returned last."""
    contacts, solve, state = own.contacts, own.memetic.solve, own.contacts.state[0]
    problem, work, delayed, first = solve.problem, solve.work, False, contacts.state[0].begun
    if first == state.count:
        return
    state.begun = state.count
    for k in range(contacts.x.size):
        j = problem.variables[k].index
        contacts.x[k] = own.posture[j]
        delayed = delayed or own.posture[j] != own.q[j]
    for c in range(first, state.count):
        contacts.begin[c] = contacts.gap[c]
    if not delayed:
        return
    place(problem.nodes, problem.frames, contacts.x, work.poses, work.world)
    for c in range(first, state.count):
        pair = contacts.pairs[contacts.close[c]]
        enough = pair.required + BUFFER + contacts.needed[c]
        contacts.begin[c] = (
            nearest(problem.data, work.world, pair.first, pair.second, enough)[0] - pair.required - BUFFER
        )


@jit_part
def list_suspects(own, v):
    """List the close pairs that the way to a stop may bring too close, in contacts.suspects. Returns how many, and how far the
    points of one can move on it [m]."""
    contacts, variables, tick = own.contacts, own.memetic.solve.problem.variables, own.pace[0].tick
    for k in range(v.size):
        way = stopping_distance(abs(v[k]), own.movers[variables[k].index].acceleration, tick)
        contacts.ahead[k] = max(way, contacts.lag[k])
    count, longest = 0, 0.0
    for c in range(contacts.state[0].count):
        if not contacts.measured[c]:
            continue
        pair = contacts.pairs[contacts.close[c]]
        way = lever_sum(contacts, pair.lever, contacts.ahead)
        if contacts.gap[c] + BUFFER < way + contacts.approach[c] * tick:
            contacts.suspects[count], contacts.least[c] = c, math.inf
            contacts.found[c] = contacts.begin[c] + BUFFER + pair.required
            count += 1
            longest = max(longest, way)
    return count, longest


@jit_part
def ticks_to_next_look(own, v, count, longest, now):
    """How many ticks may lie between the look at tick `now` and the next one."""
    contacts, ticks = own.contacts, math.inf
    write_closing(own, v, count, now)
    for s in range(count):
        c = contacts.suspects[s]
        pair = contacts.pairs[contacts.close[c]]
        if is_too_close(contacts, c):
            continue
        step = min(contacts.found[c] + pair.required, max(SPACING, longest / LOOKS))
        step = max(step, longest / MOST_LOOKS, contacts.found[c] - far_enough(own, c))
        if contacts.closing[c] * ticks > step:
            ticks = step / contacts.closing[c]
    return int(min(max(ticks, 1.0), FOREVER))


@jit_part
def write_closing(own, v, count, now):
    """Write by how much each suspect can shrink in a tick from tick `now` of the way on."""
    contacts, tick = own.contacts, own.pace[0].tick
    for k in range(v.size):
        contacts.speed[k] = speed_after(own, v, k, now)
    for s in range(count):
        c = contacts.suspects[s]
        contacts.closing[c] = tick * lever_sum(contacts, contacts.pairs[contacts.close[c]].lever, contacts.speed)


@jit_part
def go_on(contacts, count, ticks):
    """Let the distances of all suspects shrink for so many ticks."""
    for s in range(count):
        c = contacts.suspects[s]
        contacts.found[c] -= contacts.closing[c] * ticks


@jit_part
def is_too_close(contacts, c):
    """Whether a close pair is nearer than it should be where the way begins."""
    return contacts.begin[c] + BUFFER < 0.0


@jit_part
def far_enough(own, c):
    """The distance from which on a suspect need not be measured on the way."""
    return own.contacts.pairs[own.contacts.close[c]].required + own.contacts.approach[c] * own.pace[0].tick + SPACING


@jit_part
def look_at_suspects(own, count, first):
    """Measure the suspects that may be near in the posture in contacts.x, the `first` one of the way or a later one. Returns the
    least gap, as `worst_gap` does, and the least distance beyond what is required; of those farther away a lower bound counts."""
    contacts, solve = own.contacts, own.memetic.solve
    problem, work = solve.problem, solve.work
    place(problem.nodes, problem.frames, contacts.x, work.poses, work.world)
    worst, nearest_found = math.inf, math.inf
    for s in range(count):
        c = contacts.suspects[s]
        pair = contacts.pairs[contacts.close[c]]
        too_close = is_too_close(contacts, c)
        if too_close and not first:
            continue
        nearer, d = contacts.approach[c] * own.pace[0].tick, contacts.found[c]
        if d < far_enough(own, c):
            enough = pair.required + nearer + max(contacts.begin[c] + 2.0 * BUFFER, SPACING)
            d = enough
            if not balls_apart(problem.data, work.world, pair.first, pair.second, enough):
                d = nearest(problem.data, work.world, pair.first, pair.second, enough)[0]
        gap = d - pair.required
        nearest_found = min(nearest_found, gap)
        gap = gap - contacts.begin[c] - BUFFER + ALMOST if too_close else gap - nearer
        contacts.found[c], contacts.least[c] = d, min(contacts.least[c], gap)
        worst = min(worst, gap)
    return worst, nearest_found


@jit_part
def worst_gap(own, v, count, longest):
    """The least gap of all pairs on the way to a stop with velocities v in this tick [m], and the least distance after this tick
    beyond what is required; what is not near counts as infinite.

    Obstacles go on for this tick and stand then: to stop is no answer to one that comes nearer, and the rows of the program
    look farther ahead. Of a pair that is too close already, it is what the gap gains in this tick.
    """
    if count == 0:
        return math.inf, math.inf
    contacts, ticks, now, last = own.contacts, ticks_to_stop(own, v), 0, -1
    worst, soon = math.inf, math.inf
    write_closing(own, v, count, 0)
    while last < ticks:
        go_on(contacts, count, now - last)
        place_on_way(own, v, now)
        gap, distance = look_at_suspects(own, count, last < 0)
        worst = min(worst, gap)
        if last < 0:
            soon = distance
        last, now = now, min(now + ticks_to_next_look(own, v, count, longest, now), ticks)
        if last < ticks and is_late(own):
            return -math.inf, soon
    return worst, soon

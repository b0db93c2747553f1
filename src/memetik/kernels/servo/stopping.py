"""The way on which all joints brake to a stop after a tick, and how near pairs come on it.

It is looked at from posture to posture. Between two of them no point of a pair moves by more than the smaller of

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
from memetik.kernels.servo.contacts import BUFFER, is_late
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
    """Write the gap of each close pair where the way begins: at the posture that was returned last."""
    contacts, solve = own.contacts, own.memetic.solve
    problem, work, delayed = solve.problem, solve.work, False
    for k in range(contacts.x.size):
        j = problem.variables[k].index
        contacts.x[k] = own.posture[j]
        delayed = delayed or own.posture[j] != own.q[j]
    for c in range(contacts.state[0].count):
        contacts.begin[c] = contacts.gap[c]
    if not delayed:
        return
    place(problem.nodes, problem.frames, contacts.x, work.poses, work.world)
    for c in range(contacts.state[0].count):
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
        contacts.way[k] = max(way, contacts.lag[k])
    count, longest = 0, 0.0
    for c in range(contacts.state[0].count):
        if not contacts.measured[c]:
            continue
        pair = contacts.pairs[contacts.close[c]]
        way = 0.0
        for k in range(v.size):
            way += contacts.levers[pair.lever, k] * contacts.way[k]
        if contacts.gap[c] + BUFFER < way + contacts.approach[c] * tick:
            contacts.suspects[count], contacts.least[c] = c, math.inf
            count += 1
            longest = max(longest, way)
    return count, longest


@jit_part
def ticks_to_next_look(own, v, count, longest, now):
    """How many ticks may lie between the look at tick `now` and the next one."""
    contacts, tick, ticks = own.contacts, own.pace[0].tick, math.inf
    for s in range(count):
        c = contacts.suspects[s]
        pair = contacts.pairs[contacts.close[c]]
        closing = 0.0
        for k in range(v.size):
            closing += contacts.levers[pair.lever, k] * speed_after(own, v, k, now) * tick
        step = min(contacts.found[c] + pair.required, max(SPACING, longest / LOOKS))
        step = max(step, longest / MOST_LOOKS)
        if closing * ticks > step:
            ticks = step / closing
    return int(min(max(ticks, 1.0), FOREVER))


@jit_part
def look_at_suspects(own, count, first):
    """Measure all suspects in the posture in contacts.x, the `first` one of the way or a later one. Returns the least gap, as
    `worst_gap` does, and the least distance beyond what is required."""
    contacts, solve = own.contacts, own.memetic.solve
    problem, work = solve.problem, solve.work
    place(problem.nodes, problem.frames, contacts.x, work.poses, work.world)
    worst, nearest_found = math.inf, math.inf
    for s in range(count):
        c = contacts.suspects[s]
        pair = contacts.pairs[contacts.close[c]]
        too_close = contacts.begin[c] + BUFFER < 0.0
        if too_close and not first:
            continue
        nearer = contacts.approach[c] * own.pace[0].tick
        enough = pair.required + nearer + max(BUFFER, contacts.begin[c] + 2.0 * BUFFER, SPACING)
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
    ticks, now, last = ticks_to_stop(own, v), 0, -1
    worst, soon = math.inf, math.inf
    while last < ticks:
        place_on_way(own, v, now)
        gap, distance = look_at_suspects(own, count, last < 0)
        worst = min(worst, gap)
        if last < 0:
            soon = distance
        last, now = now, min(now + ticks_to_next_look(own, v, count, longest, now), ticks)
        if last < ticks and is_late(own):
            return -math.inf, soon
    return worst, soon

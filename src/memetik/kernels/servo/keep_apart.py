"""The velocities of a tick that keep solids apart: nearest to those that are wanted, and such that the body can still stop.

First the quadratic program

    minimise  sum_k w_k (v_k - wanted_k)^2        subject to  rows v >= limits,  low <= v <= high

whose rows let no pair approach faster than it can stop (contacts.py), by coordinate ascent on its dual (Hildreth 1957). Its rows
are linear in the velocities and the path is not, so the answer is then tried: the posture after the tick, and those on the
way on which all joints brake from there to a stop, as many as LOOKS. If one of them brings a pair too close, a slower velocity
is tried, and last of all to brake at once. That way was tried in the tick before and found free. So a body that was free and
could stop is free and can stop after every tick, as long as obstacles do what they are taken to do.
"""

import math

from memetik.kernels.compiler.jit import jit_part
from memetik.kernels.problem.evaluate import place
from memetik.kernels.servo.braking import stopping_distance
from memetik.kernels.servo.contacts import BUFFER, look_around
from memetik.kernels.terms.distance import balls_apart, nearest

SWEEPS = 40  # of the dual ascent
FEASIBLE = 1e-7  # m by which a row may be missed
LOOKS = 12  # postures on the way to a stop
SPACING = 4e-3  # m that points may move between two looks, unless the way is longer than LOOKS of them
ALMOST = 1e-9  # m


@jit_part
def ascend(own, c):
    """One step of the dual ascent for one row. Returns by how much the row was missed [m]."""
    contacts = own.contacts
    size, rows, v = contacts.low.size, contacts.rows, contacts.v
    slack = -contacts.limit[c]
    for k in range(size):
        slack += rows[c, k] * v[k]
    if slack >= -FEASIBLE and contacts.pull[c] == 0.0:
        return 0.0
    ease = 0.0
    for k in range(size):
        # What a bound holds does not follow, unless this step leads it back.
        up = slack * rows[c, k] < 0.0
        if (contacts.free[k] < contacts.high[k] or not up) and (contacts.free[k] > contacts.low[k] or up):
            ease += rows[c, k] * rows[c, k] * contacts.softness[k]
    if ease <= 0.0:
        return max(-slack, 0.0)
    change = max(-slack / ease, -contacts.pull[c])
    contacts.pull[c] += change
    for k in range(size):
        contacts.free[k] += change * rows[c, k] * contacts.softness[k]
        v[k] = min(max(contacts.free[k], contacts.low[k]), contacts.high[k])
    return abs(change) * ease


@jit_part
def nearest_velocities(own):
    """Solve the quadratic program into contacts.v. Returns whether any row counts."""
    contacts, variables = own.contacts, own.memetic.solve.problem.variables
    for k in range(contacts.v.size):
        mover = own.movers[variables[k].index]
        contacts.softness[k] = mover.velocity * mover.velocity
        contacts.free[k] = contacts.v[k] = own.wanted[variables[k].index]
    counts = False
    for _ in range(SWEEPS):
        most = 0.0
        for c in range(contacts.state[0].count):
            most = max(most, ascend(own, c))
        if most <= FEASIBLE:
            break
        counts = True
    return counts


@jit_part
def after(own, v, ticks):
    """The posture in contacts.x so many ticks after one with velocities v, from which on all joints brake."""
    variables, tick = own.memetic.solve.problem.variables, own.pace[0].tick
    for k in range(v.size):
        j = variables[k].index
        brake, speed = own.movers[j].acceleration * tick, abs(v[k])
        n = min(float(ticks), math.floor(speed / brake))
        way = tick * (speed * (n + 1.0) - 0.5 * brake * n * (n + 1.0))
        own.contacts.x[k] = own.q[j] + math.copysign(way, v[k])


@jit_part
def list_suspects(own, v):
    """List the close pairs that the way to a stop may bring too close, in contacts.suspects. Returns how many, and how far the
    points of one can move on it [m]."""
    contacts, variables, tick = own.contacts, own.memetic.solve.problem.variables, own.pace[0].tick
    for k in range(v.size):
        contacts.way[k] = stopping_distance(abs(v[k]), own.movers[variables[k].index].acceleration, tick)
    count, longest = 0, 0.0
    for c in range(contacts.state[0].count):
        pair = contacts.pairs[contacts.close[c]]
        way = 0.0
        for k in range(v.size):
            way += contacts.levers[pair.lever, k] * contacts.way[k]
        if contacts.gap[c] + BUFFER < way + contacts.approach[c] * (tick + contacts.state[0].longest_stop):
            contacts.suspects[count] = c
            count += 1
            longest = max(longest, way)
    return count, longest


@jit_part
def worst_gap(own, v):
    """The least gap of all pairs on the way to a stop with velocities v in this tick [m]; what is not near counts as infinite.

    Of a pair that is too close already, it is what the gap gains in this tick.
    """
    contacts, solve = own.contacts, own.memetic.solve
    problem, work, tick = solve.problem, solve.work, own.pace[0].tick
    count, longest = list_suspects(own, v)
    if count == 0:
        return math.inf
    ticks = 0.0
    for k in range(v.size):
        ticks = max(ticks, math.floor(abs(v[k]) / (own.movers[problem.variables[k].index].acceleration * tick)))
    looks = int(min(max(math.ceil(longest / SPACING), 1.0), LOOKS)) if ticks > 0.0 else 0
    worst, last = math.inf, -1.0
    for i in range(looks + 1):
        share = i / looks if looks > 0 else 0.0
        now = math.ceil(ticks * (1.0 - math.sqrt(1.0 - share)))
        if now == last:
            continue
        last = now
        after(own, v, now)
        place(problem.nodes, problem.frames, contacts.x, work.poses, work.world)
        for s in range(count):
            c = contacts.suspects[s]
            pair = contacts.pairs[contacts.close[c]]
            too_close = contacts.gap[c] + BUFFER < 0.0
            if too_close and i > 0:
                continue
            nearer = contacts.approach[c] * (now + 1.0) * tick
            enough = pair.required + nearer + max(BUFFER, contacts.gap[c] + 2.0 * BUFFER)
            d = enough
            if not balls_apart(problem.data, work.world, pair.first, pair.second, enough):
                d = nearest(problem.data, work.world, pair.first, pair.second, enough)[0]
            gap = d - pair.required - (0.0 if too_close else nearer)
            worst = min(worst, gap - contacts.gap[c] - BUFFER + ALMOST if too_close else gap)
        if worst < 0.0:
            return worst
    return worst


@jit_part
def brake(own, v):
    """The velocities with which all joints brake as hard as they may."""
    contacts, variables, tick = own.contacts, own.memetic.solve.problem.variables, own.pace[0].tick
    for k in range(v.size):
        mover, now = own.movers[variables[k].index], own.velocity[variables[k].index]
        slower = math.copysign(max(abs(now) - mover.acceleration * tick, 0.0), now)
        v[k] = min(max(slower, contacts.low[k]), contacts.high[k])


@jit_part
def choose(own, v, worst):
    """Take velocities if they are better than what was chosen before. Returns the worst gap of what is chosen."""
    contacts = own.contacts
    gap = worst_gap(own, v)
    if not gap > worst:
        return worst
    for k in range(v.size):
        contacts.chosen[k] = v[k]
    return gap


@jit_part
def keep_apart(own):
    """Change own.wanted, the velocities of this tick, so that no pair comes too close, now or before the body stops."""
    contacts, variables = own.contacts, own.memetic.solve.problem.variables
    state = contacts.state[0]
    look_around(own)
    state.limited, state.braking = 0, 0
    if state.count == 0:
        return
    state.limited = int(nearest_velocities(own))
    worst = -math.inf if state.overflow else choose(own, contacts.v, -math.inf)
    if worst < 0.0:
        state.limited = 1
        brake(own, contacts.stopping)
        for k in range(contacts.v.size):
            contacts.chosen[k] = contacts.stopping[k] if state.overflow else contacts.chosen[k]
        for share in (0.5, 0.1):
            for k in range(contacts.v.size):
                contacts.trial[k] = contacts.stopping[k] + share * (contacts.v[k] - contacts.stopping[k])
            if worst < 0.0 and not state.overflow:
                worst = choose(own, contacts.trial, worst)
        if worst < 0.0:
            state.braking = 1
            choose(own, contacts.stopping, worst)
    for k in range(contacts.v.size):
        own.wanted[variables[k].index] = contacts.chosen[k]

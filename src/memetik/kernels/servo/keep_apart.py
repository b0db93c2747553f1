"""The velocities of a tick that keep solids apart: nearest to those that are wanted, and such that the body can still stop.

First a quadratic program (quadratic_program.py). Its rows let no pair approach faster than it can stop (contacts.py), and what
it minimises is how far the tips leave the way they want, with the Jacobian J of all that has a tolerance, contacts apart:

    |J (v - wanted)|^2 + e |v - wanted|^2 + s |v - v_last|^2

so what the tips do not need makes room first, and joints without a limit on acceleration do not turn round at every touch. The
rows are linear in the velocities and the path is not, so the answer is then tried: the posture after the tick, and those on the
way on which all joints brake from there to a stop, as many as LOOKS. If one of them brings a pair too close, the row of the pair
is tightened by what lacked and the program solved again, and the last resort is to brake at once. That way was tried in the tick
before and found free. So a body that was free and could stop is free and can stop after every tick, as long as obstacles do what
they are taken to do.
"""

import math

from memetik.kernels.compiler.jit import jit_part
from memetik.kernels.problem.evaluate import linearise, measure, place
from memetik.kernels.problem.record import Problem
from memetik.kernels.servo.braking import stopping_distance
from memetik.kernels.servo.contacts import BUFFER, look_around
from memetik.kernels.servo.quadratic_program import invert, solve_program
from memetik.kernels.terms.distance import balls_apart, nearest

EASE, STEADY = (
    1e-3,
    0.1,
)  # e and s, as shares of the mean of the diagonal of J^T J; s for joints without a limit on acceleration
LOOKS = 12  # postures on the way to a stop
SPACING = 4e-3  # m that points may move between two looks, unless the way is longer than LOOKS of them
ALMOST = 1e-9  # m
ATTEMPTS = 4  # solutions of the program that are tried, each with tighter rows
TIGHTER = 1.2  # times what lacked


@jit_part
def write_wanted(own):
    """Put the wanted velocities into the program. Returns whether they miss a row."""
    program, variables = own.contacts.program, own.memetic.solve.problem.variables
    for k in range(program.v.size):
        program.v[k] = own.wanted[variables[k].index]
    for i in range(2 * own.contacts.state[0].count):
        total = -program.limits[i]
        for k in range(program.v.size):
            total += program.rows[i, k] * program.v[k]
        if total < 0.0:
            return True
    return False


@jit_part
def write_metric(own):
    """Write the inverse of J^T J + e + s, at the posture before this tick. Returns s."""
    program, work, p = own.contacts.program, own.reach.work, own.reach.problem
    n, m = work.jacobian.shape
    for k in range(n):
        work.x[k] = own.q[p.variables[k].index]
    # By the values of joints, also of those that the search turns by rotations.
    problem = Problem(
        p.nodes, p.frames, p.terms, p.variables, p.limits, p.data, p.affects, p.blocks, p.order, p.balls[:0], p.mounts
    )
    place(problem.nodes, problem.frames, work.x, work.poses, work.world)
    measure(problem.terms, problem.data, work.world, work.x, 0.0, work.residual)
    linearise(problem, work.x, 0.0, work)
    trace = 0.0
    for a in range(n):
        for b in range(a + 1):
            total = 0.0
            for i in range(m):
                total += work.jacobian[a, i] * work.jacobian[b, i]
            program.hessian[a, b] = total
        trace += program.hessian[a, a]
    mean, freedom = trace / n if trace > 0.0 else 1.0, 0.0
    for k in range(n):
        freedom += (program.high[k] - program.low[k]) / (2.0 * own.movers[p.variables[k].index].velocity * n)
    steady = STEADY * mean * min(freedom, 1.0)
    for a in range(n):
        program.hessian[a, a] += EASE * mean + steady
    invert(program.hessian, program.inverse)
    return steady


@jit_part
def write_minimum(own, steady):
    """Put the velocities with the least objective into the program."""
    program, variables = own.contacts.program, own.memetic.solve.problem.variables
    for k in range(program.v.size):
        total = 0.0
        for i in range(program.v.size):
            j = variables[i].index
            total += program.inverse[k, i] * (own.velocity[j] - own.wanted[j])
        program.v[k] = own.wanted[variables[k].index] + steady * total


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
def worst_gap(own, v, count, longest):
    """The least gap of all pairs on the way to a stop with velocities v in this tick [m]; what is not near counts as infinite.

    Obstacles go on for this tick and stand then: to stop is no answer to one that comes nearer, and the rows of the program
    look farther ahead. Of a pair that is too close already, it is what the gap gains in this tick.
    """
    contacts, solve = own.contacts, own.memetic.solve
    problem, work, tick = solve.problem, solve.work, own.pace[0].tick
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
            nearer = contacts.approach[c] * tick
            enough = pair.required + nearer + max(BUFFER, contacts.gap[c] + 2.0 * BUFFER)
            d = enough
            if not balls_apart(problem.data, work.world, pair.first, pair.second, enough):
                d = nearest(problem.data, work.world, pair.first, pair.second, enough)[0]
            gap = d - pair.required - (0.0 if too_close else nearer)
            value = gap - contacts.gap[c] - BUFFER + ALMOST if too_close else gap
            contacts.least[c] = min(contacts.least[c], value)
            worst = min(worst, value)
    return worst


@jit_part
def brake(own, v):
    """The velocities with which all joints brake as hard as they may."""
    contacts, variables, tick = own.contacts, own.memetic.solve.problem.variables, own.pace[0].tick
    for k in range(v.size):
        mover, now = own.movers[variables[k].index], own.velocity[variables[k].index]
        slower = math.copysign(max(abs(now) - mover.acceleration * tick, 0.0), now)
        v[k] = min(max(slower, contacts.program.low[k]), contacts.program.high[k])


@jit_part
def tighten_rows(own, count):
    """Ask more of the rows of suspects whose way to a stop came too close, now and, less and less, in the next ticks."""
    contacts = own.contacts
    for s in range(count):
        c = contacts.suspects[s]
        if contacts.least[c] < 0.0:
            more = TIGHTER * -contacts.least[c] + ALMOST
            contacts.program.limits[2 * c] += more
            contacts.pairs[contacts.close[c]].bias += more


@jit_part
def choose(own, v, worst):
    """Take velocities if they are better than what was chosen before. Returns the worst gap of what is chosen."""
    contacts = own.contacts
    count, longest = list_suspects(own, v)
    gap = worst_gap(own, v, count, longest)
    if gap < 0.0:
        tighten_rows(own, count)
    if not gap > worst:
        return worst
    for k in range(v.size):
        contacts.chosen[k] = v[k]
    return gap


@jit_part
def keep_apart(own):
    """Change own.wanted, the velocities of this tick, so that no pair comes too close, now or before the body stops."""
    contacts, variables = own.contacts, own.memetic.solve.problem.variables
    state, program = contacts.state[0], contacts.program
    look_around(own)
    state.limited, state.braking = 0, 0
    if state.count == 0:
        return
    worst, prepared, steady = -math.inf, False, 0.0
    misses = write_wanted(own)
    brake(own, contacts.stopping)
    for k in range(program.v.size):
        contacts.chosen[k] = contacts.stopping[k]
    for _ in range(0 if state.overflow else ATTEMPTS):
        if misses:
            if not prepared:
                steady, prepared = write_metric(own), True
            write_minimum(own, steady)
            solve_program(program, 2 * state.count)
            state.limited = 1
        worst = choose(own, program.v, worst)
        if worst >= 0.0:
            break
        misses = True
    if worst < 0.0 and not state.overflow:
        for k in range(program.v.size):
            contacts.trial[k] = 0.5 * (contacts.stopping[k] + program.v[k])
        worst = choose(own, contacts.trial, worst)
    if worst < 0.0:
        state.limited, state.braking = 1, 1
        choose(own, contacts.stopping, worst)
    for k in range(program.v.size):
        own.wanted[variables[k].index] = contacts.chosen[k]

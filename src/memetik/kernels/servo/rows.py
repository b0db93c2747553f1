"""The velocities that keep close pairs apart, as rows of a quadratic program, and whether those that are wanted need any.

Most ticks need none: by the levers of the joints alone, what is wanted is too slow to bring any pair too close.
"""

import math

from memetik.kernels.body.motion import twist, write_axes
from memetik.kernels.compiler.jit import jit_part
from memetik.kernels.geometry.solids import three
from memetik.kernels.servo.contacts import HORIZON, place_at_plan
from memetik.kernels.servo.quadratic_program import MISSED
from memetik.kernels.terms.distance import GROUP_FRAME

FIRST, SECOND, NORMAL = 0, 3, 6  # where the numbers of the nearest points and of the normal begin
ALIKE = 0.99  # cosine between the slopes of one pair above which they are of the same features
REMEMBERED = 50  # ticks for which features count that were nearest before
RECOVERY = 0.1  # m/s at which pairs that are too close are brought apart


@jit_part
def are_surely_kept(own):
    """Whether the velocities of the program keep the rows of all close pairs, whatever their slopes are, which levers bound."""
    contacts, v = own.contacts, own.contacts.program.v
    response = max(own.pace[0].response, own.pace[0].tick)
    for c in range(contacts.state[0].count):
        pair = contacts.pairs[contacts.close[c]]
        if contacts.approach[c] > 0.0 or pair.other_ticks > 0:
            return False
        stop, speed = 0.0, 0.0
        for k in range(contacts.stop.size):
            closing = contacts.levers[pair.lever, k] * abs(v[k])
            stop += closing * contacts.stop[k]
            speed += closing
        if stop > contacts.gap[c] - pair.bias or speed * response > contacts.gap[c]:
            return False
    return True


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
def write_slopes(own, c):
    """Write the derivative of the distance of a close pair by each variable."""
    contacts, problem = own.contacts, own.memetic.solve.problem
    pair, points = contacts.pairs[contacts.close[c]], contacts.points
    for k in range(contacts.stop.size):
        contacts.slopes[c, k] = 0.0
    n = three(points[c], NORMAL)
    one, other = int(problem.data[pair.first + GROUP_FRAME]), int(problem.data[pair.second + GROUP_FRAME])
    if one >= 0:
        add_slopes(own, problem.frames[one].node, three(points[c], FIRST), n, 1.0, c)
    if other >= 0:
        add_slopes(own, problem.frames[other].node, three(points[c], SECOND), n, -1.0, c)


@jit_part
def write_two_rows(own, c):
    """Write the two rows of a close pair, for the velocities v of the variables and the slope g of its distance:

        sum_k g_k T_k v_k >= limit      the way to a stop, with the time constant T_k of each variable, may take up the gap
        sum_k g_k v_k >= pace           and until then the gap shrinks by no more than 1/e in `response`

    Where an obstacle approaches at `speed`, all time constants are at least what the body needs to become as fast, and the gap
    counts less what the obstacle comes nearer meanwhile. So a body that can is as fast as the obstacle before the gap is used up.
    A pair that is too close is brought apart by its first row, and by its second one comes no nearer.

    What braking keeps is kept by every answer. What it misses yields: else a body that cannot get out of the way of one obstacle
    at once would be pushed towards another one, be kept from it, and stay where it is.
    """
    contacts, variables, tick = own.contacts, own.memetic.solve.problem.variables, own.pace[0].tick
    program, slopes, seconds = contacts.program, contacts.slopes, 0.0
    gap, speed, bias = contacts.gap[c], contacts.approach[c], contacts.pairs[contacts.close[c]].bias
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
    program.limits[2 * c] = min(-gap, RECOVERY * stop) + seconds * speed + bias
    program.limits[2 * c + 1] = min(-gap / response, 0.0) + speed
    for row in range(2 * c, 2 * c + 2):
        braking = -program.limits[row]
        for k in range(contacts.stop.size):
            braking += program.rows[row, k] * contacts.stopping[k]
        program.yields[row] = int(braking < -MISSED)


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
def remember(contacts, c):
    """Keep the slopes of a pair for the next ticks, and those that they replace if these are of other features."""
    p, offset, now = contacts.close[c], contacts.gap[c], contacts.state[0].tick
    pair = contacts.pairs[p]
    if pair.fresh >= now - REMEMBERED and is_other_feature(contacts, c, p):
        pair.other_offset, pair.other_ticks = pair.last_offset, REMEMBERED
        for k in range(contacts.stop.size):
            contacts.other_slopes[p, k] = contacts.last_slopes[p, k]
    for k in range(contacts.stop.size):
        contacts.last_slopes[p, k] = contacts.slopes[c, k]
        offset -= contacts.slopes[c, k] * contacts.x[k]
    pair.last_offset, pair.fresh = offset, now


@jit_part
def add_other_features(own, c):
    """List the features of a close pair that were nearest in one of the last ticks.

    A link that lies along an obstacle, or that has several solids, is nearest now at one end and now at the other. With rows for
    the one at hand alone, the joints would turn round in every tick. The gap at the other is what it was, plus its slopes times
    what the joints have moved since.
    """
    contacts, state, p = own.contacts, own.contacts.state[0], own.contacts.close[c]
    pair = contacts.pairs[p]
    if pair.other_ticks == 0:
        return
    pair.other_ticks -= 1
    other, last = pair.other_offset, state.count
    for k in range(contacts.stop.size):
        other += contacts.other_slopes[p, k] * contacts.x[k]
    if other >= contacts.needed[c]:
        return
    contacts.close[last], contacts.measured[last] = p, 0
    contacts.gap[last], contacts.approach[last] = other, contacts.approach[c]
    for k in range(contacts.stop.size):
        contacts.slopes[last, k] = contacts.other_slopes[p, k]
    write_two_rows(own, last)
    state.count += 1


@jit_part
def write_rows(own):
    """Write the rows of all close pairs that have none yet, at the posture before this tick."""
    contacts, work, state = own.contacts, own.memetic.solve.work, own.contacts.state[0]
    if state.rows == state.count:
        return
    place_at_plan(own)
    write_axes(own.memetic.solve.problem.nodes, work.poses, work.axes)
    for c in range(state.rows, state.count):
        write_slopes(own, c)
        write_two_rows(own, c)
        remember(contacts, c)
        add_other_features(own, c)
    state.rows = state.count

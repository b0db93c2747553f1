"""Conservative advancement: what a motion meets on a straight line from one joint vector to the next.

With the distance d of a pair at a time t, no point of either solid can get as far as d before t + s, where s is how long its
joints need to move it that far (spread.py). So the pair is apart until then, and is looked at again there. Each pair has a
clock of its own: one that is far away is looked at once, one that is near in ever shorter steps. A distance below the resolution
proves nothing; the motion is followed in steps of the resolution then, so that a contact is found if it is deeper.
"""

import math

from memetik.kernels.collision.pairs import gap, place_frames
from memetik.kernels.collision.solids_record import CONTACT, FREE, UNDECIDED, solids_of
from memetik.kernels.collision.spread import spread, spread_here
from memetik.kernels.compiler.jit import jit_free, jit_part
from memetik.kernels.geometry.solids import SOLID_DATA
from memetik.kernels.terms.distance import GROUP_RADIUS, GROUP_SOLIDS

SHARE = (
    0.9  # of the way that is surely free that is gone: the rest is what is left between the solids, and can be reported
)
ROUNDING = 1.0 + 1e-9  # on all bounds
SHORTEST = 1e-12  # of a step, as a share of the motion


@jit_part
def drift_of(before, after, first):
    """How far a point of an obstacle moves between two of its states, each a group of one solid [m]."""
    moved, same, size = 0.0, 0.0, abs(after[first + GROUP_RADIUS] - before[first + GROUP_RADIUS])
    s = first + GROUP_SOLIDS
    for k in range(3):
        moved += (after[s + 4 + k] - before[s + 4 + k]) ** 2
    for k in range(4):
        same += after[s + k] * before[s + k]
    for k in range(7, SOLID_DATA):
        size += abs(after[s + k] - before[s + k])
    radius = max(before[first + GROUP_RADIUS], after[first + GROUP_RADIUS])
    return math.sqrt(moved) + 2.0 * math.acos(min(abs(same), 1.0)) * radius + size


@jit_part
def drifted(before, after, first, t, data, group):
    """Write where an obstacle is at a share of its way: evenly along a line, and evenly about one axis."""
    for k in range(GROUP_SOLIDS + SOLID_DATA):
        data[group + k] = before[first + k] + t * (after[first + k] - before[first + k])
    s = first + GROUP_SOLIDS
    same = 0.0
    for k in range(4):
        same += after[s + k] * before[s + k]
    sign = 1.0 if same >= 0.0 else -1.0
    angle = math.acos(min(abs(same), 1.0))
    one, two = 1.0 - t, sign * t
    if angle > 1e-6:
        one, two = math.sin((1.0 - t) * angle) / math.sin(angle), sign * math.sin(t * angle) / math.sin(angle)
    length = 0.0
    for k in range(4):
        data[group + GROUP_SOLIDS + k] = one * before[s + k] + two * after[s + k]
        length += data[group + GROUP_SOLIDS + k] ** 2
    for k in range(4):
        data[group + GROUP_SOLIDS + k] /= math.sqrt(length)


@jit_part
def look(solids, before, after, q, row, t):
    """Put the body and the obstacles where they are at time t."""
    x = solids.x
    for k in range(x.size):
        x[k] = q[row, k] + t * (q[row + 1, k] - q[row, k])
    place_frames(solids.nodes, solids.frames, x, solids.poses, solids.world)
    size = GROUP_SOLIDS + SOLID_DATA
    for k in range(solids.drifting.size):
        drifted(before, after, k * size, t, solids.data, solids.groups[solids.drifting[k]])


@jit_part
def begin_motion(solids, before, after, q, row, bends):
    """Bounds that hold for the whole motion: how far each group moves, seen from the root."""
    nodes, frames, data = solids.nodes, solids.frames, solids.data
    middle, half, rate = solids.middle, solids.half, solids.rate
    for k in range(rate.size):
        middle[k] = 0.5 * (q[row, k] + q[row + 1, k])
        rate[k] = abs(q[row + 1, k] - q[row, k]) + 2.0 * bends[row, k]
        half[k] = 0.5 * rate[k]
    for g in range(solids.groups.size):
        solids.drift[g] = 0.0
    size = GROUP_SOLIDS + SOLID_DATA
    for k in range(solids.drifting.size):
        g = solids.drifting[k]
        solids.drift[g] = drift_of(before, after, k * size)
    for g in range(solids.groups.size):
        far = spread(nodes, frames, data, solids.groups[g], -1, middle, half, rate, solids.shares)[0]
        solids.fast[g] = ROUNDING * (far + solids.drift[g])
    for p in range(solids.pairs.size):
        solids.until[p], solids.speed[p], solids.slack[p] = 0.0, -1.0, 0.0


@jit_part
def begin_pair(solids, p, q, bends, row):
    """Bounds for two groups, seen from where their motions part: how far they move, and how far the path bends aside."""
    nodes, frames, data, pair = solids.nodes, solids.frames, solids.data, solids.pairs[p]
    middle, half, rate = solids.middle, solids.half, solids.rate
    for k in range(rate.size):
        rate[k] = bends[row, k]
    aside = spread(nodes, frames, data, pair.first, pair.meet, middle, half, rate, solids.shares)[0]
    aside += spread(nodes, frames, data, pair.second, pair.meet, middle, half, rate, solids.shares)[0]
    for k in range(rate.size):
        rate[k] = abs(q[row + 1, k] - q[row, k])
    one, bend = spread(nodes, frames, data, pair.first, pair.meet, middle, half, rate, solids.shares)
    two, more = spread(nodes, frames, data, pair.second, pair.meet, middle, half, rate, solids.shares)
    solids.speed[p] = ROUNDING * (one + two + solids.drift[pair.one] + solids.drift[pair.other])
    solids.curve[p], solids.slack[p] = ROUNDING * (bend + more), ROUNDING * aside


@jit_part
def speed_here(solids, p):
    """How fast the points of a pair move past each other at the posture that is looked at."""
    nodes, poses, frames, data = solids.nodes, solids.poses, solids.frames, solids.data
    pair, world, rate = solids.pairs[p], solids.world, solids.rate
    one = spread_here(nodes, poses, frames, data, pair.first, pair.meet, world, rate)
    two = spread_here(nodes, poses, frames, data, pair.second, pair.meet, world, rate)
    return ROUNDING * (one + two + solids.drift[pair.one] + solids.drift[pair.other])


@jit_part
def advance(solids, p, here, way):
    """How long the points of a pair need to move by `way`, at least, from a posture at which they move this fast."""
    curve = solids.curve[p]
    soon = here + math.sqrt(here * here + 2.0 * curve * way)
    by = way / solids.speed[p] if solids.speed[p] > 0.0 else 1.0
    return max(by, 2.0 * way / soon if soon > 0.0 else 1.0)


@jit_part
def travel(solids, p, here, step):
    """How far the points of a pair can move past each other in a time."""
    return min(solids.speed[p] * step, here * step + 0.5 * solids.curve[p] * step * step)


@jit_part
def look_at_pair(solids, p, t, resolution, q, bends, row, found):
    """Measure a pair and advance its clock. Whether it is in contact."""
    data, world, pair = solids.data, solids.world, solids.pairs[p]
    rest = 1.0 - t
    if solids.speed[p] < 0.0:
        enough = solids.fast[pair.one] + solids.fast[pair.other] + max(found.bound, 0.0)
        if gap(data, world, pair.first, pair.second, pair.clearance + enough) >= pair.clearance + enough:
            solids.until[p] = 1.0
            return False
        begin_pair(solids, p, q, bends, row)
    keep = pair.clearance + solids.slack[p]
    enough = solids.speed[p] * rest + max(found.bound, 0.0)
    d = gap(data, world, pair.first, pair.second, keep + enough) - keep
    if d >= enough:
        solids.until[p] = 1.0
        return False
    chord = d + solids.slack[p]
    if chord + solids.slack[p] < 0.0:  # wherever beside the line the path is
        if found.status != CONTACT or chord < found.seen:
            found.status, found.pair, found.time, found.seen = CONTACT, p, t, chord
        return True
    if found.status != CONTACT:
        found.seen = min(found.seen, chord)
    here = speed_here(solids, p)
    step, left = rest, d - travel(solids, p, here, rest)
    if left < 0.0:
        step = advance(solids, p, here, SHARE * d) if d > resolution else 0.0
        if step < SHORTEST:
            step = max(advance(solids, p, here, resolution), SHORTEST)
            if found.status == FREE:
                found.status, found.pair, found.time, found.until = UNDECIDED, p, t, t
        left = d - travel(solids, p, here, min(step, rest))
    if found.status == FREE:
        found.bound = min(found.bound, left)
    solids.until[p] = t + step
    return False


@jit_part
def check_motion(solids, before, after, q, bends, row, resolution, most, found):
    """Follow one motion to its end, or to the first contact."""
    found.status, found.pair, found.time, found.until = FREE, -1, 1.0, 1.0
    found.bound, found.seen, found.looks = math.inf, math.inf, 0
    begin_motion(solids, before, after, q, row, bends)
    t = 0.0
    while t < 1.0:
        if found.looks >= most:
            if found.status == FREE:
                found.status, found.time, found.until = UNDECIDED, t, t
            return
        found.looks += 1
        look(solids, before, after, q, row, t)
        met = False
        soonest = 1.0
        for p in range(solids.pairs.size):
            if solids.until[p] <= t:
                was_free = found.status == FREE
                if look_at_pair(solids, p, t, resolution, q, bends, row, found):
                    met = True
                    if was_free:
                        found.until = t
            soonest = min(soonest, solids.until[p])
        if met:
            return
        t = soonest


@jit_free
def check_motions(table, before, after, q, bends, resolution, most, verdicts):
    """What the motions from each row of q (rows, variables) to the next meet: verdicts (rows - 1,).

    before, after (rows - 1, numbers): the groups in the world that move meanwhile, one after another, of one solid each.
    bends (rows - 1, variables): how far each variable leaves the straight line on the way.
    most: postures that may be looked at for each motion.
    """
    solids = solids_of(table)
    for row in range(verdicts.size):
        check_motion(solids, before[row], after[row], q, bends, row, resolution, most, verdicts[row])

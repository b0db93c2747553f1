"""Whether a motion keeps all pairs apart: proved for eight postures and what lies between them at a time.

A motion is cut into FAN parts of equal length, and the body is placed in the middle of each, a lane a part. No point of a
pair moves past the other by more than  speed  in the whole motion (collision/spread.py), so by at most  h = speed / (2 FAN)
on the way from the middle of a part to its ends. A pair that is farther apart than its clearance and h is apart in the
whole part; one that is closer than its clearance blocks the motion; and of all others the part is cut again, for these
pairs alone. Where a part moves them by less than the resolution and a pair is still neither, the motion counts as
blocked, too. The resolution is part of the clearance, so that check_motion, which decides nothing within it, proves the same
motions. What is called free is free, with no samples to slip through.

Links that are covered by spheres are measured in lanes, by squares only, from each other and from obstacles that are a
point, a line or a box with a ball around it. All others are measured posture by posture, by the kernels that measure them
everywhere else.
"""

from memetik.kernels.body.forward import frame_pose
from memetik.kernels.collision.pairs import gap
from memetik.kernels.collision.spread import spread as spread_of
from memetik.kernels.compiler.jit import jit, jit_part, jit_shared
from memetik.kernels.compiler.lanes import LANES, bits, put, spread, take
from memetik.kernels.geometry.solids import SOLID_BALL, SOLID_BOX, SOLID_DISC, SOLID_POINTS, moved
from memetik.kernels.math.pose import store
from memetik.kernels.math.rotation import axes_of
from memetik.kernels.planning.planning_record import (
    BLOCKS,
    BOX,
    COMPLEX,
    FAN,
    GENERAL,
    LEVELS,
    LINE,
    MOTIONS,
    POINT,
    POSTURES,
    SPHERES,
    WHOLE,
)
from memetik.kernels.search.lane_step import forward_lanes, load_lanes
from memetik.kernels.terms.distance import GROUP_CENTER, GROUP_COUNT, GROUP_SOLIDS

ROUNDING = 1.0 + 1e-9


@jit
def prepare_proofs(plan, resolution):
    """Work out what no motion changes: how far each joint moves each group, and how obstacles are turned."""
    solids = plan.solids
    data = solids.data
    for k in range(plan.moving.size):
        j = plan.moving[k]
        solids.middle[j], solids.half[j] = 0.5 * (plan.lower[k] + plan.upper[k]), 0.5 * (plan.upper[k] - plan.lower[k])
    for j in range(solids.rate.size):
        solids.rate[j] = 1.0
    for b in range(plan.reach.shape[0]):
        for k in range(plan.moving.size):
            plan.reach[b, k] = 0.0
    for g in range(plan.groups.size):
        plan.stamp[g] = -1
        add_reach(plan, g, -1, g)
        group = plan.groups[g]
        if group.frame < 0:
            center = solids.groups[g] + GROUP_CENTER
            group.cx, group.cy, group.cz, group.radius = (
                data[center],
                data[center + 1],
                data[center + 2],
                data[center + 3],
            )
            group.simple = kind_of_obstacle(data, solids.groups[g])
            if group.simple != COMPLEX:
                s = solids.groups[g] + GROUP_SOLIDS
                axes = axes_of((data[s], data[s + 1], data[s + 2], data[s + 3]))
                for i in range(3):
                    for j in range(3):
                        plan.sides[g, 3 * i + j] = axes[j][i]
    for p in range(plan.checks.size):
        check, pair = plan.checks[p], solids.pairs[p]
        one, other = plan.groups[check.one], plan.groups[check.other]
        check.clearance = pair.clearance + resolution
        check.how = SPHERES
        if one.first < 0 or check.clearance + one.least <= 0.0 or (other.first < 0 and other.simple == COMPLEX):
            check.how = GENERAL
        if check.bound >= plan.groups.size:
            add_reach(plan, pair.one, pair.meet, check.bound)
            add_reach(plan, pair.other, pair.meet, check.bound)
    look_at_all(plan)
    for k in range(LANES):
        plan.offsets[WHOLE, k] = k + 0.5


@jit_part
def look_at_all(plan):
    """Let motions begin with all pairs."""
    for p in range(plan.checks.size):
        plan.active[WHOLE, p] = p
    plan.looked[WHOLE] = plan.checks.size


@jit_part
def look_at_those_that_move(plan):
    """Let motions begin with the pairs that can move past each other."""
    count = 0
    for p in range(plan.checks.size):
        far = 0.0
        for k in range(plan.moving.size):
            far += plan.reach[plan.checks[p].bound, k]
        if far > 0.0:
            plan.active[WHOLE, count] = p
            count += 1
    plan.looked[WHOLE] = count


@jit_part
def kind_of_obstacle(data, g):
    """What an obstacle is for `closer_than`."""
    s = g + GROUP_SOLIDS
    if data[g + GROUP_COUNT] != 1.0 or data[s + SOLID_POINTS] != 0.0:
        return COMPLEX
    hx, hy, hz = data[s + SOLID_BOX], data[s + SOLID_BOX + 1], data[s + SOLID_BOX + 2]
    if hx == 0.0 and hy == 0.0:
        return POINT if hz == 0.0 and data[s + SOLID_DISC] == 0.0 else LINE
    return BOX if data[s + SOLID_DISC] == 0.0 else COMPLEX


@jit_part
def add_reach(plan, group, meet, bound):
    """Add how far a unit of each joint moves a group, seen from the motion `meet`."""
    solids = plan.solids
    nodes = solids.nodes
    for i in range(nodes.size):
        solids.shares[i] = 0.0
    spread_of(
        nodes, solids.frames, solids.data, solids.groups[group], meet, solids.middle, solids.half, solids.rate, solids.shares
    )  # fmt: skip
    for k in range(plan.moving.size):
        for i in range(nodes.size):
            if nodes[i].variable == plan.moving[k]:
                plan.reach[bound, k] += ROUNDING * solids.shares[i]


@jit_part
def place_block(plan, begin, width):
    """Place the body in the middle of parts of a motion, a lane a part."""
    solids = plan.solids
    for j in range(solids.x.size):
        put(plan.x, j, solids.x[j] + plan.length[j] * (begin + width * take(plan.offsets, 0)))
    forward_lanes(solids.nodes, plan.x, plan.poses)
    plan.spent[POSTURES] += LANES
    plan.spent[BLOCKS] += 1
    for g in range(plan.groups.size):
        group = plan.groups[g]
        if group.node >= 0:
            x, y, z = moved(load_lanes(plan.poses, group.node), (group.cx, group.cy, group.cz))
            put(plan.middles, 3 * g, x)
            put(plan.middles, 3 * g + 1, y)
            put(plan.middles, 3 * g + 2, z)


@jit_part
def place_spheres(plan, g):
    """Place the spheres of a group for this block, once."""
    if plan.stamp[g] == plan.spent[BLOCKS]:
        return
    plan.stamp[g] = plan.spent[BLOCKS]
    group = plan.groups[g]
    for s in range(group.first, group.first + group.count):
        x, y, z = spread(plan.spheres[s, 0]), spread(plan.spheres[s, 1]), spread(plan.spheres[s, 2])
        if group.node >= 0:
            pose = load_lanes(plan.poses, group.node)
            x, y, z = moved(pose, (plan.spheres[s, 0], plan.spheres[s, 1], plan.spheres[s, 2]))
        put(plan.centers, 3 * s, x)
        put(plan.centers, 3 * s + 1, y)
        put(plan.centers, 3 * s + 2, z)


@jit_part
def middle_lanes(plan, g):
    """The middle of a group in every lane."""
    group = plan.groups[g]
    if group.node < 0:
        return spread(group.cx), spread(group.cy), spread(group.cz)
    return take(plan.middles, 3 * g), take(plan.middles, 3 * g + 1), take(plan.middles, 3 * g + 2)


@jit_part
def beyond(x, y, z, hx, hy, hz):
    """The squared distance of points from a box about the origin."""
    x = max(abs(x) - hx, 0.0)
    y = max(abs(y) - hy, 0.0)
    z = max(abs(z) - hz, 0.0)
    return x * x + y * y + z * z


@jit_part
def closer_than(plan, g, x, y, z, contact, enough):
    """Where points (x, y, z) are closer to a simple obstacle than each of two distances, as masks."""
    data = plan.solids.data
    s = plan.solids.groups[g] + GROUP_SOLIDS
    x, y, z = x - data[s + 4], y - data[s + 5], z - data[s + 6]
    ball, disc, kind = data[s + SOLID_BALL], data[s + SOLID_DISC], plan.groups[g].simple
    if kind == POINT:
        square = x * x + y * y + z * z
        one, two = contact + ball, enough + ball
        return square < one * one, square < two * two
    r = plan.sides[g]
    x, y, z = (
        r[0] * x + r[3] * y + r[6] * z,
        r[1] * x + r[4] * y + r[7] * z,
        r[2] * x + r[5] * y + r[8] * z,
    )
    hx, hy, hz = data[s + SOLID_BOX], data[s + SOLID_BOX + 1], data[s + SOLID_BOX + 2]
    if kind == LINE:
        along = max(abs(z) - hz, 0.0)
        square = x * x + y * y + along * along
        one, two = contact + ball + disc, enough + ball + disc
        touching, near = square < one * one, square < two * two
        if disc > 0.0:  # a cylinder is where both its capsule and its box are
            square = beyond(x, y, z, disc, disc, hz)
            one, two = contact + ball, enough + ball
            touching, near = touching & (square < one * one), near & (square < two * two)
        return touching, near
    square = beyond(x, y, z, hx, hy, hz)
    one, two = contact + ball, enough + ball
    return square < one * one, square < two * two


@jit_part
def near_middles(plan, check, enough):
    """The lanes in which the balls around two groups leave it open whether they are so far apart, as bits."""
    x, y, z = middle_lanes(plan, check.one)
    wide = enough + plan.groups[check.one].radius
    other = plan.groups[check.other]
    if other.simple != COMPLEX:
        return bits(closer_than(plan, check.other, x, y, z, 0.0, wide)[1])
    u, v, w = middle_lanes(plan, check.other)
    x, y, z = x - u, y - v, z - w
    wide += other.radius
    return bits(x * x + y * y + z * z < wide * wide)


@jit_part
def near_spheres(plan, check, enough):
    """The lanes in which two groups are in contact, and those in which they are not known to be so far apart, as bits."""
    one, other, spheres = plan.groups[check.one], plan.groups[check.other], plan.spheres
    place_spheres(plan, check.one)
    touching = near = 0
    if other.frame < 0:
        for s in range(one.first, one.first + one.count):
            r = spheres[s, 3]
            found = closer_than(
                plan, check.other, take(plan.centers, 3 * s), take(plan.centers, 3 * s + 1), take(plan.centers, 3 * s + 2),
                check.clearance + r, enough + r,
            )  # fmt: skip
            touching |= bits(found[0])
            near |= bits(found[1])
            if touching != 0:
                return touching, near
        return touching, near
    place_spheres(plan, check.other)
    x, y, z = middle_lanes(plan, check.other)
    for s in range(one.first, one.first + one.count):
        u, v, w = take(plan.centers, 3 * s), take(plan.centers, 3 * s + 1), take(plan.centers, 3 * s + 2)
        r = spheres[s, 3]
        wide = enough + r + other.radius
        if bits((x - u) * (x - u) + (y - v) * (y - v) + (z - w) * (z - w) < wide * wide) == 0:
            continue
        for t in range(other.first, other.first + other.count):
            dx, dy, dz = (
                u - take(plan.centers, 3 * t),
                v - take(plan.centers, 3 * t + 1),
                w - take(plan.centers, 3 * t + 2),
            )
            square = dx * dx + dy * dy + dz * dz
            low, high = check.clearance + r + spheres[t, 3], enough + r + spheres[t, 3]
            touching |= bits(square < low * low)
            near |= bits(square < high * high)
            if touching != 0:
                return touching, near
    return touching, near


@jit_shared
def near_general(plan, p, lanes, enough):
    """As `near_spheres`, for all kinds of solids, posture by posture."""
    solids, pair, clearance = plan.solids, plan.solids.pairs[p], plan.checks[p].clearance
    touching = near = 0
    for k in range(LANES):
        if lanes >> k & 1 == 0:
            continue
        for i in range(solids.nodes.size):
            for j in range(7):
                solids.poses[i, j] = plan.poses[i, j, k]
        for g in (pair.one, pair.other):
            frame = plan.groups[g].frame
            if frame >= 0:
                store(frame_pose(solids.frames[frame], solids.poses), solids.world, frame, 0)
        d = gap(solids.data, solids.world, pair.first, pair.second, enough)
        if d < clearance:
            return 1 << k, near
        if d < enough:
            near |= 1 << k
    return touching, near


@jit_part
def look_at_parts(plan, level, begin, width, count):
    """Look at the middles of all parts of a part of a motion: whether no pair is in contact. What stays open is written."""
    half = 0.5 * width
    every = 0
    for p in range(count):
        plan.open[level, plan.active[level, p]] = 0
    for block in range(FAN // LANES):
        place_block(plan, begin + block * LANES * width, width)
        for k in range(count):
            p = plan.active[level, k]
            check = plan.checks[p]
            enough = check.clearance + plan.speed[check.bound] * half
            lanes = near_middles(plan, check, enough)
            if lanes == 0:
                continue
            touching, near = (
                near_spheres(plan, check, enough) if check.how == SPHERES else near_general(plan, p, lanes, enough)
            )
            if touching != 0:
                if level == WHOLE:  # what was in the way once is looked at sooner
                    sooner = k // 2
                    plan.active[WHOLE, k], plan.active[WHOLE, sooner] = (
                        plan.active[WHOLE, sooner],
                        plan.active[WHOLE, k],
                    )
                return False
            near <<= block * LANES
            plan.open[level, p] |= near
            every |= near
    plan.parts[level] = every
    return True


@jit_shared
def is_free(plan, limits):
    """Whether the motion from plan.a to plan.b is proved to be free."""
    solids = plan.solids
    plan.spent[MOTIONS] += 1
    for k in range(plan.moving.size):
        j = plan.moving[k]
        solids.x[j], plan.length[j] = plan.a[k], plan.b[k] - plan.a[k]
    for b in range(plan.speed.size):
        total = 0.0
        for k in range(plan.moving.size):
            total += plan.reach[b, k] * abs(plan.b[k] - plan.a[k])
        plan.speed[b] = total
    width, level = 1.0 / FAN, WHOLE
    plan.begin[WHOLE] = 0.0
    plan.counts[WHOLE] = plan.looked[WHOLE]
    if not look_at_parts(plan, WHOLE, 0.0, width, plan.looked[WHOLE]):
        return False
    for _ in range(limits.most):
        while plan.parts[level] == 0:
            if level == WHOLE:
                return True
            level -= 1
            width *= FAN
        part = 0
        while plan.parts[level] >> part & 1 == 0:
            part += 1
        plan.parts[level] &= ~(1 << part)
        if level + 1 == LEVELS:
            return False
        count = 0
        for k in range(plan.counts[level]):
            p = plan.active[level, k]
            if plan.open[level, p] >> part & 1 != 0:
                if plan.speed[plan.checks[p].bound] * width <= limits.resolution:
                    return False
                plan.active[level + 1, count] = p
                count += 1
        plan.begin[level + 1] = plan.begin[level] + part * width
        level += 1
        width /= FAN
        plan.counts[level] = count
        if not look_at_parts(plan, level, plan.begin[level], width, count):
            return False
    return False

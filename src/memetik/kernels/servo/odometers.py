"""How far any point of each group of solids can have moved in all ticks so far: its odometer.

Links move with the joints, and obstacles as the world says. Of an obstacle that moves the velocity is estimated, too.
"""

import math

from memetik.kernels.compiler.jit import jit_part
from memetik.kernels.geometry.solids import SOLID_POINTS
from memetik.kernels.geometry.support import HULL_COUNT, HULL_POINTS
from memetik.kernels.math.pose import load
from memetik.kernels.servo.record import WORLD_NUMBERS
from memetik.kernels.terms.distance import GROUP_FRAME, GROUP_RADIUS, GROUP_SOLIDS

REST = 100  # ticks without a change after which an obstacle counts as standing
FASTEST_OBSTACLE = 5.0  # m/s; what changes its place faster has been put there and does not move


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
def sum_of_points(data, solid):
    """A number that is another one for other points of a hull, 0 for what is none."""
    behind, total = int(data[solid + SOLID_POINTS]), 0.0
    if behind > 0:
        hull = solid + behind
        for i in range(3 * int(data[hull + HULL_COUNT])):
            total += data[hull + HULL_POINTS + i] * math.sqrt(i + 2.0)
    return total


@jit_part
def rest_obstacle(group):
    """Take an obstacle to stand that has not moved for longer than between its last two changes."""
    if group.since > 2 * group.interval:
        group.speed = 0.0


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
    points = sum_of_points(data, solid)
    if points != before[WORLD_NUMBERS]:
        moves, same = True, False
    group.since = min(group.since + 1, REST)
    if group.seen and not moves:
        rest_obstacle(group)
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
    before[WORLD_NUMBERS] = points
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
        elif contacts.groups[g].seen and not contacts.state[0].moved:
            contacts.groups[g].renewed, contacts.groups[g].since = 0, min(contacts.groups[g].since + 1, REST)
            rest_obstacle(contacts.groups[g])
        else:
            changed = advance_obstacle(contacts, data, own.pace[0].tick, g)
            contacts.groups[g].renewed = int(changed)
            renewed = renewed or changed
    if renewed:
        for p in range(contacts.pairs.size):
            pair = contacts.pairs[p]
            if contacts.groups[pair.one].renewed or contacts.groups[pair.other].renewed:
                pair.reach = -math.inf
    contacts.state[0].moved = 0

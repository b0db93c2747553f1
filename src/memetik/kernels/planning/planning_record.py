"""What planning reads and writes: the pairs that may not meet, the motion that is looked at, two trees and a path."""

from typing import NamedTuple

from memetik.kernels.collision.solids_record import Solids
from memetik.kernels.compiler.lanes import LANES
from memetik.kernels.runtime.record import Array, counters, floats, integers, item, reader, records

FAN = 8  # parts that a motion, and each part of it that is not proved yet, is cut into
LEVELS = 9  # of such parts

WHOLE = 0  # the level of the whole motion

# The trees.
START, GOAL = 0, 1

# How the distance of a pair is measured: by spheres in lanes, or posture by posture by the kernels of collision.
SPHERES, GENERAL = 0, 1

# What stands in the middle of a simple obstacle; COMPLEX for all others.
COMPLEX, POINT, LINE, BOX = 0, 1, 2, 3

# Why the growth of the trees ended.
GROWING, CONNECTED, FULL, SPENT, TIMED_OUT, START_BLOCKED, GOALS_BLOCKED = 0, 1, 2, 3, 4, 5, 6

# A group of solids. Obstacles have their place in the root's frame here, with a matrix in place of the quaternion.
BODY = item(
    frame=int,  # -1 in the world
    count=int,  # solids
    first=int,  # row of its first sphere among those of all groups, -1 if it has anything but spheres
    simple=int,  # POINT, LINE or BOX with a ball around: an obstacle that spheres are measured from in lanes
    node=int,  # that its frame rides on
    cx=float,  # the middle of the ball around it, seen from the node, or from the root
    cy=float,
    cz=float,
    radius=float,
    least=float,  # radius of the least of its spheres
)

# Two groups that may not meet, by their numbers.
CHECK = item(
    one=int,  # on the body
    other=int,
    how=int,  # SPHERES or GENERAL
    bound=int,  # row of `reach`
    clearance=float,  # the distance that they keep [m]
)


class SearchLimits(NamedTuple):
    """What a search may spend, and how it grows."""

    seed: int
    evaluations: int  # postures that may be placed
    range: float  # the longest motion that is added to a tree [rad or m]
    near: float  # how far a node is grown from which a motion was blocked [rad or m]
    resolution: float  # m by which a pair must be apart at least to be proved apart
    most: int  # looks at a motion, of FAN postures each, before it counts as blocked


class Planning(NamedTuple):
    """All of it. The pairs come first, so that check_motions can read them from the same table."""

    solids: Solids
    groups: Array = records(BODY, "groups")
    spheres: Array = floats("spheres", 4)  # seen from the node of their group
    checks: Array = records(CHECK, "pairs")
    reach: Array = floats(
        "bounds", "moving"
    )  # m that a unit of each joint moves a group, or two of them past each other
    sides: Array = floats("groups", 9)  # of simple obstacles, a matrix whose columns are their axes
    moving: Array = integers("moving")  # joints that move, among the variables of the solids
    lower: Array = floats("moving")  # where postures are drawn from
    upper: Array = floats("moving")
    # A motion that is looked at.
    x: Array = floats("variables", LANES)
    poses: Array = floats("nodes", 7, LANES)
    middles: Array = floats("groups", 3, LANES)
    centers: Array = floats("spheres", 3, LANES)
    stamp: Array = integers("groups")  # the block of postures that the centers are those of
    speed: Array = floats("bounds")  # m that what each row of `reach` is about can move from one end to the other
    offsets: Array = floats(1, LANES)  # 0.5, 1.5, ...
    best: Array = floats(1, LANES)  # of each lane, when the nearest node is looked for: how far it is,
    where: Array = floats(1, LANES)  # and its block
    length: Array = floats("variables")  # of the motion, joint by joint
    active: Array = integers("levels", "pairs")  # pairs that are looked at
    looked: Array = integers("one")  # how many pairs a motion begins with
    open: Array = integers("levels", "pairs")  # the parts in which each is not proved to be apart, as bits
    counts: Array = integers("levels")
    parts: Array = integers("levels")  # parts that are still to be looked at, as bits
    begin: Array = floats("levels")  # of the part that is cut
    spent: Array = integers(4)  # postures placed, blocks, samples drawn, motions looked at
    # Two trees, the start's and the goal's.
    tree: Array = floats("trees", "blocks", "moving", LANES)
    parent: Array = integers("trees", "capacity")
    radius: Array = floats("trees", "capacity")  # within which a node is grown, inf if no motion from it was blocked
    size: Array = integers("trees")  # nodes
    a: Array = floats("moving")
    b: Array = floats("moving")
    c: Array = floats("moving")
    state: Array = counters(1)
    clock: Array = integers("clock")
    # The path: how many rows, and these.
    rows: Array = integers(1)
    path: Array = floats("path", "moving")


planning_of = reader(Planning)

# Places in `spent`.
POSTURES, BLOCKS, DRAWN, MOTIONS = 0, 1, 2, 3

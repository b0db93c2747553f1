"""The solids of a body and of the world, the pairs that may not meet, and what is said of each motion."""

from typing import NamedTuple

from memetik.kernels.body.records import FRAME, NODE
from memetik.kernels.runtime.record import Array, floats, integers, item, reader, records

# What is said of a motion.
FREE, CONTACT, UNDECIDED = 0, 1, 2

# Two groups of solids (kernels/terms/distance.py) that may not meet.
PAIR = item(
    first=int,  # places of the groups in the data
    second=int,
    one=int,  # their numbers among the groups
    other=int,
    meet=int,  # row of the last motion that carries both, -1 for the root: what is above it does not move one past the other
    clearance=float,  # the distance that they keep [m]
)

# A motion from one posture to the next, in shares of its length from 0 to 1.
VERDICT = item(
    status=int,  # FREE, CONTACT or UNDECIDED
    pair=int,  # that is in contact, or of which it could not be decided, -1 for none
    time=float,  # when the contact was found; when it became undecided; 1 if neither
    until=float,  # it is proved to be free up to here
    bound=float,  # no pair comes closer than this beyond its clearance [m], proved up to `until`
    seen=float,  # the least distance beyond the clearance that was measured, of pairs that are close [m]
    looks=int,  # postures that were looked at
)


class Solids(NamedTuple):
    """What check_motions reads and writes."""

    nodes: Array = records(NODE, "nodes")
    frames: Array = records(FRAME, "frames")
    data: Array = floats("numbers")  # the groups, in the frame of the root
    pairs: Array = records(PAIR, "pairs")
    groups: Array = integers("groups")  # the place of each
    drifting: Array = integers("drifting")  # numbers of the groups in the world that move meanwhile
    poses: Array = floats("nodes", 7)
    world: Array = floats("frames", 7)
    x: Array = floats("variables")
    middle: Array = floats("variables")  # of the motion
    half: Array = floats("variables")  # by how much each variable leaves it
    rate: Array = floats("variables")  # by how much each variable changes from 0 to 1
    fast: Array = floats("groups")  # how far a point of each group can move, seen from the root [m]
    drift: Array = floats("groups")  # and by itself, if it is in the world
    shares: Array = floats("nodes")
    until: Array = floats("pairs")  # each pair is known to be apart up to here
    speed: Array = floats("pairs")  # how far its points can move past each other [m], -1 if not known yet
    curve: Array = floats("pairs")  # and how much faster they can become
    slack: Array = floats("pairs")  # how far they can be from where the straight line has them [m]


solids_of = reader(Solids)


class Box(NamedTuple):
    """A box of postures that search_contact looks at."""

    middle: Array = floats("variables")
    half: Array = floats("variables")
    shares: Array = floats("nodes")

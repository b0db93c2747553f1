"""What a follower and a servo keep from tick to tick."""

from typing import NamedTuple

from memetik.kernels.compiler.record import Array, floats, integers, item, reader, records
from memetik.kernels.memetic.record import MemeticArrays
from memetik.kernels.terms.records import TERM

# What one joint may do.
MOVER = item(
    lower=float,  # limits [rad or m], perhaps infinite
    upper=float,
    velocity=float,  # [1/s], finite and above zero
    acceleration=float,  # [1/s2], finite and above zero
    window=int,  # ticks that its position is averaged over, which limits the jerk; 1 for no limit
    realistic=int,  # 0: it is at the goal at once
)

# How all joints move.
PACE = item(
    tick=float,  # [s]
    response=float,  # [s]; the rest of the way shrinks by 1/e in this time at the quickest; 0: as quick as can be
    left=float,  # share of the way that smoothing leaves for the next tick
    together=int,  # 1: joints move in proportion and arrive together
)


class FollowerArrays(NamedTuple):
    """A posture that follows a goal."""

    movers: Array = records(MOVER, "dof")
    pace: Array = records(PACE, 1)
    q: Array = floats("dof")  # where the joints are
    velocity: Array = floats("dof")  # how they came there in the last tick
    goal: Array = floats("dof")
    aim: Array = floats("dof")  # where they would be without filters
    aim_velocity: Array = floats("dof")
    mean: Array = floats("dof")  # of the aim over each joint's window
    history: Array = floats("window", "dof")  # the aim of the last ticks
    lead: Array = floats("dof")  # zeros: a follower does not guess where its goal goes
    counts: Array = integers(2)  # ticks so far; ticks since the aim came to rest at the goal


# What a servo remembers besides numbers of joints.
SERVO_STATE = item(
    goal_status=int,  # of the goal posture
    has_rival=int,  # 1: there is a posture that may be better than the goal
    rival_status=int,
    rival_satisfied=int,  # 1: it has satisfied all terms since it began to wait
    attempts=int,  # of the background search
    exploited=int,  # postures of the population that the background search has used
    switches=int,  # how often a rival became the goal
    released=int,  # 1: nothing is wanted any more, come to rest
    goal_error=float,  # squared, of all terms that can block
    rival_error=float,
    waited=float,  # [s] for which the rival has been better
)


class ServoArrays(NamedTuple):
    """A servo; its problem has tolerances of its own, tighter than the user's, so that the goal moves smoothly."""

    memetic: MemeticArrays
    attempt: int  # address of the local search that fits the problem
    tick: int  # address of one tick (TICK in tick.py)
    write: int  # address of the conversion of targets (WRITE_POSE in terms/function_pointers.py)
    place: int  # of the target in the data, where one pose is all there is
    most: int  # evaluations of a tick
    seconds: float  # that a tick may take, 0 for no limit
    reconfigures: bool  # whether a rival may become the goal
    movers: Array = records(MOVER, "dof")
    pace: Array = records(PACE, 1)
    terms: Array = records(TERM, "terms")  # with the user's tolerances
    state: Array = records(SERVO_STATE, 1)
    q: Array = floats("dof")
    velocity: Array = floats("dof")
    goal: Array = floats("dof")
    goal_before: Array = floats("dof")
    step_before: Array = floats("dof")  # of the goal
    lead: Array = floats("dof")  # velocity of the goal
    x: Array = floats("variables")  # the variables of the goal, and of q at the end
    rival: Array = floats("variables")
    outcome: Array = floats("outcome")  # of the posture that is returned
    search_outcome: Array = floats("outcome")


follower_arrays, servo_arrays = reader(FollowerArrays), reader(ServoArrays)

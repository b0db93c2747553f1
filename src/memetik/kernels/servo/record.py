"""What a follower and a servo keep from tick to tick."""

from typing import NamedTuple

from memetik.kernels.geometry.solids import SOLID_DATA
from memetik.kernels.problem.problem_record import VARIABLE, SolveArrays
from memetik.kernels.runtime.record import Array, floats, integers, item, reader, records
from memetik.kernels.search.search_record import MemeticArrays
from memetik.kernels.terms.distance import GROUP_SOLIDS
from memetik.kernels.terms.records import TERM

WORLD_NUMBERS = GROUP_SOLIDS + SOLID_DATA  # of a group in the world

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
    wanted: Array = floats("dof")  # velocities of the next tick
    counts: Array = integers(2)  # ticks so far; ticks since the aim came to rest at the goal


# Two groups of solids (kernels/terms/distance.py) that a servo keeps apart.
KEPT_PAIR = item(
    first=int,  # places of the groups in the data
    second=int,
    one=int,  # their rows among the groups
    other=int,
    meet=int,  # the last motion that carries both, -1 for the root
    lever=int,  # the row of its levers
    required=float,  # the distance that they keep [m]
    settled=int,  # the tick in which it was listed last, or found to be too far away to matter
    fresh=int,  # the tick in which its slopes were written last
    other_ticks=int,  # for which its other slopes count
    last_offset=float,  # its gap less its slopes times the variables, in the last tick [m]
    other_offset=float,  # the same where other features were nearest [m]
    bias=float,  # what its row lacked in the last ticks, because it is linear [m]
    reach=float,  # a lower bound of their distance plus the odometers of both when it was measured [m]
)

# A group of solids, on a link or in the world.
KEPT_GROUP = item(
    place=int,  # in the data
    seen=int,  # 1: `before` holds where it was in the last tick
    renewed=int,  # 1: it has another shape than in the last tick
    since=int,  # ticks since it changed last, of an obstacle
    interval=int,  # ticks between its last two changes
    travelled=float,  # odometer: how far any of its points can have moved in all ticks [m]
    need=float,  # how far they can move before the body stops, or while an obstacle goes on [m]
    ahead=float,  # how far they can move before the body stops, with the velocities at hand [m]
    speed=float,  # of the fastest point of an obstacle [m/s], 0 if it stands
    vx=float,  # of its middle [m/s]
    vy=float,
    vz=float,
)

CONTACT_STATE = item(
    tick=int,  # how many ticks there were
    candidates=int,  # pairs that some velocities of this tick could bring too close
    listed=int,  # of these, close pairs: those that the velocities at hand could bring too close
    count=int,  # close pairs and features of such pairs that were nearest before
    begun=int,  # how many of these know their gap where the way to a stop begins
    rows=int,  # how many of these have their rows in the program
    overflow=int,  # 1: there are more close pairs than the list can hold
    moved=int,  # 1: some number of the world is another one than in the last tick
    late=int,  # 1: the time for looking at contacts is over in this tick
    exact=int,  # 1: no pair may come closer than the clearance that was asked for, since all tolerances are zero
    limited=int,  # 1: contacts changed the velocities of this tick
    braking=int,  # 1: no motion was found to be safe but to brake
    longest_stop=float,  # [s], of the joint that stops last
    deadline=float,  # when looking at contacts has to end, on the clock of kernels; 0 for never
    soon=float,  # how far pairs are apart after this tick beyond what is required, at least [m]
)


class ProgramArrays(NamedTuple):
    """A quadratic program over the velocities of the variables (quadratic_program.py), and its scratch."""

    v: Array = floats("variables")
    low: Array = floats("variables")
    high: Array = floats("variables")
    rows: Array = floats("rows", "variables")
    limits: Array = floats("rows")
    yields: Array = integers("rows")  # 1: a row that is missed before others are
    multiplier: Array = floats("constraints")  # of the rows, then of lower and upper bound of each variable
    give: Array = floats("constraints")  # of a row: what it may be missed by, for each unit of its multiplier
    is_active: Array = integers("constraints")
    active: Array = integers("active")
    hessian: Array = floats("variables", "variables")
    inverse: Array = floats("variables", "variables")  # of the Hessian
    solved: Array = floats("active", "variables")  # H^-1 a of the active constraints
    gram: Array = floats("active", "active")
    r: Array = floats("active")
    z: Array = floats("variables")
    normal: Array = floats("variables")


class ContactArrays(NamedTuple):
    """What a servo keeps apart, and what it works out in a tick. A close pair has a place in the arrays over `close`."""

    program: (
        ProgramArrays  # the velocities that keep all close pairs apart; rows 2 c and 2 c + 1 belong to close pair c
    )
    pairs: Array = records(KEPT_PAIR, "pairs")
    groups: Array = records(KEPT_GROUP, "groups")
    state: Array = records(CONTACT_STATE, 1)
    # Pose of a link, or numbers of an obstacle and the sum of its points, in the last tick.
    before: Array = floats("groups", WORLD_NUMBERS + 1)
    levers: Array = floats(
        "levers", "variables"
    )  # the longest lever of each variable [m], by group, then by pair of links
    candidates: Array = integers("pairs")  # row of the pair
    close: Array = integers("close")  # row of the pair
    measured: Array = integers("close")  # 1: its nearest features, 0: those that were nearest before
    points: Array = floats("close", 9)  # the nearest points of both and the unit vector from the second to the first
    needed: Array = floats("close")  # how far its points can approach each other before the body stops [m]
    last_slopes: Array = floats("pairs", "variables")  # of the nearest features in the last tick
    other_slopes: Array = floats("pairs", "variables")  # of those that were nearest before
    gap: Array = floats("close")  # its distance beyond what is required and BUFFER [m]
    approach: Array = floats("close")  # how fast obstacles come nearer [m/s]
    slopes: Array = floats("close", "variables")  # derivative of its distance by each variable
    begin: Array = floats("close")  # the same as its gap at the posture that was returned last [m]
    found: Array = floats("close")  # its distance at this place on the way to a stop, at least [m]
    closing: Array = floats("close")  # by how much it shrinks in the next tick of the way, at most [m]
    least: Array = floats("close")  # gap on the way to a stop [m]
    suspects: Array = integers("close")  # close pairs that are looked at on the way to a stop
    stop: Array = floats("variables")  # time constant [s]
    way: Array = floats("variables")  # to a stop, at most
    ahead: Array = floats("variables")  # to a stop with the velocities at hand
    speed: Array = floats("variables")  # on the way to a stop, at most
    lag: Array = floats(
        "variables"
    )  # how far a posture in the window of the mean is from where the variable is planned to be
    fastest: Array = floats("variables")  # velocity in the window of the mean
    trial: Array = floats("variables")
    stopping: Array = floats("variables")
    chosen: Array = floats("variables")
    x: Array = floats("variables")  # a posture on the way


# What a servo remembers besides numbers of joints.
SERVO_STATE = item(
    goal_status=int,  # of the goal posture
    has_alternative=int,  # 1: there is a posture that may be better than the goal
    alternative_status=int,
    alternative_satisfied=int,  # 1: it has satisfied all terms since it began to wait
    attempts=int,  # of the background search
    attempted=int,  # evaluations of the attempt that goes on, 0 if none does
    failures=float,  # how many of its steps in a row have gained too little, where a tick has one step
    attempt_error=float,  # squared, after its last step
    turn=int,  # what the next slice of the background search is for
    exploited=int,  # postures of the population that the background search has used
    switches=int,  # how often an alternative goal became the goal
    released=int,  # 1: nothing is wanted any more, come to rest
    goal_error=float,  # squared, of all terms that can block
    alternative_error=float,
    detour=int,  # what the joints are on their way to (detour.py)
    ways=int,  # that were tried to get around
    waited=float,  # [s] for which the alternative goal has been better
    hindered=float,  # [s] left in which contacts count as in the way of the goal
    blocked=float,  # [s] for which contacts have kept the joints from their goal
    missed=float,  # squared error of the goal's terms where the joints are, while contacts count as in the way
    least_missed=float,  # the least of it in which there was progress
    vain=float,  # [s] since then
    patience=float,  # [s] of being blocked after which a way around is looked for
    leg=int,  # of the way around that is being looked at (detour.py)
    look=int,  # postures of this leg that were found to be free
)


class ServoArrays(NamedTuple):
    """A servo; its problem has tolerances of its own, tighter than the user's, so that the goal moves smoothly."""

    memetic: MemeticArrays
    reach: SolveArrays  # the problem without contacts, whose solution is the goal; the whole problem if there are none
    attempt: int  # address of the local search that fits the whole problem
    reach_attempt: int  # that fits the problem without contacts
    reach_hard: int  # the same without guides
    tick: int  # address of one tick (TICK in tick.py)
    write: int  # address of the conversion of targets (WRITE_POSE in terms/function_pointers.py)
    place: int  # of the target in the data, where one pose is all there is
    most: int  # evaluations of a tick
    seconds: float  # that a tick may take, 0 for no limit
    averages: bool  # whether a joint's window is longer than one tick
    reconfigures: bool  # whether an alternative goal may become the goal
    slices: bool  # whether a tick has one step of the search in the background, or one look at a way, and no more
    contacts: ContactArrays
    movers: Array = records(MOVER, "dof")
    pace: Array = records(PACE, 1)
    terms: Array = records(TERM, "terms")  # with the user's tolerances
    reach_terms: Array = records(TERM, "reach_terms")  # the same of the problem without contacts
    state: Array = records(SERVO_STATE, 1)
    q: Array = floats("dof")  # where the joints are planned to be
    velocity: Array = floats("dof")
    mean: Array = floats("dof")  # of the plan over each joint's window
    history: Array = floats("window", "dof")  # the plan of the last ticks
    recent: Array = floats("window", "dof")  # of the plans of the last 1, 2, ... ticks, less the plan now: their sums
    counts: Array = integers(2)  # ticks so far; ticks since the plan came to rest
    posture: Array = floats("dof")  # what is returned: the mean
    posture_velocity: Array = floats("dof")
    goal: Array = floats("dof")
    aim_before: Array = floats("dof")  # the aim in the last tick
    aim_step: Array = floats("dof")  # of the aim
    goal_last: Array = floats("dof")  # in the last tick
    goal_step: Array = floats("dof")  # to it, from the tick before
    tremble: Array = floats("dof")  # mean of the steps by which the goal turns round [rad or m]
    trend: Array = floats("dof")  # mean of its steps
    halfway: Array = floats("dof")  # the goal, averaged once where it trembles
    aim: Array = floats("dof")  # and twice: where the joints go
    lead: Array = floats("dof")  # velocity of the aim
    wanted: Array = floats("dof")  # velocities of this tick
    ideal: Array = floats("dof")  # velocities that lead to the aim, some perhaps faster than joints can be
    live: Array = floats("numbers")  # the data of the user's problem, in which the world changes
    mirrored: Array = integers("mirrored", 2)  # ranges of the data that follow the user's problem: begin and end
    x: Array = floats("variables")  # the variables of the goal, and of the posture at the end
    alternative: Array = floats("variables")
    attempted: Array = floats("variables")  # how far an attempt of the background search has come
    via: Array = floats("variables")  # posture by which a detour goes
    leg_begin: Array = floats("variables")  # where the way begins that is being looked at
    leg_end: Array = floats("variables")  # the alternative goal as it was then
    unhindered: Array = floats("variables")  # velocities of this tick before contacts changed them
    easy: Array = records(VARIABLE, "variables")  # with the limits of this tick, so that the goal slows before its own
    drift: Array = floats("variables")  # velocity at which guides move the goal, as steps do
    outcome: Array = floats("outcome")  # of the posture that is returned
    search_outcome: Array = floats("outcome")


follower_arrays, servo_arrays = reader(FollowerArrays), reader(ServoArrays)

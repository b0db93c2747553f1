"""The velocity of every joint in the next tick, on the way to a goal that may move.

With the goal g, its velocity f and the tick h, what is left beside the motion of the goal itself is e = g - q - f h. A
joint approaches by v = f + s e, with |s e| no more than braking (braking.py) and the response allow, and v within its
range. Moving together, all joints have the same s, the largest that suits all of them: relative to the goal the posture
moves on a straight line, and all arrive in the same tick. What braking allows, over e, falls with e / (a h^2), which all
joints keep in proportion, so the joint that is the tightest at first is so until the end, and no other needs more than its
acceleration.

How fast s may grow goes by what it is now, of all joints together by least squares, and not by the room that each joint
has: where the goal trembles, some joint of many has none in almost every tick, and all would wait for it.
"""

import math

from memetik.kernels.compiler.jit import jit
from memetik.kernels.servo.braking import PLANNED, fastest_to_stop, velocity_range

# A goal that moves faster than this share of what a joint can is followed at this share: the rest is to catch up.
KEPT_BACK = 0.9


@jit
def approach(rest, mover, pace):
    """How fast to approach, of what is left, before the range of the joint counts; never negative."""
    distance = abs(rest)
    quickest = fastest_to_stop(distance, PLANNED * mover.acceleration, pace.tick)
    return min(quickest, distance / max(pace.response, pace.tick))


@jit
def common_share(movers, pace, q, velocity, goal, lead):
    """The largest s that suits all joints [1/s]."""
    share, growth = math.inf, math.inf
    along, square = 0.0, 0.0
    for k in range(q.size):
        rest = goal[k] - q[k] - lead[k] * pace.tick
        if not movers[k].realistic or rest == 0.0:
            continue
        room = min(approach(rest, movers[k], pace), movers[k].velocity - abs(lead[k]))
        share = min(share, room / abs(rest))
        growth = min(growth, movers[k].acceleration * pace.tick / abs(rest))
        weight = 1.0 / (movers[k].velocity * movers[k].velocity)
        along += weight * rest * (velocity[k] - lead[k])
        square += weight * rest * rest
    now = max(along / square, 0.0) if square > 0.0 else 0.0
    return min(share, now + growth)


@jit
def slow_down_lead(movers, lead):
    """Scale the velocity of the goal so that joints can catch up with it."""
    share = 1.0
    for k in range(lead.size):
        if abs(lead[k]) * share > KEPT_BACK * movers[k].velocity:
            share = KEPT_BACK * movers[k].velocity / abs(lead[k])
    for k in range(lead.size):
        lead[k] *= share


@jit
def plan_velocities(movers, pace, q, velocity, goal, lead, wanted):
    """Write the velocity of every joint in the next tick. Joints that are not realistic have none."""
    share = common_share(movers, pace, q, velocity, goal, lead) if pace.together else math.inf
    for k in range(q.size):
        mover = movers[k]
        if not mover.realistic:
            wanted[k] = 0.0
            continue
        rest = goal[k] - q[k] - lead[k] * pace.tick
        speed = min(approach(rest, mover, pace), share * abs(rest)) if rest != 0.0 else 0.0
        low, high = velocity_range(mover, q[k], velocity[k], pace.tick)
        wanted[k] = min(max(lead[k] + math.copysign(speed, rest), low), high)


@jit
def take_velocities(movers, pace, q, velocity, goal, wanted):
    """One tick with these velocities: q and velocity, in place. Joints that arrive stand exactly at the goal."""
    for k in range(q.size):
        mover = movers[k]
        if not mover.realistic:
            q[k], velocity[k] = min(max(goal[k], mover.lower), mover.upper), 0.0
            continue
        # What rounding does to the position is in the velocity that the next tick starts from.
        before, after = q[k], q[k] + wanted[k] * pace.tick
        if abs(after - goal[k]) <= 1e-15 * (1.0 + abs(goal[k])):
            after = goal[k]
        if mover.lower <= before <= mover.upper:
            after = min(max(after, mover.lower), mover.upper)
        q[k], velocity[k] = after, (after - before) / pace.tick

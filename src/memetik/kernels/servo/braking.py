"""The velocities from which a joint can still stop, exactly as ticks of length h see it.

A joint moves by v h in a tick, and v changes by at most a h from one tick to the next. Braking from v all the way, with
this tick counted, takes

    D(v) = h (v + (v - a h) + (v - 2 a h) + ...) = a h^2 ((n + 1) u - n (n + 1) / 2)      u = v / (a h),  n = floor(u)

A joint with D(v) <= d before a tick has D(v - a h) = D(v) - v h <= d - v h after it. So who keeps D(v) <= d once can keep
it for ever: it never passes what is d away. The smooth rule v <= sqrt(a^2 h^2 / 4 + 2 a d) - a h / 2 is the same at whole n
and faster in between, where the next tick would have to brake harder than a.
"""

import math

from memetik.kernels.compiler.jit import jit

# Share of the acceleration that braking is planned with. Rounding of positions adds up while a joint brakes (7e-12 rad in
# half a second at 1 kHz); what is kept back makes up for it in every tick.
PLANNED = 1.0 - 1e-8


@jit
def stopping_distance(velocity, acceleration, tick):
    """D(v) for a velocity v >= 0 of this tick."""
    brake = acceleration * tick
    u = velocity / brake
    n = math.floor(u)
    return brake * tick * ((n + 1.0) * u - 0.5 * n * (n + 1.0))


@jit
def fastest_to_stop(distance, acceleration, tick):
    """The largest velocity v of the next tick with D(v) <= distance; within the last tick it is distance / tick."""
    if not 0.0 < distance < math.inf:
        return 0.0 if not distance > 0.0 else distance
    ways = distance / (acceleration * tick * tick)
    if ways < 1.0:
        return distance / tick
    n = math.floor(0.5 * (math.sqrt(1.0 + 8.0 * ways) - 1.0))
    return acceleration * tick * (ways + 0.5 * n * (n + 1.0)) / (n + 1.0)


@jit
def least_braking(velocity, distance, tick):
    """The smallest a with which a joint of this velocity still stops within the distance, braking from the next tick on.

    That is D(v) = d + v h, where the tick that has passed counts: v h (n + 1) - a h^2 n (n + 1) / 2 = d + v h, and the n
    for which a h is between v / (n + 1) and v / n.
    """
    if not (velocity > 0.0 and 0.0 < distance < math.inf):
        return 0.0
    way = velocity * tick
    n = math.floor(2.0 * distance / way + 1.0)
    return 2.0 * (n * way - distance) / (tick * tick * n * (n + 1.0))


@jit
def velocity_range(joint, q, velocity, tick):
    """The least and the largest velocity that a joint may have in the next tick.

    After it the joint can still stop before its limits. Of rules that contradict each other, because a limit was
    changed on the way or the start was outside, position goes first, then acceleration, then velocity: a joint that
    cannot stop any more with its acceleration brakes evenly with the least one that is enough. Out of limits it may only
    go in.
    """
    change = joint.acceleration * tick
    low, high = velocity - change, velocity + change
    high, low = max(min(high, joint.velocity), low), min(max(low, -joint.velocity), high)
    above, below, planned = joint.upper - q, q - joint.lower, PLANNED * joint.acceleration
    to_upper = fastest_to_stop(above, max(planned, least_braking(velocity, above, tick)), tick)
    to_lower = -fastest_to_stop(below, max(planned, least_braking(-velocity, below, tick)), tick)
    return min(max(low, to_lower), to_upper), max(min(high, to_upper), to_lower)

"""Ticks of a follower: the motion within velocity and acceleration, then two filters.

The first is the mean of the last m ticks, which limits the jerk to 2 a / (m h). The second leaves a share of the way
for the next tick. Both are averages of earlier positions with weights that are positive and sum to one. So velocity and
acceleration after them are averages, too, and neither those limits, nor those of the position, nor the goal can be
passed.
"""

from memetik.kernels.compiler.jit import jit
from memetik.kernels.servo.moving_mean import RESTED, advance_mean
from memetik.kernels.servo.pace import plan_velocities, take_velocities
from memetik.kernels.servo.record import follower_arrays

THERE = 1e-9  # rad or m; what smoothing leaves of the way in the end is gone at once


@jit
def filter_aim(own):
    """One tick of both filters. Returns whether every joint stands exactly at its goal."""
    pace, arrived = own.pace[0], True
    advance_mean(own, own.aim, own.q)
    for k in range(own.q.size):
        before = own.q[k]
        after = own.mean[k] + pace.left * (before - own.mean[k])
        if pace.left > 0.0 and own.counts[RESTED] > 0 and abs(after - own.mean[k]) <= THERE:
            after = own.mean[k]
        after = min(max(after, min(before, own.mean[k])), max(before, own.mean[k]))
        own.q[k], own.velocity[k] = after, (after - before) / pace.tick
        arrived = arrived and after == own.goal[k] and own.aim[k] == own.goal[k]
    return arrived


@jit
def follow(table, ticks):
    """So many ticks towards the goal. Returns whether it is reached and all joints rest."""
    own = follower_arrays(table)
    arrived = True
    for _ in range(ticks):
        plan_velocities(own.movers, own.pace[0], own.aim, own.aim_velocity, own.goal, own.lead, own.wanted)
        take_velocities(own.movers, own.pace[0], own.aim, own.aim_velocity, own.goal, own.wanted)
        rests = True
        for k in range(own.q.size):
            rests = rests and own.aim[k] == own.goal[k] and own.aim_velocity[k] == 0.0
        own.counts[RESTED] = own.counts[RESTED] + 1 if rests else 0
        arrived = filter_aim(own) and rests
    return arrived

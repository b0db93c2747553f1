"""Joints that follow: a goal posture within velocity and acceleration, and a servo that keeps finding that goal.

braking                the velocities from which a joint can still stop
follow                 ticks of a follower, with its filters
pace                   the velocity of every joint in the next tick
record                 what a follower and a servo keep from tick to tick
rival                  the search for a better goal in the background
tick                   one tick of a servo
"""

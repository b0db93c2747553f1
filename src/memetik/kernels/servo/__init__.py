"""Joints that follow: a goal posture within velocity and acceleration, and a servo that keeps finding that goal.

aim                    where the joints go: the goal, or its mean where it trembles
alternative            the search for a better goal in the background
braking                the velocities from which a joint can still stop
contacts               which pairs of solids are close enough to matter in a tick
detour                 ways around obstacles
follow                 ticks of a follower, with its filters
goal                   the goal posture for the targets as they are now
keep_apart             the velocities of a tick that keep solids apart
moving_mean            the mean of the last ticks, which limits the jerk
odometers              how far solids can have moved in all ticks
pace                   the velocity of every joint in the next tick
quadratic_program      small strictly convex quadratic programs
record                 what a follower and a servo keep from tick to tick
rows                   bounds of velocities that keep close pairs apart
seek                   what a tick has of the search in the background
stopping               the way to a stop, and how near pairs come on it
tick                   one tick of a servo
"""

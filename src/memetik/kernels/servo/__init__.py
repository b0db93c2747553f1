"""Joints that follow: a goal posture within velocity and acceleration, and a servo that keeps finding that goal.

braking                the velocities from which a joint can still stop
contacts               the close pairs of a tick: distances, slopes, and how far points can move
detour                 ways around obstacles that keep joints from their goal
follow                 ticks of a follower, with its filters
keep_apart             velocities that keep all close pairs apart, tried before they are taken
pace                   the velocity of every joint in the next tick
quadratic_program      the velocities nearest to those wanted within linear bounds, by an active-set method
record                 what a follower and a servo keep from tick to tick
rival                  the search for a better goal in the background
tick                   one tick of a servo
"""

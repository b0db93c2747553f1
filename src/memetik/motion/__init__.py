"""Everything over time.

cartesian              paths of a frame: lines, arcs, waypoints
retime                 the fastest way along a joint path within limits
spline                 joint vectors as smooth functions of one parameter
track                  joint paths that follow targets
trajectory             joint paths in time
"""

from memetik.motion.cartesian import arc, line, waypoints
from memetik.motion.track import Track, track
from memetik.motion.trajectory import Trajectory

__all__ = ["Track", "Trajectory", "arc", "line", "track", "waypoints"]

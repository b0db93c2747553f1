"""Everything over time.

between                proofs that motions are free between two postures
cartesian              paths of a frame: lines, arcs, waypoints
clips                  Motion: clips in, edited, out
follower               joints that follow a goal within their limits
moving_average         limits of jerk: a timed path averaged over a window
rate_limits            the velocity, acceleration and jerk of each joint
plan                   ways through the world, proved
plan_along             ways on which objectives hold all along
plan_arrays            what the kernels of planning work on
retargeting            motions moved to other bodies
retime                 the fastest way along a joint path within limits
servo                  a control loop that keeps every limit
smooth                 paths that an obstacle forces off their targets
smooth_poses           poses between those of two frames
spline                 joint vectors as smooth functions of one parameter
stream                 poses over time as a file
swept_pairs            the pairs of solids that such a proof is about
teleoperate            a servo that follows a stream of poses
track                  joint paths that follow targets
trajectory             joint paths in time
"""

from memetik.motion.between import Meeting, MotionCheck, check_motion
from memetik.motion.cartesian import arc, straight_line, waypoints
from memetik.motion.clips.edit import Span, edit
from memetik.motion.clips.feet import FootPlacer, Placed, place_feet
from memetik.motion.clips.files import read_motion
from memetik.motion.clips.gait import gait
from memetik.motion.clips.motion import Motion
from memetik.motion.follower import Follower
from memetik.motion.plan import Plan, plan
from memetik.motion.retargeting import (
    BoneMatch,
    Retargeted,
    RetargetPlan,
    RetargetReport,
    retarget,
    retarget_each,
    retarget_plan,
)
from memetik.motion.servo import Servo
from memetik.motion.smooth_poses import smooth_poses
from memetik.motion.stream import Sample, read_stream, write_stream
from memetik.motion.teleoperate import Calibration, Teleoperator
from memetik.motion.track import Track, track
from memetik.motion.trajectory import Trajectory

__all__ = [
    "BoneMatch", "Calibration", "Follower", "FootPlacer", "Meeting", "Motion", "MotionCheck", "Placed", "Plan", "RetargetPlan",
    "RetargetReport", "Retargeted", "Sample", "Servo", "Span", "Teleoperator", "Track", "Trajectory", "arc", "check_motion",
    "edit", "gait", "place_feet", "plan", "read_motion", "read_stream", "retarget", "retarget_each", "retarget_plan",
    "smooth_poses", "straight_line", "track", "waypoints", "write_stream",
]  # fmt: skip

"""The end of a search for one full pose: problem/verify.py, written out."""

from memetik.kernels.body.balls import settle_balls
from memetik.kernels.body.forward import forward, frame_pose
from memetik.kernels.compiler.jit import jit_part
from memetik.kernels.problem.limits import clamp, wrap_towards
from memetik.kernels.search.pose_error import judge_pose, pose_offset, square


@jit_part
def verify_pose(problem, target, x, outcome, work):
    """problem/verify.py for the two terms of a pose, written out. Returns the status."""
    settle_balls(problem.balls, x, work.start)
    wrap_towards(x, work.start, problem.variables)
    for k in range(x.size):
        x[k] = clamp(x[k], problem.variables[k])
    forward(problem.nodes, x, work.poses)
    tip = frame_pose(problem.frames[problem.terms[0].frame], work.poses)
    offset = pose_offset(target, tip)
    return judge_pose(problem.terms, square(offset[0]), square(offset[1]), outcome)

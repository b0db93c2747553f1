"""The end of a search for one full pose: problem/verify.py, written out."""

import math

from memetik.kernels.body.balls import settle_balls
from memetik.kernels.body.forward import forward, frame_pose
from memetik.kernels.compiler.jit import jit_part
from memetik.kernels.math.rotation import rotation_vector
from memetik.kernels.problem.budget import OUTCOME
from memetik.kernels.problem.limits import clamp, wrap_towards
from memetik.kernels.problem.verify import CLOSEST, INVALID, REACHED


@jit_part
def verify_pose(problem, target, x, outcome, work):
    """problem/verify.py for the two terms of a pose, written out. Returns the status."""
    settle_balls(problem.balls, x, work.start)
    wrap_towards(x, work.start, problem.variables)
    for k in range(x.size):
        x[k] = clamp(x[k], problem.variables[k])
    forward(problem.nodes, x, work.poses)
    position, orientation = problem.terms[0], problem.terms[1]
    tip = frame_pose(problem.frames[position.frame], work.poses)
    dx, dy, dz = tip[4] - target[4], tip[5] - target[5], tip[6] - target[6]
    ex, ey, ez = rotation_vector(target, tip)
    distance = math.sqrt(dx * dx + dy * dy + dz * dz)
    angle = math.sqrt(ex * ex + ey * ey + ez * ez)
    near, turned = distance <= position.tolerance, angle <= orientation.tolerance
    outcome[OUTCOME], outcome[OUTCOME + 1] = distance, angle
    outcome[OUTCOME + 2], outcome[OUTCOME + 3] = 1.0 if near else 0.0, 1.0 if turned else 0.0
    if near and turned:
        return REACHED
    return CLOSEST if math.isfinite(distance + angle) else INVALID

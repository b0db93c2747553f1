"""The descent for one full pose of one frame, the commonest problem, without the generality of many terms."""

import math

from memetik.kernels.body.balls import step_balls, write_ball_poses
from memetik.kernels.body.forward import forward, frame_pose
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import store, turn
from memetik.kernels.math.rotation import rotation_vector
from memetik.kernels.problem.budget import EVALUATIONS, remember, spent
from memetik.kernels.problem.least_squares import LEAST_DAMPING
from memetik.kernels.problem.limits import clamp
from memetik.kernels.search.descent import DAMPING, LONGEST_STEP, STALL, STALLS, STEPS
from memetik.kernels.search.pose_step import pose_step
from memetik.kernels.terms.pose import target_pose


@jit_part
def descend_pose(problem, target, x, run, work):
    """Steps from x, in place, until within tolerance, stalled or out of budget, as in descent.py.

    The two terms of the problem are position and orientation of one frame, unmasked, with the same `target` fixed in the
    world. Returns whether it is within tolerance.
    """
    position, orientation = problem.terms[0], problem.terms[1]
    frame = problem.frames[position.frame]
    far = position.tolerance * position.tolerance
    wide = orientation.tolerance * orientation.tolerance
    by_position, by_rotation = position.scale, orientation.scale
    last = math.inf
    failures = 0
    for taken in range(STEPS + 1):
        forward(problem.nodes, x, work.poses)
        run.outcome[EVALUATIONS] += 1.0
        tip = frame_pose(frame, work.poses)
        dx, dy, dz = tip[4] - target[4], tip[5] - target[5], tip[6] - target[6]
        ex, ey, ez = rotation_vector(target, tip)
        distance = dx * dx + dy * dy + dz * dz
        angle = ex * ex + ey * ey + ez * ez
        satisfied = distance <= far and angle <= wide
        error = by_position * by_position * distance + by_rotation * by_rotation * angle
        remember(x, error, run, work)
        failures = failures + 1 if error > STALL * last else 0
        if satisfied or failures >= STALLS or taken == STEPS or spent(run):
            return satisfied
        last = error
        ex, ey, ez = turn(target, ex, ey, ez)
        residual = (
            by_position * dx, by_position * dy, by_position * dz, by_rotation * ex, by_rotation * ey, by_rotation * ez
        )  # fmt: skip
        damping = DAMPING * 0.5 * error + LEAST_DAMPING
        write_ball_poses(problem.balls, problem.nodes, work.poses)
        longest = pose_step(problem, tip, residual, x, damping, work)
        shorten = LONGEST_STEP / longest if longest > LONGEST_STEP else 1.0
        for k in range(x.size):
            if not problem.variables[k].ball:
                x[k] = clamp(x[k] + shorten * work.step[k], problem.variables[k])
        step_balls(problem.balls, x, shorten, work.step, x)
    return False


@jit
def attempt_pose(problem, x, run, work):
    """One attempt on a problem that is one full pose."""
    position = problem.terms[0]
    satisfied = descend_pose(problem, target_pose(position, problem.data, work.world), x, run, work)
    # The restart looks at the poses of the general path.
    store(frame_pose(problem.frames[position.frame], work.poses), work.world, position.frame, 0)
    return satisfied

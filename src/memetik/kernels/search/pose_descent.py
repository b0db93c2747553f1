"""The descent for one full pose of one frame, the commonest problem, without the generality of many terms."""

import math

from memetik.kernels.body.balls import step_balls, write_ball_poses
from memetik.kernels.body.forward import forward, frame_pose
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import store
from memetik.kernels.problem.budget import EVALUATIONS, remember, spent
from memetik.kernels.problem.limits import clamp
from memetik.kernels.search.descent import (
    DAMPING,
    STALL,
    STALLS,
    STEPS,
    damping_of,
    failures_in_row,
    is_over,
    shortening_of,
)
from memetik.kernels.search.pose_error import (
    bounds_of,
    is_within,
    pose_offset,
    pose_residual,
    scales_of,
    square,
    squared_error,
)
from memetik.kernels.search.pose_step import pose_step
from memetik.kernels.terms.pose import target_pose


@jit_part
def descend_pose(problem, target, x, run, work):
    """Steps from x, in place, until within tolerance, stalled or out of budget, as in descent.py.

    The two terms of the problem are position and orientation of one frame, unmasked, with the same `target` fixed in the
    world. Returns whether it is within tolerance.
    """
    scales, bounds, frame = scales_of(problem.terms), bounds_of(problem.terms), problem.frames[problem.terms[0].frame]
    last = math.inf
    failures = 0.0
    for taken in range(STEPS + 1):
        forward(problem.nodes, x, work.poses)
        run.outcome[EVALUATIONS] += 1.0
        tip = frame_pose(frame, work.poses)
        offset = pose_offset(target, tip)
        distance, angle = square(offset[0]), square(offset[1])
        satisfied = is_within(bounds, distance, angle)
        error = squared_error(scales, distance, angle)
        remember(x, error, run, work)
        failures = failures_in_row(error, last, STALL, failures)
        if is_over(satisfied, failures, STALLS, taken, STEPS) or spent(run):
            return satisfied
        last = error
        residual = pose_residual(scales, target, offset)
        write_ball_poses(problem.balls, problem.nodes, work.poses)
        longest = pose_step(problem, tip, residual, x, damping_of(DAMPING, error), work)
        shorten = shortening_of(longest)
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

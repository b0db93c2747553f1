"""The descent for one full pose of one frame, the commonest problem, without the generality of many terms."""

from __future__ import annotations

import math

from memetik.kernels.body.forward import forward, frame_pose
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import store, turn
from memetik.kernels.memetic.descent import DAMPING, LEAST_DAMPING, LONGEST_STEP, STALL, STALLS, STEPS
from memetik.kernels.memetic.pose_step import pose_step
from memetik.kernels.problem.budget import ERROR, EVALUATIONS, spent
from memetik.kernels.terms.pose import rotation_vector, target_pose


@jit_part
def descend_pose(
    nodes, frame, target, position, orientation, bounds, x, most, deadline, clock, outcome, best, poses, columns, step
):  # fmt: skip
    """Steps from x, in place, until within tolerance, stalled or out of budget, as in descent.py.

    `position` and `orientation` are two terms of the same `frame`, unmasked, with the same `target` fixed in the world.
    `best` keeps the best posture of all attempts; `columns` (n, 6) and `step` are scratch. Returns whether it is within
    tolerance.
    """
    far = position.tolerance * position.tolerance
    wide = orientation.tolerance * orientation.tolerance
    by_position, by_rotation = position.scale, orientation.scale
    last = math.inf
    failures = 0
    for taken in range(STEPS + 1):
        forward(nodes, x, poses)
        outcome[EVALUATIONS] += 1.0
        tip = frame_pose(frame, poses)
        dx, dy, dz = tip[4] - target[4], tip[5] - target[5], tip[6] - target[6]
        ex, ey, ez = rotation_vector(target, tip)
        distance = dx * dx + dy * dy + dz * dz
        angle = ex * ex + ey * ey + ez * ez
        satisfied = distance <= far and angle <= wide
        error = by_position * by_position * distance + by_rotation * by_rotation * angle
        if error < outcome[ERROR]:
            outcome[ERROR] = error
            for k in range(x.size):
                best[k] = x[k]
        failures = failures + 1 if error > STALL * last else 0
        if satisfied or failures >= STALLS or taken == STEPS or spent(outcome, most, deadline, clock):
            return satisfied
        last = error
        ex, ey, ez = turn(target, ex, ey, ez)
        residual = (
            by_position * dx,
            by_position * dy,
            by_position * dz,
            by_rotation * ex,
            by_rotation * ey,
            by_rotation * ez,
        )
        damping = DAMPING * 0.5 * error + LEAST_DAMPING
        longest = pose_step(
            nodes, poses, frame.node, tip[4], tip[5], tip[6], residual, by_position, by_rotation, bounds, x, damping,
            columns, step,
        )  # fmt: skip
        shorten = LONGEST_STEP / longest if longest > LONGEST_STEP else 1.0
        for k in range(x.size):
            x[k] = min(max(x[k] + shorten * step[k], bounds[0, k]), bounds[1, k])
    return False


@jit
def attempt_pose(problem, x, most, deadline, clock, outcome, work):
    """One attempt on a problem that is one full pose."""
    nodes, frames, terms, data, bounds, spans = problem
    frame, target = frames[terms[0].frame], target_pose(terms[0], data, work.world)
    satisfied = descend_pose(
        nodes, frame, target, terms[0], terms[1], bounds, x, most, deadline, clock, outcome, work.best, work.poses,
        work.jacobian, work.step,
    )  # fmt: skip
    # The restart looks at the poses of the general path.
    store(frame_pose(frame, work.poses), work.world, terms[0].frame, 0)
    return satisfied

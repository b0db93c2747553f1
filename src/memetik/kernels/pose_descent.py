"""The descent for one full pose of one frame, the commonest problem, without the generality of many terms."""

from __future__ import annotations

import math

from memetik.kernels.budget import EVALUATIONS, remember, spent
from memetik.kernels.descent import DAMPING, LEAST_DAMPING, LONGEST_STEP, STALL, STALLS, STEPS, take_step
from memetik.kernels.forward import forward, frame_pose
from memetik.kernels.jit import jit
from memetik.kernels.pose import store, turn
from memetik.kernels.pose_step import pose_step
from memetik.kernels.term_pose import rotation_vector, target_pose


@jit
def attempt_pose(problem, x, most, deadline, clock, outcome, work):
    """One attempt as in descent.py, for a POSITION and an ORIENTATION term of the same frame, unmasked and fixed in the world."""
    nodes, frames, terms, data, bounds, spans = problem
    position, orientation, frame = terms[0], terms[1], frames[terms[0].frame]
    target = target_pose(position, data, work.world)
    far = position.tolerance * position.tolerance
    wide = orientation.tolerance * orientation.tolerance
    by_position, by_rotation = position.scale, orientation.scale
    last = math.inf
    failures = 0
    for step in range(STEPS + 1):
        forward(nodes, x, work.poses)
        outcome[EVALUATIONS] += 1.0
        tip = frame_pose(frame, work.poses)
        dx, dy, dz = tip[4] - target[4], tip[5] - target[5], tip[6] - target[6]
        ex, ey, ez = rotation_vector(target, tip)
        distance = dx * dx + dy * dy + dz * dz
        angle = ex * ex + ey * ey + ez * ez
        satisfied = distance <= far and angle <= wide
        error = by_position * by_position * distance + by_rotation * by_rotation * angle
        remember(x, error, outcome, work)
        if error > STALL * last:
            failures += 1
        else:
            failures = 0
        if satisfied or failures >= STALLS or step == STEPS or spent(outcome, most, deadline, clock):
            # The restart looks at the poses and residuals of the general path.
            store(tip, work.world, position.frame, 0)
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
            nodes,
            work.poses,
            frame.node,
            tip[4],
            tip[5],
            tip[6],
            residual,
            by_position,
            by_rotation,
            bounds,
            x,
            damping,
            work.jacobian,
            work.step,
        )
        if longest > LONGEST_STEP:
            for k in range(x.size):
                work.step[k] *= LONGEST_STEP / longest
        take_step(x, bounds, work)
    return False

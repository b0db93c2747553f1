"""All postures that a closed form offers for a target, or the nearest one.

The distance of a posture is sqrt(sum_k w_k (x_k - rest_k)^2); where it rests and what joints weigh is `displacement_springs`
of terms/springs.py.
"""

import math

from memetik.kernels.body.forward import forward, frame_pose
from memetik.kernels.closed_form.arm_record import MEETING, SHOULDER_AND_ELBOW, TWO_LINKS
from memetik.kernels.closed_form.arms import shoulder_and_elbow, two_links
from memetik.kernels.closed_form.loop import BLUR, close_loop, vector
from memetik.kernels.closed_form.meeting_axes import meeting_axes, three_turns, turn_wrist
from memetik.kernels.closed_form.parallel_axes import outer_turns, parallel_axes, turn_in_plane, turn_outside
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.pose import compose, inverse
from memetik.kernels.math.rotation import rotation_vector
from memetik.kernels.math.vector import dot, minus
from memetik.kernels.problem.limits import clamp
from memetik.kernels.problem.mounts import seen_from_root
from memetik.kernels.problem.quick_error import squared_distance

ROUNDING = 1e-9  # rad beyond a limit that rounding explains
SPREAD = 30.0  # how much farther off an angle may be than the arm is, all joints taken together
THERE = 1e-6  # rad, or of the arm's size, that a candidate may be off the target before it is polished
TURNS = 0.5 / math.pi  # in a radian


@jit_part
def closed_form_candidates(arm, loop, target, rows):
    """Write every posture that may put the tip on the target, a pose of 7 numbers, and return how many there are.

    loop.posture says where a joint is held, and the angles that the target leaves open. Nothing is known of limits.
    """
    if arm.shape == TWO_LINKS:
        return _two_links(arm, loop, target, rows)
    if arm.shape == SHOULDER_AND_ELBOW:
        shoulder, elbow = vector(arm.points, 0), vector(arm.points, 2)
        return shoulder_and_elbow(arm.axes, shoulder, elbow, arm.tip, target, loop.posture, rows)
    motion = compose(target, inverse(arm.tip))
    if arm.shape == MEETING:
        motion = close_loop(arm, loop, motion, (arm.first + 3) % 6)  # they become the last three
        return meeting_axes(loop, arm.size, motion, rows)
    motion = close_loop(arm, loop, motion, (arm.first + 5) % 6)  # they become the second to the fourth
    return parallel_axes(loop, arm.size, motion, rows)


@jit
def _two_links(arm, loop, target, rows):
    axis, base, elbow = vector(arm.axes, 0), vector(arm.points, 0), vector(arm.points, 1)
    tip = (arm.tip[4], arm.tip[5], arm.tip[6])
    goal = (target[4] - base[0], target[5] - base[1], target[6] - base[2])
    two_links(minus(elbow, base), minus(tip, elbow), axis, goal, loop.posture, rows)
    if dot(axis, vector(arm.axes, 1)) < 0.0:  # the second axis points against the first
        for r in range(2):
            rows[r, 1] = -rows[r, 1]
    return 2


@jit
def near_copy(angle, rest, variable, slack):
    """The angle, whole turns apart, that is nearest to `rest` within the limits; NaN if none is.

    slack [rad]: how far beyond a limit it may be, which puts it at the limit.
    """
    lower, upper = variable.lower - slack, variable.upper + slack
    near = angle - 2.0 * math.pi * round((angle - rest) * TURNS)
    if near < lower:
        near += 2.0 * math.pi
    elif near > upper:
        near -= 2.0 * math.pi
    return clamp(near, variable) if lower <= near <= upper else math.nan


@jit
def _way(loop, joint, angle):
    """The squared distance that an angle of a joint adds; infinite if it is NaN, of which no comparison holds."""
    off = angle - loop.rest[joint]
    off *= off
    return loop.weight[joint] * off if off < math.inf else math.inf


@jit
def _far(loop, place, angle, variables, slack):
    """The squared distance that the joint at a place of the loop adds at an angle; infinite if it cannot get there."""
    joint = loop.joints[place]
    return _way(loop, joint, near_copy(angle, loop.rest[joint], variables[joint], slack))


@jit_part
def _is_there(arm, problem, target, x, poses):
    """Whether a posture is on the target, but for what the body is off the arm."""
    forward(problem.nodes, x, poses)
    tip = frame_pose(problem.frames[problem.terms[0].frame], poses)
    e = rotation_vector(target, tip)
    off = squared_distance(target, tip) + arm.size * arm.size * dot(e, e)
    return off <= (arm.size * (THERE + BLUR * arm.off)) ** 2


@jit_part
def _take_nearer(arm, loop, target, problem, poses, beyond, least, careful):
    """Write the nearer of the first two rows to loop.found, if it is between `beyond` and `least`. Returns the least square."""
    variables, slack = problem.variables, ROUNDING + SPREAD * arm.off
    for r in range(2):
        total, x = 0.0, loop.rows[r]
        for k in range(x.size):
            x[k] = near_copy(x[k], loop.rest[k], variables[k], slack)
            total += _way(loop, k, x[k])
        if beyond < total < least and (not careful or _is_there(arm, problem, target, x, poses)):
            least = total
            for k in range(x.size):
                loop.found[k] = x[k]
    return least


@jit_part
def nearest_candidate(arm, loop, target, problem, poses, beyond, careful):
    """Of six joints, write the posture to loop.found that is within the limits and nearest to loop.rest.

    Only those are taken whose squared distance is more than `beyond`. Returns the least, infinite if there is none. The angles
    that are found first tell at least how far it is, so most postures need not be computed to the end. Where no angles reach the
    target, formulas give those that come near: `careful` says to look if they do, which is rarely worth its time.
    """
    variables, slack = problem.variables, ROUNDING + SPREAD * arm.off
    motion = compose(seen_from_root(problem, target), inverse(arm.tip))
    meets = arm.shape == MEETING
    motion = close_loop(arm, loop, motion, (arm.first + (3 if meets else 5)) % 6)
    count = three_turns(loop, arm.size, motion) if meets else outer_turns(loop, arm.size, motion)
    bounds = loop.bounds
    for r in range(count):
        if meets:
            far = _far(loop, 0, loop.turns[r, 0], variables, slack) + _far(loop, 1, loop.turns[r, 1], variables, slack)
            bounds[r] = far + _far(loop, 2, loop.turns[r, 2], variables, slack)
        else:
            far = _far(loop, 0, loop.pairs[r, 0], variables, slack)
            bounds[r] = far + _far(loop, 4, loop.pairs[r, 1], variables, slack)
    least = math.inf
    for _ in range(count):
        best = 0
        for r in range(1, count):
            if bounds[r] < bounds[best]:
                best = r
        if not bounds[best] < least:
            break
        bound, bounds[best] = bounds[best], math.inf
        if meets:
            turn_wrist(loop, arm.size, motion, best, loop.rows, 0)
        else:
            outside = turn_outside(loop, motion, best)
            if not bound + _far(loop, 5, outside[2][0], variables, slack) < least:
                continue
            turn_in_plane(loop, motion, outside, loop.rows, 0)
        least = _take_nearer(arm, loop, target, problem, poses, beyond, least, careful)
    return least

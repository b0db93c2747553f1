"""One round of pose_descent.py in every lane at once: measure a posture, judge it, and step on from it.

Residual, error, columns, stalls and the system of the step are those of pose_error.py, pose_step.py and descent.py, which take
Lanes (compiler/lanes.py) as they take numbers. Forward kinematics, rotation vectors, balls and limits are written for lanes, with
`select` where those for numbers have a branch. What a lane computes does not depend on the other lanes. Tests hold each lane
equal to those kernels.
"""

import math

from memetik.kernels.body.balls import multiply, to_third_axis, turned
from memetik.kernels.body.records import SCREW, SLIDE
from memetik.kernels.compiler.jit import jit_fast, jit_part
from memetik.kernels.compiler.lanes import LANES, bits, fused, put, select, spread, take
from memetik.kernels.math.pose import compose, constant
from memetik.kernels.math.sincos import sincos_lanes
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
    pose_residual,
    position_offset,
    scales_of,
    square,
    squared_error,
)
from memetik.kernels.search.pose_step import (
    damped_system,
    pose_column,
    product_of_six,
    solve_six,
    with_column,
)

ALL = (1 << LANES) - 1  # bits of all lanes


@jit_part
def load_lanes(rows, i):
    """The pose that stands in row i of `rows` in every lane."""
    return (
        take(rows, 7 * i),
        take(rows, 7 * i + 1),
        take(rows, 7 * i + 2),
        take(rows, 7 * i + 3),
        take(rows, 7 * i + 4),
        take(rows, 7 * i + 5),
        take(rows, 7 * i + 6),
    )


@jit_part
def store_lanes(pose, rows, i):
    """Write the pose of every lane into row i of `rows`."""
    put(rows, 7 * i, pose[0])
    put(rows, 7 * i + 1, pose[1])
    put(rows, 7 * i + 2, pose[2])
    put(rows, 7 * i + 3, pose[3])
    put(rows, 7 * i + 4, pose[4])
    put(rows, 7 * i + 5, pose[5])
    put(rows, 7 * i + 6, pose[6])


@jit_part
def local_lanes(node, value):
    """motion.py's `local`."""
    px, py, pz = spread(node.px), spread(node.py), spread(node.pz)
    w, x, y, z = spread(node.w), spread(node.x), spread(node.y), spread(node.z)
    slide = value
    if node.motion != SLIDE:
        s, c = sincos_lanes(0.5 * value)
        w, x, y, z = (
            node.w * c - node.z * s,
            fused(node.y, s, node.x * c),
            node.y * c - node.x * s,
            node.z * c + node.w * s,
        )
        slide = node.pitch * value
    if node.motion == SLIDE or node.motion == SCREW:
        ux, uy, uz = 2.0 * fused(w, y, x * z), 2.0 * (y * z - w * x), 1.0 - 2.0 * fused(x, x, y * y)
        px += slide * ux
        py += slide * uy
        pz += slide * uz
    return w, x, y, z, px, py, pz


@jit_part
def forward_lanes(nodes, x, poses):
    """forward.py's `forward`; `x` is (variables, LANES) and `poses` (nodes, 7, LANES)."""
    for i in range(nodes.size):
        node = nodes[i]
        pose = local_lanes(node, node.ratio * take(x, node.variable) + node.offset)
        if node.parent >= 0:
            pose = compose(load_lanes(poses, node.parent), pose)
        store_lanes(pose, poses, i)


@jit_part
def rotation_vector_lanes(t, r):
    """rotation_vector of math/rotation.py."""
    w = t[0] * r[0] + t[1] * r[1] + t[2] * r[2] + t[3] * r[3]
    x = t[0] * r[1] - t[1] * r[0] - t[2] * r[3] + t[3] * r[2]
    y = t[0] * r[2] + t[1] * r[3] - t[2] * r[0] - t[3] * r[1]
    z = t[0] * r[3] - t[1] * r[2] + t[2] * r[1] - t[3] * r[0]
    long_way = w < 0.0
    w, x, y, z = select(long_way, -w, w), select(long_way, -x, x), select(long_way, -y, y), select(long_way, -z, z)
    s = math.sqrt(x * x + y * y + z * z)
    k = select(s > 1e-9, 2.0 * math.atan2(s, w) / max(s, 1e-9), 2.0)  # no lane divides by zero
    return k * x, k * y, k * z


@jit_part
def load_column_lanes(columns, k):
    """The column of variable k in every lane."""
    return (
        take(columns, 6 * k), take(columns, 6 * k + 1), take(columns, 6 * k + 2),
        take(columns, 6 * k + 3), take(columns, 6 * k + 4), take(columns, 6 * k + 5),
    )  # fmt: skip


@jit_part
def store_column_lanes(c, columns, k):
    """Write the column of variable k in every lane."""
    put(columns, 6 * k, c[0])
    put(columns, 6 * k + 1, c[1])
    put(columns, 6 * k + 2, c[2])
    put(columns, 6 * k + 3, c[3])
    put(columns, 6 * k + 4, c[4])
    put(columns, 6 * k + 5, c[5])


@jit_fast
def step_lanes(problem, tip, residual, damping, scratch):
    """pose_step.py's `pose_step`: write the step of every lane into scratch.step and return its longest entry."""
    nodes, none = problem.nodes, spread(0.0)
    scales, rows = scales_of(problem.terms), damped_system(damping, none)
    i = problem.frames[problem.terms[0].frame].node
    while i >= 0:
        k = nodes[i].variable
        c = pose_column(nodes[i], load_lanes(scratch.poses, i), tip, scales, none)
        x, variable, uphill = take(scratch.x, k), problem.variables[k], product_of_six(c, residual)
        held = ((x <= variable.lower) & (uphill >= 0.0)) | ((x >= variable.upper) & (uphill <= 0.0))
        c = (
            select(held, 0.0, c[0]), select(held, 0.0, c[1]), select(held, 0.0, c[2]),
            select(held, 0.0, c[3]), select(held, 0.0, c[4]), select(held, 0.0, c[5]),
        )  # fmt: skip
        store_column_lanes(c, scratch.columns, k)
        rows = with_column(rows, c)
        i = nodes[i].parent
    r = solve_six(rows, residual)
    longest = none
    for k in range(problem.variables.size):
        move = -product_of_six(load_column_lanes(scratch.columns, k), r)
        put(scratch.step, k, move)
        longest = max(longest, abs(move))
    return longest


@jit_part
def write_ball_poses_lanes(problem, poses):
    """balls.py's `write_ball_poses`."""
    for i in range(problem.balls.size):
        ball = problem.balls[i]
        pose = load_lanes(poses, ball.node)
        turn = multiply((pose[0], pose[1], pose[2], pose[3]), to_third_axis(ball, problem.nodes))
        for c in range(4):
            put(poses, 7 * (ball.node + 2) + c, turn[c])


@jit_part
def turn_balls_lanes(balls, shorten, scratch):
    """balls.py's `step_balls`, lane by lane; the values that come out wait in scratch.columns, which have served."""
    x, columns = scratch.x, scratch.columns
    for i in range(balls.size):
        k, sign = balls[i].variable, balls[i].sign
        for j in range(3):
            put(columns, 6 * (k + j), shorten * take(scratch.step, k + j))
        for lane in range(LANES):
            a, b, c = turned(
                sign * x[k, lane], sign * x[k + 1, lane], sign * x[k + 2, lane],
                sign * columns[k, 0, lane], sign * columns[k + 1, 0, lane], sign * columns[k + 2, 0, lane],
            )  # fmt: skip
            columns[k, 0, lane], columns[k + 1, 0, lane], columns[k + 2, 0, lane] = sign * a, sign * b, sign * c


@jit_part
def take_turned_lanes(balls, ended, scratch):
    """Put the values of balls in the place of what was added to them; lanes in `ended`, bits, stay."""
    for i in range(balls.size):
        for k in range(balls[i].variable, balls[i].variable + 3):
            for lane in range(LANES):
                if ended >> lane & 1 == 0:
                    scratch.x[k, lane] = scratch.columns[k, 0, lane]


@jit_part
def round_of_lanes(problem, most, scratch):
    """Measure the posture of every lane, and step on from it where the attempt goes on.

    Returns the lanes whose attempt has ended, and those whose posture is within tolerance, as bits. A posture that an
    attempt has ended with stays in scratch.x.
    """
    scales, bounds, frame = scales_of(problem.terms), bounds_of(problem.terms), problem.frames[problem.terms[0].frame]
    forward_lanes(problem.nodes, scratch.x, scratch.poses)
    target = load_lanes(scratch.target, 0)
    tip = compose(load_lanes(scratch.poses, frame.node), constant(frame))
    offset = position_offset(target, tip), rotation_vector_lanes(target, tip)
    distance, angle = square(offset[0]), square(offset[1])
    satisfied = is_within(bounds, distance, angle)
    error = squared_error(scales, distance, angle)

    least = take(scratch.least, 0)
    better = error < least
    put(scratch.least, 0, select(better, error, least))
    if bits(better) != 0:
        for k in range(problem.variables.size):
            put(scratch.best, k, select(better, take(scratch.x, k), take(scratch.best, k)))
    failures = failures_in_row(error, take(scratch.last, 0), STALL, take(scratch.failures, 0))
    taken, evaluations = take(scratch.taken, 0), take(scratch.evaluations, 0) + 1.0
    ended = is_over(satisfied, failures, STALLS, taken, STEPS) | (evaluations >= most)
    put(scratch.evaluations, 0, evaluations)
    put(scratch.failures, 0, failures)
    put(scratch.taken, 0, taken + 1.0)
    put(scratch.last, 0, error)
    if bits(ended) != ALL:
        residual = pose_residual(scales, target, offset)
        write_ball_poses_lanes(problem, scratch.poses)
        longest = step_lanes(problem, tip, residual, damping_of(DAMPING, error), scratch)
        shorten = shortening_of(longest)
        turn_balls_lanes(problem.balls, shorten, scratch)
        for k in range(problem.variables.size):
            x, variable = take(scratch.x, k), problem.variables[k]
            moved = min(max(x + shorten * take(scratch.step, k), variable.lower), variable.upper)
            put(scratch.x, k, select(ended, x, moved))
        take_turned_lanes(problem.balls, bits(ended), scratch)
    return bits(ended), bits(satisfied)

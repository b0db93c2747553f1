"""One round of pose_descent.py in every lane at once: measure a posture, judge it, and step on from it.

The same arithmetic in the same order as forward.py, pose_descent.py and pose_step.py, on Lanes (compiler/lanes.py) instead
of numbers. What a lane computes does not depend on the other lanes. Tests hold each lane equal to those kernels.
"""

import math

from memetik.kernels.body.balls import multiply, to_third_axis, turned
from memetik.kernels.body.records import SCREW, SLIDE
from memetik.kernels.compiler.jit import jit_fast, jit_part
from memetik.kernels.compiler.lanes import LANES, bits, fused, put, select, spread, take
from memetik.kernels.math.pose import compose, constant, turn
from memetik.kernels.math.sincos import sincos_lanes
from memetik.kernels.problem.least_squares import LEAST_DAMPING
from memetik.kernels.search.descent import DAMPING, LONGEST_STEP, STALL, STALLS, STEPS
from memetik.kernels.search.pose_step import solve_six

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
    """rotation_vector of terms/pose.py."""
    w = t[0] * r[0] + t[1] * r[1] + t[2] * r[2] + t[3] * r[3]
    x = t[0] * r[1] - t[1] * r[0] - t[2] * r[3] + t[3] * r[2]
    y = t[0] * r[2] + t[1] * r[3] - t[2] * r[0] - t[3] * r[1]
    z = t[0] * r[3] - t[1] * r[2] + t[2] * r[1] - t[3] * r[0]
    long_way = w < 0.0
    w, x, y, z = select(long_way, -w, w), select(long_way, -x, x), select(long_way, -y, y), select(long_way, -z, z)
    s = math.sqrt(x * x + y * y + z * z)
    k = select(s > 1e-9, 2.0 * math.atan2(s, w) / max(s, 1e-9), 2.0)  # no lane divides by zero
    return k * x, k * y, k * z


@jit_fast
def step_lanes(problem, tip, residual, damping, scratch):
    """pose_step.py's `pose_step`: write the step of every lane into scratch.step and return its longest entry."""
    nodes, variables, poses, columns = problem.nodes, problem.variables, scratch.poses, scratch.columns
    position, rotation = problem.terms[0].scale, problem.terms[1].scale
    px, py, pz = tip[4], tip[5], tip[6]
    r0, r1, r2, r3, r4, r5 = residual
    none = spread(0.0)
    a00 = a11 = a22 = a33 = a44 = a55 = damping
    a10 = a20 = a21 = a30 = a31 = a32 = a40 = a41 = a42 = a43 = a50 = a51 = a52 = a53 = a54 = none
    i = problem.frames[problem.terms[0].frame].node
    while i >= 0:
        record = nodes[i]
        k = record.variable
        pose = load_lanes(poses, i)
        qw, qx, qy, qz = pose[0], pose[1], pose[2], pose[3]
        ux = record.ratio * 2.0 * (qx * qz + qw * qy)
        uy = record.ratio * 2.0 * (qy * qz - qw * qx)
        uz = record.ratio * (1.0 - 2.0 * (qx * qx + qy * qy))
        if record.motion == SLIDE:
            c0, c1, c2 = position * ux, position * uy, position * uz
            c3, c4, c5 = none, none, none
        else:
            dx, dy, dz = px - pose[4], py - pose[5], pz - pose[6]
            c0, c1, c2 = uy * dz - uz * dy, uz * dx - ux * dz, ux * dy - uy * dx
            if record.motion == SCREW:
                c0, c1, c2 = c0 + record.pitch * ux, c1 + record.pitch * uy, c2 + record.pitch * uz
            c0, c1, c2 = position * c0, position * c1, position * c2
            c3, c4, c5 = rotation * ux, rotation * uy, rotation * uz
        uphill = c0 * r0 + c1 * r1 + c2 * r2 + c3 * r3 + c4 * r4 + c5 * r5
        x = take(scratch.x, k)
        held = ((x <= variables[k].lower) & (uphill >= 0.0)) | ((x >= variables[k].upper) & (uphill <= 0.0))
        c0, c1, c2 = select(held, 0.0, c0), select(held, 0.0, c1), select(held, 0.0, c2)
        c3, c4, c5 = select(held, 0.0, c3), select(held, 0.0, c4), select(held, 0.0, c5)
        put(columns, 6 * k, c0)
        put(columns, 6 * k + 1, c1)
        put(columns, 6 * k + 2, c2)
        put(columns, 6 * k + 3, c3)
        put(columns, 6 * k + 4, c4)
        put(columns, 6 * k + 5, c5)
        a00 += c0 * c0
        a10 += c1 * c0
        a11 += c1 * c1
        a20 += c2 * c0
        a21 += c2 * c1
        a22 += c2 * c2
        a30 += c3 * c0
        a31 += c3 * c1
        a32 += c3 * c2
        a33 += c3 * c3
        a40 += c4 * c0
        a41 += c4 * c1
        a42 += c4 * c2
        a43 += c4 * c3
        a44 += c4 * c4
        a50 += c5 * c0
        a51 += c5 * c1
        a52 += c5 * c2
        a53 += c5 * c3
        a54 += c5 * c4
        a55 += c5 * c5
        i = record.parent
    r0, r1, r2, r3, r4, r5 = solve_six(
        (a00,),
        (a10, a11),
        (a20, a21, a22),
        (a30, a31, a32, a33),
        (a40, a41, a42, a43, a44),
        (a50, a51, a52, a53, a54, a55),
        residual,
    )
    longest = none
    for k in range(variables.size):
        move = -(
            take(columns, 6 * k) * r0
            + take(columns, 6 * k + 1) * r1
            + take(columns, 6 * k + 2) * r2
            + take(columns, 6 * k + 3) * r3
            + take(columns, 6 * k + 4) * r4
            + take(columns, 6 * k + 5) * r5
        )
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
    position, orientation = problem.terms[0], problem.terms[1]
    far = position.tolerance * position.tolerance
    wide = orientation.tolerance * orientation.tolerance
    by_position, by_rotation = position.scale, orientation.scale
    frame = problem.frames[position.frame]
    forward_lanes(problem.nodes, scratch.x, scratch.poses)
    target = load_lanes(scratch.target, 0)
    tip = compose(load_lanes(scratch.poses, frame.node), constant(frame))
    dx, dy, dz = tip[4] - target[4], tip[5] - target[5], tip[6] - target[6]
    ex, ey, ez = rotation_vector_lanes(target, tip)
    distance = dx * dx + dy * dy + dz * dz
    angle = ex * ex + ey * ey + ez * ez
    satisfied = (distance <= far) & (angle <= wide)
    error = by_position * by_position * distance + by_rotation * by_rotation * angle

    least = take(scratch.least, 0)
    better = error < least
    put(scratch.least, 0, select(better, error, least))
    if bits(better) != 0:
        for k in range(problem.variables.size):
            put(scratch.best, k, select(better, take(scratch.x, k), take(scratch.best, k)))
    failures = select(error > STALL * take(scratch.last, 0), take(scratch.failures, 0) + 1.0, 0.0)
    taken, evaluations = take(scratch.taken, 0), take(scratch.evaluations, 0) + 1.0
    ended = satisfied | (failures >= STALLS) | (taken >= STEPS) | (evaluations >= most)
    put(scratch.evaluations, 0, evaluations)
    put(scratch.failures, 0, failures)
    put(scratch.taken, 0, taken + 1.0)
    put(scratch.last, 0, error)
    if bits(ended) != ALL:
        ex, ey, ez = turn(target, ex, ey, ez)
        residual = (
            by_position * dx, by_position * dy, by_position * dz, by_rotation * ex, by_rotation * ey, by_rotation * ez
        )  # fmt: skip
        write_ball_poses_lanes(problem, scratch.poses)
        longest = step_lanes(problem, tip, residual, DAMPING * 0.5 * error + LEAST_DAMPING, scratch)
        shorten = LONGEST_STEP / max(longest, LONGEST_STEP)
        turn_balls_lanes(problem.balls, shorten, scratch)
        for k in range(problem.variables.size):
            x, variable = take(scratch.x, k), problem.variables[k]
            moved = min(max(x + shorten * take(scratch.step, k), variable.lower), variable.upper)
            put(scratch.x, k, select(ended, x, moved))
        take_turned_lanes(problem.balls, bits(ended), scratch)
    return bits(ended), bits(satisfied)

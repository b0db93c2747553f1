"""The damped step for the commonest problem of all, one full pose: six residuals, everything in registers.

The same step as in descent.py, written out. It takes a quarter of the time because the normal equations never touch
memory and the compiler knows all sizes; tests hold the two equal. What it consists of takes Lanes (compiler/lanes.py) as it
takes numbers: lane_step.py differs in where columns are kept, and in how a limit takes one out.
"""

from memetik.kernels.body.records import SCREW, SLIDE
from memetik.kernels.compiler.jit import jit_fast, jit_fast_glue
from memetik.kernels.search.pose_error import scales_of


@jit_fast
def solve_six(rows, right):
    """Solve a symmetric, positive definite system of six equations; of its matrix the rows up to the diagonal are given."""
    a00, a10, a11 = rows[0][0], rows[1][0], rows[1][1]
    a20, a21, a22 = rows[2]
    a30, a31, a32, a33 = rows[3]
    a40, a41, a42, a43, a44 = rows[4]
    a50, a51, a52, a53, a54, a55 = rows[5]
    r0, r1, r2, r3, r4, r5 = right
    # L D L^T without square roots, whose time adds up along the pivots: f_ij are the entries of L, d_i of 1 / D. Each
    # pivot takes its share off all that remains; the right side rides along.
    d0 = 1.0 / a00
    f10 = a10 * d0
    f20 = a20 * d0
    f30 = a30 * d0
    f40 = a40 * d0
    f50 = a50 * d0
    a11 -= f10 * a10
    a21 -= f20 * a10
    a22 -= f20 * a20
    a31 -= f30 * a10
    a32 -= f30 * a20
    a33 -= f30 * a30
    a41 -= f40 * a10
    a42 -= f40 * a20
    a43 -= f40 * a30
    a44 -= f40 * a40
    a51 -= f50 * a10
    a52 -= f50 * a20
    a53 -= f50 * a30
    a54 -= f50 * a40
    a55 -= f50 * a50
    r1 -= f10 * r0
    r2 -= f20 * r0
    r3 -= f30 * r0
    r4 -= f40 * r0
    r5 -= f50 * r0
    d1 = 1.0 / max(a11, 1e-30)
    f21 = a21 * d1
    f31 = a31 * d1
    f41 = a41 * d1
    f51 = a51 * d1
    a22 -= f21 * a21
    a32 -= f31 * a21
    a33 -= f31 * a31
    a42 -= f41 * a21
    a43 -= f41 * a31
    a44 -= f41 * a41
    a52 -= f51 * a21
    a53 -= f51 * a31
    a54 -= f51 * a41
    a55 -= f51 * a51
    r2 -= f21 * r1
    r3 -= f31 * r1
    r4 -= f41 * r1
    r5 -= f51 * r1
    d2 = 1.0 / max(a22, 1e-30)
    f32 = a32 * d2
    f42 = a42 * d2
    f52 = a52 * d2
    a33 -= f32 * a32
    a43 -= f42 * a32
    a44 -= f42 * a42
    a53 -= f52 * a32
    a54 -= f52 * a42
    a55 -= f52 * a52
    r3 -= f32 * r2
    r4 -= f42 * r2
    r5 -= f52 * r2
    d3 = 1.0 / max(a33, 1e-30)
    f43 = a43 * d3
    f53 = a53 * d3
    a44 -= f43 * a43
    a54 -= f53 * a43
    a55 -= f53 * a53
    r4 -= f43 * r3
    r5 -= f53 * r3
    d4 = 1.0 / max(a44, 1e-30)
    f54 = a54 * d4
    a55 -= f54 * a54
    r5 -= f54 * r4
    d5 = 1.0 / max(a55, 1e-30)
    r5 = r5 * d5
    r4 = r4 * d4 - f54 * r5
    r3 = r3 * d3 - f43 * r4 - f53 * r5
    r2 = r2 * d2 - f32 * r3 - f42 * r4 - f52 * r5
    r1 = r1 * d1 - f21 * r2 - f31 * r3 - f41 * r4 - f51 * r5
    r0 = r0 * d0 - f10 * r1 - f20 * r2 - f30 * r3 - f40 * r4 - f50 * r5
    return r0, r1, r2, r3, r4, r5


@jit_fast_glue
def pose_column(record, pose, tip, scales, none):
    """The derivative of the six scaled errors by the motion of a node; `none` is a zero as its numbers are."""
    position, rotation = scales
    qw, qx, qy, qz = pose[0], pose[1], pose[2], pose[3]
    ux = record.ratio * 2.0 * (qx * qz + qw * qy)
    uy = record.ratio * 2.0 * (qy * qz - qw * qx)
    uz = record.ratio * (1.0 - 2.0 * (qx * qx + qy * qy))
    if record.motion == SLIDE:
        c0, c1, c2 = position * ux, position * uy, position * uz
        c3, c4, c5 = none, none, none
    else:
        dx, dy, dz = tip[4] - pose[4], tip[5] - pose[5], tip[6] - pose[6]
        c0, c1, c2 = uy * dz - uz * dy, uz * dx - ux * dz, ux * dy - uy * dx
        if record.motion == SCREW:
            c0, c1, c2 = c0 + record.pitch * ux, c1 + record.pitch * uy, c2 + record.pitch * uz
        c0, c1, c2 = position * c0, position * c1, position * c2
        c3, c4, c5 = rotation * ux, rotation * uy, rotation * uz
    return c0, c1, c2, c3, c4, c5


@jit_fast_glue
def product_of_six(c, r):
    """c·r of six numbers each."""
    return c[0] * r[0] + c[1] * r[1] + c[2] * r[2] + c[3] * r[3] + c[4] * r[4] + c[5] * r[5]


@jit_fast_glue
def damped_system(damping, none):
    """The rows of the matrix up to the diagonal before any column is added."""
    return (
        (damping,),
        (none, damping),
        (none, none, damping),
        (none, none, none, damping),
        (none, none, none, none, damping),
        (none, none, none, none, none, damping),
    )


@jit_fast_glue
def with_column(rows, c):
    """The rows of the matrix with c c^T."""
    row0, row1, row2, row3, row4, row5 = rows
    c0, c1, c2, c3, c4, c5 = c
    return (
        (row0[0] + c0 * c0,),
        (row1[0] + c1 * c0, row1[1] + c1 * c1),
        (row2[0] + c2 * c0, row2[1] + c2 * c1, row2[2] + c2 * c2),
        (row3[0] + c3 * c0, row3[1] + c3 * c1, row3[2] + c3 * c2, row3[3] + c3 * c3),
        (row4[0] + c4 * c0, row4[1] + c4 * c1, row4[2] + c4 * c2, row4[3] + c4 * c3, row4[4] + c4 * c4),
        (
            row5[0] + c5 * c0, row5[1] + c5 * c1, row5[2] + c5 * c2, row5[3] + c5 * c3, row5[4] + c5 * c4,
            row5[5] + c5 * c5,
        ),
    )  # fmt: skip


@jit_fast
def pose_step(problem, tip, residual, x, damping, work):
    """Write the step and return its longest entry.

    `residual` holds the scaled errors of the frame at `tip` in world axes, and the Jacobian is in world axes too: a rotation
    of all six rows changes neither the damped step nor its length. For the rotation rows d log ~ w is used; the gradient is
    exact because J_l^-1(e) e = e.
    """
    nodes, variables, poses = problem.nodes, problem.variables, work.poses
    columns, step = work.jacobian, work.step
    scales, rows = scales_of(problem.terms), damped_system(damping, 0.0)
    i = problem.frames[problem.terms[0].frame].node
    while i >= 0:
        record = nodes[i]
        k = record.variable
        pose = poses[i, 0], poses[i, 1], poses[i, 2], poses[i, 3], poses[i, 4], poses[i, 5], poses[i, 6]
        c = pose_column(record, pose, tip, scales, 0.0)
        uphill = product_of_six(c, residual)
        if (x[k] <= variables[k].lower and uphill >= 0.0) or (x[k] >= variables[k].upper and uphill <= 0.0):
            c = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0  # a limit holds it
        columns[k, 0], columns[k, 1], columns[k, 2], columns[k, 3], columns[k, 4], columns[k, 5] = c
        rows = with_column(rows, c)
        i = record.parent
    r = solve_six(rows, residual)
    longest = 0.0
    for k in range(x.size):
        c = columns[k, 0], columns[k, 1], columns[k, 2], columns[k, 3], columns[k, 4], columns[k, 5]
        move = -product_of_six(c, r)
        step[k] = move
        longest = max(longest, abs(move))
    return longest

"""The damped step for the commonest problem of all, one full pose: six residuals, everything in registers.

The same step as in descent.py, written out. It takes a quarter of the time because the normal equations never touch
memory and the compiler knows all sizes; tests hold the two equal.
"""

from __future__ import annotations

import math

from memetik.kernels.jit import jit_fast
from memetik.kernels.records import SCREW, SLIDE


@jit_fast
def pose_step(nodes, poses, node, px, py, pz, residual, position, rotation, bounds, x, damping, columns, step):
    """Write the step and return its longest entry.

    `residual` holds the scaled errors in world axes, position and rotation are the scales; `columns` (n, 6) is scratch for
    the Jacobian, in world axes too: a rotation of all six rows changes neither the damped step nor its length. For the
    rotation rows d log ~ w is used; the gradient is exact because J_l^-1(e) e = e.
    """
    r0, r1, r2, r3, r4, r5 = residual
    a00 = a11 = a22 = a33 = a44 = a55 = damping
    a10 = a20 = a21 = a30 = a31 = a32 = a40 = a41 = a42 = a43 = a50 = a51 = a52 = a53 = a54 = 0.0
    i = node
    while i >= 0:
        record = nodes[i]
        k = record.variable
        qw, qx, qy, qz = poses[i, 0], poses[i, 1], poses[i, 2], poses[i, 3]
        ux = record.ratio * 2.0 * (qx * qz + qw * qy)
        uy = record.ratio * 2.0 * (qy * qz - qw * qx)
        uz = record.ratio * (1.0 - 2.0 * (qx * qx + qy * qy))
        if record.motion == SLIDE:
            c0, c1, c2 = position * ux, position * uy, position * uz
            c3, c4, c5 = 0.0, 0.0, 0.0
        else:
            dx, dy, dz = px - poses[i, 4], py - poses[i, 5], pz - poses[i, 6]
            c0, c1, c2 = uy * dz - uz * dy, uz * dx - ux * dz, ux * dy - uy * dx
            if record.motion == SCREW:
                c0, c1, c2 = c0 + record.pitch * ux, c1 + record.pitch * uy, c2 + record.pitch * uz
            c0, c1, c2 = position * c0, position * c1, position * c2
            c3, c4, c5 = rotation * ux, rotation * uy, rotation * uz
        uphill = c0 * r0 + c1 * r1 + c2 * r2 + c3 * r3 + c4 * r4 + c5 * r5
        if (x[k] <= bounds[0, k] and uphill >= 0.0) or (x[k] >= bounds[1, k] and uphill <= 0.0):
            c0 = c1 = c2 = c3 = c4 = c5 = 0.0  # a limit holds it
        columns[k, 0], columns[k, 1], columns[k, 2] = c0, c1, c2
        columns[k, 3], columns[k, 4], columns[k, 5] = c3, c4, c5
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
    # Cholesky: a_ij becomes l_ij, the diagonal its reciprocal; forward substitution rides along.
    a00 = 1.0 / math.sqrt(a00)
    r0 *= a00
    a10 *= a00
    a20 *= a00
    a30 *= a00
    a40 *= a00
    a50 *= a00
    a11 = 1.0 / math.sqrt(max(a11 - a10 * a10, 1e-30))
    r1 = (r1 - a10 * r0) * a11
    a21 = (a21 - a20 * a10) * a11
    a31 = (a31 - a30 * a10) * a11
    a41 = (a41 - a40 * a10) * a11
    a51 = (a51 - a50 * a10) * a11
    a22 = 1.0 / math.sqrt(max(a22 - a20 * a20 - a21 * a21, 1e-30))
    r2 = (r2 - a20 * r0 - a21 * r1) * a22
    a32 = (a32 - a30 * a20 - a31 * a21) * a22
    a42 = (a42 - a40 * a20 - a41 * a21) * a22
    a52 = (a52 - a50 * a20 - a51 * a21) * a22
    a33 = 1.0 / math.sqrt(max(a33 - a30 * a30 - a31 * a31 - a32 * a32, 1e-30))
    r3 = (r3 - a30 * r0 - a31 * r1 - a32 * r2) * a33
    a43 = (a43 - a40 * a30 - a41 * a31 - a42 * a32) * a33
    a53 = (a53 - a50 * a30 - a51 * a31 - a52 * a32) * a33
    a44 = 1.0 / math.sqrt(max(a44 - a40 * a40 - a41 * a41 - a42 * a42 - a43 * a43, 1e-30))
    r4 = (r4 - a40 * r0 - a41 * r1 - a42 * r2 - a43 * r3) * a44
    a54 = (a54 - a50 * a40 - a51 * a41 - a52 * a42 - a53 * a43) * a44
    a55 = 1.0 / math.sqrt(max(a55 - a50 * a50 - a51 * a51 - a52 * a52 - a53 * a53 - a54 * a54, 1e-30))
    r5 = (r5 - a50 * r0 - a51 * r1 - a52 * r2 - a53 * r3 - a54 * r4) * a55
    r5 *= a55
    r4 = (r4 - a54 * r5) * a44
    r3 = (r3 - a43 * r4 - a53 * r5) * a33
    r2 = (r2 - a32 * r3 - a42 * r4 - a52 * r5) * a22
    r1 = (r1 - a21 * r2 - a31 * r3 - a41 * r4 - a51 * r5) * a11
    r0 = (r0 - a10 * r1 - a20 * r2 - a30 * r3 - a40 * r4 - a50 * r5) * a00
    longest = 0.0
    for k in range(x.size):
        move = -(
            columns[k, 0] * r0
            + columns[k, 1] * r1
            + columns[k, 2] * r2
            + columns[k, 3] * r3
            + columns[k, 4] * r4
            + columns[k, 5] * r5
        )
        step[k] = move
        longest = max(longest, abs(move))
    return longest

"""MANIPULABILITY: a frame stays away from singular postures.

With the Jacobian J of the frame, whose column of a variable is the sum of the twists t_i of the motions that it drives,

    w = sqrt(det M)        M = J J^T        e = max(0, 1 - w / least)

and with the derivative of the twist of motion j by motion i, which is (w_i x v_j, w_i x w_j) for an i before j or j itself,
and (w_j x v_i, 0) for an i after it (v and w are the velocity of the frame's origin and its angular velocity),

    dw = w sum_j (M^-1 J_j)·dt_j

M is kept in blocks of 3 x 3, A for velocities, D for angular velocities and B for both:

    det M = det D det S        S = A - B D^-1 B^T

D is singular only where M is. Where the rotation does not count, D is the identity and B zero; likewise for the position. With
fewer columns than axes that count, w is zero, and what det M has is rounding. So it is in singular postures: rounding goes by
the product of the entries on the diagonal, which bounds the determinant (Hadamard), and a tiny share of it counts as zero.
"""

import math

from memetik.kernels.body.motion import twist
from memetik.kernels.body.records import SCREW, SLIDE
from memetik.kernels.compiler.jit import jit_part
from memetik.kernels.math.pose import axis, load
from memetik.kernels.terms.records import TermKind, declare

# Target: the manipulability that is enough. Data: `count` motions, each the row of the frame that it moves, its variable, ratio,
# kind and pitch, those of a variable in a row; then whether the position counts, and the rotation.
MOTION_ROW, MOTION_VARIABLE, MOTION_RATIO, MOTION_KIND, MOTION_PITCH, MOTION_DATA = 0, 1, 2, 3, 4, 5

ROUNDING = 1e-12  # share of the product of the diagonal below which a determinant is zero but for rounding
ZERO = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@jit_part
def column(term, data, world, item):
    """The column of J that begins at a motion, in the axes that count, and the first motion of the next column."""
    tip = load(world, term.frame, 0)
    end = term.numbers + term.count * MOTION_DATA
    position, rotation = data[end], data[end + 1]
    variable = data[term.numbers + item * MOTION_DATA + MOTION_VARIABLE]
    vx, vy, vz, wx, wy, wz = ZERO
    while item < term.count:
        k = term.numbers + item * MOTION_DATA
        if data[k + MOTION_VARIABLE] != variable:
            break
        pose = load(world, int(data[k + MOTION_ROW]), 0)
        ux, uy, uz = axis(pose)
        ratio, kind = data[k + MOTION_RATIO], data[k + MOTION_KIND]
        ux, uy, uz = ratio * ux, ratio * uy, ratio * uz
        if kind == SLIDE:
            vx, vy, vz = vx + ux, vy + uy, vz + uz
        else:
            rx, ry, rz = tip[4] - pose[4], tip[5] - pose[5], tip[6] - pose[6]
            pitch = data[k + MOTION_PITCH] if kind == SCREW else 0.0
            vx += uy * rz - uz * ry + pitch * ux
            vy += uz * rx - ux * rz + pitch * uy
            vz += ux * ry - uy * rx + pitch * uz
            wx, wy, wz = wx + ux, wy + uy, wz + uz
        item += 1
    return (position * vx, position * vy, position * vz, rotation * wx, rotation * wy, rotation * wz), item


@jit_part
def gram(term, data, world):
    """A and D, each as xx, xy, xz, yy, yz, zz, B by rows, and whether there are enough columns for all axes that count."""
    end = term.numbers + term.count * MOTION_DATA
    a, d = 1.0 - data[end], 1.0 - data[end + 1]  # the identity where an axis does not count
    axx, axy, axz, ayy, ayz, azz = a, 0.0, 0.0, a, 0.0, a
    dxx, dxy, dxz, dyy, dyz, dzz = d, 0.0, 0.0, d, 0.0, d
    bxx, bxy, bxz, byx, byy, byz, bzx, bzy, bzz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    item, columns = 0, 0
    while item < term.count:
        (vx, vy, vz, wx, wy, wz), item = column(term, data, world, item)
        columns += 1
        axx, axy, axz, ayy, ayz, azz = (
            axx + vx * vx, axy + vx * vy, axz + vx * vz, ayy + vy * vy, ayz + vy * vz, azz + vz * vz,
        )  # fmt: skip
        dxx, dxy, dxz, dyy, dyz, dzz = (
            dxx + wx * wx, dxy + wx * wy, dxz + wx * wz, dyy + wy * wy, dyz + wy * wz, dzz + wz * wz,
        )  # fmt: skip
        bxx, bxy, bxz = bxx + vx * wx, bxy + vx * wy, bxz + vx * wz
        byx, byy, byz = byx + vy * wx, byy + vy * wy, byz + vy * wz
        bzx, bzy, bzz = bzx + vz * wx, bzy + vz * wy, bzz + vz * wz
    a = (axx, axy, axz, ayy, ayz, azz)
    d = (dxx, dxy, dxz, dyy, dyz, dzz)
    enough = columns >= 3.0 * (data[end] + data[end + 1])
    return a, d, ((bxx, bxy, bxz), (byx, byy, byz), (bzx, bzy, bzz)), enough


@jit_part
def invert(m):
    """The inverse of a symmetric matrix of 3 x 3, by its cofactors, and its determinant; without one, the cofactors."""
    xx, xy, xz, yy, yz, zz = m
    a, b, c = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    det = xx * a + xy * b + xz * c
    scale = 1.0 / det if det > 0.0 else 1.0
    return (
        scale * a, scale * b, scale * c, scale * (xx * zz - xz * xz), scale * (xy * xz - xx * yz), scale * (xx * yy - xy * xy),
    ), det  # fmt: skip


@jit_part
def times(m, x, y, z):
    """A symmetric matrix times a vector."""
    return m[0] * x + m[1] * y + m[2] * z, m[1] * x + m[3] * y + m[4] * z, m[2] * x + m[4] * y + m[5] * z


@jit_part
def inner(row, u):
    return row[0] * u[0] + row[1] * u[1] + row[2] * u[2]


@jit_part
def schur(a, d, b):
    """D^-1, S^-1 and det M, which is zero in a posture that is singular but for rounding."""
    inverse_d, det_d = invert(d)
    ux, uy, uz = times(inverse_d, *b[0]), times(inverse_d, *b[1]), times(inverse_d, *b[2])
    s = (
        a[0] - inner(b[0], ux), a[1] - inner(b[0], uy), a[2] - inner(b[0], uz),
        a[3] - inner(b[1], uy), a[4] - inner(b[1], uz), a[5] - inner(b[2], uz),
    )  # fmt: skip
    inverse_s, det_s = invert(s)
    det, least = max(det_d, 0.0) * max(det_s, 0.0), ROUNDING * d[0] * d[3] * d[5]
    if det_d <= least or det <= least * a[0] * a[3] * a[5]:
        det = 0.0
    return inverse_d, inverse_s, det


@jit_part
def manipulability_residual(term, data, world, x, out):
    a, d, b, enough = gram(term, data, world)
    det = schur(a, d, b)[2] if enough else 0.0
    out[term.row] = max(0.0, 1.0 - math.sqrt(det) / data[term.target])


@jit_part
def manipulability_jacobian(term, data, world, x, nodes, frames, poses, axes, scale, jacobian):
    a, d, b, enough = gram(term, data, world)
    inverse_d, inverse_s, det = schur(a, d, b)
    w, least = math.sqrt(det), data[term.target]
    if w >= least or det == 0.0 or not enough:
        return
    scale *= -w / least
    tip = frames[term.frame].node
    px, py, pz = world[term.frame, 4], world[term.frame, 5], world[term.frame, 6]
    item = 0
    while item < term.count:
        first = item
        c, item = column(term, data, world, item)
        # y = M^-1 c, in blocks; axes that do not count are zero in c, and so in y
        t = times(inverse_d, c[3], c[4], c[5])
        y = times(inverse_s, c[0] - inner(b[0], t), c[1] - inner(b[1], t), c[2] - inner(b[2], t))
        z = times(
            inverse_d,
            c[3] - b[0][0] * y[0] - b[1][0] * y[1] - b[2][0] * y[2],
            c[4] - b[0][1] * y[0] - b[1][1] * y[1] - b[2][1] * y[2],
            c[5] - b[0][2] * y[0] - b[1][2] * y[1] - b[2][2] * y[2],
        )
        for motion in range(first, item):
            j = frames[int(data[term.numbers + motion * MOTION_DATA + MOTION_ROW])].node
            vjx, vjy, vjz, wjx, wjy, wjz = twist(nodes, poses, axes, j, px, py, pz)
            i = tip
            while i >= 0:
                vix, viy, viz, wix, wiy, wiz = twist(nodes, poses, axes, i, px, py, pz)
                if i <= j:
                    gain = (
                        y[0] * (wiy * vjz - wiz * vjy) + y[1] * (wiz * vjx - wix * vjz) + y[2] * (wix * vjy - wiy * vjx)
                    )
                    gain += (
                        z[0] * (wiy * wjz - wiz * wjy) + z[1] * (wiz * wjx - wix * wjz) + z[2] * (wix * wjy - wiy * wjx)
                    )
                else:
                    gain = (
                        y[0] * (wjy * viz - wjz * viy) + y[1] * (wjz * vix - wjx * viz) + y[2] * (wjx * viy - wjy * vix)
                    )
                jacobian[nodes[i].variable, term.row] += scale * gain
                i = nodes[i].parent


MANIPULABILITY = declare(TermKind(21, "manipulability", "", 1, manipulability_residual, manipulability_jacobian))

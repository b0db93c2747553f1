"""Arithmetic of poses (w, x, y, z, px, py, pz): unit quaternion and position."""

from memetik.kernels.compiler.jit import jit


@jit
def load(rows, i, column):
    """The pose that stands in row i of `rows` from `column` on."""
    return (
        rows[i, column],
        rows[i, column + 1],
        rows[i, column + 2],
        rows[i, column + 3],
        rows[i, column + 4],
        rows[i, column + 5],
        rows[i, column + 6],
    )


@jit
def store(pose, rows, i, column):
    """Write the pose into row i of `rows` from `column` on."""
    rows[i, column] = pose[0]
    rows[i, column + 1] = pose[1]
    rows[i, column + 2] = pose[2]
    rows[i, column + 3] = pose[3]
    rows[i, column + 4] = pose[4]
    rows[i, column + 5] = pose[5]
    rows[i, column + 6] = pose[6]


@jit
def constant(record):
    """The constant pose of a NODE or FRAME record."""
    return record.w, record.x, record.y, record.z, record.px, record.py, record.pz


@jit
def turn(pose, x, y, z):
    """Rotate the vector (x, y, z) by the pose's quaternion: v + w t + u × t with t = 2 u × v."""
    W, X, Y, Z = pose[0], pose[1], pose[2], pose[3]
    tx = 2.0 * (Y * z - Z * y)
    ty = 2.0 * (Z * x - X * z)
    tz = 2.0 * (X * y - Y * x)
    return x + W * tx + (Y * tz - Z * ty), y + W * ty + (Z * tx - X * tz), z + W * tz + (X * ty - Y * tx)


@jit
def axis(pose):
    """The z axis of the pose, third column of its rotation: the direction of a node's motion."""
    w, x, y, z = pose[0], pose[1], pose[2], pose[3]
    return 2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)


@jit
def compose(a, b):
    """a * b: first b in the frame of a."""
    aw, ax, ay, az = a[0], a[1], a[2], a[3]
    bw, bx, by, bz = b[0], b[1], b[2], b[3]
    px, py, pz = turn(a, b[4], b[5], b[6])
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        px + a[4],
        py + a[5],
        pz + a[6],
    )


@jit
def inverse(a):
    """The pose that undoes a."""
    back = (a[0], -a[1], -a[2], -a[3])
    px, py, pz = turn(back, a[4], a[5], a[6])
    return back[0], back[1], back[2], back[3], -px, -py, -pz


@jit
def write_matrix(pose, out, i):
    """Write the pose as the 4x4 matrix out[i]."""
    w, x, y, z = pose[0], pose[1], pose[2], pose[3]
    out[i, 0, 0] = 1.0 - 2.0 * (y * y + z * z)
    out[i, 0, 1] = 2.0 * (x * y - w * z)
    out[i, 0, 2] = 2.0 * (x * z + w * y)
    out[i, 0, 3] = pose[4]
    out[i, 1, 0] = 2.0 * (x * y + w * z)
    out[i, 1, 1] = 1.0 - 2.0 * (x * x + z * z)
    out[i, 1, 2] = 2.0 * (y * z - w * x)
    out[i, 1, 3] = pose[5]
    out[i, 2, 0] = 2.0 * (x * z - w * y)
    out[i, 2, 1] = 2.0 * (y * z + w * x)
    out[i, 2, 2] = 1.0 - 2.0 * (x * x + y * y)
    out[i, 2, 3] = pose[6]
    out[i, 3, 0] = 0.0
    out[i, 3, 1] = 0.0
    out[i, 3, 2] = 0.0
    out[i, 3, 3] = 1.0

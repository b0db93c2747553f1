"""Targets from Python into the data array: checked and converted in one crossing, because retargeting is hot too."""

import math

from memetik.kernels.compiler.jit import jit, jit_free, jit_part

OK, NOT_FINITE, NOT_A_ROTATION, BAD_LAST_ROW, BAD_SHAPE = 0, 1, 2, 3, 4
# Kinds of targets, by what their numbers are made of: a pose of a transform, or of a rotation and what stays of the position; a
# point; a unit vector along a direction, or against it.
POSE_TARGET, ROTATION_TARGET, POINT_TARGET, DIRECTION_TARGET, OPPOSITE_TARGET = 0, 1, 2, 3, 4
SLACK = 1e-6  # how far from orthonormal an input may be; it is normalised then


@jit_part
def write_rotation(m, data, at):
    """Quaternion of the upper left 3x3 of m, by the largest of its four components; OK or what is wrong."""
    for i in range(3):
        for j in range(i, 3):
            dot = m[0, i] * m[0, j] + m[1, i] * m[1, j] + m[2, i] * m[2, j]
            if not abs(dot - (1.0 if i == j else 0.0)) <= SLACK:
                return NOT_A_ROTATION
    determinant = (
        m[0, 0] * (m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1])
        - m[0, 1] * (m[1, 0] * m[2, 2] - m[1, 2] * m[2, 0])
        + m[0, 2] * (m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0])
    )
    if determinant < 0.0:
        return NOT_A_ROTATION
    trace = m[0, 0] + m[1, 1] + m[2, 2]
    if trace > 0.0:
        w = 1.0 + trace
        x, y, z = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    elif m[0, 0] >= m[1, 1] and m[0, 0] >= m[2, 2]:
        w = m[2, 1] - m[1, 2]
        x, y, z = 1.0 + m[0, 0] - m[1, 1] - m[2, 2], m[0, 1] + m[1, 0], m[0, 2] + m[2, 0]
    elif m[1, 1] >= m[2, 2]:
        w = m[0, 2] - m[2, 0]
        x, y, z = m[0, 1] + m[1, 0], 1.0 - m[0, 0] + m[1, 1] - m[2, 2], m[1, 2] + m[2, 1]
    else:
        w = m[1, 0] - m[0, 1]
        x, y, z = m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], 1.0 - m[0, 0] - m[1, 1] + m[2, 2]
    length = math.sqrt(w * w + x * x + y * y + z * z)
    data[at], data[at + 1], data[at + 2], data[at + 3] = w / length, x / length, y / length, z / length
    return OK


@jit
def write_pose_target(matrix, data, at):
    """A 4x4 transform as seven numbers from `at` on; nothing is written unless it is one."""
    if matrix.shape[0] != 4 or matrix.shape[1] != 4:
        return BAD_SHAPE
    for i in range(4):
        for j in range(4):
            if not math.isfinite(matrix[i, j]):
                return NOT_FINITE
    if abs(matrix[3, 0]) + abs(matrix[3, 1]) + abs(matrix[3, 2]) + abs(matrix[3, 3] - 1.0) > SLACK:
        return BAD_LAST_ROW
    problem = write_rotation(matrix, data, at)
    if problem == OK:
        for k in range(3):
            data[at + 4 + k] = matrix[k, 3]
    return problem


@jit_free
def first_not_finite(rows):
    """The first row with a number that is NaN or infinite, or -1."""
    for i in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            if not math.isfinite(rows[i, k]):
                return i
    return -1


@jit_free
def copy_rows(source, rows):
    """Copy rows of numbers; the first with one that is NaN or infinite, or -1."""
    bad = -1
    for i in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            rows[i, k] = source[i, k]
            if bad < 0 and not math.isfinite(rows[i, k]):
                bad = i
    return bad


@jit_free
def write_pose_targets(matrices, rows):
    """Many 4x4 transforms as rows of seven numbers; the first that is none as row and complaint, or -1."""
    for i in range(matrices.shape[0]):
        problem = write_pose_target(matrices[i], rows[i], 0)
        if problem != OK:
            return i, problem
    return -1, OK

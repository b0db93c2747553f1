"""Arrays that are on the device already, of any strides and of either precision, as rows of numbers; a row a thread."""

import math
from typing import Any

import numba.cuda
import numpy as np

from memetik.kernels.cuda.launch_record import CODES, START, Incoming, Marks
from memetik.kernels.cuda.table import device_reader, floats_at, singles_at
from memetik.kernels.cuda.translate import Translator
from memetik.kernels.problem.verify import REACHED
from memetik.kernels.terms.targets import (
    DIRECTION_TARGET,
    NOT_A_ROTATION,
    NOT_FINITE,
    OK,
    OPPOSITE_TARGET,
    POSE_TARGET,
    ROTATION_TARGET,
    write_pose_target,
)

cuda: Any = numba.cuda  # it has no types
read, read_marks = device_reader(Incoming), device_reader(Marks)
write_pose = Translator()(write_pose_target)

STRAIGHT = 1e-4  # how far from orthonormal a rotation in single precision may be


@cuda.jit(device=True)
def item(given, row, i, j):
    """A number of an array."""
    at = row * given.row_stride + i * given.stride + j * given.last_stride
    if given.single != 0:
        return float(singles_at(given.address, at + 1)[at])
    return floats_at(given.address, at + 1)[at]


@cuda.jit(device=True)
def straighten(m):
    """Make a rotation that single precision has rounded orthonormal, if it is near one: Gram and Schmidt, column by column."""
    for i in range(3):
        for j in range(i):
            dot = m[0, i] * m[0, j] + m[1, i] * m[1, j] + m[2, i] * m[2, j]
            if abs(dot) > STRAIGHT:
                return
            for k in range(3):
                m[k, i] -= dot * m[k, j]
        length = math.sqrt(m[0, i] * m[0, i] + m[1, i] * m[1, i] + m[2, i] * m[2, i])
        if not abs(length - 1.0) <= STRAIGHT:
            return
        for k in range(3):
            m[k, i] /= length


@cuda.jit(device=True)
def write_vector(given, row, to, at, size, unit):
    """`size` numbers, perhaps as a vector of length |unit| in its direction; OK or what is wrong."""
    square = 0.0
    for k in range(size):
        value = item(given, row, k, 0)
        if not math.isfinite(value):
            return NOT_FINITE
        to[at + k] = value
        square += value * value
    if unit != 0.0:
        length = math.sqrt(square)
        if not length >= 1e-9:
            return NOT_A_ROTATION
        for k in range(size):
            to[at + k] *= unit / length
    return OK


@cuda.jit(device=True)
def write_position_and_quaternion(given, row, to, at):
    """x, y, z and a quaternion w, x, y, z of any length as a pose."""
    for k in range(7):
        if not math.isfinite(item(given, row, k, 0)):
            return NOT_FINITE
    square = 0.0
    for k in range(4):
        to[at + k] = item(given, row, 3 + k, 0)
        square += to[at + k] * to[at + k]
    if not square >= 1e-18:
        return NOT_A_ROTATION
    for k in range(4):
        to[at + k] /= math.sqrt(square)
    for k in range(3):
        to[at + 4 + k] = item(given, row, k, 0)
    return OK


@cuda.jit
def write_rows(table):
    """Write rows of numbers; the least complaint of all is left, as row * CODES + code."""
    given = read(table)
    row = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row >= given.rows:
        return
    kind, to, at, wrong = given.kind, given.numbers[row], given.column, OK
    if kind == START:
        for k in range(to.size):
            to[k] = given.base[k]
            if math.isnan(to[k]):  # no lock holds it
                to[k] = item(given, row, k, 0)
                if not math.isfinite(to[k]):
                    wrong = NOT_FINITE
    elif kind == POSE_TARGET and given.columns == 7:
        wrong = write_position_and_quaternion(given, row, to, at)
    elif kind in (POSE_TARGET, ROTATION_TARGET):
        matrix = cuda.local.array((4, 4), np.float64)
        for i in range(4):
            for j in range(4):
                matrix[i, j] = 1.0 if i == j else 0.0
        for i in range(given.columns):
            for j in range(given.columns):
                matrix[i, j] = item(given, row, i, j)
        if given.single != 0:
            straighten(matrix)
        if kind == ROTATION_TARGET:
            for k in range(3):
                matrix[k, 3] = given.base[4 + k]
        wrong = write_pose(matrix, to, at)
    else:
        for k in range(given.base.size):
            to[at + k] = given.base[k]
        unit = 0.0
        if kind == DIRECTION_TARGET:
            unit = 1.0
        elif kind == OPPOSITE_TARGET:
            unit = -1.0
        wrong = write_vector(given, row, to, at + given.first, 3, unit)
    if wrong != OK:
        cuda.atomic.min(given.complaint, 0, row * CODES + wrong)


@cuda.jit
def mark_reached(table):
    """Write which rows are reached."""
    given = read_marks(table)
    row = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < given.statuses.size:
        given.success[row] = 1 if given.statuses[row] == REACHED else 0

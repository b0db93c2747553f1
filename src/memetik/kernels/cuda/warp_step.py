"""The damped step of kernels/problem/least_squares.py by the lanes of a warp: a row or a column of the system a lane."""

import math
from typing import Any

import numba.cuda
import numpy as np

from memetik.kernels.cuda.orders import FLOAT, TERMS, meet
from memetik.kernels.cuda.record import LANES, SIMULATED

cuda: Any = numba.cuda  # it has no types

ACROSS = min(LANES, 4)  # lanes along a row of a matrix ...
DOWN = LANES // ACROSS  # ... and along a column

# Indices of the hottest loops are unsigned: of a signed one it must be asked each time whether it counts from the end.
_U: Any = np.uint64
_LANES, _ZERO, _ONE, _TWO, _THREE = _U(LANES), _U(0), _U(1), _U(2), _U(3)
_FOUR, _FIVE, _SIX, _SEVEN, _EIGHT = _U(4), _U(5), _U(6), _U(7), _U(8)


@cuda.jit(device=True)
def reciprocal_root(value):
    """1 / sqrt(value)."""
    if SIMULATED:
        return 1.0 / math.sqrt(value)
    return cuda.libdevice.rsqrt(value)


@cuda.jit(device=True)
def solve_share(thread, a, size, b):
    """Cholesky in place, the diagonal with its reciprocals, and both substitutions; a column a lane."""
    lane, n = np.uint64(thread), np.uint64(size)
    for j in range(n):
        pivot = reciprocal_root(max(a[j, j], 1e-30))
        meet()
        for i in range(j + _ONE + lane, n, _LANES):
            a[i, j] *= pivot
        if lane == 0:
            a[j, j] = pivot
        meet()
        for k in range(j + _ONE + lane, n, _LANES):
            factor = a[k, j]
            for i in range(k, n):
                a[i, k] -= a[i, j] * factor
        meet()
    for j in range(n):
        value = b[j] * a[j, j]
        meet()
        for i in range(j + _ONE + lane, n, _LANES):
            b[i] -= a[i, j] * value
        if lane == 0:
            b[j] = value
        meet()
    for back in range(n):
        j = n - _ONE - back
        value = b[j] * a[j, j]
        meet()
        for i in range(lane, j, _LANES):
            b[i] -= a[j, i] * value
        if lane == 0:
            b[j] = value
        meet()


@cuda.jit(device=True)
def step_by_residuals_share(thread, variables, damping, ease, work):
    lane, n, m = np.uint64(thread), np.uint64(work.jacobian.shape[0]), np.uint64(work.residual.size)
    jacobian, system = work.jacobian, work.system
    for k in range(lane, n, _LANES):
        ease[k] = work.free[k] / (damping + work.diagonal[k])
    meet()
    for i in range(lane, m, _LANES):
        s = work.residual[i]
        for k in range(n):
            s -= jacobian[k, i] * (work.gradient[k] * ease[k])
        work.right[i] = s
        # Eight entries of a row at a time, so that sums do not wait for one another. Those past the diagonal are of no use.
        for first in range(_ZERO, i + _ONE, _EIGHT):
            j = min(first, m - min(_EIGHT, m))
            s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for k in range(n):
                row = jacobian[k]
                e = ease[k] * row[i]
                s0 += row[j] * e
                s1 += row[min(j + _ONE, m - _ONE)] * e
                s2 += row[min(j + _TWO, m - _ONE)] * e
                s3 += row[min(j + _THREE, m - _ONE)] * e
                s4 += row[min(j + _FOUR, m - _ONE)] * e
                s5 += row[min(j + _FIVE, m - _ONE)] * e
                s6 += row[min(j + _SIX, m - _ONE)] * e
                s7 += row[min(j + _SEVEN, m - _ONE)] * e
            entries = s0, s1, s2, s3, s4, s5, s6, s7
            for entry in range(8):
                at = j + np.uint64(entry)
                if at <= i:
                    system[i, at] = damping * entries[entry]
        system[i, i] += damping
    meet()
    solve_share(thread, system, m, work.right)
    for k in range(lane, n, _LANES):
        s = 0.0
        for i in range(np.uint64(variables[k].row_begin), np.uint64(variables[k].row_end)):
            s += jacobian[k, i] * work.right[i]
        work.step[k] = -(damping * s + work.gradient[k]) * ease[k]
    meet()


@cuda.jit(device=True)
def step_by_variables_share(lane, variables, damping, work):
    n, m = work.jacobian.shape
    for k in range(lane, n, LANES):
        g = work.gradient[k]
        for i in range(m):
            g += work.jacobian[k, i] * work.residual[i]
        work.step[k] = -g * work.free[k]
    for k in range(lane // ACROSS, n, DOWN):
        for j in range(lane % ACROSS, k + 1, ACROSS):
            s = 0.0
            if work.free[k] * work.free[j] != 0.0:
                first = max(variables[k].row_begin, variables[j].row_begin)
                for i in range(first, min(variables[k].row_end, variables[j].row_end)):
                    s += work.jacobian[k, i] * work.jacobian[j, i]
            work.system[k, j] = s + work.diagonal[k] + damping if k == j else s
    meet()
    solve_share(lane, work.system, n, work.step)


@cuda.jit(device=True)
def step_share(lane, problem, damping, work):
    variables = problem.variables
    if work.residual.size <= work.step.size:
        ease = cuda.shared.array(0, FLOAT)[TERMS + 2 * problem.terms.size :]
        step_by_residuals_share(lane, variables, damping, ease, work)
    else:
        step_by_variables_share(lane, variables, damping, work)

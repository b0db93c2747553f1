"""The damped step of kernels/problem/least_squares.py by the lanes of a warp: a row or a column of the system a lane."""

import math
from typing import Any

import numba.cuda
import numpy as np

from memetik.kernels.cuda.launch_record import LANES, SIMULATED
from memetik.kernels.cuda.warp_messages import FLOAT, TERMS, WHOLE_WARP, meet
from memetik.kernels.math.linear import LOST

cuda: Any = numba.cuda  # it has no types

ACROSS = min(LANES, 4)  # lanes along a row of a matrix ...
DOWN = LANES // ACROSS  # ... and along a column

# Indices of the hottest loops are unsigned: of a signed one it must be asked each time whether it counts from the end.
_U: Any = np.uint64
_LANES, _ZERO, _ONE, _TWO = _U(LANES), _U(0), _U(1), _U(2)


@cuda.jit(device=True)
def reciprocal_root(value):
    """1 / sqrt(value)."""
    if SIMULATED:
        return 1.0 / math.sqrt(value)
    return cuda.libdevice.rsqrt(value)


@cuda.jit(device=True)
def warp_max(value):
    """The largest value of all lanes."""
    if not SIMULATED:
        apart = 16
        while apart > 0:
            value = max(value, cuda.shfl_xor_sync(WHOLE_WARP, value, apart))
            apart //= 2
    return value


@cuda.jit(device=True)
def less_row(value, row, other, size):
    """`value` less the product of the first entries of two rows; two sums, so that one need not wait for the other."""
    more, even = 0.0, size - size % _TWO
    for k in range(_ZERO, even, _TWO):
        value -= row[k] * other[k]
        more += row[k + _ONE] * other[k + _ONE]
    if even < size:
        value -= row[even] * other[even]
    return value - more


@cuda.jit(device=True)
def solve_by_rows(thread, a, size, b):
    """As solve_share, for fewer rows than lanes, each of which has one in its register; b is one more row."""
    lane, n = np.uint64(thread), np.uint64(size)
    row = a[lane] if lane < n else b
    for j in range(n):
        value = 0.0
        if j <= lane <= n:
            value = less_row(row[j], row, a[j], j)
            if lane == j and value <= LOST * row[j]:
                value = 0.0  # a lost pivot has the reciprocal zero (math/linear.py)
        value_there = cuda.shfl_sync(WHOLE_WARP, value, np.int32(j))
        pivot = reciprocal_root(value_there) if value_there > 0.0 else 0.0
        if j < lane <= n:
            row[j] = value * pivot
        elif lane == j:
            row[j] = pivot
        meet()
    value, pivot = 0.0, 0.0
    if lane < n:
        value, pivot = b[lane], a[lane, lane]
    for back in range(n):
        j = n - _ONE - back
        share = cuda.shfl_sync(WHOLE_WARP, value * pivot, np.int32(j))
        if lane < j:
            value -= a[j, lane] * share
        elif lane == j:
            value = share
    meet()
    if lane < n:
        b[lane] = value
    meet()


@cuda.jit(device=True)
def solve_share(thread, a, size, b):
    """Cholesky in place, the diagonal with its reciprocals, and both substitutions; a row a lane."""
    lane, n = np.uint64(thread), np.uint64(size)
    for j in range(n):
        least = LOST * a[j, j]
        meet()
        for i in range(j + lane, n + _ONE, _LANES):
            row = a[i] if i < n else b
            row[j] = less_row(row[j], row, a[j], j)
        meet()
        pivot = reciprocal_root(a[j, j]) if a[j, j] > least else 0.0
        meet()
        for i in range(j + lane, n + _ONE, _LANES):
            row = a[i] if i < n else b
            row[j] = row[j] * pivot if i > j else pivot
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
def fill_by_residuals(thread, damping, ease, tree, work):
    """The system of `step_by_residuals`, and its right side."""
    lane, n, m = np.uint64(thread), np.uint64(work.jacobian.shape[0]), np.uint64(work.residual.size)
    jacobian, system, couples, shared = work.jacobian, work.system, tree.couples, tree.shared
    for k in range(lane, n, _LANES):
        ease[k] = work.free[k] / (damping + work.diagonal[k])
    meet()
    for i in range(lane, m, _LANES):
        s = work.residual[i]
        if tree.springs != 0:
            for k in range(n):
                s -= jacobian[k, i] * (work.gradient[k] * ease[k])
        work.right[i] = s
    # A square of up to three rows and three columns a lane, as sums over the variables that move both.
    last = m - _ONE
    for pair in range(lane, np.uint64(couples.shape[0]), _LANES):
        i0, j0 = np.uint64(couples[pair, 0]), np.uint64(couples[pair, 1])
        i1, i2, j1, j2 = min(i0 + _ONE, last), min(i0 + _TWO, last), min(j0 + _ONE, last), min(j0 + _TWO, last)
        s00, s01, s02, s10, s11, s12, s20, s21, s22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for at in range(np.uint64(couples[pair, 2]), np.uint64(couples[pair, 3])):
            variable = np.uint64(shared[at])
            row, e = jacobian[variable], ease[variable]
            r0, r1, r2, c0, c1, c2 = e * row[i0], e * row[i1], e * row[i2], row[j0], row[j1], row[j2]
            s00 += r0 * c0
            s01 += r0 * c1
            s02 += r0 * c2
            s10 += r1 * c0
            s11 += r1 * c1
            s12 += r1 * c2
            s20 += r2 * c0
            s21 += r2 * c1
            s22 += r2 * c2
        rows, columns = couples[pair, 4], couples[pair, 5]
        own = damping if i0 == j0 else 0.0
        system[i0, j0] = damping * s00 + own
        if columns > 1:
            system[i0, j1] = damping * s01
        if columns > 2:
            system[i0, j2] = damping * s02
        if rows > 1:
            system[i1, j0] = damping * s10
            if columns > 1:
                system[i1, j1] = damping * s11 + own
            if columns > 2:
                system[i1, j2] = damping * s12
        if rows > 2:
            system[i2, j0] = damping * s20
            if columns > 1:
                system[i2, j1] = damping * s21
            if columns > 2:
                system[i2, j2] = damping * s22 + own
    meet()


@cuda.jit(device=True)
def finish_by_residuals(thread, variables, damping, ease, work):
    """The step, from the solution of that system."""
    lane, n, jacobian = np.uint64(thread), np.uint64(work.jacobian.shape[0]), work.jacobian
    for k in range(lane, n, _LANES):
        s = 0.0
        for i in range(np.uint64(variables[k].row_begin), np.uint64(variables[k].row_end)):
            s += jacobian[k, i] * work.right[i]
        work.step[k] = -(damping * s + work.gradient[k]) * ease[k]
    meet()


@cuda.jit(device=True)
def fill_by_variables(lane, variables, damping, work):
    """The system of `step_by_variables`, with its right side in the step."""
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


@cuda.jit(device=True)
def shortening_share(lane, longest, work):
    """The share of the step by which no variable moves by more than `longest`."""
    most = 0.0
    for k in range(lane, work.step.size, LANES):
        most = max(most, abs(work.step[k]))
    most = warp_max(most)
    return longest / most if most > longest else 1.0


@cuda.jit(device=True)
def shorten_share(lane, longest, work):
    share = shortening_share(lane, longest, work)
    if share < 1.0:
        for k in range(lane, work.step.size, LANES):
            work.step[k] *= share
    meet()


def steps_by_lanes(clamped, by_residuals, small):
    """`damped_step` and `bounded_step` of kernels/problem/least_squares.py by lanes.

    `clamped` puts a value within the limits of a variable. Through which system steps go, and whether it is small enough for a
    row a lane, is known when this is compiled: the instruction cache is too small for code that never runs.
    """
    solve = solve_by_rows if small and not SIMULATED else solve_share

    @cuda.jit(device=True)
    def stops_share(lane, problem, x, longest, moves, work):
        """`stop_at_limits`, after the moves of the variables that were stopped before are put into the step."""
        variables = problem.variables
        for k in range(lane, x.size, LANES):
            work.step[k] += work.trial[k]
        meet()
        share, stopped = shortening_share(lane, longest, work), 0.0
        for k in range(lane, x.size, LANES):
            moves[k] = 0.0
            to = x[k] + share * work.step[k]
            if work.free[k] != 0.0 and not variables[k].lower <= to <= variables[k].upper:
                move = clamped(to, variables[k]) - x[k]
                work.free[k], work.trial[k], moves[k], stopped = 0.0, move, move, 1.0
        stopped = warp_max(stopped)
        meet()
        if stopped != 0.0:
            for i in range(lane, work.residual.size, LANES):
                s = work.residual[i]
                for k in range(x.size):
                    if moves[k] != 0.0:
                        s += work.jacobian[k, i] * moves[k]
                work.residual[i] = s
            meet()
        return stopped != 0.0

    @cuda.jit(device=True)
    def step_share(lane, problem, x, damping, longest, tree, work, bounded):
        """One damped step or, if `bounded`, the one of `bounded_step`, no longer than `longest`."""
        variables, ease = problem.variables, cuda.shared.array(0, FLOAT)[TERMS + 2 * problem.terms.size :]
        rounds = 1
        if bounded:
            rounds = 2
            for k in range(lane, x.size, LANES):
                work.trial[k] = 0.0
            meet()
        while rounds > 0:
            rounds -= 1
            if by_residuals:
                fill_by_residuals(lane, damping, ease, tree, work)
                solve(lane, work.system, work.residual.size, work.right)
                finish_by_residuals(lane, variables, damping, ease, work)
            else:
                fill_by_variables(lane, variables, damping, work)
                solve(lane, work.system, work.step.size, work.step)
            if bounded and not stops_share(lane, problem, x, longest, ease, work):
                rounds = 0
        if bounded:
            shorten_share(lane, longest, work)

    return step_share

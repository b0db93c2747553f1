"""The damped step of a whole body, all limbs at once: normal equations that are as sparse as the tree.

The residuals fall into blocks (problem/blocks.py). The variables of a block move nothing else; those of the trunk move several.
With residuals r, the Jacobian J of a block's own variables and K of the trunk's, D and g of the springs (least_squares.py),
damping a, and E = a / (a + D), the own variables are eliminated,

    B = a + J E J^T        w = r - J (E / a) g

what is left is a system as large as the trunk, for its step t,

    (1 / E + sum K^T B^-1 K) t = -(g / a + sum K^T B^-1 w)

and the steps of the limbs follow:   y = B^-1 (w + K t)      s = -E (g / a + J^T y)

Every block has a lane (compiler/lanes.py), so that the limbs of a body take no longer than one. A block that has fewer
residuals or variables than another has zeros in its lane.
"""

import numpy as np

from memetik.kernels.compiler.jit import jit_fast, jit_part
from memetik.kernels.compiler.lanes import fused, put, select, spread, sum_lanes, take
from memetik.kernels.math.linear import LOST

_ONE = np.uint64(1)  # indices of loops that do not start at zero are unsigned (math/linear.py says why)


@jit_part
def trunk_of(problem):
    """Where the variables of the trunk begin in the order."""
    return np.uint64(problem.blocks[problem.blocks.size - 1].end if problem.blocks.size > 0 else problem.order.size)


@jit_part
def gather_blocks(problem, work):
    """Bring a Jacobian into lanes: J and K of every block."""
    blocks, order, jacobian, trunk = problem.blocks, problem.order, work.jacobian, trunk_of(problem)
    for lane in range(blocks.size):
        first, rows = np.uint64(blocks[lane].row_begin), np.uint64(blocks[lane].row_end - blocks[lane].row_begin)
        begin = np.uint64(blocks[lane].begin)
        for p in range(np.uint64(blocks[lane].end) - begin):
            k = np.uint64(order[begin + p])
            for i in range(rows):
                work.columns[p, i, lane] = jacobian[k, first + i]
        for s in range(np.uint64(order.size) - trunk):
            k = np.uint64(order[trunk + s])
            for i in range(rows):
                work.border[s, i, lane] = jacobian[k, first + i]


@jit_part
def fill_sides(problem, trunk, damping, work):
    """Write E of the variables, and w of the blocks."""
    blocks, order, last = problem.blocks, problem.order, np.uint64(problem.order.size) - trunk
    for lane in range(blocks.size):
        first, rows = np.uint64(blocks[lane].row_begin), np.uint64(blocks[lane].row_end - blocks[lane].row_begin)
        begin = np.uint64(blocks[lane].begin)
        for i in range(rows):
            work.border[last, i, lane] = work.residual[first + i]
        for p in range(np.uint64(blocks[lane].end) - begin):
            k = np.uint64(order[begin + p])
            ease = work.free[k]
            if work.diagonal[k] != 0.0:
                ease *= damping / (damping + work.diagonal[k])
            work.ease[p, lane] = ease
            if work.gradient[k] != 0.0:
                for i in range(rows):
                    work.border[last, i, lane] -= work.columns[p, i, lane] * ease / damping * work.gradient[k]


@jit_part
def eliminate(count, damping, work):
    """Reduce B of all blocks to a triangle, and with it the `count` columns of the border, by Gauss without pivoting.

    Row i of `square` keeps what is right of the diagonal, and the reciprocal of the pivot on it.
    """
    columns, square, border, reduced, shares = work.columns, work.square, work.border, work.reduced, work.shares
    own, tall = columns.shape[0], columns.shape[1]
    for i in range(tall):
        for j in range(i):
            put(shares, j, -(take(square, j * tall + i) * take(square, j * tall + j)))
        for p in range(own):
            put(shares, tall + p, take(work.ease, p) * take(columns, p * tall + i))
        for j in range(i, tall):
            total = spread(damping if i == j else 0.0)
            for p in range(own):
                total = fused(take(shares, tall + p), take(columns, p * tall + j), total)
            least = LOST * total
            for q in range(i):
                total = fused(take(shares, q), take(square, q * tall + j), total)
            if i == j:  # a lost pivot has the reciprocal zero (math/linear.py)
                total = select(total > least, 1.0 / max(total, least), 0.0)
            put(square, i * tall + j, total)
        for s in range(count):
            total = take(border, s * tall + i)
            for q in range(i):
                total = fused(take(shares, q), take(reduced, s * tall + q), total)
            put(reduced, s * tall + i, total)


@jit_part
def fill_trunk(problem, trunk, damping, work):
    """Write the normal equations of the trunk, the right side behind them; a variable that is held has a row for itself."""
    order, system, reduced, square, shares = problem.order, work.trunk, work.reduced, work.square, work.shares
    size, tall = np.uint64(order.size) - trunk, work.columns.shape[1]
    for s in range(size):
        k = np.uint64(order[trunk + s])
        for i in range(tall):
            put(shares, i, (work.free[k] * take(square, i * tall + i)) * take(reduced, np.int64(s) * tall + i))
        for q in range(s, size + _ONE):
            total = spread(0.0)
            for i in range(tall):
                total = fused(take(shares, i), take(reduced, np.int64(q) * tall + i), total)
            system[s, q] = sum_lanes(total)
        system[s, s] += 1.0 + work.diagonal[k] / damping
        system[s, size] += work.free[k] * work.gradient[k] / damping
    for s in range(size):
        if work.free[np.uint64(order[trunk + s])] == 0.0:
            for q in range(s):
                system[q, s] = 0.0


@jit_fast
def solve_trunk(system, size):
    """Solve the normal equations of the trunk; the row behind them gets its step, negative."""
    for s in range(size):
        system[size, s] = LOST * system[s, s]
    for s in range(size):
        reciprocal = 1.0 / system[s, s] if system[s, s] > system[size, s] else 0.0
        for q in range(s + _ONE, size):
            share = system[s, q] * reciprocal
            for r in range(q, size + _ONE):
                system[q, r] -= share * system[s, r]
        system[s, s] = reciprocal
    for back in range(size):
        s = size - _ONE - back
        total = system[s, size]
        for q in range(s + _ONE, size):
            total -= system[s, q] * system[size, q]
        system[size, s] = total * system[s, s]


@jit_part
def step_by_blocks(problem, damping, work):
    """Solve (J^T J + D + damping) step = -(J^T r + g), with J in lanes already. A variable with free 0 stays where it is."""
    blocks, order, columns, square, answer = problem.blocks, problem.order, work.columns, work.square, work.shares
    trunk, own, tall = trunk_of(problem), columns.shape[0], columns.shape[1]
    size = np.uint64(order.size) - trunk
    moves = work.trunk[size]
    fill_sides(problem, trunk, damping, work)
    eliminate(np.int64(size) + 1, damping, work)
    fill_trunk(problem, trunk, damping, work)
    solve_trunk(work.trunk, size)
    for back in range(tall):
        i = tall - 1 - back
        total = take(work.reduced, np.int64(size) * tall + i)
        for s in range(size):
            total = fused(-moves[s], take(work.reduced, np.int64(s) * tall + i), total)
        for j in range(i + 1, tall):
            total = fused(-take(square, i * tall + j), take(answer, j), total)
        put(answer, i, total * take(square, i * tall + i))
    for p in range(own):
        total = spread(0.0)
        for i in range(tall):
            total = fused(take(columns, p * tall + i), take(answer, i), total)
        put(answer, tall + p, take(work.ease, p) * total)
    for p in range(trunk):  # also those that move no residual
        k = np.uint64(order[p])
        work.step[k] = -work.free[k] * work.gradient[k] / (damping + work.diagonal[k])
    for lane in range(blocks.size):
        begin = np.uint64(blocks[lane].begin)
        for p in range(np.uint64(blocks[lane].end) - begin):
            work.step[np.uint64(order[begin + p])] -= answer[np.uint64(tall) + p, lane]
    for s in range(size):
        work.step[np.uint64(order[trunk + s])] = -moves[s]

"""From the Cauchy point to the minimum of the model over the variables that are free there (Byrd et al. 1995, section 5.1).

With F the free and A the held variables, r the downhill slope of the model at the Cauchy point, the minimum is a step

    d_F = (r + W_F v / theta) / theta,    (M^-1 - W_F^T W_F / theta) v = W_F^T r

away. The matrix is as large as the memory, [-P  Q^T / theta; Q / theta  N / theta^2] with

    P = I + Y_F^T Y_F / theta,    Q = S_A^T Y_A - R,    N = theta S_A^T S_A,

and is solved by eliminating the first half, like the middle matrix. A minimum out of bounds is projected onto them, if the
way there still leads downhill, else the step is shortened (Morales and Nocedal 2011).
"""

from __future__ import annotations

import numpy as np

from memetik.kernels.jit import jit, jit_fast
from memetik.kernels.lbfgsb_memory import dot_row, factorise_surely


@jit_fast
def fill_system(theta, count, memory, pairs, newer, order, free, inner, across, outer):
    """Write P, Q and N (the lower halves of those that are symmetric)."""
    for i in range(count):
        for j in range(count):
            across[i, j] = -newer[i, j]
        for j in range(i + 1):
            inner[i, j] = outer[i, j] = 0.0
    for place in range(free):
        k = order[place]
        for i in range(count):
            y = pairs[k, i] / theta
            for j in range(i + 1):
                inner[i, j] += y * pairs[k, j]
    for place in range(free, order.size):
        k = order[place]
        for i in range(count):
            s = pairs[k, memory + i]
            for j in range(count):
                across[i, j] += s * pairs[k, j]
            s *= theta
            for j in range(i + 1):
                outer[i, j] += s * pairs[k, memory + j]
    for i in range(count):
        inner[i, i] += 1.0


@jit_fast
def solve_system(theta, count, memory, inner, across, outer, vector):
    """Solve for v in place. Returns whether rounding let it.

    With P = C C^T and J = Q C^-T:  (N + J J^T) u = theta v2 + J C^-1 v1,  then C^-T (J^T u - C^-1 v1) and theta u.
    """
    if not factorise_surely(inner, count):
        return False
    for i in range(count):
        forward(inner, count, across[i])
    for i in range(count):
        for j in range(i + 1):
            total = outer[i, j]
            for k in range(count):
                total += across[i, k] * across[j, k]
            outer[i, j] = total
    if not factorise_surely(outer, count):
        return False
    first, last = vector[:memory], vector[memory:]
    forward(inner, count, first)
    for i in range(count):
        total = theta * last[i]
        for j in range(count):
            total += across[i, j] * first[j]
        last[i] = total
    forward(outer, count, last)
    backward(outer, count, last)
    for j in range(count):
        first[j] = -first[j]
    for i in range(count):
        for j in range(count):
            first[j] += across[i, j] * last[i]
        last[i] *= theta
    backward(inner, count, first)
    return True


@jit_fast
def forward(factor, count, b):
    """Solve C b = b in place, for a Cholesky factor with reciprocals on its diagonal."""
    for i in range(count):
        total = b[i]
        for k in range(i):
            total -= factor[i, k] * b[k]
        b[i] = total * factor[i, i]


@jit_fast
def backward(factor, count, b):
    """Solve C^T b = b in place."""
    for back in range(count):
        last = np.uint64(count - 1 - back)
        b[last] *= factor[last, last]
        for k in range(last):
            b[k] -= factor[last, k] * b[last]


@jit_fast
def free_step(
    x, gradient, target, theta, count, memory, pairs, newer, order, free, inner, across, outer, moved, product, step
):
    """Write the step d from the Cauchy point `target` into `step`, zero for held variables. False if rounding forbids it."""
    for j in range(2 * memory):
        product[j] = 0.0
    for k in range(x.size):
        step[k] = 0.0
    for place in range(free):
        k = order[place]
        r = dot_row(pairs, k, count, memory, moved) - gradient[k] - theta * (target[k] - x[k])
        step[k] = r / theta
        for j in range(count):
            product[j] += r * pairs[k, j]
            product[memory + j] += r * pairs[k, memory + j]
    fill_system(theta, count, memory, pairs, newer, order, free, inner, across, outer)
    if not solve_system(theta, count, memory, inner, across, outer, product):
        return False
    for place in range(free):
        k = order[place]
        step[k] += dot_row(pairs, k, count, memory, product) / (theta * theta)
    return True


@jit
def take_free_step(x, lower, upper, gradient, target, step):
    """Move `target` along the step and into the bounds."""
    n = x.size
    slope = 0.0
    for k in range(n):
        aim = min(max(target[k] + step[k], lower[k]), upper[k])
        slope += gradient[k] * (aim - x[k])
    if slope < 0.0:
        for k in range(n):
            target[k] = min(max(target[k] + step[k], lower[k]), upper[k])
        return
    share = 1.0
    for k in range(n):
        if step[k] > 0.0 and target[k] + share * step[k] > upper[k]:
            share = (upper[k] - target[k]) / step[k]
        elif step[k] < 0.0 and target[k] + share * step[k] < lower[k]:
            share = (lower[k] - target[k]) / step[k]
    for k in range(n):
        target[k] = min(max(target[k] + share * step[k], lower[k]), upper[k])

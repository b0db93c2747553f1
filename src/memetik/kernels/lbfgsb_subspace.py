"""From the Cauchy point to the minimum of the model over the variables that are free there (Byrd et al. 1995, section 5.1).

With F the free and A the held variables, and r the downhill slope of the model at a point, the minimum is a step

    d_F = (r + W_F v / theta) / theta,    (M^-1 - W_F^T W_F / theta) v = W_F^T r

away. The matrix is [-P  Q^T / theta; Q / theta  N / theta^2], twice as wide as the memory, with

    P = I + Y_F^T Y_F / theta,    Q = S_A^T Y_A - I - R,    N = theta S_A^T S_A.

It is solved by eliminating the first half, like the middle matrix. If no variable is held, only the triangle -I - R is
left of Q, N is zero, and substitution will do.
"""

from __future__ import annotations

import numpy as np

from memetik.kernels.jit import jit, jit_fast
from memetik.kernels.lbfgsb_memory import add_product, factorise_surely, project


@jit_fast
def solve_freely(theta, count, memory, oldest, newer, changes, vector):
    """v in place where no variable is held: a = -theta (I + R)^-1 v2, u = -(I + R)^-T (v1 + P a), v = (a, theta u)."""
    first, last = vector[:memory], vector[memory:]
    for j in range(count):
        last[j] *= -theta
    for back in range(count):
        i = (oldest + count - 1 - back) % count
        for j in range(count):
            last[j] -= newer[i, j] * last[i]
    for i in range(count):
        total = 0.0
        for j in range(count):
            total += changes[i, j] * last[j]
        first[i] = -(first[i] + last[i] + total / theta)
    for age in range(count):
        i = (oldest + age) % count
        total = first[i]
        for j in range(count):
            total -= newer[i, j] * first[j]
        first[i] = total
    for j in range(count):
        first[j], last[j] = last[j], theta * first[j]


@jit_fast
def fill_system(theta, count, memory, pairs, newer, times, inner, across, outer):
    """Write P, Q and N (the lower halves of those that are symmetric). A variable is held where `times` is zero."""
    n = times.size
    for i in range(count):
        for j in range(count):
            across[i, j] = -newer[j, i]
        across[i, i] -= 1.0
        for j in range(i + 1):
            outer[i, j] = 0.0
            total = 0.0
            for k in range(n):
                total += pairs[i, k] * pairs[j, k] if times[k] > 0.0 else 0.0
            inner[i, j] = total / theta
        inner[i, i] += 1.0
    for k in range(n):
        if times[k] > 0.0:
            continue
        for i in range(count):
            s = pairs[memory + i, k]
            for j in range(count):
                across[i, j] += s * pairs[j, k]
            for j in range(i + 1):
                outer[i, j] += theta * s * pairs[memory + j, k]


@jit_fast
def solve_system(theta, count, memory, inner, across, outer, vector):
    """v in place. Returns whether rounding let it.

    With P = C C^T and J = Q C^-T:  (N + J J^T) u = theta v2 + J C^-1 v1,  then v = (C^-T (J^T u - C^-1 v1), theta u).
    """
    if not factorise_surely(inner, count):
        return False
    for i in range(count):
        forward(inner, count, across[i])
        for j in range(i + 1):
            for k in range(count):
                outer[i, j] += across[i, k] * across[j, k]
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
def step_freely(x, gradient, target, theta, count, memory, oldest, pairs, newer, changes, first, step):
    """Write the step from the Cauchy point `target`, no variable being held. `first` is -W^T g, and is used up.

    The minimum is looked for from x, where the slope is known.
    """
    solve_freely(theta, count, memory, oldest, newer, changes, first)
    for j in range(2 * memory):
        first[j] /= theta
    for k in range(gradient.size):
        step[k] = -gradient[k]
    add_product(pairs, count, memory, first, step)
    for k in range(gradient.size):
        step[k] = step[k] / theta + (x[k] - target[k])


@jit_fast
def step_beside_bounds(
    x, gradient, target, theta, count, memory, pairs, newer, times, inner, across, outer, moved, product, step
):
    """Write the step from the Cauchy point `target`, zero for held variables. Returns whether rounding let it."""
    n = x.size
    for k in range(n):
        step[k] = -gradient[k] - theta * (target[k] - x[k])
    add_product(pairs, count, memory, moved, step)
    for k in range(n):
        step[k] = step[k] if times[k] > 0.0 else 0.0
    project(pairs, count, memory, step, product)
    fill_system(theta, count, memory, pairs, newer, times, inner, across, outer)
    if not solve_system(theta, count, memory, inner, across, outer, product):
        return False
    for j in range(2 * memory):
        product[j] /= theta
    add_product(pairs, count, memory, product, step)
    for k in range(n):
        step[k] = step[k] / theta if times[k] > 0.0 else 0.0
    return True


@jit
def take_step(x, lower, upper, gradient, target, step):
    """Move `target` along the step.

    A step out of bounds is projected onto them, if the way from x still leads downhill, else it is shortened (Morales and
    Nocedal 2011).
    """
    n = x.size
    slope = 0.0
    for k in range(n):
        slope += gradient[k] * (min(max(target[k] + step[k], lower[k]), upper[k]) - x[k])
    share = 1.0
    if not slope < 0.0:
        for k in range(n):
            if target[k] + share * step[k] > upper[k]:
                share = (upper[k] - target[k]) / step[k]
            elif target[k] + share * step[k] < lower[k]:
                share = (lower[k] - target[k]) / step[k]
    for k in range(n):
        target[k] = min(max(target[k] + share * step[k], lower[k]), upper[k])

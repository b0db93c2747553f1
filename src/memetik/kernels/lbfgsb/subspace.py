"""The minimum of the model over the variables that no bound holds (Byrd et al. 1995, section 5.1).

With F the free and A the held variables, and r the downhill slope of the model at a point, the minimum is a step

    d_F = (r + W_F v / theta) / theta,    (M^-1 - W_F^T W_F / theta) v = W_F^T r

away. With v = (a, theta u) that is K (a, u) = (Y_F^T r, theta S_F^T r), where

    K = [ -I - Y^T Y / theta  -I - R^T ] + sum over A of w w^T = [ -I  L^T         ] - sum over F of w w^T
        [ -I - R               0       ]                         [ L   theta S^T S ]

and w = (row of Y / sqrt(theta), row of S sqrt(theta)) of a variable. The first form serves where few variables are held,
the second where few are free. If none is held, substitution in the triangle I + R will do.
"""

import math

import numpy as np

from memetik.kernels.compiler.jit import jit, jit_fast
from memetik.kernels.lbfgsb.memory import add_product
from memetik.kernels.math.symmetric import decompose, substitute_back


@jit_fast
def solve_freely(model):
    """(a, u) from W^T r in model.product, in place, where no variable is held.

    a = -(I + R)^-1 theta S^T r,    u = -(I + R)^-T (Y^T r + (I + Y^T Y / theta) a)
    """
    newer, changes, memory = model.newer, model.changes, model.older.shape[0]
    theta, count, oldest = model.known[0].theta, model.known[0].count, model.known[0].next
    first, last = model.product[:memory], model.product[memory:]
    for j in range(count):
        last[j] *= theta
    for back in range(count):
        i = (oldest + count - 1 - back) % count
        known = last[i]
        for j in range(count):
            last[j] -= newer[i, j] * known
    for i in range(count):
        total = 0.0
        for j in range(count):
            total += changes[i, j] * last[j]
        first[i] += -last[i] - total / theta
    for age in range(count):
        i = (oldest + age) % count
        total = first[i]
        for j in range(count):
            total -= newer[i, j] * first[j]
        first[i] = total
    for j in range(count):
        first[j], last[j] = -last[j], -first[j]


@jit_fast
def fill_system(times, held, model):
    """Write the upper triangle of K, and the right side model.product behind it. A variable is held where `times` is zero."""
    pairs, older, newer, steps, changes = model.pairs, model.older, model.newer, model.steps, model.changes
    vector, strip, system = model.product, model.corner, model.system
    theta, count, memory = model.known[0].theta, model.known[0].count, model.older.shape[0]
    few_held = 2 * held <= times.size
    for i in range(count):
        if few_held:
            for j in range(count):
                system[i, j] = -changes[i, j] / theta
                system[i, count + j] = -newer[i, j]
                system[count + i, count + j] = 0.0
            system[i, count + i] -= 1.0
        else:
            for j in range(count):
                system[i, j] = 0.0
                system[i, count + j] = older[j, i]
                system[count + i, count + j] = theta * steps[i, j]
        system[i, i] -= 1.0
        system[i, 2 * count] = vector[i]
        system[count + i, 2 * count] = theta * vector[memory + i]
    root = math.sqrt(theta)
    sign = 1.0 if few_held else -1.0
    end = np.uint64(2 * count)
    for k in range(times.size):
        if (times[k] > 0.0) != few_held:
            for j in range(count):
                strip[j] = pairs[j, k] / root
                strip[count + j] = pairs[memory + j, k] * root
            for i in range(end):
                share = sign * strip[i]
                for j in range(i, end):
                    system[i, j] += share * strip[j]


@jit_fast
def subspace_step(line, held, model):
    """Turn the slope r in line.direction (zero for held variables) into the step to the minimum. model.product is W^T r.

    Returns whether rounding let it.
    """
    step, vector, strip, system = line.direction, model.product, model.corner, model.system
    theta, count, memory = model.known[0].theta, model.known[0].count, model.older.shape[0]
    if held == 0:
        solve_freely(model)
    else:
        fill_system(line.times, held, model)
        if not decompose(system, 2 * count, count, 1):
            return False
        for j in range(count):
            strip[j], strip[count + j] = system[j, 2 * count], system[count + j, 2 * count]
        substitute_back(system, 2 * count, strip)
        for j in range(count):
            vector[j], vector[memory + j] = strip[j], strip[count + j]
    for j in range(count):
        vector[j] /= theta
    add_product(model, vector, step)
    for k in range(step.size):
        step[k] = step[k] / theta if line.times[k] > 0.0 else 0.0
    return True


@jit
def take_inside(line):
    """Write x plus the step in line.direction into line.target. Returns whether it lies within the bounds."""
    inside = True
    for k in range(line.x.size):
        line.target[k] = line.x[k] + line.direction[k]
        inside = inside and line.lower[k] <= line.target[k] <= line.upper[k]
    return inside

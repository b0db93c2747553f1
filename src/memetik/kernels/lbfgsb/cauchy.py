"""The generalised Cauchy point: the first minimum of the model along the projected gradient (Byrd et al. 1995, section 4).

The path x(t) = P(x - t g) is straight until a variable meets its bound, at t = (x - bound) / g, where it stays. Between
two such times the model is a parabola in t, whose slope and bend are carried along. So are M W^T d, where d is the
direction of the path, and M W^T (x(t) - x): both change linearly, and a bound costs one product with M. Few bounds are
met, so the next one is looked for among all variables, which costs less than keeping them sorted.
"""

import math

from memetik.kernels.compiler.jit import jit
from memetik.kernels.lbfgsb.memory import add_used, dot_used, multiply_middle

LEAST_BEND = 2.2e-16  # rounding must not make the model flat or turn it over: relative to the bend of theta I


@jit
def time_to_bound(x, lower, upper, gradient):
    """When a variable that moves against its gradient meets a bound; zero if it is held there."""
    if gradient < 0.0:
        return (x - upper) / gradient
    if gradient > 0.0:
        return (x - lower) / gradient
    return math.inf if lower < x < upper else 0.0


@jit
def begin_path(line):
    """Write when each variable meets its bound, and the direction of the path. Returns how many are held from the start."""
    held = 0
    for k in range(line.x.size):
        line.times[k] = time_to_bound(line.x[k], line.lower[k], line.upper[k], line.gradient[k])
        line.direction[k] = -line.gradient[k]
        if not line.times[k] > 0.0:
            line.direction[k] = 0.0
            held += 1
    return held


@jit
def cauchy_point(line, model):
    """Write the point into line.target, and M W^T (target - x) into model.moved. Returns how many bounds were met.

    model.first is W^T d where the path starts; a variable that meets its bound has its time set to zero.
    """
    x, lower, upper, gradient, times, target = line.x, line.lower, line.upper, line.gradient, line.times, line.target
    path, moved, corner, product, pairs = model.path, model.moved, model.corner, model.product, model.pairs
    theta, count, memory = model.known[0].theta, model.known[0].count, model.older.shape[0]
    n = x.size
    slope, bend, g = 0.0, 0.0, 1.0
    moving, met = 0, -1
    for k in range(n):
        target[k] = x[k]
        if times[k] > 0.0:
            slope -= gradient[k] * gradient[k]
            if gradient[k] != 0.0:
                moving += 1
    bend = -theta * slope
    least = LEAST_BEND * bend
    for j in range(2 * memory):
        path[j], moved[j], corner[j] = 0.0, 0.0, model.first[j]
    time = 0.0
    while True:
        # The path changes by `corner`: at first it is all of the direction, then the part of the variable that is left.
        for j in range(2 * memory):
            product[j] = corner[j]
        multiply_middle(model, product)
        slope -= g * dot_used(model, corner, moved)
        bend -= g * (2.0 * dot_used(model, corner, path) + g * dot_used(model, corner, product))
        add_used(model, g, product, path)
        met += 1
        if met == moving or not slope < 0.0:
            break
        next_bound, until = 0, math.inf
        for k in range(n):
            if 0.0 < times[k] < until:
                next_bound, until = k, times[k]
        bend = max(bend, least)
        step = -slope / bend
        at_minimum = step < until - time
        if not at_minimum:
            step = until - time
        add_used(model, step, path, moved)
        if at_minimum:
            time += step
            break
        k, g = next_bound, gradient[next_bound]
        time = until
        times[k] = 0.0
        target[k] = upper[k] if g < 0.0 else lower[k]
        slope += step * bend + g * (g + theta * (target[k] - x[k]))
        bend -= theta * g * g
        for j in range(count):
            corner[j], corner[memory + j] = pairs[j, k], pairs[memory + j, k]
    for k in range(n):
        if times[k] > 0.0:
            target[k] = min(max(x[k] - time * gradient[k], lower[k]), upper[k])
    return met

"""The generalised Cauchy point: the first minimum of the model along the projected gradient (Byrd et al. 1995, section 4).

The path x(t) = P(x - t g) is straight until a variable meets its bound, at t = (x - bound) / g, where it stays. Between
two such times the model is a parabola in t, whose slope and bend are carried along. So are p = M W^T d, where d is the
direction of the path, and c = M W^T (x(t) - x): both change linearly, and a bound costs one product with M. Few bounds are
passed, so the next one is looked for among all variables, which costs less than keeping them sorted.
"""

from __future__ import annotations

import math

from memetik.kernels.jit import jit, jit_fast, jit_inline
from memetik.kernels.lbfgsb_memory import dot_row, multiply_middle

LEAST_BEND = 2.2e-16  # rounding must not make the model flat or turn it over: relative to the bend of theta I


@jit_inline
def time_to_bound(x, lower, upper, gradient):
    """When a variable that moves against its gradient meets a bound; zero if it is held there."""
    if gradient < 0.0:
        return (x - upper) / gradient
    if gradient > 0.0:
        return (x - lower) / gradient
    return math.inf if lower < x < upper else 0.0


@jit_fast
def begin_path(gradient, times, theta, count, memory, pairs, older, middle, path, product):
    """Write p where the path starts. Returns slope and bend of the model there."""
    square = 0.0
    for j in range(2 * memory):
        product[j] = 0.0
    for k in range(gradient.size):
        if times[k] > 0.0:
            g = gradient[k]
            square += g * g
            for j in range(count):
                product[j] -= g * pairs[k, j]
                product[memory + j] -= g * pairs[k, memory + j]
    bend = theta * square
    if count > 0:
        for j in range(2 * memory):
            path[j] = product[j]
        multiply_middle(theta, count, memory, older, middle, path)
        for j in range(count):
            bend -= product[j] * path[j] + product[memory + j] * path[memory + j]
    return -square, bend


@jit_fast
def pass_bound(k, g, distance, theta, count, memory, pairs, older, middle, path, moved, product):
    """Take variable k out of the path: it has gone `distance` to its bound. Returns what slope and bend gain."""
    slope = g * g + theta * g * distance
    bend = -theta * g * g
    if count > 0:
        for j in range(count):
            product[j], product[memory + j] = pairs[k, j], pairs[k, memory + j]
        multiply_middle(theta, count, memory, older, middle, product)
        slope -= g * dot_row(pairs, k, count, memory, moved)
        bend -= g * (2.0 * dot_row(pairs, k, count, memory, path) + g * dot_row(pairs, k, count, memory, product))
        for j in range(count):
            path[j] += g * product[j]
            path[memory + j] += g * product[memory + j]
    return slope, bend


@jit
def cauchy_point(
    x, lower, upper, gradient, theta, count, memory, pairs, older, middle, times, path, moved, product, order, target
):
    """Write the point into `target`, c of it into `moved`, and into `order` the variables, first those that are free.

    `times`, `path` and `product` are scratch. Returns how many variables are free: not held by a bound at the point.
    """
    n = x.size
    moving = 0
    for k in range(n):
        times[k] = time_to_bound(x[k], lower[k], upper[k], gradient[k])
        target[k] = x[k]
        if times[k] > 0.0 and gradient[k] != 0.0:
            moving += 1
    for j in range(2 * memory):
        moved[j] = 0.0
    slope, bend = begin_path(gradient, times, theta, count, memory, pairs, older, middle, path, product)
    least = -LEAST_BEND * theta * slope
    time = 0.0
    while moving > 0 and slope < 0.0:
        first = 0
        until = math.inf
        for k in range(n):
            if 0.0 < times[k] < until:
                first, until = k, times[k]
        bend = max(bend, least)
        step = min(-slope / bend, until - time)
        for j in range(2 * memory):
            moved[j] += step * path[j]
        time += step
        if time < until:
            break
        time = until
        times[first] = 0.0
        moving -= 1
        target[first] = upper[first] if gradient[first] < 0.0 else lower[first]
        more_slope, more_bend = pass_bound(
            first, gradient[first], target[first] - x[first], theta, count, memory, pairs, older, middle, path, moved,
            product,
        )  # fmt: skip
        slope += step * bend + more_slope
        bend += more_bend
    free, held = 0, n
    for k in range(n):
        if times[k] > 0.0:
            target[k] = min(max(x[k] - time * gradient[k], lower[k]), upper[k])
            order[free] = k
            free += 1
        else:
            held -= 1
            order[held] = k
    return free

"""The generalised Cauchy point: the first minimum of the model along the projected gradient (Byrd et al. 1995, section 4).

The path x(t) = P(x - t g) is straight until a variable meets its bound, at t = (x - bound) / g, where it stays. Between
two such times the model is a parabola in t, whose slope and bend are carried along. So are M W^T d, where d is the
direction of the path, and M W^T (x(t) - x): both change linearly, and a bound costs one product with M. Few bounds are
passed, so the next one is looked for among all variables, which costs less than keeping them sorted.
"""

from __future__ import annotations

import math

from memetik.kernels.jit import jit, jit_inline
from memetik.kernels.lbfgsb_memory import add_used, dot_used, multiply_middle, project

LEAST_BEND = 2.2e-16  # rounding must not make the model flat or turn it over: relative to the bend of theta I


@jit_inline
def time_to_bound(x, lower, upper, gradient):
    """When a variable that moves against its gradient meets a bound; zero if it is held there."""
    if gradient < 0.0:
        return (x - upper) / gradient
    if gradient > 0.0:
        return (x - lower) / gradient
    return math.inf if lower < x < upper else 0.0


@jit
def cauchy_point(
    x, lower, upper, gradient, theta, count, memory, pairs, older, middle, times, direction, first, path, moved, corner,
    product, target,
):  # fmt: skip
    """Write the point into `target`, and M W^T (target - x) into `moved`. Returns how many variables are held by bounds.

    Those have a zero in `times`; `first` is W^T d where the path starts. The rest is scratch.
    """
    n = x.size
    slope = 0.0
    moving, held = 0, 0
    for k in range(n):
        times[k] = time_to_bound(x[k], lower[k], upper[k], gradient[k])
        target[k] = x[k]
        direction[k] = 0.0
        if times[k] > 0.0:
            direction[k] = -gradient[k]
            slope -= gradient[k] * gradient[k]
            if gradient[k] != 0.0:
                moving += 1
        else:
            held += 1
    bend = -theta * slope
    least = LEAST_BEND * bend
    project(pairs, count, memory, direction, first)
    for j in range(2 * memory):
        path[j], moved[j] = first[j], 0.0
    if count > 0:
        multiply_middle(theta, count, memory, older, middle, path)
        bend -= dot_used(count, memory, first, path)
    time = 0.0
    while moving > 0 and slope < 0.0:
        next_bound, until = 0, math.inf
        for k in range(n):
            if 0.0 < times[k] < until:
                next_bound, until = k, times[k]
        bend = max(bend, least)
        step = min(-slope / bend, until - time)
        add_used(count, memory, step, path, moved)
        time += step
        if time < until:
            break
        k, g = next_bound, gradient[next_bound]
        time = until
        times[k] = 0.0
        target[k] = upper[k] if g < 0.0 else lower[k]
        moving -= 1
        held += 1
        slope += step * bend + g * g + theta * g * (target[k] - x[k])
        bend -= theta * g * g
        if count > 0:
            for j in range(count):
                corner[j] = product[j] = pairs[j, k]
                corner[memory + j] = product[memory + j] = pairs[memory + j, k]
            multiply_middle(theta, count, memory, older, middle, product)
            slope -= g * dot_used(count, memory, corner, moved)
            bend -= g * (2.0 * dot_used(count, memory, corner, path) + g * dot_used(count, memory, corner, product))
            add_used(count, memory, g, product, path)
    for k in range(n):
        if times[k] > 0.0:
            target[k] = min(max(x[k] - time * gradient[k], lower[k]), upper[k])
    return held

"""L-BFGS-B: minimise a smooth function within bounds, from values and gradients (Byrd, Lu, Nocedal, Zhu 1995).

Each iteration follows the projected gradient to the first minimum of a quadratic model (lbfgsb_cauchy.py), goes on to the
minimum over the variables that no bound holds there (lbfgsb_subspace.py), searches the line from where it was to that
point (line_search.py), and learns the curvature along the step taken (lbfgsb_memory.py). As version 3.0 of the authors'
program does, it projects the subspace minimum onto the bounds (Morales and Nocedal 2011).

The caller evaluates. It begins, and tells one value and gradient after the other until it is told why to end:

    begin(rules, x, lower, upper, places, room)
    reason = RUNNING
    while reason == RUNNING:
        f = value at x, with the gradient written to room[:n]
        reason = advance(rules, f, GO_ON, x, lower, upper, places, room)

So it is compiled once, whatever is minimised. (A kernel that is handed a function cannot be cached by Numba.)
"""

from __future__ import annotations

import math
from typing import NamedTuple

from memetik.kernels.jit import jit, jit_inline
from memetik.kernels.lbfgsb_cauchy import begin_path, cauchy_point
from memetik.kernels.lbfgsb_memory import add_product, decompose_middle, project, store_pair
from memetik.kernels.lbfgsb_room import (
    COUNT,
    COUNTERS,
    EVALUATIONS,
    ITERATIONS,
    LEAST,
    NEXT,
    PREPARED,
    STEP,
    THETA,
    TRIALS,
    cut,
)
from memetik.kernels.lbfgsb_room import places_size as places_size
from memetik.kernels.lbfgsb_room import room_size as room_size
from memetik.kernels.lbfgsb_subspace import subspace_step, take_inside, take_step
from memetik.kernels.line_search import START_SLOPE, START_VALUE, begin_search, next_trial

# What the caller may say: go on, end with the best seen, or end with this point, whatever was seen before.
GO_ON, GIVE_UP, ACCEPT = 0, 1, 2

# Why it ended.
RUNNING = 0
CONVERGED = 1  # the projected gradient is small enough
SETTLED = 2  # an iteration gained too little
ITERATIONS_SPENT = 3
EVALUATIONS_SPENT = 4
GAVE_UP = 5  # the caller said so
ACCEPTED = 6  # the caller said so
STUCK = 7  # no way downhill, not even along the gradient
UNDEFINED = 8  # no finite value and gradient at the start

TRIALS_MOST = 20  # of one line search
LONGEST_STEP = 1e10  # times the step to the minimum of the model
ROUNDING = 2.2e-16  # curvature below this share of the slope is noise


class Rules(NamedTuple):
    """When to end, and how much to remember."""

    iterations: int  # at most
    evaluations: int  # at most
    gradient_tolerance: float  # end when no component of the projected gradient is larger
    gain_tolerance: float  # end when an iteration gains at most this times max(|f before|, |f after|, 1)
    memory: int  # how many pairs are kept


@jit
def begin(rules, x, lower, upper, places, room):
    """Move x into the bounds, where the first evaluation is due, and forget all that was."""
    work = cut(room, x.size, rules.memory)
    for j in range(COUNTERS):
        places[j] = 0
    work.scalars[LEAST] = math.inf
    for k in range(x.size):
        x[k] = work.best[k] = min(max(x[k], lower[k]), upper[k])
        work.direction[k] = 0.0


@jit
def advance(rules, f, verdict, x, lower, upper, places, room):
    """Told the value and gradient (the first n of `room`) at x, write where to evaluate next into x, or return why not.

    A value or gradient that is not finite is a step too far. x never leaves the bounds, which may be infinite or equal.
    When it returns anything but RUNNING, x is the best point seen, or the accepted one.
    """
    memory = rules.memory
    work = cut(room, x.size, memory)
    scalars = work.scalars
    places[EVALUATIONS] += 1
    first = places[EVALUATIONS] == 1
    if verdict == ACCEPT:
        scalars[LEAST] = f
        return ACCEPTED
    slope = 0.0  # not a number if any component of the gradient is not finite, even where the direction is zero
    for k in range(x.size):
        slope += work.gradient[k] * work.direction[k]
    finite = math.isfinite(f) and math.isfinite(slope)
    if finite and f < scalars[LEAST]:
        scalars[LEAST] = f
        for k in range(x.size):
            work.best[k] = x[k]
    step, arrived = 0.0, True
    if not first:
        places[TRIALS] += 1
        step, arrived = next_trial(scalars, scalars[STEP], f, slope)
    reason = RUNNING
    if verdict != GO_ON:
        reason = GAVE_UP
    elif first and not finite:
        reason = UNDEFINED
    elif arrived:
        before = scalars[START_VALUE]
        if not first:
            places[ITERATIONS] += 1
        if projected_gradient(x, lower, upper, work.gradient) <= rules.gradient_tolerance:
            reason = CONVERGED
        elif not first and before - f <= rules.gain_tolerance * max(abs(before), abs(f), 1.0):
            reason = SETTLED
        elif places[ITERATIONS] >= rules.iterations:
            reason = ITERATIONS_SPENT
    if reason == RUNNING and places[EVALUATIONS] >= rules.evaluations:
        reason = EVALUATIONS_SPENT
    if reason == RUNNING:
        if arrived:
            if not first:
                learn(x, slope, memory, places, work)
        elif places[TRIALS] < TRIALS_MOST:
            take_trial(x, lower, upper, step, work)
            return RUNNING
        else:  # the model has led astray: forget it, and start again where the line search did
            f = scalars[START_VALUE]
            for k in range(x.size):
                x[k], work.gradient[k] = work.origin[k], work.before[k]
            if places[COUNT] == 0:
                reason = STUCK
            places[COUNT] = 0
    if reason == RUNNING:
        reason = aim(f, x, lower, upper, memory, places, work)
    if reason != RUNNING:
        for k in range(x.size):
            x[k] = work.best[k]
    return reason


@jit_inline
def least_value(x, room):
    """The value at the point that was found."""
    return room[x.size + LEAST]


@jit
def projected_gradient(x, lower, upper, gradient):
    """The largest component of the gradient, none longer than the way to the bound that it pushes against."""
    largest = 0.0
    for k in range(x.size):
        g = gradient[k]
        g = max(g, x[k] - upper[k]) if g < 0.0 else min(g, x[k] - lower[k])
        largest = max(largest, abs(g))
    return largest


@jit_inline
def take_trial(x, lower, upper, step, work):
    """Write the next trial of the line search into x; rounding must not take it over a bound."""
    work.scalars[STEP] = step
    for k in range(x.size):
        there = work.target[k] if step == 1.0 else work.origin[k] + step * work.direction[k]
        x[k] = min(max(there, lower[k]), upper[k])


@jit
def learn(x, slope, memory, places, work):
    """Take the step of the line search into the model, if the function bends upwards along it."""
    scalars = work.scalars
    curvature = (slope - scalars[START_SLOPE]) * scalars[STEP]
    if curvature <= -ROUNDING * scalars[START_SLOPE] * scalars[STEP]:
        return
    slot = places[NEXT]
    places[NEXT] = (slot + 1) % memory
    count = places[COUNT] = min(places[COUNT] + 1, memory)
    theta = scalars[THETA] = store_pair(
        x, work.origin, work.gradient, work.before, 1.0 / math.sqrt(curvature), slot, count, memory, work.pairs, work.older,
        work.newer, work.steps, work.changes,
    )  # fmt: skip
    places[PREPARED] = 0
    if not theta < math.inf:
        places[COUNT] = 0


@jit
def aim(f, x, lower, upper, memory, places, work):
    """Begin a line search to the minimum of the model within the bounds. Returns STUCK if no way leads downhill."""
    n = x.size
    scalars, direction = work.scalars, work.direction
    while True:
        count = places[COUNT]
        if count == 0:
            # Without a model the Cauchy point is all there is: B = I, so its path ends a gradient away.
            places[NEXT] = 0
            sound = True
            for k in range(n):
                work.target[k] = min(max(x[k] - work.gradient[k], lower[k]), upper[k])
        else:
            sound = find_minimum(x, lower, upper, count, memory, places, work)
        slope, square, longest = 0.0, 0.0, LONGEST_STEP
        boxed, bounded = True, False
        for k in range(n):
            way = work.target[k] - x[k]
            direction[k] = way
            work.origin[k], work.before[k] = x[k], work.gradient[k]
            slope += way * work.gradient[k]
            square += way * way
            low, high = lower[k] > -math.inf, upper[k] < math.inf
            boxed = boxed and low and high
            bounded = bounded or low or high
            if way > 0.0:
                longest = min(longest, (upper[k] - x[k]) / way)
            elif way < 0.0:
                longest = min(longest, (lower[k] - x[k]) / way)
        if sound and slope < 0.0:
            break
        if count == 0:
            return STUCK
        places[COUNT] = 0
    step = 1.0
    if count == 0:
        # Nothing is known about lengths yet: try one unit, and not more than the Cauchy point where there are bounds.
        if bounded:
            longest = 1.0
        if not boxed:
            step = min(1.0 / math.sqrt(square), longest)
    places[TRIALS] = 0
    begin_search(scalars, f, slope, step, longest)
    take_trial(x, lower, upper, step, work)
    return RUNNING


@jit
def find_minimum(x, lower, upper, count, memory, places, work):
    """Write where the model is least within the bounds, or nearly so, into work.target. False if rounding forbids it.

    The minimum over the variables that are not held at x, where it lies within the bounds, is below the Cauchy point. Only
    where it does not, the Cauchy point says which other bounds to hold.
    """
    n, theta, direction = x.size, work.scalars[THETA], work.direction
    held = begin_path(x, lower, upper, work.gradient, work.times, direction)
    project(work.pairs, count, memory, direction, work.first)
    for j in range(2 * memory):
        work.product[j] = work.first[j]
    at_cauchy_point = False
    while True:
        if not subspace_step(
            theta, count, memory, places[NEXT], work.pairs, work.older, work.newer, work.steps, work.changes, work.times,
            held, work.corner, work.system, work.product, direction,
        ):  # fmt: skip
            return False
        if at_cauchy_point:
            break
        if take_inside(x, lower, upper, direction, work.target):
            return True
        if not places[PREPARED]:
            places[PREPARED] = 1
            if not decompose_middle(theta, count, work.older, work.steps, work.middle):
                return False
        met = cauchy_point(
            x, lower, upper, work.gradient, theta, count, memory, work.pairs, work.older, work.middle, work.first,
            work.times, work.path, work.moved, work.corner, work.product, work.target,
        )  # fmt: skip
        if met == 0:  # the same variables are held, so the minimum is where it was
            for k in range(n):
                direction[k] += x[k] - work.target[k]
            break
        held += met
        if held == n:
            return True
        at_cauchy_point = True
        for k in range(n):
            direction[k] = -work.gradient[k] - theta * (work.target[k] - x[k])
        add_product(work.pairs, count, memory, work.moved, direction)
        for k in range(n):
            direction[k] = direction[k] if work.times[k] > 0.0 else 0.0
        project(work.pairs, count, memory, direction, work.product)
    take_step(x, lower, upper, work.gradient, direction, work.target)
    return True

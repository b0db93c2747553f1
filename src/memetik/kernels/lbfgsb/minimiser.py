"""L-BFGS-B: minimise a smooth function within bounds, from values and gradients (Byrd, Lu, Nocedal, Zhu 1995).

Each iteration follows the projected gradient to the first minimum of a quadratic model (cauchy.py), goes on to the
minimum over the variables that no bound holds there (subspace.py), searches the line from where it was to that
point (line_search.py), and learns the curvature along the step taken (memory.py). As version 3.0 of the authors'
program does, it projects the subspace minimum onto the bounds (Morales and Nocedal 2011).

The caller evaluates. It begins, and tells one value and gradient after the other until it is told why to end:

    places[MINIMUM] = minimum_address()
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

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.lbfgsb.function_pointers import call_minimum
from memetik.kernels.lbfgsb.memory import store_pair
from memetik.kernels.lbfgsb.scratch import (
    COUNT,
    COUNTERS,
    EVALUATIONS,
    ITERATIONS,
    LEAST,
    MINIMUM,
    NEXT,
    STEP,
    THETA,
    TRIALS,
    cut_line,
    cut_model,
)
from memetik.kernels.lbfgsb.scratch import places_size as places_size
from memetik.kernels.lbfgsb.scratch import room_size as room_size
from memetik.kernels.math.line_search import START_SLOPE, START_VALUE, begin_search, next_trial

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
    line = cut_line(room, x.size)
    for j in range(COUNTERS):
        places[j] = 0
    line.scalars[LEAST] = math.inf
    for k in range(x.size):
        x[k] = line.best[k] = min(max(x[k], lower[k]), upper[k])
        line.direction[k] = 0.0


@jit
def advance(rules, f, verdict, x, lower, upper, places, room):
    """Told the value and gradient (the first n of `room`) at x, write where to evaluate next into x, or return why not.

    A value or gradient that is not finite is a step too far. x never leaves the bounds, which may be infinite or equal.
    When it returns anything but RUNNING, x is the best point seen, or the accepted one.
    """
    line = cut_line(room, x.size)
    scalars = line.scalars
    places[EVALUATIONS] += 1
    if verdict == ACCEPT:
        scalars[LEAST] = f
        return ACCEPTED
    slope = 0.0  # not a number if any component of the gradient is not finite, even where the direction is zero
    for k in range(x.size):
        slope += line.gradient[k] * line.direction[k]
    finite = math.isfinite(f) and math.isfinite(slope)
    if finite and f < scalars[LEAST]:
        scalars[LEAST] = f
        for k in range(x.size):
            line.best[k] = x[k]
    first = places[EVALUATIONS] == 1
    step, arrived = 0.0, True
    if not first:
        places[TRIALS] += 1
        step, arrived = next_trial(scalars, scalars[STEP], f, slope)
        if arrived:
            places[ITERATIONS] += 1
    reason = judge(rules, f, verdict, x, lower, upper, finite, arrived, places, line)
    if reason == RUNNING and not arrived and places[TRIALS] < TRIALS_MOST:
        take_trial(x, lower, upper, step, line)
        return RUNNING
    if reason == RUNNING:
        model = cut_model(room, x.size, rules.memory)
        if not arrived:
            f = scalars[START_VALUE]
            reason = go_back(x, places, line)
        elif not first:
            learn(x, slope, rules.memory, places, line, model)
        if reason == RUNNING:
            reason = aim(f, x, lower, upper, rules.memory, places, line, model)
    if reason != RUNNING:
        for k in range(x.size):
            x[k] = line.best[k]
    return reason


@jit
def least_value(x, room):
    """The value at the point that was found."""
    return room[x.size + LEAST]


@jit
def judge(rules, f, verdict, x, lower, upper, finite, arrived, places, line):
    """Whether to go on after an evaluation, or why not."""
    first = places[EVALUATIONS] == 1
    if verdict != GO_ON:
        return GAVE_UP
    if first and not finite:
        return UNDEFINED
    if arrived:
        if projected_gradient(x, lower, upper, line.gradient) <= rules.gradient_tolerance:
            return CONVERGED
        before = line.scalars[START_VALUE]
        if not first and before - f <= rules.gain_tolerance * max(abs(before), abs(f), 1.0):
            return SETTLED
        if places[ITERATIONS] >= rules.iterations:
            return ITERATIONS_SPENT
    if places[EVALUATIONS] >= rules.evaluations:
        return EVALUATIONS_SPENT
    return RUNNING


@jit
def projected_gradient(x, lower, upper, gradient):
    """The largest component of the gradient, none longer than the way to the bound that it pushes against."""
    largest = 0.0
    for k in range(x.size):
        g = gradient[k]
        g = max(g, x[k] - upper[k]) if g < 0.0 else min(g, x[k] - lower[k])
        largest = max(largest, abs(g))
    return largest


@jit_part
def take_trial(x, lower, upper, step, line):
    """Write the next trial of the line search into x; rounding must not take it over a bound."""
    line.scalars[STEP] = step
    for k in range(x.size):
        there = line.target[k] if step == 1.0 else line.origin[k] + step * line.direction[k]
        x[k] = min(max(there, lower[k]), upper[k])


@jit_part
def go_back(x, places, line):
    """The model has led astray: forget it, and start again where the line search did. STUCK if there was no model."""
    for k in range(x.size):
        x[k], line.gradient[k] = line.origin[k], line.before[k]
    reason = STUCK if places[COUNT] == 0 else RUNNING
    places[COUNT] = 0
    return reason


@jit
def learn(x, slope, memory, places, line, model):
    """Take the step of the line search into the model, if the function bends upwards along it."""
    scalars = line.scalars
    curvature = (slope - scalars[START_SLOPE]) * scalars[STEP]
    if curvature <= -ROUNDING * scalars[START_SLOPE] * scalars[STEP]:
        return
    slot = places[NEXT]
    places[NEXT] = (slot + 1) % memory
    places[COUNT] = min(places[COUNT] + 1, memory)
    scalars[THETA] = store_pair(
        x, line.origin, line.gradient, line.before, 1.0 / math.sqrt(curvature), slot, places[COUNT], memory, model.pairs,
        model.older, model.newer, model.steps, model.changes,
    )  # fmt: skip
    if not scalars[THETA] < math.inf:
        places[COUNT] = 0


@jit
def aim(f, x, lower, upper, memory, places, line, model):
    """Begin a line search to the minimum of the model within the bounds. Returns STUCK if no way leads downhill."""
    while True:
        count = places[COUNT]
        if count == 0:
            # Without a model the Cauchy point is all there is: B = I, so its path ends a gradient away.
            places[NEXT] = 0
            sound = True
            for k in range(x.size):
                line.target[k] = min(max(x[k] - line.gradient[k], lower[k]), upper[k])
        else:
            sound = call_minimum(
                places[MINIMUM], x, lower, upper, line.scalars[THETA], count, memory, places[NEXT], line.gradient, line.times,
                line.direction, line.target, model,
            )  # fmt: skip
        slope, longest = 0.0, LONGEST_STEP
        for k in range(x.size):
            way = line.target[k] - x[k]
            line.direction[k] = way
            line.origin[k], line.before[k] = x[k], line.gradient[k]
            slope += way * line.gradient[k]
            if way != 0.0:
                longest = min(longest, ((upper[k] if way > 0.0 else lower[k]) - x[k]) / way)
        if sound and -math.inf < slope < 0.0:
            break
        if count == 0:
            return STUCK
        places[COUNT] = 0
    step = 1.0
    if count == 0:
        step, longest = first_step(lower, upper, line.direction)
    places[TRIALS] = 0
    begin_search(line.scalars, f, slope, step, longest)
    take_trial(x, lower, upper, step, line)
    return RUNNING


@jit_part
def first_step(lower, upper, direction):
    """How far to go, at first and at most, where nothing is known about lengths.

    Within a box as far as the Cauchy point; one unit, but not past that, where a bound is missing; one unit where all are.
    """
    square = 0.0
    boxed, bounded = True, False
    for k in range(direction.size):
        square += direction[k] * direction[k]
        low, high = lower[k] > -math.inf, upper[k] < math.inf
        boxed = boxed and low and high
        bounded = bounded or low or high
    longest = 1.0 if bounded else LONGEST_STEP
    return 1.0 if boxed else min(1.0 / math.sqrt(square), longest), longest

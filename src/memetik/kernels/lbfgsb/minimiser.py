"""L-BFGS-B: minimise a smooth function within bounds, from values and gradients (Byrd, Lu, Nocedal, Zhu 1995).

Each iteration follows the projected gradient to the first minimum of a quadratic model (cauchy.py), goes on to the
minimum over the variables that no bound holds there (subspace.py), searches the line from where it was to that
point (line_search.py), and learns the curvature along the step taken (memory.py). As version 3.0 of the authors'
program does, it projects the subspace minimum onto the bounds (Morales and Nocedal 2011).

The caller evaluates. It begins, and tells one value and gradient after the other until it is told why to end:

    minimiser = new_minimiser(variables, memory)
    table, line = table_of(minimiser), minimiser.line
    write line.lower, line.upper and the start line.x
    begin(table, iterations, evaluations, gradient_tolerance, gain_tolerance)
    reason = RUNNING
    while reason == RUNNING:
        f = value at line.x, with the gradient written to line.gradient
        reason = advance(table, f, GO_ON)

So it is compiled once, whatever is minimised. (A kernel that is handed a function cannot be cached by Numba.)
"""

import math
from typing import Any

from numba.core import types

from memetik.kernels.compiler.function_pointers import caller, lasting_address
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.lbfgsb.memory import store_pair
from memetik.kernels.lbfgsb.minimiser_record import Line, Minimiser, read_minimiser
from memetik.kernels.lbfgsb.minimum import FIND_MINIMUM, call_minimum, find_minimum
from memetik.kernels.math.line_search import begin_search, next_trial
from memetik.kernels.problem.function_pointers import TABLE
from memetik.kernels.runtime.record import allocate

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


# (table of a Minimiser, f, verdict): it is told one evaluation, and says why it ends if it does
ADVANCE = types.int64(TABLE, types.float64, types.int64)
call_advance = caller(ADVANCE)


def new_minimiser(variables: int, memory: int, **bounds: Any) -> Minimiser:
    """Its state, with `memory` pairs; lower and upper may be arrays that exist already."""
    sizes = {"variables": variables, "m": memory, "2m": 2 * memory, "2m + 1": 2 * memory + 1}
    minimum = lasting_address(find_minimum, FIND_MINIMUM)
    return allocate(Minimiser, sizes, line=allocate(Line, sizes, **bounds), minimum=minimum)


def no_minimiser() -> Minimiser:
    """The place of one in a record that has none."""
    sizes = {"variables": 0, "m": 0, "2m": 0, "2m + 1": 0}
    return allocate(Minimiser, sizes, line=allocate(Line, sizes), minimum=0)


@jit
def begin(table, iterations, evaluations, gradient_tolerance, gain_tolerance):
    """Move x into the bounds, where the first evaluation is due, and forget all that was. See PROGRESS for when it ends."""
    minimiser = read_minimiser(table)
    line, known = minimiser.line, minimiser.model.known[0]
    progress = line.progress[0]
    progress.most_iterations, progress.most_evaluations = iterations, evaluations
    progress.gradient_tolerance, progress.gain_tolerance = gradient_tolerance, gain_tolerance
    progress.iterations = progress.evaluations = progress.trials = 0
    progress.least = math.inf
    known.count = known.next = 0
    for k in range(line.x.size):
        line.x[k] = line.best[k] = min(max(line.x[k], line.lower[k]), line.upper[k])
        line.direction[k] = 0.0


@jit
def advance(table, f, verdict):
    """Told the value at line.x, its gradient being written, write where to evaluate next into line.x, or return why not.

    A value or gradient that is not finite is a step too far. x never leaves the bounds, which may be infinite or equal.
    When it returns anything but RUNNING, x is the best point seen, or the accepted one.
    """
    minimiser = read_minimiser(table)
    line, model = minimiser.line, minimiser.model
    x, progress = line.x, line.progress[0]
    progress.evaluations += 1
    if verdict == ACCEPT:
        progress.least = f
        return ACCEPTED
    slope = 0.0  # not a number if any component of the gradient is not finite, even where the direction is zero
    for k in range(x.size):
        slope += line.gradient[k] * line.direction[k]
    finite = math.isfinite(f) and math.isfinite(slope)
    if finite and f < progress.least:
        progress.least = f
        for k in range(x.size):
            line.best[k] = x[k]
    first = progress.evaluations == 1
    step, arrived = 0.0, True
    if not first:
        progress.trials += 1
        step, arrived = next_trial(line.search[0], progress.step, f, slope)
        if arrived:
            progress.iterations += 1
    reason = judge(f, verdict, finite, arrived, line)
    if reason == RUNNING and not arrived and progress.trials < TRIALS_MOST:
        take_trial(step, line)
        return RUNNING
    if reason == RUNNING:
        if not arrived:
            f = line.search[0].start_value
            reason = go_back(line, model)
        elif not first:
            learn(slope, line, model)
        if reason == RUNNING:
            reason = aim(f, line, model, minimiser.minimum, table)
    if reason != RUNNING:
        for k in range(x.size):
            x[k] = line.best[k]
    return reason


@jit_part
def judge(f, verdict, finite, arrived, line):
    """Whether to go on after an evaluation, or why not."""
    progress = line.progress[0]
    first = progress.evaluations == 1
    if verdict != GO_ON:
        return GAVE_UP
    if first and not finite:
        return UNDEFINED
    if arrived:
        if projected_gradient(line.x, line.lower, line.upper, line.gradient) <= progress.gradient_tolerance:
            return CONVERGED
        before = line.search[0].start_value
        if not first and before - f <= progress.gain_tolerance * max(abs(before), abs(f), 1.0):
            return SETTLED
        if progress.iterations >= progress.most_iterations:
            return ITERATIONS_SPENT
    if progress.evaluations >= progress.most_evaluations:
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
def take_trial(step, line):
    """Write the next trial of the line search into x; rounding must not take it over a bound."""
    line.progress[0].step = step
    for k in range(line.x.size):
        there = line.target[k] if step == 1.0 else line.origin[k] + step * line.direction[k]
        line.x[k] = min(max(there, line.lower[k]), line.upper[k])


@jit_part
def go_back(line, model):
    """The model has led astray: forget it, and start again where the line search did. STUCK if there was no model."""
    for k in range(line.x.size):
        line.x[k], line.gradient[k] = line.origin[k], line.before[k]
    reason = STUCK if model.known[0].count == 0 else RUNNING
    model.known[0].count = 0
    return reason


@jit_part
def learn(slope, line, model):
    """Take the step of the line search into the model, if the function bends upwards along it."""
    start, step, known = line.search[0].start_slope, line.progress[0].step, model.known[0]
    curvature = (slope - start) * step
    if curvature <= -ROUNDING * start * step:
        return
    store_pair(line, 1.0 / math.sqrt(curvature), model)
    if not known.theta < math.inf:
        known.count = 0


@jit_part
def aim(f, line, model, minimum, table):
    """Begin a line search to the minimum of the model within the bounds. Returns STUCK if no way leads downhill."""
    x, lower, upper, known = line.x, line.lower, line.upper, model.known[0]
    while True:
        count = known.count
        if count == 0:
            # Without a model the Cauchy point is all there is: B = I, so its path ends a gradient away.
            known.next = 0
            sound = True
            for k in range(x.size):
                line.target[k] = min(max(x[k] - line.gradient[k], lower[k]), upper[k])
        else:
            sound = call_minimum(minimum, table)
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
        known.count = 0
    step = 1.0
    if count == 0:
        step, longest = first_step(lower, upper, line.direction)
    line.progress[0].trials = 0
    begin_search(line.search[0], f, slope, step, longest)
    take_trial(step, line)
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

"""How far to go along a direction of descent: the line search of Moré and Thuente (1994).

For phi(a) = f(x + a d) it finds a step with enough decrease and a flat enough slope (the strong Wolfe conditions)

    phi(a) <= phi(0) + ENOUGH a phi'(0),    |phi'(a)| <= FLAT |phi'(0)|

by narrowing an interval that holds one. The caller evaluates: it begins a search, and tells value and slope of every trial
until the search is done. The state is a record, so that many searches can run side by side.
"""

import math

from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.runtime.record import item

ENOUGH, FLAT = 1e-3, 0.9  # as in L-BFGS-B 3.0
NARROW = 0.1  # the search is over when the interval is narrower than this, relative to its upper end
SHRINK = 0.66  # two trials must shrink the interval at least so far, else it is halved
REACH_LEAST, REACH_MOST = 1.1, 4.0  # how far a step is extrapolated while no interval is known
RETREAT = 0.1  # how much is left of a step to where the function is not defined

# The state of a search.
LINE_SEARCH = item(
    best=float,  # the end of the interval with the least value so far
    best_value=float,
    best_slope=float,
    other=float,  # the opposite end
    other_value=float,
    other_slope=float,
    start_value=float,
    start_slope=float,
    low=float,  # the next trial lies between these
    high=float,
    width=float,  # of the interval
    width_before=float,
    limit=float,  # no trial is beyond
    bracketed=int,  # 1 if the interval is known to hold a minimum
    falling=int,  # 1 until a trial has enough decrease and a slope that rises
)


@jit
def begin_search(state, value, slope, step, longest):
    """Start from value and slope (negative) at zero; the first trial is `step`, none will be beyond `longest`."""
    state.best = state.other = 0.0
    state.best_value = state.other_value = state.start_value = value
    state.best_slope = state.other_slope = state.start_slope = slope
    state.low, state.high = 0.0, step + REACH_MOST * step
    state.width, state.width_before = longest, 2.0 * longest
    state.limit = longest
    state.bracketed = 0
    state.falling = 1


@jit
def next_trial(state, step, value, slope):
    """Tell the value and slope at a trial. Returns the next trial, and whether the search is done with this one.

    A search is also done, short of its conditions, when rounding or the longest step end it.
    """
    if not (math.isfinite(value) and math.isfinite(slope)):
        state.limit = state.best + RETREAT * (step - state.best)
        state.bracketed = 0
        return state.limit, False
    least = ENOUGH * state.start_slope
    line = state.start_value + step * least
    if state.falling and value <= line and slope >= 0.0:
        state.falling = 0
    if _is_over(state, step, value, slope, line, least):
        return step, True
    # As long as the decrease was never enough, a function tilted by the least decrease has its minimum where it is.
    tilt = least if state.falling and value <= state.best_value and value > line else 0.0
    trial = step
    step = _narrow(state, step, value, slope, tilt)
    if not math.isfinite(step):  # numbers too large to interpolate
        step = 0.5 * trial
    if state.bracketed:
        width = abs(state.other - state.best)
        if width >= SHRINK * state.width_before:
            step = state.best + 0.5 * (state.other - state.best)
        state.width_before, state.width = state.width, width
        state.low, state.high = min(state.best, state.other), max(state.best, state.other)
    else:
        state.low = step + REACH_LEAST * (step - state.best)
        state.high = step + REACH_MOST * (step - state.best)
    step = min(max(step, 0.0), state.limit)
    if state.bracketed and _is_exhausted(state, step):
        step = state.best  # no better trial is left: end where it was best
    return step, False


@jit_part
def _is_exhausted(state, step):
    """Whether an interval holds no trial worth the while."""
    return step <= state.low or step >= state.high or state.high - state.low <= NARROW * state.high


@jit_part
def _is_over(state, step, value, slope, line, least):
    """Whether a trial satisfies both conditions, or the search has nowhere to go from it."""
    if value <= line and abs(slope) <= -FLAT * state.start_slope:
        return True
    if state.bracketed and _is_exhausted(state, step):
        return True
    return (step >= state.limit and value <= line and slope <= least) or step <= 0.0


@jit_part
def _cubic(a, value_a, slope_a, b, value_b, slope_b):
    """Where the cubic through two points with slopes has its minimum, as a share of the way from a to b; and its root."""
    bend = 3.0 * (value_a - value_b) / (b - a) + slope_a + slope_b
    largest = max(abs(bend), abs(slope_a), abs(slope_b))
    if largest == 0.0:
        return 0.0, 0.0
    square = (bend / largest) ** 2 - (slope_a / largest) * (slope_b / largest)
    root = largest * math.sqrt(max(square, 0.0))
    if b < a:
        root = -root
    below = (root - slope_a) + root + slope_b
    if below == 0.0:
        return 0.0, 0.0
    return (root - slope_a + bend) / below, root


@jit_part
def _secant(a, slope_a, b, slope_b):
    """Where the slope is zero if it changes evenly."""
    return a + slope_a / (slope_a - slope_b) * (b - a)


@jit
def _narrow(state, step, value, slope, tilt):
    """Take a trial into the interval, and interpolate where to try next.

    All is about the function less `tilt` times the step. Four cases: the value is higher than the best; the slopes point
    at each other; the slope is flatter; it is as steep as before.
    """
    best, other = state.best, state.other
    best_value, best_slope = state.best_value - tilt * best, state.best_slope - tilt
    other_value, other_slope = state.other_value - tilt * other, state.other_slope - tilt
    tilted_value, tilted_slope = value - tilt * step, slope - tilt
    bracketed = state.bracketed != 0
    opposed = tilted_slope * math.copysign(1.0, best_slope) < 0.0
    low, high = state.low, state.high
    if tilted_value > best_value:
        share, _ = _cubic(best, best_value, best_slope, step, tilted_value, tilted_slope)
        cubic = best + share * (step - best)
        rise = (best_value - tilted_value) / (step - best) + best_slope
        quadratic = best + 0.5 * best_slope / rise * (step - best)
        next_step = cubic if abs(cubic - best) < abs(quadratic - best) else cubic + 0.5 * (quadratic - cubic)
        bracketed = True
    elif opposed:
        share, _ = _cubic(step, tilted_value, tilted_slope, best, best_value, best_slope)
        cubic = step + share * (best - step)
        secant = _secant(step, tilted_slope, best, best_slope)
        next_step = cubic if abs(cubic - step) > abs(secant - step) else secant
        bracketed = True
    elif abs(tilted_slope) < abs(best_slope):
        share, root = _cubic(step, tilted_value, tilted_slope, best, best_value, best_slope)
        cubic = high if step > best else low  # if the cubic has no minimum beyond the trial
        if share < 0.0 and root != 0.0:
            cubic = step + share * (best - step)
        secant = _secant(step, tilted_slope, best, best_slope)
        nearer = abs(cubic - step) < abs(secant - step)
        if bracketed:
            next_step = cubic if nearer else secant
            most = step + SHRINK * (other - step)
            next_step = min(most, next_step) if step > best else max(most, next_step)
        else:
            next_step = min(max(secant if nearer else cubic, low), high)
    elif bracketed:
        share, _ = _cubic(step, tilted_value, tilted_slope, other, other_value, other_slope)
        next_step = step + share * (other - step)
    else:
        next_step = high if step > best else low
    if tilted_value > best_value:
        state.other, state.other_value, state.other_slope = step, value, slope
    else:
        if opposed:
            state.other, state.other_value, state.other_slope = best, state.best_value, state.best_slope
        state.best, state.best_value, state.best_slope = step, value, slope
    state.bracketed = 1 if bracketed else 0
    return next_step

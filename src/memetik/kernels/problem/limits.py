"""The limits of variables: to clamp to, to draw from, and to go round.

A joint whose range holds a whole turn has no limits as far as postures go, since each angle has a copy within them. A
method that stops such a joint at its limit is stuck at a wall that is not there. Of random poses of a UR5, most of whose
joints turn twice, one try of damped least squares solves 53 % with these walls and 88 % without.
"""

import math

from memetik.kernels.compiler.jit import jit
from memetik.kernels.runtime.random import uniform

WHOLE_TURN = 2.0 * math.pi - 1e-6  # rad; files give limits to so many digits


@jit
def clamp(value, variable):
    """The value, or the limit that it is beyond."""
    return min(max(value, variable.lower), variable.upper)


@jit
def sample(variable, state):
    """A value drawn within the limits."""
    return variable.sample_lower + (variable.sample_upper - variable.sample_lower) * uniform(state)


@jit
def move_inside(q, limits):
    """Move a joint vector inside the limits; whether it was not."""
    moved = False
    for k in range(q.size):
        value = clamp(q[k], limits[k])
        moved = moved or value != q[k]
        q[k] = value
    return moved


@jit
def wrap_towards(x, start, variables):
    """Take whole turns off every angle that may turn freely, to lie as near to the start as limits allow."""
    for k in range(x.size):
        variable = variables[k]
        if variable.whole_turn and math.isfinite(x[k] - start[k]):
            near = x[k] - 2.0 * math.pi * round((x[k] - start[k]) / (2.0 * math.pi))
            if not variable.lower <= near <= variable.upper:
                # The copy nearest to the start is out of limits: the next one in the direction of the limits.
                near += 2.0 * math.pi if near < variable.lower else -2.0 * math.pi
            if variable.lower <= near <= variable.upper:
                x[k] = near


@jit
def turns_freely(variable):
    """Whether whole turns do not matter and the limits leave room for one."""
    return variable.whole_turn and variable.upper - variable.lower > WHOLE_TURN


@jit
def bring_within(value, variable):
    """The value within the limits: by whole turns where they are free, else at the limit that it passed."""
    if turns_freely(variable):
        if value > variable.upper:
            value -= 2.0 * math.pi * math.ceil((value - variable.upper) / (2.0 * math.pi))
        elif value < variable.lower:
            value += 2.0 * math.pi * math.ceil((variable.lower - value) / (2.0 * math.pi))
    return clamp(value, variable)


@jit
def turn_back(x, variables):
    """Turn every joint that stands at a limit once round, if it may: the posture stays, and both ways are open again."""
    for k in range(x.size):
        variable = variables[k]
        if turns_freely(variable):
            if x[k] >= variable.upper:
                x[k] = max(x[k] - 2.0 * math.pi, variable.lower)
            elif x[k] <= variable.lower:
                x[k] = min(x[k] + 2.0 * math.pi, variable.upper)


@jit
def open_limits(variables, lower, upper):
    """Write the limits for a search that takes whole turns off its answer: none for joints that turn freely."""
    for k in range(lower.size):
        free = turns_freely(variables[k])
        lower[k] = -math.inf if free else variables[k].lower
        upper[k] = math.inf if free else variables[k].upper

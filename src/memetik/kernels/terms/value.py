"""VALUE: the value of a function that a user wrote, of all variables at once, for who minimises it (solvers/minimise.py).

The variables u are shares of the ranges of the function's own, p_k = lower_k + u_k (upper_k - lower_k). The residual is a rank

    r(f) = f  where f >= 1,    1 / (2 - f)  elsewhere,

which is positive, smooth and rises with f, so whoever makes the residual small makes the value small, whatever its sign.
"""

import math
from typing import Any

import numpy as np

from memetik.kernels.compiler.jit import jit, jit_allocating, jit_part
from memetik.kernels.terms.callback import call_guarded
from memetik.kernels.terms.custom import address_at
from memetik.kernels.terms.records import TermKind, declare

# Data: the address of the compiled function in two halves, then for each variable: lower and upper.
VALUE_COMPILED, VALUE_RANGES = 0, 2

STEP = 2.0**-26  # of the range: about the square root of the rounding error, where one-sided differences are best


@jit
def rank(value):
    """r(f), infinite where the function is not defined."""
    if not value < math.inf:
        return math.inf
    return value if value >= 1.0 else 1.0 / (2.0 - value)


@jit_part
def value_residual(term, data, world, x, out):
    """Ask the compiled function; where it raises an exception it is not defined."""
    if call_guarded(address_at(data, term.numbers + VALUE_COMPILED), term, data, world, x, out):
        out[term.row] = math.inf


@jit_allocating
def value_jacobian(term, data, world, x, nodes, frames, poses, axes, scale, jacobian):
    """One-sided differences, to the side with more room; as many calls as variables, and one."""
    row = term.row
    out = np.empty(row + 1)
    value_residual(term, data, world, x, out)
    here = out[row]
    for k in range(term.count):
        u = x[k]
        x[k] = u + STEP if u < 0.5 else u - STEP
        value_residual(term, data, world, x, out)
        difference = (out[row] - here) / (x[k] - u)
        x[k] = u
        jacobian[k, row] += scale * difference if math.isfinite(difference) else 0.0


VALUE = declare(TermKind(31, "value", "", 1, value_residual, value_jacobian))


def gradient_calls(terms: Any) -> int:
    """How often the derivatives of some terms ask functions of this kind, besides what the residuals do."""
    return int(sum(term["count"] + 1 for term in terms if term["kind"] == VALUE.number))


def value_function(function: Any) -> Any:
    """What is to be compiled to call a compiled function of one vector as a residual; it passes on what the function raises."""

    def residual(term, data, world, x, out):
        at = term.numbers + VALUE_RANGES
        point = np.empty(term.count)
        for k in range(term.count):
            lower, upper = data[at + 2 * k], data[at + 2 * k + 1]
            point[k] = min(max(lower + x[k] * (upper - lower), lower), upper)
        out[term.row] = rank(float(function(point)))

    return residual

"""SPRINGS: single variables pulled to a value or back into an interval.

Each spring has the residual stiffness * (distance of x from [low, high]). Springs never couple variables, so they enter
the normal equations as a diagonal and cost next to nothing even for a whole body.
"""

from memetik.kernels.compiler.jit import jit
from memetik.kernels.terms.records import FOLLOWS_START, TermKind, declare

# Data, for each of `count`: variable, stiffness, lower and upper end of the rest interval.
SPRING_VARIABLE, SPRING_STIFFNESS, SPRING_LOW, SPRING_HIGH, SPRING_DATA = 0, 1, 2, 3, 4


@jit
def stretch(data, k, x):
    """Signed distance of spring k's variable from its rest interval."""
    value = x[int(data[k + SPRING_VARIABLE])]
    if value < data[k + SPRING_LOW]:
        return value - data[k + SPRING_LOW]
    if value > data[k + SPRING_HIGH]:
        return value - data[k + SPRING_HIGH]
    return 0.0


@jit
def springs_cost(term, data, x):
    """Sum of squares of the stiffness times stretch, without the term's scale."""
    total = 0.0
    for s in range(term.count):
        k = term.numbers + s * SPRING_DATA
        pull = data[k + SPRING_STIFFNESS] * stretch(data, k, x)
        total += pull * pull
    return total


@jit
def springs_gradient(term, data, x, scale, gradient, diagonal):
    """Add J^T r to the gradient and the diagonal of J^T J, both with the scale squared."""
    for s in range(term.count):
        k = term.numbers + s * SPRING_DATA
        pull = stretch(data, k, x)
        if pull != 0.0 or data[k + SPRING_LOW] == data[k + SPRING_HIGH]:
            stiff = scale * data[k + SPRING_STIFFNESS]
            variable = int(data[k + SPRING_VARIABLE])
            gradient[variable] += stiff * stiff * pull
            diagonal[variable] += stiff * stiff


@jit
def springs_error(term, data, x):
    """Mean stretch weighted by stiffness, eq. 4.8 of the thesis; for a single spring of stiffness one |x - value|."""
    total = 0.0
    for s in range(term.count):
        k = term.numbers + s * SPRING_DATA
        total += data[k + SPRING_STIFFNESS] * abs(stretch(data, k, x))
    return total / term.count


@jit
def rest_at_start(terms, data, start):
    """Let the springs that follow the start rest there."""
    for t in range(terms.size):
        if terms[t].rows == 0 and terms[t].other == FOLLOWS_START:
            for s in range(terms[t].count):
                k = terms[t].numbers + s * SPRING_DATA
                value = start[int(data[k + SPRING_VARIABLE])]
                data[k + SPRING_LOW] = value
                data[k + SPRING_HIGH] = value


SPRINGS = declare(TermKind(3, "springs", "", 0, None, None))

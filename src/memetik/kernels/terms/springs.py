"""SPRINGS: single variables pulled to a value or back into an interval.

Each spring has the residual stiffness * (distance of x from [low, high]). Springs never couple variables, so they enter
the normal equations as a diagonal and cost next to nothing even for a whole body.

Three springs of the same stiffness on a ball (body/balls.py) that rest at values are one: their stretch is the angle from the
rotation of those values, because the values themselves jump where the rotation does not. With the rotation vector v from rest
to posture, a small turn w changes |v|^2 / 2 by v·w, and about by |w|^2 / 2 in the second order, so these stay a diagonal, too.
"""

import math

from memetik.kernels.body.balls import ball_rotation, three_turns, vector_between
from memetik.kernels.compiler.jit import jit, jit_part
from memetik.kernels.math.sincos import sincos
from memetik.kernels.math.vector import dot
from memetik.kernels.terms.records import AT_REFERENCE, FOLLOWS_START, TermKind, declare

# Data, for each of `count`: variable, stiffness, lower and upper end of the rest interval, and 0 or, for the first of the three
# springs of a ball, their stiffness with the sign of the ball; all three have stiffness 0 themselves then, and only rest values.
SPRING_VARIABLE, SPRING_STIFFNESS, SPRING_LOW, SPRING_HIGH, SPRING_BALL, SPRING_DATA = 0, 1, 2, 3, 4, 5


@jit
def stretch(data, k, x):
    """Signed distance of spring k's variable from its rest interval."""
    value = x[int(data[k + SPRING_VARIABLE])]
    if value < data[k + SPRING_LOW]:
        return value - data[k + SPRING_LOW]
    if value > data[k + SPRING_HIGH]:
        return value - data[k + SPRING_HIGH]
    return 0.0


@jit_part
def turn_from_rest(data, k, x):
    """The rotation vector of the ball of spring k from rest to x [rad], along its own axes; its length is the stretch."""
    sign, other, last = math.copysign(1.0, data[k + SPRING_BALL]), k + SPRING_DATA, k + 2 * SPRING_DATA
    rest = three_turns(sign * data[k + SPRING_LOW], sign * data[other + SPRING_LOW], sign * data[last + SPRING_LOW])
    return vector_between(rest, ball_rotation(x, int(data[k + SPRING_VARIABLE]), sign))


@jit_part
def along_turns(v, data, k, x, steps):
    """What a rotation vector has along the axes by which the ball of spring k turns: of its steps, or of its values."""
    variable, sign = int(data[k + SPRING_VARIABLE]), math.copysign(1.0, data[k + SPRING_BALL])
    s, c = sincos(sign * x[variable])
    first, second, third = sign * v[0], sign * (c * v[1] + s * v[2]), sign * (c * v[2] - s * v[1])
    if not steps:
        s, c = sincos(sign * x[variable + 1])
        third = s * first + c * third
    return first, second, third


@jit
def springs_cost(term, data, x):
    """Sum of squares of the stiffness times stretch, without the term's scale."""
    total = 0.0
    for s in range(term.count):
        k = term.numbers + s * SPRING_DATA
        pull = data[k + SPRING_STIFFNESS] * stretch(data, k, x)
        total += pull * pull
    for s in range(term.count):
        k = term.numbers + s * SPRING_DATA
        if data[k + SPRING_BALL] != 0.0:
            v = turn_from_rest(data, k, x)
            total += data[k + SPRING_BALL] ** 2 * dot(v, v)
    return total


@jit
def springs_gradient(term, data, x, scale, steps, gradient, diagonal):
    """Add J^T r to the gradient and the diagonal of J^T J, both with the scale squared; of balls by their steps or values."""
    for s in range(term.count):
        k = term.numbers + s * SPRING_DATA
        pull = stretch(data, k, x)
        if pull != 0.0 or data[k + SPRING_LOW] == data[k + SPRING_HIGH]:
            stiff = scale * data[k + SPRING_STIFFNESS]
            variable = int(data[k + SPRING_VARIABLE])
            gradient[variable] += stiff * stiff * pull
            diagonal[variable] += stiff * stiff
    for s in range(term.count):
        k = term.numbers + s * SPRING_DATA
        if data[k + SPRING_BALL] != 0.0:
            variable, stiff = int(data[k + SPRING_VARIABLE]), scale * data[k + SPRING_BALL]
            pulls = along_turns(turn_from_rest(data, k, x), data, k, x, steps)
            for j in range(3):
                gradient[variable + j] += stiff * stiff * pulls[j]
                diagonal[variable + j] += stiff * stiff


@jit
def springs_error(term, data, x):
    """Mean stretch weighted by stiffness, eq. 4.8 of the thesis; for a single spring of stiffness one |x - value|."""
    total = 0.0
    for s in range(term.count):
        k = term.numbers + s * SPRING_DATA
        total += data[k + SPRING_STIFFNESS] * abs(stretch(data, k, x))
    for s in range(term.count):
        k = term.numbers + s * SPRING_DATA
        if data[k + SPRING_BALL] != 0.0:
            v = turn_from_rest(data, k, x)
            total += abs(data[k + SPRING_BALL]) * math.sqrt(dot(v, v))
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


@jit
def is_displacement(term):
    """Whether a term is a Displacement that guides."""
    return term.soft != 0 and term.rows == 0 and (term.other == FOLLOWS_START or term.other == AT_REFERENCE)


@jit
def displacement(terms, data, start, x):
    """The squared distance of a posture from the start, by which the nearest of several solutions is chosen.

    It is what the search minimises of the Displacement objectives that guide: the sum of the squared changes from the start
    (or from their reference), each with its weights. Without any it is the plain sum of squares.
    """
    total, measured = 0.0, False
    for t in range(terms.size):
        if is_displacement(terms[t]):
            total += terms[t].scale ** 2 * springs_cost(terms[t], data, x)
            measured = True
    if not measured:
        for k in range(x.size):
            total += (x[k] - start[k]) ** 2
    return total


@jit
def displacement_springs(terms, data, start, rest, weight):
    """Write `displacement` as one spring for each variable: where it rests, and what its squared change is multiplied by.

    Several springs on a variable are one at their weighted mean, but for a constant. A variable without any rests at the start.
    """
    measured = False
    for k in range(rest.size):
        rest[k], weight[k] = start[k], 0.0
    for t in range(terms.size):
        if is_displacement(terms[t]):
            measured = True
            for s in range(terms[t].count):
                k = terms[t].numbers + s * SPRING_DATA
                variable = int(data[k + SPRING_VARIABLE])
                added = (terms[t].scale * data[k + SPRING_STIFFNESS]) ** 2
                if added > 0.0:
                    weight[variable] += added
                    rest[variable] += added / weight[variable] * (data[k + SPRING_LOW] - rest[variable])
    if not measured:
        for k in range(weight.size):
            weight[k] = 1.0


SPRINGS = declare(TermKind(3, "springs", "", 0, None, None))

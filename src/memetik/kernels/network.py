"""A feed-forward network of sigmoid units: its answer, its gradient, and the RPROP rule that trains it.

    a_0 = input        a_l = s(W_l a_{l-1} + b_l)        s(z) = 1 / (1 + exp(-z))

`sizes` counts the units of every layer, the input first. The weights of all layers stand in one vector: unit by unit, what
comes from the layer below and then the bias. `units` holds the outputs of all units, layer after layer. The error is the
mean over samples and outputs of (a - wanted)^2.
"""

from __future__ import annotations

import math

from memetik.kernels.encoding import scale_in, scale_out, write_wanted
from memetik.kernels.jit import jit, jit_fast, jit_inline

# RPROP (Riedmiller and Braun 1993): a step grows while the sign of its derivative stays, and shrinks when it changes.
GROW, SHRINK = 1.2, 0.5
FIRST_STEP, SHORTEST_STEP, LONGEST_STEP = 0.1, 1e-6, 50.0


@jit_inline
def sigmoid(z):
    """1 / (1 + exp(-z)), without overflow."""
    return 1.0 / (1.0 + math.exp(min(-z, 700.0)))


@jit_fast
def respond(sizes, weights, units):
    """Compute all units from the input, which stands first in `units`."""
    below, above, at = 0, sizes[0], 0
    for layer in range(1, sizes.size):
        many = sizes[layer - 1]
        for j in range(sizes[layer]):
            total = weights[at + many]
            for i in range(many):
                total += weights[at + i] * units[below + i]
            units[above + j] = sigmoid(total)
            at += many + 1
        below, above = above, above + sizes[layer]


@jit_fast
def mean_error(sizes, weights, inputs, wanted, units):
    """The mean squared error over the samples, which are the rows of `inputs` and `wanted`."""
    outputs = sizes[sizes.size - 1]
    top = units.size - outputs
    total = 0.0
    for s in range(inputs.shape[0]):
        for i in range(sizes[0]):
            units[i] = inputs[s, i]
        respond(sizes, weights, units)
        for j in range(outputs):
            total += (units[top + j] - wanted[s, j]) ** 2
    return total / (inputs.shape[0] * outputs)


@jit_fast
def error_slope(sizes, weights, inputs, wanted, units, faults, gradient):
    """The mean squared error, and its derivative by every weight in `gradient` (backpropagation).

    With d_l = dE/dz_l in `faults`: d_last = (a - wanted) a (1 - a), d_l = (W_{l+1}^T d_{l+1}) a_l (1 - a_l), and the
    derivative by W_l is d_l a_{l-1}^T, by b_l it is d_l.
    """
    outputs = sizes[sizes.size - 1]
    top = units.size - outputs
    total = 0.0
    for k in range(gradient.size):
        gradient[k] = 0.0
    for s in range(inputs.shape[0]):
        for i in range(sizes[0]):
            units[i] = inputs[s, i]
        respond(sizes, weights, units)
        for j in range(outputs):
            answer = units[top + j]
            off = answer - wanted[s, j]
            total += off * off
            faults[top + j] = off * answer * (1.0 - answer)
        above, at = top, weights.size
        for layer in range(sizes.size - 1, 0, -1):
            many = sizes[layer - 1]
            below = above - many
            at -= sizes[layer] * (many + 1)
            for i in range(many):
                faults[below + i] = 0.0
            for j in range(sizes[layer]):
                fault, row = faults[above + j], at + j * (many + 1)
                for i in range(many):
                    gradient[row + i] += fault * units[below + i]
                gradient[row + many] += fault
                if layer > 1:
                    for i in range(many):
                        faults[below + i] += fault * weights[row + i]
            for i in range(many):
                faults[below + i] *= units[below + i] * (1.0 - units[below + i])
            above = below
    share = 1.0 / (inputs.shape[0] * outputs)
    for k in range(gradient.size):
        gradient[k] *= 2.0 * share
    return total * share


@jit
def rprop(weights, gradient, previous, steps, moves):
    """One epoch: only the signs of the derivatives count.

    Same sign as before: a longer step. Other sign: the last move jumped over a minimum, so it is taken back and the step
    shortened; `previous` is zero then, so that the next epoch neither grows nor shrinks it.
    """
    for k in range(weights.size):
        turned = gradient[k] * previous[k]
        if turned < 0.0:
            steps[k] = max(SHRINK * steps[k], SHORTEST_STEP)
            weights[k] -= moves[k]
            previous[k] = moves[k] = 0.0
            continue
        if turned > 0.0:
            steps[k] = min(GROW * steps[k], LONGEST_STEP)
        moves[k] = 0.0
        if gradient[k] != 0.0:
            moves[k] = -steps[k] if gradient[k] > 0.0 else steps[k]
        weights[k] += moves[k]
        previous[k] = gradient[k]


@jit
def infer(terms, data, low, gain, lower, span, sizes, weights, units, x):
    """The posture x that the network answers to the targets in the data of a problem."""
    write_wanted(terms, data, units)
    scale_in(low, gain, units)
    respond(sizes, weights, units)
    scale_out(units, units.size - x.size, lower, span, x)


@jit
def infer_batch(places, rows, terms, data, low, gain, lower, span, sizes, weights, units, postures):
    """Postures for many targets: each of the rows is written to these places in the data, which is scratch here."""
    for r in range(rows.shape[0]):
        for k in range(places.size):
            data[places[k]] = rows[r, k]
        infer(terms, data, low, gain, lower, span, sizes, weights, units, postures[r])

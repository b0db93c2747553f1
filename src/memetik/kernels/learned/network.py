"""A feed-forward network of sigmoid units: its answer, and the RPROP rule that trains it.

    a_0 = input        a_l = s(W_l a_{l-1} + b_l)        s(z) = 1 / (1 + exp(-z))

`sizes` counts the units of every layer, the input first. The weights of all layers stand in one vector: unit by unit, what
comes from the layer below and then the bias. `units` holds the outputs of all units, layer after layer.
"""

from __future__ import annotations

import math

from memetik.kernels.compiler.array_table import floats_at, integers_at, terms_at
from memetik.kernels.compiler.jit import COMPILED, jit, jit_fast, jit_part
from memetik.kernels.learned.encoding import scale_in, scale_out, write_wanted
from memetik.kernels.problem.verify import wrap_towards

# RPROP (Riedmiller and Braun 1993): a step grows while the sign of its derivative stays, and shrinks when it changes.
GROW, SHRINK = 1.2, 0.5
FIRST_STEP, SHORTEST_STEP, LONGEST_STEP = 0.1, 1e-6, 50.0


@jit
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


@jit
def answer(terms, data, low, gain, lower, span, sizes, weights, units, x):
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
        answer(terms, data, low, gain, lower, span, sizes, weights, units, postures[r])


@jit_part
def infer(terms, data, bounds, active, low, gain, lower, span, sizes, weights, units, x, start, q):
    """Replace the active joints of q by the network's answer, brought near to what they were by whole turns."""
    for k in range(x.size):
        start[k] = q[active[k]]
    answer(terms, data, low, gain, lower, span, sizes, weights, units, x)
    wrap_towards(x, start, bounds)
    for k in range(x.size):
        q[active[k]] = x[k]


if COMPILED:

    @jit
    def infer_at(table, q):
        """infer with all arrays in one table (compiler/array_table.py), in the order of its arguments."""
        bounds, active = floats_at(table, 2), integers_at(table, 3)
        infer(
            terms_at(table, 0), floats_at(table, 1), bounds.reshape((5, active.size)), active, floats_at(table, 4),
            floats_at(table, 5), floats_at(table, 6), floats_at(table, 7), integers_at(table, 8), floats_at(table, 9),
            floats_at(table, 10), floats_at(table, 11), floats_at(table, 12), q,
        )  # fmt: skip

else:

    def infer_at(table, q):
        """infer with all arrays in one tuple."""
        infer(*table, q)


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

"""A feed-forward network of sigmoid units: its answer, and the RPROP rule that trains it.

    a_0 = input        a_l = s(W_l a_{l-1} + b_l)        s(z) = 1 / (1 + exp(-z))

`sizes` counts the units of every layer, the input first. The weights of all layers stand in one vector: unit by unit, what
comes from the layer below and then the bias. `units` holds the outputs of all units, layer after layer.
"""

import math
from typing import NamedTuple

from memetik.kernels.compiler.jit import jit, jit_fast
from memetik.kernels.learned.encoding import Scales, scale_in, scale_out, write_wanted
from memetik.kernels.problem.limits import wrap_towards
from memetik.kernels.problem.problem_record import VARIABLE
from memetik.kernels.runtime.record import Array, floats, integers, reader, records
from memetik.kernels.terms.records import TERM

# RPROP (Riedmiller and Braun 1993): a step grows while the sign of its derivative stays, and shrinks when it changes.
GROW, SHRINK = 1.2, 0.5
FIRST_STEP, SHORTEST_STEP, LONGEST_STEP = 0.1, 1e-6, 50.0

WHOLE_TURN = 2.0 * math.pi  # [rad]


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


class Network(NamedTuple):
    """A trained network bound to a problem, with its scratch."""

    scales: Scales
    terms: Array = records(TERM, "terms")  # of the problem
    variables: Array = records(VARIABLE, "variables")
    data: Array = floats("numbers")  # of the problem, with the targets to answer
    sizes: Array = integers("layers")  # units of each layer
    weights: Array = floats("weights")  # of each unit the weights of the layer below, then its bias
    units: Array = floats("units")  # of all layers, the input first
    x: Array = floats("variables")  # the answer
    start: Array = floats("variables")  # the posture at hand, which a network may hear


read_network = reader(Network)


@jit
def answer(network, x):
    """The posture x that the network answers to the targets in the data of its problem, and to the posture at hand."""
    first = write_wanted(network.terms, network.data, network.units)
    for k in range(network.sizes[0] - first):
        heard, lower = network.start[k], network.scales.lower[k]
        if network.variables[k].whole_turn:
            heard -= WHOLE_TURN * math.floor((heard - lower) / WHOLE_TURN)  # as it was in training
        network.units[first + k] = heard
    scale_in(network.scales, network.units)
    respond(network.sizes, network.weights, network.units)
    scale_out(network.units, network.units.size - x.size, network.scales, x)


@jit
def infer_batch(table, columns, rows, start, follow, postures):
    """Postures for many targets: each of the rows is written to these columns of the network's data.

    The posture at hand is `start`, or the answer to the row before if they are to `follow` one another.
    """
    network = read_network(table)
    for k in range(start.size):
        network.start[k] = start[k]
    for r in range(rows.shape[0]):
        for k in range(columns.size):
            network.data[columns[k]] = rows[r, k]
        answer(network, postures[r])
        if follow:
            for k in range(start.size):
                network.start[k] = postures[r, k]


@jit
def infer(table, q):
    """Replace the variables of q by the network's answer, brought near to what they were by whole turns."""
    network = read_network(table)
    x, variables = network.x, network.variables
    for k in range(x.size):
        network.start[k] = q[variables[k].index]
    answer(network, x)
    wrap_towards(x, network.start, variables)
    for k in range(x.size):
        q[variables[k].index] = x[k]


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

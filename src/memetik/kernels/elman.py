"""An Elman network: a layer of sigmoid units that also hears what it said one step ago, and outputs that listen to it.

    h_t = s(W u_t + C h_{t-1} + b)        y_t = s(V h_t + d)        h_{-1} = 0

So the answer to an input depends on the way that led there, which tells apart the postures that share a target. One vector
holds all weights: for each hidden unit W, C and b, then for each output V and d. The gradient runs back through the whole
sequence.
"""

from __future__ import annotations

from memetik.kernels.jit import jit_fast
from memetik.kernels.network import sigmoid


@jit_fast
def respond_in_turn(weights, inputs, hidden, outputs):
    """Hidden units and outputs for each step of one sequence, a row a step."""
    many, memory, answers = inputs.shape[1], hidden.shape[1], outputs.shape[1]
    width = many + memory + 1
    for t in range(inputs.shape[0]):
        for j in range(memory):
            row = j * width
            total = weights[row + width - 1]
            for i in range(many):
                total += weights[row + i] * inputs[t, i]
            if t > 0:
                for i in range(memory):
                    total += weights[row + many + i] * hidden[t - 1, i]
            hidden[t, j] = sigmoid(total)
        for j in range(answers):
            row = memory * width + j * (memory + 1)
            total = weights[row + memory]
            for i in range(memory):
                total += weights[row + i] * hidden[t, i]
            outputs[t, j] = sigmoid(total)


@jit_fast
def sequence_error(weights, inputs, wanted, hidden, outputs):
    """The mean squared error over sequences, steps and outputs; inputs and wanted are (sequences, steps, numbers)."""
    total = 0.0
    for s in range(inputs.shape[0]):
        respond_in_turn(weights, inputs[s], hidden, outputs)
        for t in range(outputs.shape[0]):
            for j in range(outputs.shape[1]):
                total += (outputs[t, j] - wanted[s, t, j]) ** 2
    return total / wanted.size


@jit_fast
def sequence_slope(weights, inputs, wanted, hidden, outputs, heard, faults, gradient):
    """The mean squared error, and its derivative by every weight in `gradient` (backpropagation through time).

    `heard` collects dE/dh_t from the outputs and from the step after; `faults` is dE/dz_t of the hidden units.
    """
    many, memory, answers = inputs.shape[2], hidden.shape[1], outputs.shape[1]
    width = many + memory + 1
    total = 0.0
    for k in range(gradient.size):
        gradient[k] = 0.0
    for s in range(inputs.shape[0]):
        respond_in_turn(weights, inputs[s], hidden, outputs)
        for j in range(memory):
            heard[j] = 0.0
        for t in range(outputs.shape[0] - 1, -1, -1):
            for j in range(answers):
                answer = outputs[t, j]
                off = answer - wanted[s, t, j]
                total += off * off
                fault, row = off * answer * (1.0 - answer), memory * width + j * (memory + 1)
                for i in range(memory):
                    gradient[row + i] += fault * hidden[t, i]
                    heard[i] += fault * weights[row + i]
                gradient[row + memory] += fault
            for j in range(memory):
                faults[j] = heard[j] * hidden[t, j] * (1.0 - hidden[t, j])
                heard[j] = 0.0
            for j in range(memory):
                fault, row = faults[j], j * width
                for i in range(many):
                    gradient[row + i] += fault * inputs[s, t, i]
                gradient[row + width - 1] += fault
                if t > 0:
                    for i in range(memory):
                        gradient[row + many + i] += fault * hidden[t - 1, i]
                        heard[i] += fault * weights[row + many + i]
    for k in range(gradient.size):
        gradient[k] *= 2.0 / wanted.size
    return total / wanted.size

"""An Elman network: a layer of sigmoid units that also hears what it said one step ago, and outputs that listen to it.

    h_t = s(W u_t + C h_{t-1} + b)        y_t = s(V h_t + d)        h_{-1} = 0

So the answer to an input depends on the way that led there, which tells apart the postures that share a target. One vector
holds all weights: for each hidden unit W, C and b, then for each output V and d.
"""

from memetik.kernels.compiler.jit import jit_fast
from memetik.kernels.learned.network import sigmoid


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

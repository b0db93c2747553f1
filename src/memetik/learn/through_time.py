"""The error of an Elman network on many sequences, and its gradient by backpropagation through time.

    H_t = s(U_t W^T + H_{t-1} C^T + b)        Y_t = s(H_t V^T + d)        H_{-1} = 0

with a row a sequence. What a step is to blame for is found backwards: dE/dH_t is what its outputs say, plus what the hidden
units of the next step say through C. The weights stand in one vector as kernels/learned/elman.py wants them.
"""

from __future__ import annotations

import numpy as np

from memetik.learn.backpropagation import first_weights as first_layer
from memetik.learn.backpropagation import sigmoid
from memetik.types import Array


def weight_count(inputs: int, hidden: int, outputs: int) -> int:
    """How many weights such a network has."""
    return hidden * (inputs + hidden + 1) + outputs * (hidden + 1)


def views(vector: Array, inputs: int, hidden: int, outputs: int) -> tuple[Array, Array]:
    """Weights of the hidden units (W, C and b side by side) and of the outputs (V and d), as matrices that share memory."""
    cut = hidden * (inputs + hidden + 1)
    return vector[:cut].reshape(hidden, inputs + hidden + 1), vector[cut:].reshape(outputs, hidden + 1)


def first_weights(inputs: int, hidden: int, outputs: int, rng: np.random.Generator) -> Array:
    """Where training begins: inputs and outputs as in a feed-forward network, the context faint."""
    weights = np.empty(weight_count(inputs, hidden, outputs))
    inner, outer = views(weights, inputs, hidden, outputs)
    start = first_layer([inputs, hidden, outputs], rng)
    layer = start[: hidden * (inputs + 1)].reshape(hidden, inputs + 1)
    inner[:, :inputs], inner[:, -1] = layer[:, :-1], layer[:, -1]
    inner[:, inputs:-1] = rng.uniform(-0.1, 0.1, (hidden, hidden))
    outer[:] = start[layer.size :].reshape(outputs, hidden + 1)
    return weights


class ElmanError:
    """The mean squared error of all sequences (count, steps, numbers) as a function of the weights."""

    def __init__(self, hidden: int, inputs: Array, wanted: Array) -> None:
        self._sizes = inputs.shape[2], hidden, wanted.shape[2]
        # Steps first, so that what one step needs lies together.
        self._inputs, self._wanted = (np.ascontiguousarray(a.swapaxes(0, 1)) for a in (inputs, wanted))
        self._hidden = np.empty((inputs.shape[1], inputs.shape[0], hidden))
        self._outputs = np.empty(self._wanted.shape)

    def value(self, weights: Array) -> float:
        """The error."""
        many, _, _ = self._sizes
        inner, outer = views(weights, *self._sizes)
        for t in range(len(self._inputs)):
            z = self._inputs[t] @ inner[:, :many].T + inner[:, -1]
            if t > 0:
                z += self._hidden[t - 1] @ inner[:, many:-1].T
            self._hidden[t] = sigmoid(z)
        self._outputs[:] = sigmoid(self._hidden @ outer[:, :-1].T + outer[:, -1])
        return float(np.mean((self._outputs - self._wanted) ** 2))

    def slope(self, weights: Array, gradient: Array) -> float:
        """The error, and its derivative by every weight in `gradient`."""
        error = self.value(weights)
        many, _, _ = self._sizes
        inner, outer = views(weights, *self._sizes)
        inner_slope, outer_slope = views(gradient, *self._sizes)
        answers = self._outputs
        faults = (2.0 / answers.size) * (answers - self._wanted) * answers * (1.0 - answers)
        outer_slope[:, :-1] = np.einsum("tso,tsh->oh", faults, self._hidden, optimize=True)
        outer_slope[:, -1] = faults.sum(axis=(0, 1))
        inner_slope[:] = 0.0
        heard = faults @ outer[:, :-1]
        for t in range(len(heard) - 1, -1, -1):
            fault = heard[t] * self._hidden[t] * (1.0 - self._hidden[t])
            inner_slope[:, :many] += fault.T @ self._inputs[t]
            inner_slope[:, -1] += fault.sum(axis=0)
            if t > 0:
                inner_slope[:, many:-1] += fault.T @ self._hidden[t - 1]
                heard[t - 1] += fault @ inner[:, many:-1]
        return error

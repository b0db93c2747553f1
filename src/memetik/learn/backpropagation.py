"""The error of a feed-forward network on many samples, and its gradient by backpropagation.

Layer by layer, with a row a sample: A_l = s(A_{l-1} W_l^T + b_l). With D_l = dE/dZ_l,

    D_last = 2 / (samples outputs) (A - wanted) A (1 - A)        D_l = (D_{l+1} W_{l+1}) A_l (1 - A_l)
    dE/dW_l = D_l^T A_{l-1}        dE/db_l = sum of the rows of D_l

The weights stand in one vector as kernels/learned/network.py wants them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from memetik.types import Array


def weight_count(sizes: Sequence[int]) -> int:
    """How many weights layers of these sizes have, input first; a unit has one for each below and a bias."""
    return sum((below + 1) * units for below, units in pairwise(sizes))


def layer_views(vector: Array, sizes: Sequence[int]) -> list[Array]:
    """The weights of each layer as a matrix (units, units below + 1) that shares memory with the vector."""
    views, at = [], 0
    for below, units in pairwise(sizes):
        views.append(vector[at : at + units * (below + 1)].reshape(units, below + 1))
        at += views[-1].size
    return views


def first_weights(sizes: Sequence[int], rng: np.random.Generator) -> Array:
    """Where training begins (Nguyen and Widrow 1990): the units of a layer share out the cube of its inputs.

    Each unit is half active on a plane through a random point of the cube from 0 to 1, and as steep as it takes for all
    of them to cover it: |w| = 1.4 units^(1 / inputs), twice the published value because their inputs were from -1 to 1.
    """
    weights = np.empty(weight_count(sizes))
    for matrix in layer_views(weights, sizes):
        units, below = matrix.shape[0], matrix.shape[1] - 1
        directions = rng.normal(size=(units, below))
        directions *= 1.4 * units ** (1.0 / below) / np.linalg.norm(directions, axis=1, keepdims=True)
        matrix[:, :-1] = directions
        matrix[:, -1] = -np.einsum("ij,ij->i", directions, rng.random((units, below)))
    return weights


def sigmoid(z: Array) -> Array:
    """1 / (1 + exp(-z)) in place; the hyperbolic tangent is the same function and does not overflow."""
    z *= 0.5
    np.tanh(z, out=z)
    z *= 0.5
    z += 0.5
    return z


class FeedForwardError:
    """The mean squared error of all samples as a function of the weights; its arrays are made once."""

    def __init__(self, sizes: Sequence[int], inputs: Array, wanted: Array) -> None:
        self.sizes, self.wanted = tuple(sizes), wanted
        self._layers = [inputs, *(np.empty((len(inputs), units)) for units in sizes[1:])]
        self._faults = [np.empty((len(inputs), units)) for units in sizes[1:]]

    def respond(self, weights: Array) -> Array:
        """The outputs, a row a sample."""
        for below, above, matrix in zip(self._layers, self._layers[1:], layer_views(weights, self.sizes), strict=False):
            np.matmul(below, matrix[:, :-1].T, out=above)
            above += matrix[:, -1]
            sigmoid(above)
        return self._layers[-1]

    def value(self, weights: Array) -> float:
        """The error."""
        off = np.subtract(self.respond(weights), self.wanted, out=self._faults[-1])
        return float(np.einsum("ij,ij->", off, off)) / self.wanted.size

    def slope(self, weights: Array, gradient: Array) -> float:
        """The error, and its derivative by every weight in `gradient`."""
        error = self.value(weights)
        self._faults[-1] *= 2.0 / self.wanted.size
        matrices, slopes = layer_views(weights, self.sizes), layer_views(gradient, self.sizes)
        for k in range(len(matrices) - 1, -1, -1):
            fault, answer = self._faults[k], self._layers[k + 1]
            fault *= answer
            fault *= 1.0 - answer
            slopes[k][:, :-1] = fault.T @ self._layers[k]
            slopes[k][:, -1] = fault.sum(axis=0)
            if k > 0:
                np.matmul(fault, matrices[k][:, :-1], out=self._faults[k - 1])
        return error

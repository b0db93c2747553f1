"""Training: the error of a network on many samples, its gradient by backpropagation, and RPROP, which lowers it.

The weights of a network stand in one vector, as the kernels want them that answer (kernels/learned). With a row a sample, the
layers of a feed-forward network are A_l = s(A_{l-1} W_l^T + b_l), and with D_l = dE/dZ_l

    D_last = 2 / (samples outputs) (A - wanted) A (1 - A)        D_l = (D_{l+1} W_{l+1}) A_l (1 - A_l)
    dE/dW_l = D_l^T A_{l-1}        dE/db_l = sum of the rows of D_l

An Elman network hears, with a row a sequence, what its hidden units said one step before:

    H_t = s(U_t W^T + H_{t-1} C^T + b)        Y_t = s(H_t V^T + d)        H_{-1} = 0

What a step is to blame for is found backwards through time: dE/dH_t is what its outputs say, plus what the hidden units of
the next step say through C.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from memetik.kernels.learned.network import FIRST_STEP, rprop
from memetik.types import Array

GAIN = 1e-3  # share by which the error on the validation set must fall to count as a gain
CHECK = 10  # epochs from one look at the validation set to the next


class Telling:
    """A line on the terminal that says how far training is."""

    def __init__(self, label: str, unit: str, most: int) -> None:
        self._label, self._unit, self._most, self._last = label, unit, most, 0.0

    def tell(self, done: int, error: float) -> None:
        """Say it, a few times a second."""
        if sys.stderr.isatty() and time.monotonic() - self._last > 0.2:
            self._last = time.monotonic()
            how_far = f"{self._unit} {done} of at most {self._most}, error {error:.3%}"
            print(f"\r{self._label}: {how_far}\033[K", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Wipe the line."""
        if self._last:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


class Lesson(NamedTuple):
    """How training went: mean squared errors of the outputs, which lie between 0 and 1, and the epochs it took."""

    training_error: float
    validation_error: float
    epochs: int


def train(
    weights: Array,
    slope: Callable[[Array, Array], float],
    check: Callable[[Array], float],
    *,
    epochs: int,
    patience: int,
    label: str,
) -> Lesson:
    """Change the weights in place, until the error on the validation set has not fallen for `patience` epochs.

    slope(weights, gradient) writes the gradient and returns the error on the training set, check(weights) is the error on
    the validation set. What is kept are the weights with the least of the latter.
    """
    gradient, previous, moves = (np.zeros(weights.size) for _ in range(3))
    steps = np.full(weights.size, FIRST_STEP)
    best, lesson = weights.copy(), Lesson(np.inf, np.inf, 0)
    mark, gained, telling = np.inf, 0, Telling(label, "epoch", epochs)
    for epoch in range(epochs + 1):
        training = slope(weights, gradient)
        if epoch % CHECK == 0 or epoch == epochs:
            validation = check(weights)
            if validation < lesson.validation_error:
                lesson = Lesson(training, validation, epoch)
                best[:] = weights
            if validation < (1.0 - GAIN) * mark:
                mark, gained = validation, epoch
            if epoch - gained >= patience:
                break
            telling.tell(epoch, validation)
        rprop(weights, gradient, previous, steps, moves)
    telling.end()
    weights[:] = best
    return lesson


# ---- Feed-forward networks ----------------------------------------------------------------------------------


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


# ---- Elman networks -----------------------------------------------------------------------------------------


def elman_weight_count(inputs: int, hidden: int, outputs: int) -> int:
    """How many weights such a network has."""
    return hidden * (inputs + hidden + 1) + outputs * (hidden + 1)


def elman_views(vector: Array, inputs: int, hidden: int, outputs: int) -> tuple[Array, Array]:
    """Weights of the hidden units (W, C and b side by side) and of the outputs (V and d), as matrices that share memory."""
    cut = hidden * (inputs + hidden + 1)
    return vector[:cut].reshape(hidden, inputs + hidden + 1), vector[cut:].reshape(outputs, hidden + 1)


def first_elman_weights(inputs: int, hidden: int, outputs: int, rng: np.random.Generator) -> Array:
    """Where training begins: inputs and outputs as in a feed-forward network, the context faint."""
    weights = np.empty(elman_weight_count(inputs, hidden, outputs))
    inner, outer = elman_views(weights, inputs, hidden, outputs)
    sizes = [inputs, hidden, outputs]
    layer, outer[:] = layer_views(first_weights(sizes, rng), sizes)
    inner[:, :inputs], inner[:, -1] = layer[:, :-1], layer[:, -1]
    inner[:, inputs:-1] = rng.uniform(-0.1, 0.1, (hidden, hidden))
    return weights


def elman_units(inputs: int, hidden: int, outputs: int) -> Array:
    """The number of the unit that each weight belongs to, hidden units first."""
    return np.repeat(np.arange(hidden + outputs), [inputs + hidden + 1] * hidden + [hidden + 1] * outputs)


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
        inner, outer = elman_views(weights, *self._sizes)
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
        inner, outer = elman_views(weights, *self._sizes)
        inner_slope, outer_slope = elman_views(gradient, *self._sizes)
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

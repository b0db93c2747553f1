"""Networks straight from their formulas: matrices cut out of the vector of weights one number after another."""

from __future__ import annotations

import numpy as np


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def feed_forward(sizes, weights, inputs):
    """The outputs of all layers, input first, for one sample."""
    numbers = iter(weights)
    layers = [np.asarray(inputs, dtype=float)]
    for units in sizes[1:]:
        layer = []
        for _ in range(units):
            total = sum(next(numbers) * below for below in layers[-1])
            layer.append(sigmoid(total + next(numbers)))
        layers.append(np.array(layer))
    assert next(numbers, None) is None
    return layers


def elman(weights, inputs, hidden, outputs):
    """Hidden units and outputs of every step of one sequence."""
    numbers, many = np.asarray(weights), len(inputs[0])
    inner = numbers[: hidden * (many + hidden + 1)].reshape(hidden, -1)
    outer = numbers[inner.size :].reshape(outputs, hidden + 1)
    context, said, answers = np.zeros(hidden), [], []
    for step in inputs:
        context = sigmoid(inner @ np.concatenate([step, context, [1.0]]))
        said.append(context)
        answers.append(sigmoid(outer @ np.append(context, 1.0)))
    return np.array(said), np.array(answers)

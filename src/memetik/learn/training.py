"""Training by RPROP, the same for every network: weights in one vector, an error and its gradient."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from memetik.kernels.learned.network import FIRST_STEP, rprop
from memetik.types import Array

GAIN = 1e-3  # share by which the error on the validation set must fall to count as a gain
CHECK = 10  # epochs from one look at the validation set to the next


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
    mark, gained, shown = np.inf, 0, 0.0
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
            if sys.stderr.isatty() and time.monotonic() - shown > 0.2:
                shown = time.monotonic()
                done = f"epoch {epoch} of at most {epochs}, error {validation:.3%}"
                print(f"\r{label}: {done}\033[K", end="", file=sys.stderr, flush=True)
        rprop(weights, gradient, previous, steps, moves)
    if shown:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    weights[:] = best
    return lesson

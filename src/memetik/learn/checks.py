"""What training and trained solvers are given, checked before any work begins."""

from __future__ import annotations

import numpy as np

from memetik.errors import ProblemError, shown
from memetik.geometry.checks import real_array, whole_number
from memetik.learn.domain import Domain
from memetik.learn.training import Lesson
from memetik.types import Array

MOST_SAMPLES = 10**7
MOST_EPOCHS = 10**9
MOST_UNITS = 2**20
MOST_WEIGHTS = 2**24  # training keeps seven arrays of this size
MOST_OUTPUTS = 2**28  # of all units for all samples, 2 GiB


def epochs_of(epochs: object, patience: object, who: str) -> tuple[int, int]:
    """How many epochs training takes at most, and how many without a gain end it."""
    return (
        whole_number(epochs, ProblemError, f"{who}: epochs", least=0, most=MOST_EPOCHS),
        whole_number(patience, ProblemError, f"{who}: patience", least=1, most=MOST_EPOCHS),
    )


def units_of(units: object, who: str) -> int:
    """How many units a hidden layer has."""
    return whole_number(units, ProblemError, f"{who}: hidden", least=1, most=MOST_UNITS)


def samples_of(samples: object, who: str, what: str = "samples", least: int = 1, most: int = MOST_SAMPLES) -> int:
    """How many samples, paths or steps there are to learn from."""
    return whole_number(samples, ProblemError, f"{who}: {what}", least=least, most=most)


def require_fits(weights: int, outputs: int, who: str) -> None:
    """Raise if training would not fit into memory; `outputs` is the number of units times that of samples."""
    if weights > MOST_WEIGHTS or outputs > MOST_OUTPUTS:
        raise ProblemError(
            f"{who}: {weights:,} weights and {outputs:,} outputs of units are too many to train; at most {MOST_WEIGHTS:,} and "
            f"{MOST_OUTPUTS:,} fit. Give fewer hidden units or samples."
        )


def require_learned(domain: object, lesson: object, who: str) -> None:
    """Raise unless this is what training found out about its problem and itself."""
    if not (isinstance(domain, Domain) and isinstance(lesson, Lesson)):
        wrong = shown(lesson if isinstance(domain, Domain) else domain)
        raise ProblemError(
            f"{who}: {wrong} does not come from training. Use mk.{who}.train(problem) or mk.{who}.load(path)."
        )


def numbers_of(value: object, shape: tuple[int, ...], who: str, what: str) -> Array:
    """Finite numbers in an array of this shape, where -1 stands for any length."""
    array = np.ascontiguousarray(real_array(value, ProblemError, f"{who}: {what}"))
    fits = array.ndim == len(shape) and all(
        wanted in (-1, size) for size, wanted in zip(array.shape, shape, strict=True)
    )
    if not fits or not np.isfinite(array).all():
        wanted = " x ".join("any" if size < 0 else str(size) for size in shape)
        raise ProblemError(f"{who}: {what} have shape {array.shape}; {wanted} finite numbers are needed.")
    return array

"""Weights that balance themselves: errors measured by their tolerances."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memetik.kernels.terms.records import HYPERBOLA, POINT, ROTATION
from memetik.types import Array

LEAST = 1e-9  # a tolerance that is smaller counts as this
MOST = (
    1e3  # how far a gain may be from the mean, either way; more would leave nothing of the other residuals in rounding
)


def balance_weights(terms: NDArray[np.void], data: Array) -> None:
    """Scale the terms that have a tolerance so that an error of it pulls alike in all of them, times the root of their weights.

    The geometric mean of the gains is one, so that the terms as a whole pull as hard as before against guides. A term that has a
    loss alone, and no residual, gets the gain of the term whose loss it is.
    """
    hard = np.flatnonzero((terms["soft"] == 0) & np.isfinite(terms["tolerance"]) & (terms["scale"] > 0.0))
    if not len(hard):
        return
    tolerances = np.array([max(_tolerance(terms[t], data), LEAST) for t in hard])
    found = np.sqrt(objective_weights(terms)[hard]) / (tolerances * terms["scale"][hard])
    gains = np.ones(len(terms))
    gains[hard] = np.clip(found / np.exp(np.log(found).mean()), 1.0 / MOST, MOST)
    gains[terms["loss"] == HYPERBOLA] = gains[terms["weight"] == 0.0]
    terms["scale"] *= gains
    terms["weight"] *= gains * gains


def objective_weights(terms: NDArray[np.void]) -> Array:
    """Return the weight of the objective of each term; terms that leave their loss to a term of its own have it from there."""
    weights: Array = terms["weight"].copy()
    weights[weights == 0.0] = weights[terms["loss"] == HYPERBOLA]
    return weights


def _tolerance(term: np.void, data: Array) -> float:
    """That of the term, or the narrowest of its axes where each has one of its own; wide axes yield to it already."""
    if term["goal"] in (POINT, ROTATION) and term["count"]:
        first = int(term["numbers"])
        return float(np.min(data[first + 3 : first + 6], where=data[first : first + 3] > 0.0, initial=np.inf))
    return float(term["tolerance"])

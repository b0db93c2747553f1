"""When feet stand: low and slow, with hysteresis, so that a foot on the verge does not flutter."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from memetik.errors import ProblemError
from memetik.geometry.checks import real_number
from memetik.types import Array

RELEASE = 1.5  # a foot that stands lifts off at this many times height and speed
SHORTEST = 0.05  # s; contacts and flights that are shorter are none


def standing(
    times: Array, heights: Array, speeds: Array, *, height: float, speed: float, shortest: float = SHORTEST
) -> NDArray[np.bool_]:
    """In which frames a foot stands: (n,) of its heights above the ground [m] and its speeds [m/s].

    It touches down where height and speed are both below their thresholds, and lifts off where one of them is above 1.5
    times its own. What lasts less than `shortest` [s] is filled in or left out.
    """
    on = (heights < height) & (speeds < speed)
    off = (heights > RELEASE * height) | (speeds > RELEASE * speed)
    # The last frame that said anything decides; before the first one, `on` itself does.
    says = np.where(on, 1, np.where(off, -1, 0))
    last = np.maximum.accumulate(np.where(says != 0, np.arange(len(says)), 0))
    found = np.asarray(says[last] > 0)
    for state in (False, True):  # short flights are filled in first
        found = without_short(times, found, state, shortest)
    return found


def without_short(times: Array, found: NDArray[np.bool_], state: bool, shortest: float) -> NDArray[np.bool_]:
    """Runs of `state` that are shorter are turned into the other; those at the ends of the clip may go on there."""
    found = found.copy()
    edges = np.flatnonzero(np.diff(found.astype(np.int8))) + 1
    for start, end in itertools.pairwise(edges):
        if found[start] == state and times[end] - times[start] < shortest:
            found[start:end] = not state
    return found


def checked_above_zero(value: object, what: str, unit: str) -> float:
    """A number above zero."""
    number = real_number(value, ProblemError, what)
    if not 0.0 < number < math.inf:
        raise ProblemError(f"{what} is {number}. Give a number above zero [{unit}].")
    return number

"""What files without units do not say: which axis points up, and how long a unit is, from the figure that they hold.

A clip is judged by postures of it, since the rest pose of many files is no posture: all bones of LAFAN1's lie along x.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from memetik.types import Array

HIGH, LOW = r"head|neck", r"foot|toe|ankle|shin|calf|knee|leg"  # what is above and below of a figure that stands
PLAIN = 0.7  # cosine; the way from the low to the high parts of a figure lies along an axis
STANDING = 0.3  # length of the mean of these ways; that of a figure that turns over and over is short
FLOOR, MIDDLE = (
    0.12,
    0.25,
)  # of the size of a figure: how near to zero its lowest points are, and how high its middle is
CMU = {"lhipjoint", "lowerback"}  # joints that all skeletons of the CMU database have
CMU_UNIT = 0.0254 / 0.45  # m; its files are in inches times 0.45
UNITS = ((1.0, 0.4, 4.0), (0.01, 20.0, 400.0), (0.001, 400.0, 4000.0))  # m, and the sizes of figures that are in it


class Understood(NamedTuple):
    """How a file is read."""

    up: str
    scale: float  # m
    said: str  # the same in words


def understand(names: Sequence[str], places: Array, up: str | None, scale: float | None) -> Understood:
    """What is given, and for the rest a guess by postures, places (frames, bones, 3) [units of the file].

    Where they do not tell, y is up and a unit a metre.
    """
    size = size_of(places)
    axis, unit = guess_up(names, places) if up is None else up, guess_unit(names, size) if scale is None else scale
    words = [
        f"{axis or 'y'} up" + (" (guessed)" if up is None and axis else " (nothing tells)" if up is None else ""),
        f"1 unit = {unit or 1.0:.4g} m"
        + (f" (guessed: {size:.4g} units tall)" if scale is None and unit else
           f" (a size of {size:.4g} units tells none)" if scale is None else ""),
    ]  # fmt: skip
    return Understood(axis or "y", unit or 1.0, ", ".join(words))


def guess_up(names: Sequence[str], places: Array) -> str | None:
    """The axis that points up in postures, places (frames, bones, 3), of a figure; None if they do not tell.

    It is where the head is from the legs, by their names, else the axis along which the figure always begins at zero.
    """
    high, low = (
        [k for k, name in enumerate(names) if re.search(words, name.lower())] for words in (HIGH, LOW)
    )  # fmt: skip
    if high and low:
        ways = places[:, high].mean(axis=1) - places[:, low].mean(axis=1)
        way = np.mean(ways / np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), 1e-12), axis=0)
        if way.max() > PLAIN * np.linalg.norm(way) and way.max() > STANDING:
            return "xyz"[int(way.argmax())]
    size = max(size_of(places), 1e-12)
    bottom = np.quantile(np.abs(places.min(axis=1)), 0.8, axis=0) / size
    middle = np.median(places.mean(axis=1), axis=0) / size
    return next(
        (axis for axis in "yzx" if bottom["xyz".index(axis)] < FLOOR and middle["xyz".index(axis)] > MIDDLE), None
    )


def guess_unit(names: Sequence[str], size: float) -> float | None:
    """The length of a unit [m] of a figure of that size; None if it is neither in metres, centimetres nor millimetres.

    Skeletons of the CMU database, which has a unit of its own, are told by the names of their joints.
    """
    if {name.lower() for name in names} >= CMU and 10.0 < size < 60.0:
        return CMU_UNIT
    return next((unit for unit, least, most in UNITS if least <= size <= most), None)


def size_of(places: Array) -> float:
    """The longest side of the box around a figure, in the median posture [units of the file]."""
    return float(np.median(np.ptp(places, axis=1).max(axis=1)))

"""Which joints of a problem are balls: they step by rotations, so that no posture of them is singular (kernels/body/balls.py).

A spherical or floating joint is one if nothing in the problem is about one of its three angles apart from the others: no limits,
no lock, no joint that mimics an angle, no objective that reads one, but for a Displacement with the same weight for all three.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memetik.body import Body
from memetik.kernels.terms.springs import SPRING_BALL, SPRING_DATA, SPRING_HIGH, SPRING_LOW, SPRING_STIFFNESS
from memetik.types import Array

RIGHT_HANDED = ("xyz", "yzx", "zxy")  # orders of turns


def find_balls(
    body: Body, numbers: Mapping[str, int], nodes: NDArray[np.void], variables: NDArray[np.void], data: Array,
    springs: Sequence[Sequence[int]], others: Iterable[int],
) -> list[tuple[int, int, float]]:  # fmt: skip
    """The rows of the balls: first motion, first variable, sign.

    numbers: of the variables of the problem, by name. springs: for each term the places of its springs in the data, if it
    has any. others: variables that other terms read by their value.
    """
    found, taken = [], set(others)
    for joint in body.joints.values():
        if joint.kind not in ("spherical", "floating") or joint.mimic is not None:
            continue
        turns = [numbers.get(name, -1) for name in joint.variables[-3:]]
        if (
            -1 in turns
            or taken.intersection(turns)
            or np.isfinite([variables[turns][e] for e in ("lower", "upper")]).any()
        ):
            continue
        rows = np.flatnonzero(np.isin(nodes["variable"], turns))
        if rows.size == 3 and all(_rest_together(_of(turns, places, data), data) for places in springs):
            found.append((int(rows[0]), turns[0], 1.0 if joint.order in RIGHT_HANDED else -1.0))
    return found


def mark_springs(
    balls: NDArray[np.void], variables: NDArray[np.void], data: Array, springs: Sequence[Sequence[int]]
) -> None:
    """Tell variables and springs of the balls that they are."""
    for ball in balls:
        turns = list(range(ball["variable"], ball["variable"] + 3))
        variables["ball"][turns] = variables["whole_turn"][turns] = 1
        for places in springs:
            own = _of(turns, places, data)
            if own and np.isfinite(data[own[0] + SPRING_LOW]):
                data[own[0] + SPRING_BALL] = ball["sign"] * data[own[0] + SPRING_STIFFNESS]
                data[[place + SPRING_STIFFNESS for place in own]] = 0.0


def _of(turns: Sequence[int], places: Sequence[int], data: Array) -> list[int]:
    """The places of the springs of a ball."""
    return [place for place in places if int(data[place]) in turns]


def _rest_together(places: Sequence[int], data: Array) -> bool:
    """Whether these springs pull alike at all three turns of a ball towards values, or at none."""
    if not places:
        return True
    low, high, stiffness = (data[[place + k for place in places]] for k in (SPRING_LOW, SPRING_HIGH, SPRING_STIFFNESS))
    if np.isneginf(low).all() and np.isposinf(high).all():
        return True
    side_by_side = list(places) == list(range(places[0], places[0] + 3 * SPRING_DATA, SPRING_DATA))
    return side_by_side and bool((low == high).all() and (stiffness == stiffness[0]).all() and np.isfinite(low).all())

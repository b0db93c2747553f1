"""The pairs of solids that a servo keeps apart, as arrays for its kernels, and their names."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.kernels.runtime.record import allocate
from memetik.kernels.servo.contacts import fill_levers, forget_distances
from memetik.kernels.servo.record import KEPT_GROUP, KEPT_PAIR, ContactArrays
from memetik.kernels.terms.distance import (
    DISTANCE_CLEARANCE,
    DISTANCE_LISTS,
    GROUP_FRAME,
    LIST_COUNT,
    LIST_GROUP,
    LIST_OTHERS,
)
from memetik.kernels.terms.records import CONTACT
from memetik.objectives.distance import Distance
from memetik.problem import Problem
from memetik.problem.compile import Compiled

MOST_CLOSE = 512  # pairs that can be close at a time
MOST_ACTIVE = 16  # rows that can be missed at a time, besides one constraint for each variable
LONGEST_SLIDE = 10.0  # m: how far a sliding joint without limits is taken to go from the middle


class Pair(NamedTuple):
    """Two groups of solids, by their places in the data, and the distance that they keep [m]."""

    first: int
    second: int
    required: float


def kept_pairs(c: Compiled, terms: NDArray[np.void]) -> list[Pair]:
    """Return the pairs of all objectives about distances that have a tolerance; of a pair in several, the largest distance.

    terms: those of the compiled problem, with the tolerances that count.
    """
    required: dict[tuple[int, int], float] = {}
    for term in terms:
        if not _is_kept(term):
            continue
        numbers = int(term["numbers"])
        distance = float(c.data[numbers + DISTANCE_CLEARANCE] - term["tolerance"])
        at = numbers + DISTANCE_LISTS
        for _ in range(int(term["count"])):
            count = int(c.data[at + LIST_COUNT])
            first = int(c.data[at + LIST_GROUP])
            for second in c.data[at + LIST_OTHERS : at + LIST_OTHERS + count].astype(np.int64).tolist():
                required[first, second] = max(required.get((first, second), -np.inf), distance)
            at += LIST_OTHERS + count
    return [Pair(first, second, distance) for (first, second), distance in required.items()]


def _is_kept(term: np.void) -> bool:
    """Whether a term is a constraint of a servo."""
    return bool(term["loss"] == CONTACT and not term["soft"] and np.isfinite(term["tolerance"]))


def contact_arrays(c: Compiled, terms: NDArray[np.void]) -> ContactArrays:
    """Return what a servo for a compiled problem keeps apart, with nothing measured yet."""
    pairs = kept_pairs(c, terms)
    places = list(dict.fromkeys(place for pair in pairs for place in (pair.first, pair.second)))
    row_of = {place: row for row, place in enumerate(places)}
    frames = [int(c.data[place + GROUP_FRAME]) for place in places]
    groups = np.zeros(len(places), dtype=KEPT_GROUP)
    groups["place"] = places
    kept = np.zeros(len(pairs), dtype=KEPT_PAIR)
    levers = len(places)
    for row, pair in zip(kept, pairs, strict=True):
        one, other = row_of[pair.first], row_of[pair.second]
        row["first"], row["second"], row["required"] = pair.first, pair.second, pair.required
        row["one"], row["other"], row["meet"] = one, other, -1
        row["lever"] = one if frames[one] >= 0 else other
        if frames[one] >= 0 and frames[other] >= 0:
            row["meet"], row["lever"] = _last_common(c, frames[one], frames[other]), levers
            levers += 1
    close = 2 * min(len(pairs), MOST_CLOSE)
    sizes = {
        "pairs": len(pairs), "groups": len(places), "levers": levers, "variables": c.variables.size,
        "close": close, "rows": 2 * close, "constraints": 2 * (close + c.variables.size),
        "active": c.variables.size + MOST_ACTIVE,
    }  # fmt: skip
    arrays = allocate(ContactArrays, sizes, pairs=kept, groups=groups)
    arrays.state["exact"] = all(term["tolerance"] == 0.0 for term in terms if _is_kept(term))
    lower, upper = c.variables["lower"], c.variables["upper"]
    bounded = np.isfinite(lower) & np.isfinite(upper)
    lower, upper = np.where(bounded, lower, -LONGEST_SLIDE), np.where(bounded, upper, LONGEST_SLIDE)
    middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    fill_levers(c.flat, arrays, middle, half, np.ones(len(middle)), np.zeros(c.nodes.size))
    forget_distances(arrays)
    return arrays


def group_name(problem: Problem, place: int) -> str:
    """Return the name of the link or of the obstacle whose solids stand at a place in the data of a problem."""
    c = problem.compiled
    frame = int(c.data[place + GROUP_FRAME])
    if frame >= 0:
        return c.links[frame]
    names = (o.obstacle_name(c.data, place) for o in problem.objectives if isinstance(o, Distance))
    return next((name for name in names if name is not None), "obstacle")


def _last_common(c: Compiled, one: int, other: int) -> int:
    """The row of the last motion that moves two frames alike, -1 if only the root carries both."""
    above = set(_chain(c, one))
    return next((node for node in _chain(c, other) if node in above), -1)


def _chain(c: Compiled, frame: int) -> list[int]:
    """The motions that move a frame, the last one first."""
    node, chain = int(c.frames[frame]["node"]), []
    while node >= 0:
        chain.append(node)
        node = int(c.nodes[node]["parent"])
    return chain

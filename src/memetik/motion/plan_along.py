"""Ways on which objectives hold all along: RRT-Connect on the postures that satisfy them.

A tree grows in short steps, each of which is projected: a descent leads from where it ends to a posture near by that satisfies
the objectives (Berenson, Srinivasa, Ferguson and Kuffner 2009, Manipulation planning on constraint manifolds). A step is taken if
it comes nearer, is proved to be free of contact, and the objectives hold at places between its ends, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.kernels.planning.planning_record import CONNECTED, SPENT, TIMED_OUT
from memetik.problem import Problem
from memetik.solution import Solution
from memetik.solvers import Budget, solve
from memetik.types import Array

STEP = 0.1  # rad or m of a step
BETWEEN = (0.25, 0.5, 0.75)  # of a step, where the objectives are looked at
CLOSE = 1e-9  # to a target that is reached
PROJECTION = Budget(evaluations=13)  # one descent
NEARER = 0.1  # of its length, a step must come nearer to its target by
LONGEST = 3.0  # of its length, what a projection may make of a step
STEPS = 200  # towards one target


class Manifold(NamedTuple):
    """The postures on which a way may be, and how a motion is proved."""

    wanted: Problem  # what holds all along
    prove: Callable[[Array, Array], bool]  # whether the straight motion between two postures is free
    moving: NDArray[np.int64]
    lower: Array
    upper: Array

    def holds(self, q: Array) -> bool:
        """Whether the objectives hold."""
        return Solution.of(self.wanted, q, start=q).success

    def steps(self, start: Array, target: Array) -> list[Array]:
        """Postures on the way to a target, as far as it leads; the target is the last one if it is reached."""
        rows, q = [start], start
        for _ in range(STEPS):
            way = target - q
            far = float(np.linalg.norm(way))
            if far <= CLOSE:
                break
            new: Array | None = target
            if far > STEP:
                new = self.projected(q + STEP / far * way)
                if new is None or float(np.linalg.norm(target - new)) > far - NEARER * STEP:
                    break
                if float(np.linalg.norm(new - q)) > LONGEST * STEP:
                    break
            assert new is not None
            if not all(self.holds(q + share * (new - q)) for share in BETWEEN) or not self.prove(q, new):
                break
            rows.append(new)
            q = new
        return rows

    def projected(self, q: Array) -> Array | None:
        """The posture near by that satisfies the objectives; only joints that move have moved."""
        found = solve(self.wanted, q, budget=PROJECTION)
        if not found.success:
            return None
        new = q.copy()
        new[self.moving] = found.q[self.moving]
        return new if np.array_equal(new, found.q) or self.holds(new) else None


class _Tree:
    """Postures and where each comes from."""

    def __init__(self, roots: Array) -> None:
        self.rows, self.parents = list(roots), [-1] * len(roots)

    def nearest(self, q: Array) -> int:
        return int(((np.array(self.rows) - q) ** 2).sum(axis=1).argmin())

    def add(self, rows: list[Array], parent: int) -> int:
        for row in rows:
            self.rows.append(row)
            self.parents.append(parent)
            parent = len(self.rows) - 1
        return parent

    def way(self, node: int) -> list[Array]:
        """From a root to a node."""
        rows = []
        while node >= 0:
            rows.append(self.rows[node])
            node = self.parents[node]
        return rows[::-1]


class Search(NamedTuple):
    """What came of it."""

    why: int
    path: Array
    nodes: tuple[int, int]


def connect(
    manifold: Manifold, start: Array, goals: Array, seed: int, tries: int, is_spent: Callable[[], bool], end: float
) -> Search:
    """Grow two trees until they meet or something is used up, then cut the path short `tries` times; `end` as perf_counter."""
    rng: Any = np.random.default_rng(seed)
    trees = [_Tree(start[None]), _Tree(goals)]
    path: list[Array] = []
    while not path:
        late = time.perf_counter() >= end
        if late or is_spent():
            sizes = (len(trees[0].rows), len(trees[1].rows))
            return Search(TIMED_OUT if late else SPENT, np.empty((0, start.size)), sizes)
        k = int(len(trees[0].rows) > len(trees[1].rows))
        one, other = trees[k], trees[1 - k]
        target = start.copy()
        target[manifold.moving] = rng.uniform(manifold.lower, manifold.upper)
        if len(trees[0].rows) == 1 and not k:
            target = goals[0]  # the straight way first
        near = one.nearest(target)
        last = one.add(manifold.steps(one.rows[near], target)[1:], near)
        meet = other.nearest(one.rows[last])
        reached = other.add(manifold.steps(other.rows[meet], one.rows[last])[1:], meet)
        if np.linalg.norm(other.rows[reached] - one.rows[last]) <= CLOSE:
            there, back = (one.way(last), other.way(reached)) if k == 0 else (other.way(reached), one.way(last))
            path = there[:-1] + back[::-1]
    return Search(
        CONNECTED,
        np.array(_shortened(manifold, path, rng, tries, is_spent, end)),
        (len(trees[0].rows), len(trees[1].rows)),
    )


def _shortened(
    manifold: Manifold, path: list[Array], rng: Any, tries: int, is_spent: Callable[[], bool], end: float
) -> list[Array]:
    """Go straight between two postures of the path where that is possible and shorter."""
    for _ in range(tries):
        if len(path) < 3 or time.perf_counter() >= end or is_spent():
            break
        i, j = sorted(rng.integers(0, len(path), 2).tolist())
        if j - i < 2:
            continue
        rows = manifold.steps(path[i], path[j])
        if np.linalg.norm(rows[-1] - path[j]) <= CLOSE and _length(rows) < _length(path[i : j + 1]) - CLOSE:
            path[i : j + 1] = rows
    return path


def _length(rows: list[Array]) -> float:
    return float(np.linalg.norm(np.diff(np.array(rows), axis=0), axis=1).sum())

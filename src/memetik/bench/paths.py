"""Paths of targets: followed as a whole by `track`, or step by step, each from the posture before."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

import memetik as mk
from memetik.bench.harness import progress
from memetik.types import Array

Targets = Mapping[mk.Objective, Array]  # for each objective that moves, one target a step


class Path(NamedTuple):
    """What one method made of a path."""

    method: str
    q: Array  # (steps, joints)
    seconds: float  # a step

    @property
    def changes(self) -> Array:
        """The largest change of a joint from each step to the next [rad]."""
        return np.asarray(np.abs(np.diff(self.q, axis=0)).max(axis=1))


def tracked(name: str, problem: mk.Problem, targets: Targets, start: Array, rate: float) -> Path:
    """The whole path in one call."""
    mk.track(problem, {wish: path[:2] for wish, path in targets.items()}, start=start)  # compiles
    found = mk.track(problem, targets, start=start, rate=rate)
    return Path(name, found.q, found.seconds / len(found.q))


def followed(
    name: str, problem: mk.Problem, targets: Targets, start: Array, solver: mk.Solver, budget: mk.Budget, label: str
) -> Path:
    """Step by step."""
    solver.solve(problem, start, budget)  # compiles
    steps = len(next(iter(targets.values())))
    path, q, spent = [], start, 0.0
    for k in progress(range(steps), steps, f"{label}, {name}"):
        begin = time.perf_counter()
        for wish, many in targets.items():
            wish.target = many[k]  # type: ignore[attr-defined]
        q = solver.solve(problem, q, budget).q
        spent += time.perf_counter() - begin
        path.append(q)
    return Path(name, np.array(path), spent / steps)

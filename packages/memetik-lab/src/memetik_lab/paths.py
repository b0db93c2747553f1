"""Paths of targets: followed as a whole by `track`, or step by step, each from the posture before."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

import memetik as mk
from memetik.types import Array
from memetik_lab.harness import progress

Targets = Mapping[mk.Objective, Array]  # for each objective that moves, one target a step


class Path(NamedTuple):
    """What one method made of a path."""

    method: str
    q: Array  # (steps, joints)
    seconds: float  # a step
    processor: float = math.nan  # s of processor time a step: what it takes where nothing else runs

    @property
    def changes(self) -> Array:
        """The largest change of a joint from each step to the next [rad]."""
        return np.asarray(np.abs(np.diff(self.q, axis=0)).max(axis=1))


def tracked(
    name: str, problem: mk.Problem, targets: Targets, start: Array, rate: float, *, smooth: bool = False
) -> Path:
    """The whole path in one call."""
    few = targets if smooth else {wish: path[:2] for wish, path in targets.items()}  # smoothing needs a place to do so
    mk.track(problem, few, start=start, smooth=smooth)  # compiles
    for _ in range(2):
        begin = time.thread_time()
        found = mk.track(problem, targets, start=start, rate=rate, smooth=smooth)
        processor = time.thread_time() - begin
        if not found.compile_seconds:  # else a later step was the first to need some kernel: once more
            break
    return Path(name, found.q, found.seconds / len(found.q), processor / len(found.q))


def followed(
    name: str,
    problem: mk.Problem,
    targets: Targets,
    start: Array,
    solver: mk.solvers.Solver,
    budget: mk.Budget,
    label: str,
) -> Path:
    """Step by step."""
    solver.solve(problem, start, budget)  # compiles
    steps = len(next(iter(targets.values())))
    path, q, spent, processor = [], start, 0.0, time.thread_time()
    for k in progress(range(steps), steps, f"{label}, {name}"):
        begin = time.perf_counter()
        for wish, many in targets.items():
            if isinstance(wish, mk.Distance):
                wish.obstacles = many[k]
            else:
                wish.target = many[k]  # type: ignore[attr-defined]
        q = solver.solve(problem, q, budget).q
        spent += time.perf_counter() - begin
        path.append(q)
    return Path(name, np.array(path), spent / steps, (time.thread_time() - processor) / steps)

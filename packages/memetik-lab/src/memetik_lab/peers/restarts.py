"""The loop that users of a local solver write around it: again from somewhere else, until it works or time is up."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import islice

import numpy as np

from memetik.types import Array
from memetik_lab.peers.chain import SerialChain
from memetik_lab.queries import Peer, Task

STEPS = 30  # of a local search before it counts as stuck; those that converge take about ten


class Restarted(Peer, ABC):
    """A peer whose own call or loop ends at one local minimum: first from the start, then from random postures."""

    slow = 20

    def __init__(self, chain: SerialChain, task: Task) -> None:
        self.task = task
        self.lower, self.upper = np.ascontiguousarray(chain.limits().T)
        self._free = np.array([math.isinf(turn.lower) for turn in chain.turns])
        self._rng = np.random.default_rng(0)

    def solve(self, target: Array, start: Array) -> Array | None:
        """The first posture that the peer takes for a solution and that keeps the limits."""
        deadline = time.perf_counter() + self.task.seconds
        self.aim(target)
        q = self.wrap(start)
        while True:
            answer = self.descend(q, deadline)
            if answer is not None:
                answer = self.wrap(answer)
                if ((answer >= self.lower) & (answer <= self.upper)).all():
                    return answer
            if time.perf_counter() >= deadline:
                return None
            q = self._rng.uniform(self.lower, self.upper)

    @abstractmethod
    def aim(self, target: Array) -> None:
        """Take a target, 4x4."""

    @abstractmethod
    def descend(self, q: Array, deadline: float) -> Array | None:
        """Search from one posture; None if it got stuck or the clock passed the deadline."""

    def wrap(self, q: Array) -> Array:
        """Whole turns added so that angles are at or above the lower limit, or within half a turn of zero if free."""
        turns = np.ceil((self.lower - 1e-9 - q) / (2.0 * math.pi))
        return np.asarray(np.where(self._free | (q > self.upper) | (q < self.lower), q + 2.0 * math.pi * turns, q))

    def near(self, position: float, orientation: float) -> bool:
        """Whether errors [m, rad] are within the task's tolerances."""
        return position <= self.task.position and orientation <= self.task.orientation


class Stepped(Restarted):
    """A peer whose users write the loop of its steps, too."""

    def descend(self, q: Array, deadline: float) -> Array | None:
        """Step until it is near enough, stuck or late."""
        for posture, errors in islice(self.steps(q), STEPS):
            if self.near(*errors):
                return np.array(posture)
            if time.perf_counter() > deadline:
                return None
        return None

    @abstractmethod
    def steps(self, q: Array) -> Iterator[tuple[Array, tuple[float, float]]]:
        """The postures on the way from one, and their errors of position and orientation [m, rad]."""


def norms(error: Array) -> tuple[float, float]:
    """Of the position and the orientation part of an error."""
    return float(np.linalg.norm(error[:3])), float(np.linalg.norm(error[3:]))

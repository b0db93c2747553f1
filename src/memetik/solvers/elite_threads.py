"""Threads that exploit elites for Bio IK: started at the first need, asleep unless a search rings for them.

The search decides when (kernels/bio_ik/elites.py). Here it is told whom to ring for, and they are told what there is to do.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memetik.kernels.bio_ik.elites import join_search
from memetik.kernels.bio_ik.scratch import ELITES, SIZE, WORKERS, worker_place
from memetik.kernels.compiler.wakeup import new_wakeup, wait_for_wakeup
from memetik.types import Array


class Crew:
    """The threads of a process, by their wake-ups. The one at k takes worker number k + 1 of any search that is under way."""

    def __init__(self) -> None:
        self.wakeups: list[int] = []
        self.searches: dict[int, tuple[Any, ...]] = {}
        self._engaging = threading.Lock()

    def engage(self, many: int) -> None:
        """Have at least so many threads."""
        with self._engaging:
            for h in range(len(self.wakeups) + 1, many + 1):
                wakeup = new_wakeup()
                threading.Thread(target=self._serve, args=(h, wakeup), name=f"memetik elites {h}", daemon=True).start()
                self.wakeups.append(wakeup)

    def _serve(self, h: int, wakeup: int) -> None:
        state = np.zeros(1, dtype=np.uint64)
        while True:
            wait_for_wakeup(wakeup)
            for search in tuple(self.searches.values()):
                join_search(*search, h, state)


class EliteThreads:
    """While entered, the search in these arrays may ring for a thread for each of its workers but the first."""

    def __init__(self, record: Any, parameters: Array, places: NDArray[np.int64], room: Array) -> None:
        psi, kappa, n = int(parameters[SIZE]), int(parameters[ELITES]), record[6].size
        self._places = [worker_place(psi, kappa, n, h) for h in range(1, int(parameters[WORKERS]))]
        self._search = (*record[:6], parameters, places, room)
        self._crew: Crew | None = None
        join_search(*self._search, 1, np.zeros(1, dtype=np.uint64))  # to compile it; there are no elites to take yet

    def __enter__(self) -> None:
        if self._crew is not _crew:
            _crew.engage(len(self._places))
            places = self._search[-2]
            places[self._places] = _crew.wakeups[: len(self._places)]
            self._crew = _crew
        _crew.searches[id(self)] = self._search

    def __exit__(self, *_: object) -> None:
        _crew.searches.pop(id(self), None)


_crew = Crew()


def _start_anew() -> None:
    """A process that was forked has none of the threads."""
    global _crew
    _crew = Crew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)

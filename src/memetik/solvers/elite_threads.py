"""Threads that exploit elites for Bio IK: started at the first need, asleep unless a search wakes them.

The search decides when (kernels/bio_ik/elites.py). Here it is told whom to wake, and they are told what there is to do.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from memetik.kernels.bio_ik.bio_ik_record import Worker
from memetik.kernels.bio_ik.elites import join_search
from memetik.kernels.runtime.record import table_of
from memetik.kernels.runtime.wakeup import new_wakeup, wait_for_wakeup


class Crew:
    """The threads of a process, by their wake-ups. The one at h takes worker number h + 1 of any search that is under way."""

    def __init__(self) -> None:
        self.wakeups: list[int] = []
        self.searches: dict[int, list[Any]] = {}  # the tables of these workers
        self._engaging = threading.Lock()

    def engage(self, many: int) -> None:
        """Have at least so many threads."""
        with self._engaging:
            for h in range(len(self.wakeups), many):
                wakeup = new_wakeup()
                name = f"memetik elites {h + 1}"
                threading.Thread(target=self._serve, args=(h, wakeup), name=name, daemon=True).start()
                self.wakeups.append(wakeup)

    def _serve(self, h: int, wakeup: int) -> None:
        state = np.zeros(1, dtype=np.uint64)
        while True:
            wait_for_wakeup(wakeup)
            for tables in tuple(self.searches.values()):
                if h < len(tables):
                    join_search(tables[h], state)


class EliteThreads:
    """While entered, the search of these workers may wake a thread for each of them but the first."""

    def __init__(self, workers: Sequence[Worker]) -> None:
        self._wakeups = workers[0].shared.wakeups
        self._tables = [table_of(worker) for worker in workers[1:]]
        self._crew: Crew | None = None
        join_search(self._tables[0], np.zeros(1, dtype=np.uint64))  # to compile it; there are no elites to take yet

    def __enter__(self) -> None:
        if self._crew is not _crew:
            _crew.engage(len(self._tables))
            self._wakeups[1:] = _crew.wakeups[: len(self._tables)]
            self._crew = _crew
        _crew.searches[id(self)] = self._tables

    def __exit__(self, *_: object) -> None:
        _crew.searches.pop(id(self), None)


_crew = Crew()


def _start_anew() -> None:
    """A process that was forked has none of the threads."""
    global _crew
    _crew = Crew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)

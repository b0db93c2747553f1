"""Threads that exploit elites for Bio IK: started at the first need, kept for the next solve (kernels/bio_ik_elites.py)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memetik.kernels.bio_ik_elites import help_elites
from memetik.kernels.bio_ik_room import (
    ALONE,
    ELITES,
    HANDS,
    OPEN,
    SIZE,
    SOLVES,
    TASK,
    TOGETHER,
    hand_place,
    task_place,
)
from memetik.objectives.objective import Array
from memetik.problem.compile import Compiled

Places = NDArray[np.int64]

TRIED = 6  # solves that find out whether helpers pay
AGAIN = 32  # solves after which the slower way is tried again
PAYS = 0.9  # of the time alone: what calling them costs besides is not timed

_threads: list[threading.Thread] = []
_calls: SimpleQueue[tuple[Any, ...]] = SimpleQueue()


@contextmanager
def helpers(c: Compiled, parameters: Array, places: Places, room: Array) -> Iterator[None]:
    """As long as the evolution lasts, let threads help with each hand but the first."""
    hands = int(parameters[HANDS])
    if hands == 1:
        yield
        return
    _threads[:] = [thread for thread in _threads if thread.is_alive()]  # a process that was forked has none
    work = (*c.record[:6], parameters, places, room)
    if len(_threads) < hands - 1:
        help_elites(*work, 1, np.zeros(1, dtype=np.uint64))  # to compile it; all is closed
    while len(_threads) < hands - 1:
        _threads.append(threading.Thread(target=_serve, name="Bio IK elites", daemon=True))
        _threads[-1].start()
    psi, kappa, n = int(parameters[SIZE]), int(parameters[ELITES]), c.active.size
    if not _pay(room[task_place(psi, n, c.terms.size) :][:TASK]):
        yield
        return
    places[OPEN] = 1
    for h in range(1, hands):
        if places[hand_place(psi, kappa, n, h)] == 0:
            _calls.put((*work, h))
    try:
        yield
    finally:
        places[OPEN] = 0


def _pay(task: Array) -> bool:
    """Whether helpers were faster of late; the first solves find out, and one now and then tries what was slower."""
    solves = int(task[SOLVES])
    task[SOLVES] += 1.0
    if solves < TRIED:
        return solves % 2 == 1
    return bool(task[TOGETHER] < PAYS * task[ALONE]) != (solves % AGAIN == 0)


def _serve() -> None:
    state = np.zeros(1, dtype=np.uint64)
    while True:
        help_elites(*_calls.get(), state)

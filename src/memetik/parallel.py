"""Rows in parts, and items one by one, on all cores: for work by code that releases the GIL. And the memory for such rows."""

from __future__ import annotations

import itertools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np

S = TypeVar("S")
T = TypeVar("T")

LEAST = 1 << 13  # rows that are worth a thread

_make_rows: ContextVar[Callable[[tuple[int, ...]], Any]] = ContextVar("rows", default=np.empty)


def empty_rows(shape: tuple[int, ...]) -> Any:
    """An array of float64, not initialised, for rows of numbers: new memory unless `rows_from` says otherwise."""
    return _make_rows.get()(shape)


class rows_from:  # noqa: N801 - read as a function in `with rows_from(...)`; a generator takes three times as long
    """Within, rows are written into arrays that `make` gives for a shape, such as memory that a graphics card can read."""

    __slots__ = ("_before", "_make")

    def __init__(self, make: Callable[[tuple[int, ...]], Any]) -> None:
        self._make = make

    def __enter__(self) -> None:
        self._before = _make_rows.set(self._make)

    def __exit__(self, *raised: object) -> None:
        _make_rows.reset(self._before)


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_parts(work: Callable[[slice], T], count: int, least: int = LEAST) -> list[T]:
    """What `work` gives for consecutive parts of so many rows, in their order."""
    if count < 2 * least:
        return [work(slice(0, count))]
    parts = min(cores(), count // least)
    if getattr(_here, "is_worker", False):  # its fellows may all wait for parts as it would
        parts = 1
    edges = [count * k // parts for k in range(parts + 1)]
    slices = [slice(begin, end) for begin, end in itertools.pairwise(edges)]
    others = [_workers().submit(work, part) for part in slices[1:]]
    try:
        first = work(slices[0])
    finally:
        wait(others)
    return [first, *(other.result() for other in others)]


def in_order(work: Callable[[S], T], items: Iterable[S], threads: int | None = None) -> Iterator[T]:
    """What `work` gives for each item, in their order, on so many threads (all cores unless given).

    Items are taken as they are needed, at most two for each thread before the first of their results is asked for.
    """
    many = cores() if threads is None else threads
    given = iter(items)
    pool = ThreadPoolExecutor(many, "memetik items", _begin_worker)
    ahead: deque[Future[T]] = deque()
    try:
        while True:
            for item in itertools.islice(given, 2 * many - len(ahead)):
                ahead.append(pool.submit(work, item))
            if not ahead:
                return
            yield ahead.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


_here = threading.local()
_lock = threading.Lock()
_pool: list[ThreadPoolExecutor] = []  # to start threads takes longer than most passes


def _workers() -> ThreadPoolExecutor:
    with _lock:
        if not _pool:
            _pool.append(ThreadPoolExecutor(max(cores() - 1, 1), "memetik rows", _begin_worker))
        return _pool[0]


def _begin_worker() -> None:
    _here.is_worker = True


def _forget() -> None:
    """A forked process has none of the threads."""
    global _lock
    _lock = threading.Lock()
    _pool.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)

"""Rows in parts, on all cores: for passes over large arrays by code that releases the GIL."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

T = TypeVar("T")

LEAST = 1 << 15  # rows that are worth a thread


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_parts(work: Callable[[slice], T], count: int, least: int = LEAST) -> list[T]:
    """What `work` gives for consecutive parts of so many rows, in their order."""
    parts = max(min(cores(), count // least), 1)
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

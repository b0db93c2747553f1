"""Rows in parts, on all cores: for passes over large arrays by code that releases the GIL."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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
    edges = [count * k // parts for k in range(parts + 1)]
    slices = [slice(begin, end) for begin, end in itertools.pairwise(edges)]
    if parts == 1:
        return [work(slices[0])]
    with ThreadPoolExecutor(parts - 1, thread_name_prefix="memetik rows") as pool:
        others = [pool.submit(work, part) for part in slices[1:]]
        return [work(slices[0]), *(other.result() for other in others)]

"""Store: how much of what was compiled is kept, for each client and for all; what was not used for longest goes first."""

from __future__ import annotations

import gc
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Container, Hashable
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

import memetik as mk

MB = 2**20
OBJECT = 16  # bytes that the garbage collector keeps of an object besides
CODE = (type, ModuleType, FunctionType, threading.Thread)  # belongs to the program, not to what is kept
COMPILERS = ("numba", "llvmlite", "ctypes", "_ctypes")


class QuotaError(mk.MemetikError, MemoryError):
    """A client, or all clients together, would hold more than the server keeps for them."""


@dataclass
class _Entry:
    client: str
    size: int
    forget: Callable[[], None] | None  # None for what is pinned: in use until its client gives it back


class Store:
    """Counts what is kept, and forgets the oldest of it.

    A client that keeps more than its share loses its own oldest, so no client can push out what others use.

    most, share: bytes of all clients and of one.
    many: how many things of one client.
    """

    def __init__(self, most: int = 512 * MB, share: int = 256 * MB, many: int = 512) -> None:
        self.most, self.share, self.many = most, share, many
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()  # the latest used last
        self._sizes: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        self.size = 0

    def keep(self, key: Hashable, client: str, size: int, forget: Callable[[], None]) -> None:
        """Keep something of a client; `forget` is called when it has to go."""
        with self._lock:
            self._remove(key)
            self._add(key, _Entry(client, size, forget))
            gone = self._overdue(client)
        for entry in gone:
            assert entry.forget is not None
            entry.forget()

    def pin(self, key: Hashable, client: str, size: int) -> None:
        """Count what a client holds and nothing can push out; raise where it would be too much."""
        with self._lock:
            self._add(key, _Entry(client, size, None))
            gone = self._overdue(client)
            refused = self._exceeds(client)
            if refused:
                self._remove(key)
        for entry in gone:
            assert entry.forget is not None
            entry.forget()
        if refused:
            raise QuotaError(
                f"this takes {size / MB:.1f} MB, more than is left of the {self.share / MB:.0f} MB that one client, or of the "
                f"{self.most / MB:.0f} MB that all may hold here. Close a stream, or delete a scene."
            )

    def use(self, key: Hashable) -> None:
        """It was used just now."""
        try:
            self._entries.move_to_end(key)  # a single step to all threads
        except KeyError:  # forgotten meanwhile
            return

    def drop(self, key: Hashable) -> None:
        """It is gone."""
        with self._lock:
            self._remove(key)

    def held(self, client: str) -> int:
        """Bytes of a client."""
        with self._lock:
            return self._sizes.get(client, 0)

    def _add(self, key: Hashable, entry: _Entry) -> None:
        self._entries[key] = entry
        self.size += entry.size
        self._sizes[entry.client] = self._sizes.get(entry.client, 0) + entry.size
        self._counts[entry.client] = self._counts.get(entry.client, 0) + 1

    def _remove(self, key: Hashable) -> _Entry | None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.size -= entry.size
            self._sizes[entry.client] -= entry.size
            self._counts[entry.client] -= 1
            if not self._counts[entry.client]:
                del self._counts[entry.client], self._sizes[entry.client]
        return entry

    def _exceeds(self, client: str) -> bool:
        over = self._sizes.get(client, 0) > self.share or self._counts.get(client, 0) > self.many
        return over or self.size > self.most

    def _overdue(self, client: str) -> list[_Entry]:
        """Remove the oldest of a client until it keeps to its share, then the oldest of those that hold most."""
        gone: list[_Entry] = []
        while self._exceeds(client):
            own = self._sizes.get(client, 0) > self.share or self._counts.get(client, 0) > self.many
            loser = client if own else max(self._sizes, key=self._sizes.__getitem__)
            entries = list(self._entries.items())  # a copy in a single step: `use` moves them meanwhile
            key = next((k for k, e in entries if e.client == loser and e.forget is not None), None)
            if key is None and not own:  # the one that holds most holds only what is in use
                key = next((k for k, e in entries if e.forget is not None), None)
            if key is None:
                break
            entry = self._remove(key)
            assert entry is not None
            gone.append(entry)
        return gone


def footprint(thing: object, known: Container[int] = ()) -> int:
    """Bytes that an object holds, about: arrays by their size, all else by its kind. What is `known` is not counted."""
    return _walk(thing, set(), known)


def reached(*things: object) -> set[int]:
    """The ids of all that some objects hold, to be left out of the footprint of others."""
    seen: set[int] = set()
    for thing in things:
        _walk(thing, seen, ())
    return seen


def _walk(thing: object, seen: set[int], known: Container[int]) -> int:
    total, waiting = 0, [thing]
    while waiting:
        each: Any = waiting.pop()
        name = id(each)
        if (
            name in seen
            or name in known
            or isinstance(each, CODE)
            or type(each).__module__.partition(".")[0] in COMPILERS
        ):
            continue
        seen.add(name)
        total += OBJECT + sys.getsizeof(each)
        if isinstance(each, np.ndarray):
            if each.base is not None:
                waiting.append(each.base)
        elif not isinstance(each, (str, bytes, int, float)):
            waiting += gc.get_referents(each)
    return total

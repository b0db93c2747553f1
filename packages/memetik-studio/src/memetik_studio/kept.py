"""Sessions whose page has gone: whoever loads the page again soon after goes on where it was."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from memetik_studio.session import Session

SECONDS = 20.0  # a page that is loaded again is back within a few
MOST = 8  # sessions; a person has a few tabs


class _Entry(NamedTuple):
    visitor: str
    session: Session
    end: float  # on the clock of time.monotonic [s]


class Kept:
    """What visitors left behind, for some seconds each, and not of too many."""

    def __init__(self, seconds: float = SECONDS, then: Callable[[], None] = lambda: None) -> None:
        """`then` is called whenever nobody came back for a session."""
        self._seconds, self._then = seconds, then
        self._entries: list[_Entry] = []  # the oldest first
        self._timer: threading.Timer | None = None  # for the oldest
        self._lock = threading.Lock()

    def add(self, visitor: str, session: Session) -> None:
        """Keep a session for its visitor, who is nobody if the name is empty."""
        if not visitor:
            session.close()
            return
        with self._lock:
            self._entries.append(_Entry(visitor, session, time.monotonic() + self._seconds))
            surplus = self._entries[:-MOST]
            del self._entries[:-MOST]
            self._wait()
        for entry in surplus:
            entry.session.close()

    def take(self, visitor: str) -> Session | None:
        """What this visitor left last, if anything is still there."""
        with self._lock:
            entry = next((each for each in reversed(self._entries) if visitor and each.visitor == visitor), None)
            if entry is None:
                return None
            self._entries.remove(entry)
        return entry.session

    def close(self) -> None:
        """Forget all."""
        with self._lock:
            entries, self._entries = self._entries, []
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        for entry in entries:
            entry.session.close()

    def _wait(self) -> None:
        """Have the oldest dropped when its time is over; the lock is held."""
        if self._timer is None and self._entries:
            self._timer = threading.Timer(max(0.0, self._entries[0].end - time.monotonic()), self._drop)
            self._timer.name, self._timer.daemon = "studio keeps", True
            self._timer.start()

    def _drop(self) -> None:
        with self._lock:
            now = time.monotonic()
            over = [entry for entry in self._entries if entry.end <= now]
            self._entries = [entry for entry in self._entries if entry.end > now]
            self._timer = None
            self._wait()
        dropped = bool(over)
        while over:
            over.pop().session.close()
        if dropped:
            self._then()

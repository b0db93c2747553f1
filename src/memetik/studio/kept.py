"""Sessions whose page has gone: whoever loads the page anew soon after goes on where it was."""

from __future__ import annotations

import threading
from typing import NamedTuple

from memetik.studio.session import Session

SECONDS = 20.0  # a page that is loaded anew is back within a few


class _Entry(NamedTuple):
    visitor: str
    session: Session
    end: threading.Timer


class Kept:
    """What visitors left behind, for some seconds each."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._entries: list[_Entry] = []
        self._lock = threading.Lock()

    def add(self, visitor: str, session: Session) -> None:
        """Keep a session for its visitor, who is nobody if the name is empty."""
        if not visitor:
            session.close()
            return
        end = threading.Timer(self._seconds, lambda: self._drop(session))
        end.daemon = True
        with self._lock:
            self._entries.append(_Entry(visitor, session, end))
        end.start()

    def take(self, visitor: str) -> Session | None:
        """What this visitor left last, if anything is still there."""
        with self._lock:
            entry = next((each for each in reversed(self._entries) if visitor and each.visitor == visitor), None)
            if entry is None:
                return None
            self._entries.remove(entry)
        entry.end.cancel()
        return entry.session

    def close(self) -> None:
        """Forget all."""
        with self._lock:
            entries, self._entries = self._entries, []
        for entry in entries:
            entry.end.cancel()
            entry.session.close()

    def _drop(self, session: Session) -> None:
        with self._lock:
            kept = [entry for entry in self._entries if entry.session is not session]
            gone, self._entries = len(kept) < len(self._entries), kept
        if gone:
            session.close()

"""History: the scenes before the one on show, and those that were undone. Scenes never change, so undo takes an old one."""

from __future__ import annotations

from collections import deque

from memetik.scenes import Scene

MOST_UNDONE = 200  # edits


class History:
    """Two piles of scenes; the one on show lies on neither."""

    def __init__(self) -> None:
        self._past: deque[Scene] = deque(maxlen=MOST_UNDONE)
        self._future: deque[Scene] = deque()

    def remember(self, scene: Scene) -> None:
        """Keep the scene that is about to be replaced; what was undone before is forgotten."""
        if not self._past or self._past[-1] is not scene:
            self._past.append(scene)
        self._future.clear()

    def undo(self, now: Scene) -> Scene | None:
        """The scene before the one on show; None if there is none."""
        while self._past and self._past[-1] is now:  # a drag that moved nothing
            self._past.pop()
        return self._travel(self._past, self._future, now)

    def redo(self, now: Scene) -> Scene | None:
        """The scene that was undone last; None if there is none."""
        return self._travel(self._future, self._past, now)

    @staticmethod
    def _travel(way: deque[Scene], back: deque[Scene], now: Scene) -> Scene | None:
        if not way:
            return None
        back.append(now)
        return way.pop()

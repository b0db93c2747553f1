"""Undo and redo: the scenes before and after the one in use."""

from __future__ import annotations

from memetik.scenes import Scene

MOST = 200


class History:
    """Scenes never change, so going back is to take an old one."""

    def __init__(self) -> None:
        self._past: list[Scene] = []
        self._future: list[Scene] = []

    def remember(self, scene: Scene) -> None:
        """Keep the scene that is about to be replaced; what was undone before is forgotten."""
        if not self._past or self._past[-1] is not scene:
            self._past.append(scene)
            del self._past[:-MOST]
        self._future.clear()

    def undo(self, now: Scene) -> Scene | None:
        """The scene before, None if there is none."""
        while self._past and self._past[-1] is now:  # a drag that moved nothing
            self._past.pop()
        if not self._past:
            return None
        self._future.append(now)
        return self._past.pop()

    def redo(self, now: Scene) -> Scene | None:
        """The scene that was undone last, None if there is none."""
        if not self._future:
            return None
        self._past.append(now)
        return self._future.pop()

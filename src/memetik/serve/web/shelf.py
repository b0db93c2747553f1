"""Shelf: scenes as problem files, each with a core of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, NamedTuple

import memetik as mk
from memetik import scenes
from memetik.errors import known, shown
from memetik.scenes import Scene, fields
from memetik.serve.core import Core
from memetik.serve.request import Request

LONGEST_NAME = 100


class Kept(NamedTuple):
    """A scene, and what answers requests about it."""

    scene: Scene
    core: Core

    def request(self, given: Mapping[str, Any]) -> Request:
        """What the scene asks for, with some values of objectives and of the state changed.

        given: {"targets": {objective: {field: value}}, "state": {joint: value}, "approximate": bool, "timeout": s}, all optional.
        """
        scene = self.scene
        targets = fields.keys(given.get("targets", {}), "targets", [wish.name for wish in scene.wishes])
        wishes = []
        for wish in scene.wishes:
            changes = targets.get(wish.name, {})
            if not isinstance(changes, Mapping):
                raise mk.FormatError(f"targets of {wish.name!r} is {shown(changes)}; write {{field: value}}.")
            wishes.append(wish.with_values(**changes) if changes else wish)
        state = {**scene.start, **fields.by_name(given.get("state", {}), "state"), **scene.lock}
        return Request(
            tuple(wishes),
            state=state,
            fixed_joints=tuple(scene.lock),
            approximate=fields.flag(given.get("approximate", False), "approximate"),
            timeout=fields.number(given.get("timeout", 0.0), "timeout"),
        )


class Shelf:
    """Scenes by name, as many as `most`."""

    def __init__(self, most: int, roots: Iterable[str | PathLike[str]] = ()) -> None:
        self._most, self._roots = most, tuple(roots)
        self._kept: dict[str, Kept] = {}
        self._lock = threading.Lock()

    def put(self, name: str, data: bytes | str | Scene) -> Kept:
        """Keep a scene; its body, objectives and method are made now, so that what is wrong is said now."""
        scene = data if isinstance(data, Scene) else scenes.loads(data)
        if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
            raise mk.FormatError(f"the name of a scene is {shown(name)}; write 1 to {LONGEST_NAME} characters.")
        body = scenes.load_body(scene.body, self._roots)
        core = Core(
            body, root=scenes.root(scene), world=scenes.world_of(scene), method=scenes.solver(scene.solving),
            timeout=scene.solving.seconds,
        )  # fmt: skip
        kept = Kept(scene, core)
        core.problem(kept.request({}))
        with self._lock:
            if name not in self._kept and len(self._kept) >= self._most:
                raise mk.ProblemError(f"there are {self._most} scenes already. Delete one, or replace it by its name.")
            self._kept[name] = kept
        return kept

    def get(self, name: str) -> Kept:
        """A scene by its name."""
        with self._lock:
            return self._kept[known(name, self._kept, "scene")]

    def drop(self, name: str) -> None:
        """Forget a scene."""
        with self._lock:
            del self._kept[known(name, self._kept, "scene")]

    def names(self) -> list[str]:
        """Of all scenes."""
        with self._lock:
            return list(self._kept)

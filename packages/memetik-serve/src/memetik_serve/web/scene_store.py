"""SceneStore: scenes as problem files, each with a core of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import memetik as mk
from memetik import scenes
from memetik.errors import known, shown
from memetik.scenes import Scene, fields
from memetik_serve import plain
from memetik_serve.core import Core
from memetik_serve.request import Request
from memetik_serve.store import Store, footprint
from memetik_serve.web.limits import Limits

LONGEST_NAME = 100
LARGEST_PARAMETER = 1_000  # populations and the like: methods allocate by them


@dataclass(frozen=True, eq=False)
class Kept:
    """A scene, its text, and what answers requests about it."""

    scene: Scene
    text: bytes
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
                raise mk.errors.FormatError(f"targets of {wish.name!r} is {shown(changes)}; write {{field: value}}.")
            wishes.append(wish.with_values(**changes) if changes else wish)
        state = {**scene.start, **fields.by_name(given.get("state", {}), "state"), **scene.lock}
        return Request(
            tuple(wishes),
            state=state,
            fixed_joints=tuple(scene.lock),
            approximate=fields.flag(given.get("approximate", False), "approximate"),
            timeout=fields.number(given.get("timeout", 0.0), "timeout"),
        )


class SceneStore:
    """Scenes by name, within the limits; what they hold is pinned in the store."""

    def __init__(self, limits: Limits, store: Store, roots: Iterable[str | PathLike[str]] = ()) -> None:
        self._limits, self._store, self._roots = limits, store, tuple(roots)
        self._kept: dict[str, Kept] = {}
        self._lock = threading.Lock()

    def put(self, name: str, data: bytes | str | Scene, client: str = "") -> Kept:
        """Keep a scene; its body, objectives and method are made now, so that what is wrong is said now."""
        if isinstance(data, bytes):
            plain.check_values(data, self._limits.values)
        scene = data if isinstance(data, Scene) else scenes.loads(data)
        if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
            raise mk.errors.FormatError(f"the name of a scene is {shown(name)}; write 1 to {LONGEST_NAME} characters.")
        self._check(scene, name)
        body = scenes.load_body(scene.body, self._roots, cached=False)
        core = Core(
            body, root=scenes.root(scene), world=scenes.world_of(scene), method=scenes.solver(scene.solving),
            timeout=min(scene.solving.seconds, self._limits.timeout), store=self._store, pairs=self._limits.pairs,
        )  # fmt: skip
        text = data if isinstance(data, bytes) else scenes.dumps(scene).encode()
        kept = Kept(scene, text, core)
        core.problem(kept.request({}))
        self._store.pin(kept, client, footprint((scene, body, text)))
        with self._lock:
            if name in self._kept or len(self._kept) < self._limits.scenes:
                self._drop(name)
                self._kept[name] = kept
                return kept
        self._store.drop(kept)
        raise self._full()

    def _check(self, scene: Scene, name: str) -> None:
        """Refuse what would take too much, before it is made."""
        if name not in self._kept and len(self._kept) >= self._limits.scenes:
            raise self._full()
        if scene.body.kind == "urdf" and scene.body.value.count("<link") > self._limits.links:
            raise mk.errors.FormatError(
                f"the body has more than {self._limits.links} links, the most of a scene here (--links)."
            )
        for key, value in scene.solving.parameters.items():
            if key != "seed" and isinstance(value, (int, float)) and not abs(value) <= LARGEST_PARAMETER:
                raise mk.errors.FormatError(
                    f"solving, parameter {key!r} is {shown(value)}; {LARGEST_PARAMETER} is the most here."
                )
            if key == "threads" and value != 1:
                raise mk.errors.FormatError("solving, parameter 'threads': a search has one thread here.")

    def _full(self) -> mk.MemetikError:
        return mk.errors.ProblemError(
            f"there are {self._limits.scenes} scenes already. Delete one, or replace it by its name."
        )

    def _drop(self, name: str) -> None:
        kept = self._kept.pop(name, None)
        if kept is not None:
            self._store.drop(kept)
            kept.core.close()

    def get(self, name: str) -> Kept:
        """A scene by its name."""
        with self._lock:
            return self._kept[known(name, self._kept, "scene")]

    def drop(self, name: str) -> None:
        """Forget a scene."""
        with self._lock:
            self._drop(known(name, self._kept, "scene"))

    def names(self) -> list[str]:
        """Of all scenes."""
        with self._lock:
            return list(self._kept)

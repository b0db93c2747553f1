"""Scene: plain, immutable data. Every edit makes a new one, so undo is to keep the old one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memetik.errors import UnknownNameError


@dataclass(frozen=True)
class BodySource:
    """Where a body comes from.

    kind: "bundled" (value: its name), "file" (a path inside the folders that may be read), "urdf" (the text of one) or
    "built" (the name of a builder, see scenes/build.py).
    base: what frees the root, as in mk.load, within `base_limit` to either side [m or rad] if given.
    """

    kind: str
    value: str
    base: str = "fixed"
    base_limit: float | None = None


@dataclass(frozen=True)
class Wish:
    """One objective as data: its kind, a name of its own in the scene, its values, and whether it counts."""

    kind: str
    name: str
    values: Mapping[str, Any] = field(default_factory=dict)
    enabled: bool = True

    def with_values(self, **values: Any) -> Wish:
        """The same with other values."""
        return replace(self, values={**self.values, **values})


@dataclass(frozen=True)
class Block:
    """An obstacle of the world: a shape with its size [m] as in mk.Shape, where it stands [m] and how it is turned (w, x, y, z).

    enabled: whether it counts. touching: links that may touch it. values: of "heights" and "grid", in rows [m].
    """

    name: str
    shape: str
    size: tuple[float, ...]
    position: tuple[float, ...] = (0.0, 0.0, 0.0)
    wxyz: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)
    enabled: bool = True
    touching: tuple[str, ...] = ()
    values: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Solving:
    """How a frame is solved: the method, its seed and parameters, and what a frame may spend."""

    method: str = "memetic"
    seed: int = 0
    evaluations: int = 2_000
    seconds: float = 0.01
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Motion:
    """How the body gets to a solution: at once, or within the speeds of its joints.

    velocity [rad/s or m/s] and acceleration [rad/s2 or m/s2] hold for joints that have no limits of their own;
    smoothing in [0, 1) is the share of the way that is left after a sixtieth of a second.
    """

    realistic: bool = False
    velocity: float = 2.0
    acceleration: float = 10.0
    smoothing: float = 0.0


@dataclass(frozen=True)
class Scene:
    """A body, wishes, locked joints, a start (by joint name, home for the rest), and how to solve and move."""

    title: str
    body: BodySource
    wishes: tuple[Wish, ...] = ()
    lock: Mapping[str, float] = field(default_factory=dict)
    start: Mapping[str, float] = field(default_factory=dict)
    solving: Solving = Solving()
    motion: Motion = Motion()
    root: tuple[float, ...] | None = None  # world_from_root: place [m] and quaternion (w, x, y, z)
    world: tuple[Block, ...] = ()  # obstacles, for each Distance whose `world` is true

    def wish(self, name: str) -> Wish:
        """A wish by its name."""
        for wish in self.wishes:
            if wish.name == name:
                return wish
        raise UnknownNameError("objective", name, [wish.name for wish in self.wishes], f"scene {self.title!r}")

    def with_wish(self, changed: Wish, old_name: str | None = None) -> Scene:
        """The same with the wish of that name replaced."""
        name = changed.name if old_name is None else old_name
        self.wish(name)
        return replace(self, wishes=tuple(changed if wish.name == name else wish for wish in self.wishes))

    def without_wish(self, name: str) -> Scene:
        """The same without a wish."""
        self.wish(name)
        return replace(self, wishes=tuple(wish for wish in self.wishes if wish.name != name))

    def block(self, name: str) -> Block:
        """An obstacle of the world by its name."""
        for block in self.world:
            if block.name == name:
                return block
        raise UnknownNameError("obstacle", name, [block.name for block in self.world], f"scene {self.title!r}")

    def with_block(self, changed: Block) -> Scene:
        """The same with the obstacle of that name replaced."""
        self.block(changed.name)
        return replace(self, world=tuple(changed if block.name == changed.name else block for block in self.world))

    def new_name(self, kind: str) -> str:
        """A name that no wish has yet."""
        taken = {wish.name for wish in self.wishes}
        names = (f"{kind} {k}" for k in range(1, len(taken) + 2))
        return next(name for name in names if name not in taken)

"""World: named obstacles that come, move and go while problems stay compiled."""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Body, Shape
from memetik.body.link import all_of
from memetik.collision.obstacles import FAR, NOTHING, Field, HasShape, Obstacle, middle_of, pose_of, put
from memetik.collision.solids import GROUP_OF_ONE, group, put_points, renew_kernels, shape_of, solid
from memetik.errors import BodyError, ProblemError, known, shown
from memetik.geometry import TransformLike
from memetik.geometry.checks import flag, frozen, instance, real_array, several, text, whole_number
from memetik.geometry.transform import invert
from memetik.sharing import LOCK
from memetik.types import Array

MOST = 100_000  # shapes of a world


class Watcher(Protocol):
    """Who keeps away from a world."""

    def take_world(self, groups: Array, points: Array) -> None:
        """The numbers of the world are these now, a row for each slot, and the points of hulls behind them."""

    def take_slot(self, slot: int, numbers: Array) -> None:
        """What stands in a slot was moved."""

    def pair_anew(self) -> None:
        """What may touch what has changed, or which obstacles are hulls."""


class World(Mapping[str, Obstacle]):
    """Obstacles by name, for `mk.Distance(links, world)`; every problem that keeps away from them sees them change.

        world = mk.World({"table": mk.Shape("box", (1.0, 1.0, 0.1), mk.translation(0.5, 0, -0.05))})
        world["cup"] = mk.Shape("cylinder", (0.04, 0.1), mk.translation(0.5, 0, 0.05))
        world.move("cup", mk.translation(0.6, 0.1, 0.05))

    A shape stands where its link_from_shape says. Several shapes in a list are one obstacle, which `move` takes as a whole.
    mk.objectives.HeightField and mk.collision.SignedDistanceGrid can be given like shapes. A change of an obstacle that has
    one of these packs problems again at their next solve, a matter of milliseconds; others change in place.

    capacity: shapes that there is room for. As long as there is, obstacles come, go and move in place, in microseconds, and no
    problem is compiled again. With one too many the room doubles, and problems are packed again at their next solve, a matter
    of milliseconds. Room that is empty costs as much as an obstacle that is far away.

    Threads may change a world while others solve: each solve works with the obstacles as they were when it began, and sees a
    change whole or not at all.
    """

    def __init__(
        self, obstacles: Mapping[str, Shape | HasShape | Sequence[Shape | HasShape]] | None = None, *, capacity: int = 8
    ) -> None:  # fmt: skip
        if obstacles is not None and not isinstance(obstacles, Mapping):
            raise ProblemError(f"the obstacles of a world are {shown(obstacles)}. Give {{'table': mk.Shape(...)}}.")
        count = whole_number(capacity, ProblemError, "the capacity of a world", least=1, most=MOST)
        self._watchers: weakref.WeakSet[Watcher] = weakref.WeakSet()
        self._obstacles: dict[str, Obstacle] = {}
        self._slots: dict[str, list[int]] = {}  # of each obstacle, one for each shape
        self._owners: list[str | None] = [None] * count
        self._numbers = np.tile(NOTHING, (count, 1))
        self._points: dict[int, Array] = {}  # of the slots that hold hulls
        for name, shapes in (obstacles or {}).items():
            self[name] = shapes

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_"):  # obstacles are assigned by name: world["cup"] = shape
            raise ProblemError(
                f"World: {name} cannot be assigned. Give obstacles by name: world['cup'] = mk.Shape(...)."
            )
        object.__setattr__(self, name, value)

    # What there is

    def __getitem__(self, name: str) -> Obstacle:
        with LOCK:
            return self._obstacles[known(name, self._obstacles, "obstacle", "the world")]

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._obstacles))

    def __len__(self) -> int:
        return len(self._obstacles)

    @property
    def capacity(self) -> int:
        """Shapes that there is room for."""
        return len(self._owners)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """All shapes that count, placed in the world: for pictures."""
        return tuple(shape for each in tuple(self._obstacles.values()) if each.enabled for shape in each.placed)

    # Changes

    def __setitem__(self, name: str, shapes: Shape | HasShape | Sequence[Shape | HasShape]) -> None:
        """Add an obstacle, or replace one."""
        self.add(name, shapes)

    def __delitem__(self, name: str) -> None:
        self.remove(name)

    def add(
        self, name: str, shapes: Shape | HasShape | Sequence[Shape | HasShape], pose: TransformLike | None = None, *,
        touching: Iterable[str] = (),
    ) -> None:  # fmt: skip
        """Add an obstacle, or replace one of the same name.

        pose: world_from_obstacle, in which the shapes are placed by their link_from_shape. Without it, they are placed in the
        world: the frame of a single shape is the obstacle's, that of several is the world's to begin with, and that of a height
        field or a grid the one in which its origin is given.
        touching: links that may touch it, such as the base that stands on a table. To change these packs problems again.
        """
        text(name, ProblemError, "the name of an obstacle")
        single = isinstance(shapes, Shape)
        given = shape_of(shapes)
        listed = (
            several(given, BodyError, f"obstacle {name!r}", "[mk.Shape(...)]")
            if given is shapes and not single
            else (given,)
        )
        parts = all_of(tuple(map(shape_of, listed)), Shape, f"obstacle {name!r}", "mk.Shape(...)")
        if not parts:
            raise ProblemError(f"obstacle {name!r} has no shapes. Give at least one, mk.Shape('sphere', (0.1,)).")
        place = np.eye(4) if pose is None else pose_of(pose, name)
        if single and pose is None:
            place = parts[0].link_from_shape
            parts = (dataclasses.replace(parts[0], link_from_shape=np.eye(4)),)
        links = several(touching, ProblemError, f"obstacle {name!r}: touching", "['base_link']")
        allowed = frozenset(text(link, ProblemError, f"obstacle {name!r}: a link in touching") for link in links)
        rows = [
            NOTHING if part.is_field else group(-1, [solid(part, f"obstacle {name!r}: shape {k}")])
            for k, part in enumerate(parts)
        ]
        with LOCK:
            before = self._obstacles.get(name)
            fields = self._has_fields(name)
            paired = {} if before is None else dict.fromkeys(self._slots[name], before.touching)
            grown = self._make_room(name, len(parts))
            self._obstacles[name] = Obstacle(name, parts, frozen(np.array(place)), True, allowed)
            hulls = dict(self._points)
            for slot, row in zip(self._slots[name], rows, strict=True):
                self._fill(slot, row)
            self._place(name)
            grown = grown or hulls.keys() != self._points.keys()
            now = dict.fromkeys(self._slots[name], allowed)
            anew = any(paired.get(k, frozenset()) != now.get(k, frozenset()) for k in {*paired, *now})
            self._tell_all(grown, anew or fields or self._has_fields(name))

    def remove(self, name: str) -> None:
        """Take an obstacle out of the world."""
        with LOCK:
            gone, fields = self[name], self._has_fields(name)
            hulls = len(self._points)
            for slot in self._slots.pop(name):
                self._owners[slot] = None
                self._fill(slot, NOTHING)
            del self._obstacles[name]
            self._tell_all(False, bool(gone.touching) or fields or len(self._points) != hulls)

    def move(self, name: str | Mapping[str, TransformLike], pose: TransformLike | None = None) -> None:
        """Put an obstacle at a pose, world_from_obstacle; or several at once, `world.move({"cup": T, "jug": U})`."""
        moves: Mapping[str, Any] = {name: pose} if isinstance(name, str) else name
        if not isinstance(moves, Mapping) or any(each is None for each in moves.values()):
            raise ProblemError(f"cannot move {shown(name)}. Give a name and a pose, or {{name: pose}}.")
        with LOCK:
            placed = {self[each].name: pose_of(where, each) for each, where in moves.items()}
            for each, where in placed.items():
                self._obstacles[each] = dataclasses.replace(self._obstacles[each], pose=where)
                self._place(each)
            slots = [slot for each in placed for slot in self._slots[each]]
            if any(map(self._has_fields, placed)):
                self._tell_all(False, True)
            elif len(slots) == 1:  # the usual change, and the quickest
                for watcher in tuple(self._watchers):
                    watcher.take_slot(slots[0], self._numbers[slots[0]])
            elif slots:
                self._tell_all(False, False)

    def enable(self, name: str, enabled: bool = True) -> None:
        """Let an obstacle count again, or, with False, as if it were not there."""
        counts = flag(enabled, ProblemError, "enabled")
        with LOCK:
            self._obstacles[name] = dataclasses.replace(self[name], enabled=counts)
            self._place(name)
            self._tell_all(False, self._has_fields(name))

    def disable(self, name: str) -> None:
        """Let an obstacle be as if it were not there, until it is enabled."""
        self.enable(name, False)

    # Grasps

    def attach(
        self, name: str, body: Body, link: str, q: ArrayLike, *, root: TransformLike | None = None, touching: Iterable[str] = ()
    ) -> Body:  # fmt: skip
        """Let a link hold an obstacle: it leaves the world and becomes a link of the body, which is returned.

        The new link has the name of the obstacle and is fixed to `link` where it is at the joint vector q; joint vectors mean
        what they did. Distances to the world and to the rest of the body take it by its name, `mk.Distance(body, world)` and
        `mk.SelfDistance(body)` by themselves.
        root: world_from_root, where the body stands, if not in the origin.
        touching: links that may touch it besides the one that holds it, such as fingers.
        """
        instance(body, Body, ProblemError, "a body. Give mk.load(...) and the like.")
        with LOCK:
            held = self[name]
            link_from_obstacle = invert(body.forward(q, link, root=root)) @ held.pose
            allowed = [*(held.touching & body.links.keys()), *several(touching, ProblemError, "touching", "['finger']")]
            holding = body.attach_shape(name, link, held.shapes, pose=link_from_obstacle, touching=allowed)
            self.remove(name)
            return holding

    def release(
        self, name: str, body: Body, q: ArrayLike, *, root: TransformLike | None = None, touching: Iterable[str] = ()
    ) -> Body:  # fmt: skip
        """Let go what `attach` took: it stands in the world again where the body has it at q; the body without it is returned.

        touching: links that may touch it there.
        """
        instance(body, Body, ProblemError, "a body. Give mk.load(...) and the like.")
        free = body.detach_shape(name)
        self.add(name, body.links[name].shapes, body.forward(q, name, root=root), touching=touching)
        return free

    # For those who keep away

    def watch(self, watcher: Watcher) -> None:
        """Tell this one of every change from now on, and of all there is."""
        with LOCK:
            self._watchers.add(watcher)
            watcher.take_world(self._numbers, self._behind())

    def touching(self) -> dict[int, frozenset[str]]:
        """The links that may touch what stands in a slot, for slots where there are some."""
        with LOCK:
            owned = ((slot, self._obstacles[name].touching) for name, slots in self._slots.items() for slot in slots)
            return {slot: links for slot, links in owned if links}

    def owner(self, slot: int) -> str | None:
        """Whose slot it is."""
        return self._owners[slot]

    def fields(self) -> list[Field]:
        """The height fields and grids that count."""
        with LOCK:
            return [
                Field(slot, name, shape, obstacle.pose)
                for name, obstacle in self._obstacles.items()
                if obstacle.enabled
                for slot, shape in zip(self._slots[name], obstacle.shapes, strict=True)
                if shape.is_field
            ]

    def rows(self, poses: object) -> Array:
        """The numbers of the world over time (rows, numbers): {name: poses (rows, 4, 4)} for what moves."""
        if not isinstance(poses, Mapping) or not poses:
            raise ProblemError(f"obstacles over time are {shown(poses)}. Give {{name: poses of shape (rows, 4, 4)}}.")
        paths = {
            name: real_array(path, ProblemError, f"the poses of {name!r} are not numbers")
            for name, path in poses.items()
        }
        lengths = {name: path.shape[0] if path.shape[1:] == (4, 4) else -1 for name, path in paths.items()}
        if min(lengths.values()) < 1 or len(set(lengths.values())) > 1:
            raise ProblemError("obstacles over time need the same number of poses each, arrays of shape (rows, 4, 4).")
        with LOCK:
            rows = np.tile(self._numbers, (next(iter(lengths.values())), 1, 1))
            for name, path in paths.items():
                obstacle = self[name]
                if self._has_fields(name):
                    raise ProblemError(
                        f"obstacle {name!r} has a height field or a grid, which cannot move from step to step. Leave it where it "
                        "is, or take its convex hull, mk.collision.hull(...)."
                    )
                for slot, shape in zip(self._slots[name] if obstacle.enabled else (), obstacle.shapes, strict=False):
                    for row, pose in zip(rows[:, slot], path, strict=True):
                        put(row, pose_of(pose, name) @ shape.link_from_shape, middle_of(shape))
            return np.hstack([rows.reshape(len(rows), -1), np.tile(self._behind(), (len(rows), 1))])

    def _has_fields(self, name: str) -> bool:
        """Whether there is such an obstacle, and it has a height field or a grid."""
        obstacle = self._obstacles.get(name)
        return obstacle is not None and any(shape.is_field for shape in obstacle.shapes)

    def _make_room(self, name: str, count: int) -> bool:
        """Give an obstacle as many slots as it has shapes, those that it had first; whether there was no room."""
        slots = self._slots.get(name, [])
        for slot in slots[count:]:
            self._owners[slot] = None
            self._fill(slot, NOTHING)
        free = [slot for slot, owner in enumerate(self._owners) if owner is None]
        slots = [*slots, *free][:count]
        grown = len(slots) < count
        if grown:
            first = len(self._owners)
            more = max(first, count - len(slots))
            if first + more > MOST:
                raise ProblemError(f"a world has room for {MOST} shapes at most.")
            self._owners += [None] * more
            self._numbers = np.concatenate([self._numbers, np.tile(NOTHING, (more, 1))])
            slots += range(first, first + count - len(slots))
        for slot in slots:
            self._owners[slot] = name
        self._slots[name] = slots
        return grown

    def _place(self, name: str) -> None:
        """Write where the shapes of an obstacle are, far away if they do not count."""
        obstacle = self._obstacles[name]
        for slot, shape in zip(self._slots[name], obstacle.shapes, strict=True):
            if shape.is_field:
                continue  # those are not in slots
            pose = obstacle.pose @ shape.link_from_shape
            if not obstacle.enabled:
                pose = pose.copy()
                pose[:3, 3] = FAR
            put(self._numbers[slot], pose, middle_of(shape))

    def _fill(self, slot: int, row: Array) -> None:
        """Put a solid into a slot, and aside the points that follow if it is a hull."""
        self._numbers[slot] = row[:GROUP_OF_ONE]
        self._points.pop(slot, None)
        if row.size > GROUP_OF_ONE:
            self._points[slot] = row[GROUP_OF_ONE:]

    def _behind(self) -> Array:
        """The points of all hulls, one after the other, behind the slots, which are told where theirs begin."""
        return put_points(self._numbers, self._points)

    def _tell_all(self, grown: bool, paired: bool) -> None:
        points = self._behind()
        for watcher in tuple(self._watchers):
            watcher.take_world(self._numbers, points)
            if paired or grown:
                watcher.pair_anew()

    def __getstate__(self) -> dict[str, Any]:
        """A copy has the obstacles, and nobody who watches them."""
        with LOCK:
            state = {key: value for key, value in self.__dict__.items() if key != "_watchers"}
            owned = {name: list(slots) for name, slots in self._slots.items()}
            fresh = {
                "_numbers": self._numbers.copy(),
                "_owners": list(self._owners),
                "_slots": owned,
                "_points": dict(self._points),
            }
            return {**state, **fresh, "_obstacles": dict(self._obstacles)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._watchers = weakref.WeakSet()
        for obstacle in self._obstacles.values():
            frozen(obstacle.pose)
        renew_kernels(self._numbers)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        off = sum(not each.enabled for each in self._obstacles.values())
        return f"<World: {', '.join(self) or 'empty'}{f' ({off} disabled)' if off else ''}, room for {self.capacity} shapes>"

"""Gizmos: what a person drags. Each turns a drag into one call of the session."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import viser

import memetik as mk
from memetik.scenes import KINDS, Kind, Wish, block_shape
from memetik.types import Array
from memetik_studio.session import Session
from memetik_studio.solids import extent, solid_meshes

QUICK = 0.008  # s, half of the time between two moves of a mouse
OBSTACLE_COLOR = (217, 96, 59)


class Gizmos:
    """One transform control for every target of the scene, and one for every obstacle."""

    def __init__(
        self, client: viser.ClientHandle, session: Session, moved: Callable[[], None], behind: Callable[[], None]
    ) -> None:
        """`moved` is called after every frame that was solved, `behind` where somebody else should call `catch_up`.

        `taken` is the objective whose target somebody took hold of last.
        """
        self._api: Any = client.scene
        self._session, self._moved, self._behind = session, moved, behind
        self._spent = 0.0  # s for the last frame
        self._targets: dict[str, Any] = {}
        self._obstacles: dict[tuple[str, int], Any] = {}
        self._blocks: dict[str, Any] = {}  # obstacles of the world
        self._balls: list[Any] = []
        self._signature: list[Any] = []
        self.dragging = self.begins = False
        self.taken: str | None = None
        self.late: Callable[[], bool] | None = None
        self.build()

    def build(self) -> None:
        """Make the gizmos that the scene needs; those that are right already stay, so that a drag is not cut off."""
        session = self._session
        wanted = [
            (wish.name, wish.kind, wish.values.get("relative_to") is None, _spheres(wish))
            for wish in session.scene.wishes
            if wish.enabled
        ]
        blocks = [(block.name, block.shape, block.size, block.values) for block in session.scene.world if block.enabled]
        if [session.scene.body, *wanted, *blocks] != self._signature:
            self._signature = [session.scene.body, *wanted, *blocks]
            self.clear()
            scale = self._scale([name for name, *_ in wanted])
            for name, kind, _, obstacles in wanted:
                if kind == "Distance":
                    for number in range(obstacles):
                        self._obstacle(name, number, scale)
                elif (found := session.gizmo(name)) is not None:
                    self._target(name, KINDS[kind], scale, *found)
            for name, *_ in blocks:
                self._block(name, block_shape(session.scene.block(name)), scale)
        self.place()

    def _scale(self, names: list[str]) -> float:
        """Large enough to grasp, and not so large that neighbours overlap."""
        places = [found[0] for name in names if (found := self._session.gizmo(name)) is not None]
        gaps = [float(np.linalg.norm(a - b)) for a, b in combinations(places, 2)]
        size = extent(self._session.body)
        return min(0.13 * size, max(0.8 * min(gaps, default=size), 0.04 * size))

    def clear(self) -> None:
        """Take all away."""
        for handle in (*self._balls, *self._targets.values(), *self._obstacles.values(), *self._blocks.values()):
            handle.remove()
        self._blocks.clear()
        self._targets.clear()
        self._obstacles.clear()
        self._balls.clear()

    def place(self) -> None:
        """Put every gizmo where the scene says; not the one in somebody's hand, or just let go."""
        if self.dragging or self.late is not None:
            return
        for name, handle in self._targets.items():
            found = self._session.gizmo(name)
            if found is not None:
                _put(handle, *found)
        for (name, number), handle in self._obstacles.items():
            _put(handle, self._session.scene.wish(name).values["obstacles"][number][:3])

        for name, handle in self._blocks.items():
            block = self._session.scene.block(name)
            _put(handle, block.position, block.wxyz)

    def _target(self, name: str, kind: Kind, scale: float, position: Array, wxyz: Array) -> None:
        turns = kind.turn is not None or kind.axis is not None
        handle = self._api.add_transform_controls(
            f"/targets/{name}", scale=scale, position=tuple(position), wxyz=tuple(wxyz), depth_test=False,
            disable_axes=kind.place is None, disable_sliders=kind.place is None, disable_rotations=not turns,
        )  # fmt: skip
        self._listen(handle, lambda position, wxyz: self._session.move(name, position, wxyz), name)
        self._targets[name] = handle

    def _obstacle(self, name: str, number: int, scale: float) -> None:
        *position, radius = self._session.scene.wish(name).values["obstacles"][number]
        path, looks = f"/obstacles/{name} {number}", {"opacity": 0.8, "cast_shadow": False, "receive_shadow": False}
        handle = self._api.add_transform_controls(
            path, scale=scale, position=tuple(position), depth_test=False, disable_rotations=True
        )
        self._balls.append(self._api.add_icosphere(f"{path}/ball", radius=radius, color=OBSTACLE_COLOR, **looks))
        self._listen(handle, lambda position, _: self._session.move_obstacle(name, number, position), name)
        self._obstacles[name, number] = handle

    def _block(self, name: str, shape: mk.Shape, scale: float) -> None:
        block = self._session.scene.block(name)
        path, looks = f"/world/{name}", {"opacity": 0.8, "cast_shadow": False, "receive_shadow": False}
        handle = self._api.add_transform_controls(
            path, scale=scale, position=block.position, wxyz=block.wxyz, depth_test=False
        )
        for k, (vertices, faces, place) in enumerate(solid_meshes(shape)):
            self._balls.append(
                self._api.add_mesh_simple(
                    f"{path}/{k}", vertices, faces, color=OBSTACLE_COLOR, position=tuple(place[:3, 3].tolist()),
                    flat_shading=shape.kind == "box" or shape.is_field, **looks,
                )
            )  # fmt: skip
        self._listen(handle, lambda position, wxyz: self._session.move_block(name, position, wxyz))
        self._blocks[name] = handle

    def _listen(self, handle: Any, move: Callable[[Any, Any], bool], objective: str | None = None) -> None:
        # Awaited on the event loop, so that the phases of a drag keep their order. A frame takes about a millisecond; where
        # it takes longer, the mouse would run ahead, so then the pulse solves for its last position only.
        @handle.on_update  # type: ignore[untyped-decorator]
        async def _(event: Any) -> None:
            if event.phase == "start":
                self.dragging = self.begins = True
                self.taken = objective
            if event.phase == "end":
                self.dragging = False
            self.late = partial(move, handle.position.copy(), handle.wxyz.copy())
            if self._spent < QUICK:
                self.catch_up()
            else:
                self._behind()

    def catch_up(self) -> None:
        """Solve for the last drag, unless the session is busy; then whoever calls next does."""
        if self.late is not None and self._session.lock.acquire(blocking=False):
            begin = time.perf_counter()
            try:
                move, self.late = self.late, None
                if self.begins:
                    self.begins = False
                    self._session.begin_drag()
                if move():
                    self._moved()
            finally:
                self._spent = time.perf_counter() - begin
                self._session.lock.release()


def _spheres(wish: Wish) -> int:
    """How many spheres of its own a wish keeps off."""
    return 0 if wish.values.get("world") else len(wish.values.get("obstacles", ()))


def _put(handle: Any, position: Any, wxyz: Any = None) -> None:
    """Move a handle if it is not there, which spares the page a message."""
    if not np.allclose(handle.position, position, atol=1e-9):
        handle.position = tuple(float(each) for each in position)
    if wxyz is not None and abs(abs(float(np.dot(handle.wxyz, wxyz))) - 1.0) > 1e-9:
        handle.wxyz = tuple(float(each) for each in wxyz)

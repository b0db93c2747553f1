"""The stage: everything of a session that is seen in 3D, as handles of one client's page."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import viser

import memetik as mk
from memetik.scenes import surface_of
from memetik.types import Array
from memetik.write import nice
from memetik_studio.generations import Generation
from memetik_studio.lines import Lines
from memetik_studio.session import Session
from memetik_studio.solids import Copies, copies, corners, extent, shape_copies
from memetik_studio.wishes import tip

GHOST_COLORS = (
    (86, 180, 216), (232, 150, 58), (46, 168, 132), (194, 111, 166), (217, 96, 59), (184, 165, 49), (122, 102, 196),
    (92, 148, 74), (176, 92, 92), (96, 110, 130),
)  # fmt: skip
BEST_COLOR = (70, 160, 95)
START_COLOR = (150, 150, 160)
GLASS = 0.4  # opacity of the shapes around a body
AWAY, BESIDE = (1.0, -0.75, 0.35), (0.6, 0.8, 0.0)  # from the body to the camera, and to the right for it
MARGIN = 0.04  # around what is seen, as a share of the size of the body
APART = 0.75  # between ghosts, as a share of the size of the body
TRAIL = 300  # points of a tip


class Figure:
    """One body on the stage: solid, or a ghost in one colour."""

    def __init__(
        self, api: Any, name: str, session: Session, *, color: Any = None, opacity: float | None = None,
        parts: dict[str, Copies] | None = None,
    ) -> None:  # fmt: skip
        self._copies = copies(session.body, session.roots) if parts is None else parts
        poses = session.poses(session.q).array
        self._handles = {}
        for unit, solids in self._copies.items():
            positions, wxyzs = solids.place(poses)
            self._handles[unit] = api.add_batched_meshes_simple(
                f"{name}/{unit}", *solids.mesh, wxyzs, positions, batched_scales=solids.scales,
                batched_colors=solids.colors if color is None else color, opacity=opacity, lod="off",
                cast_shadow=False, receive_shadow=False, flat_shading=unit not in ("ball", "tube"),
            )  # fmt: skip

    def pose(self, poses: Array) -> None:
        """Take the posture in which the links have these poses."""
        for unit, solids in self._copies.items():
            positions, wxyzs = solids.place(poses)
            handle = self._handles[unit]
            handle.batched_positions = positions.astype(np.float32)
            handle.batched_wxyzs = wxyzs.astype(np.float32)

    def show(self, visible: bool) -> None:
        """Show or hide it."""
        for handle in self._handles.values():
            handle.visible = visible

    def remove(self) -> None:
        """Take it off the stage."""
        for handle in self._handles.values():
            handle.remove()


class Stage:
    """The body, its skeleton, axes, ghosts and trails, terrain and obstacles."""

    def __init__(self, client: viser.ClientHandle, session: Session) -> None:
        self._client, self._session = client, session
        self._api: Any = client.scene
        self._handles: list[Any] = []
        self._ghosts: list[Any] = []
        self._crowd: list[Any] = []
        self._best: Figure | None = None  # of a generation, seen in place of the body
        self._reasons: dict[int, Any] = {}  # labels at targets that are missed
        self._trails: dict[str, tuple[deque[Array], Any]] = {}
        self._cover: Figure | None = None
        self._covered: tuple[Any, Sequence[mk.build.Link]] = (
            None,
            (),
        )  # the body of a scene, and its links with simple shapes
        self.seen = {
            "body": True, "cover": False, "skeleton": False, "joint axes": False, "start ghost": False, "trails": True
        }  # fmt: skip
        self.build()

    def build(self) -> None:
        """Set everything up for the session's body and scene, in place of what there is."""
        self.compare([])
        self._uncrowd()
        _remove(self._handles)
        _remove([handle for _, handle in self._trails.values() if handle is not None])
        self._trails.clear()
        session, api = self._session, self._api
        self.size = extent(session.body)
        poses = session.poses(session.q).array
        self._lines = Lines(session.body, self.size)
        self._figure = Figure(api, "/body", session)
        self._start = Figure(api, "/start", session, color=START_COLOR, opacity=0.25)
        self._start.pose(session.poses(session.start).array)
        self._skeleton = self._line("/skeleton", self._lines.skeleton(poses), (20, 120, 120), 0.006)
        self._axes = self._line("/axes", self._lines.axes(poses), (200, 60, 160), 0.006)
        self._arcs = self._line("/arcs", self._lines.arcs(poses), (200, 60, 160), 0.002)
        width, cells, sections = (share * self.size for share in (8.0, 0.1, 0.5))
        grid = api.add_grid(
            "/grid", width=width, height=width, cell_size=nice(cells), section_size=nice(sections),
            position=(0.0, 0.0, self._floor(poses)), shadow_opacity=0.0,
        )  # fmt: skip
        self._handles += [self._figure, self._start, self._skeleton, self._axes, self._arcs, grid]
        self._scenery()
        self._build_cover()
        self.apply_visibility()

    def look(self, beside: float = 0.0) -> None:
        """Bring the whole body and its targets into view, and what stands up to so far [m] beside it."""
        session, camera = self._session, self._client.camera
        places = [found[0] for wish in session.scene.wishes if (found := session.gizmo(wish.name)) is not None]
        seen = corners(session.body, session.roots, session.poses(session.q).array)
        points = np.concatenate([seen, np.reshape(places, (-1, 3))])
        points = np.concatenate([points, points + beside * np.array(BESIDE)])
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        flat = np.ptp(points[:, 2]) < 0.15 * self.size  # is seen from above
        away, right = np.array([*AWAY[:2], 1.6 if flat else AWAY[2]]), np.array(BESIDE)
        away /= np.linalg.norm(away)
        x, y = (np.abs((points - middle) @ axis) + MARGIN * self.size for axis in (right, np.cross(away, right)))
        near = (points - middle) @ away + MARGIN * self.size
        steep = np.tan(0.5 * camera.fov)
        distance = float(np.max(np.maximum(x / (steep * camera.aspect), y / steep) + near))
        with self._client.atomic():
            camera.position = tuple(middle + distance * away)
            camera.look_at = tuple(middle)

    def pose(self) -> None:
        """Show the session's posture; the one thing that happens in every frame."""
        poses = self._session.poses(self._session.q).array
        with self._client.atomic():
            if self.seen["body"]:
                self._figure.pose(poses)
            if self.seen["cover"] and self._cover is not None:
                self._cover.pose(poses)
            if self.seen["skeleton"]:
                self._skeleton.points = self._lines.skeleton(poses).astype(np.float32)
            if self.seen["joint axes"] and len(self._axes.points):
                self._axes.points = self._lines.axes(poses).astype(np.float32)
                self._arcs.points = self._lines.arcs(poses).astype(np.float32)

    def cover(self, links: Sequence[mk.build.Link]) -> None:
        """Show the simple shapes of these links, which are those of the session's body, as glass around it."""
        self._covered = self._session.scene.body, links
        self._build_cover()
        self.apply_visibility()

    def _build_cover(self) -> None:
        if self._cover is not None:
            self._cover.remove()
            self._cover = None
        body, links = self._covered
        if body == self._session.scene.body:
            parts = shape_copies(self._session.body, links)
            self._cover = Figure(self._api, "/cover", self._session, opacity=GLASS, parts=parts)

    def compare(self, ghosts: Sequence[tuple[Array, str]], apart: bool = False) -> None:
        """Show postures with labels as ghosts, each in its colour, side by side if `apart`; none takes the old ones away."""
        _remove(self._ghosts)
        for k, (q, text) in enumerate(ghosts):
            poses = self._session.poses(q).array.copy()
            poses[:, :3, 3] += (k + 1) * APART * self.size * np.array(BESIDE) if apart else 0.0
            color = GHOST_COLORS[k % len(GHOST_COLORS)]
            figure = Figure(self._api, f"/ghost {k}", self._session, color=color, opacity=0.45)
            figure.pose(poses)
            top = poses[np.argmax(poses[:, 2, 3]), :3, 3] + (0.0, 0.0, 0.08 * self.size)
            looks = {"visible": apart, "font_screen_scale": 0.8, "anchor": "bottom-center"}
            label = self._api.add_label(f"/ghost label {k}", text, position=tuple(top), **looks)
            self._ghosts += [figure, label]
        if ghosts and apart:
            self.look(APART * self.size * len(ghosts))

    def crowd(self, generation: Generation | None) -> None:
        """Show a generation as skeletons and its best posture as a ghost, in place of the body; None shows that again."""
        with self._client.atomic():
            self._uncrowd()
            if generation is not None:
                self._best = Figure(self._api, "/generation/best", self._session, color=BEST_COLOR, opacity=0.35)
                self._best.pose(self._session.poses(generation.best).array)
                for name, points, colours, width in (
                    ("others", generation.others, generation.other_colours, 0.0018),
                    ("elites", generation.elites, generation.elite_colours, 0.007),
                ):
                    if len(points):  # made again: the page keeps the size of the buffer that lines had at first
                        self._crowd.append(self._line(f"/generation/{name}", points, colours, width))
            self._figure.show(self.seen["body"] and generation is None)

    def _uncrowd(self) -> None:
        """The body as it is again."""
        _remove(self._crowd)
        if self._best is not None:
            self._best.remove()
            self._best = None

    def trail(self) -> None:
        """Let the trails of the tips grow."""
        session = self._session
        for wish in session.scene.wishes:
            if "frame" not in wish.values:
                continue
            point = tip(wish, session.body, session.poses(session.q))
            points, handle = self._trails.get(wish.name, (deque([point], maxlen=TRAIL), None))
            if np.linalg.norm(points[-1] - point) > 2e-3 * self.size:
                points.append(point)
                # Made again: the page keeps the size of the buffer and the bounds that lines had at first.
                path = np.stack([np.array(points)[:-1], np.array(points)[1:]], axis=1)
                handle = self._line(f"/trails/{wish.name}", path, (214, 69, 155), 0.004)
                handle.visible = self.seen["trails"]
            self._trails[wish.name] = points, handle

    def explain(self, misses: Sequence[tuple[Array, str]]) -> None:
        """Show at each target that is missed why; labels that are right already stay."""
        for k in [k for k in self._reasons if k >= len(misses)]:
            self._reasons.pop(k).remove()
        for k, (at, text) in enumerate(misses):
            place = tuple((at + np.array([0.0, 0.0, 0.1 * self.size])).tolist())
            if k not in self._reasons:
                looks = {"font_screen_scale": 0.8, "anchor": "bottom-center"}
                self._reasons[k] = self._api.add_label(f"/reasons/{k}", text, position=place, **looks)
            label = self._reasons[k]
            if label.text != text:
                label.text = text
            if not np.allclose(label.position, place, atol=1e-6):
                label.position = place

    def apply_visibility(self) -> None:
        """Show what the page asks for."""
        self._figure.show(self.seen["body"] and self._best is None)
        if self._cover is not None:
            self._cover.show(self.seen["cover"] and self._best is None)
        self._start.show(self.seen["start ghost"])
        self._skeleton.visible = self.seen["skeleton"]
        self._axes.visible = self._arcs.visible = self.seen["joint axes"]
        for _, handle in self._trails.values():
            if handle is not None:
                handle.visible = self.seen["trails"]
        self.pose()

    # ---- Parts ---------------------------------------------------------------------------------------------

    def _line(self, name: str, segments: Array, color: Any, width: float) -> Any:
        """Segments (n, 2, 3) as lines of a width that is a share of the size of the body."""
        return self._api.add_line_segments(name, segments.astype(np.float32), color, thickness=width * self.size)

    def _floor(self, poses: Array) -> float:
        """The lowest point of the body at the moment, roughly."""
        return float(corners(self._session.body, self._session.roots, poses)[:, 2].min())

    def _scenery(self) -> None:
        """Terrains and supports of the wishes; obstacles move with their gizmos."""
        shown = []
        for wish in self._session.scene.wishes:
            if wish.kind == "Projection" and wish.values["surface"] not in shown:
                shown.append(wish.values["surface"])
                if wish.values["surface"]["kind"] == "height field":
                    self._terrain(f"/terrain {len(shown)}", surface_of(wish.values["surface"]))
            if wish.kind == "Balance":
                corners = np.array([(*row[:2], 0.0) for row in wish.values["polygon"]])
                loop = np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)
                self._handles.append(self._line(f"/support {wish.name}", loop, (46, 168, 132), 0.006))

    def _terrain(self, name: str, field: Any) -> None:
        rows, columns = field.heights.shape
        x = field.origin[0] + field.spacing[0] * np.arange(rows)
        y = field.origin[1] + field.spacing[1] * np.arange(columns)
        grid = np.stack([*np.meshgrid(x, y, indexing="ij"), field.heights], axis=-1).reshape(-1, 3)
        first = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)[None]).ravel()
        corners = first[:, None] + np.array([0, columns, columns + 1, 1])
        faces = np.concatenate([corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]])
        handle = self._api.add_mesh_simple(
            name, grid.astype(np.float32), faces, color=(150, 160, 140), flat_shading=True, side="double",
            cast_shadow=False, receive_shadow=False,
        )  # fmt: skip
        self._handles.append(handle)


def _remove(handles: list[Any]) -> None:
    """Take them off the stage and forget them."""
    for handle in handles:
        handle.remove()
    handles.clear()

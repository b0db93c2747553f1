"""The gallery: scenes in 3D, each one HTML file that plays without a network, and the page that frames them."""

from __future__ import annotations

import contextlib
import io
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
from tools.docs.scenes import RATE, SCENES, Show

import memetik as mk
from memetik_studio import solids

LIGHT, MARK, PROP = (244, 246, 248), (179, 38, 30), (198, 150, 90)


def page() -> str:
    """The gallery's page: a still of each scene, which is loaded when it is opened, so that the page itself stays small."""
    about = (
        f"{len(SCENES)} scenes to turn, zoom and play, each computed by the library when these pages were built. "
        "A scene is one file of about a megabyte that plays without a network; it is loaded when you open it."
    )
    cards = []
    for name, (title, source, _) in SCENES.items():
        told = f"{source.removesuffix('.md')}.html" if source.endswith(".md") else ""
        link = f'<a href="{told}">where it is told</a>' if told else f"<code>{source}</code>"
        still = f'<img src="scenes/{name}.svg" alt="{title}" loading="lazy" width="260" height="195">'
        frame = f'<iframe class="scene" title="{title}" data-src="scenes/{name}.html"></iframe>'
        cards.append(f"<details><summary>{still}<b>{title}</b></summary>{frame}<span>{link}</span></details>")
    return "\n".join(["# Gallery", "", about, "", '<div class="scenes">', *cards, "</div>", ""])


def write(folder: Path, names: list[str] | None = None) -> None:
    """Compute all scenes, or some by name, and write them into a folder."""
    import viser

    folder.mkdir(parents=True, exist_ok=True)
    for name, (title, _, make) in SCENES.items():
        if names and name not in names:
            continue
        begin = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):  # the server's own banner
            server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
            try:
                show = make()
                text = recorded(server, show)
            finally:
                server.stop()
        (folder / f"{name}.html").write_text(text)
        still = mk.draw(
            show.body,
            show.q[len(show.q) // 3],
            view=(-45, 18),
            size=(260, 195),
            show_skeleton=len(show.body.links) < 40,
        )
        (folder / f"{name}.svg").write_text(re.sub(r"(\d+\.\d)\d+", r"\1", still))
        print(f"{name}: {title}, {len(text) / 1e6:.1f} MB, {time.perf_counter() - begin:.1f} s", flush=True)


def recorded(server: Any, show: Show) -> str:
    """A scene as one HTML file."""
    body, frames = show.body, len(show.q)
    poses = body.forward(show.q).array  # (frames, links, 4, 4)
    if poses.shape[0] != frames:
        poses = np.array([body.forward(q).array for q in show.q])
    points = poses[:, :, :3, 3].reshape(-1, 3)
    middle, size = (
        0.5 * (points.min(axis=0) + points.max(axis=0)),
        max(0.4, float(np.linalg.norm(np.ptp(points, axis=0)))),
    )
    server.initial_camera.look_at = tuple(middle)
    server.initial_camera.position = tuple(middle + size * np.array([0.75, -0.75, 0.35]))
    server.scene.configure_default_lights(cast_shadow=False)
    if show.terrain is None:
        floor = min(0.0, float(points[:, 2].min()))
        server.scene.add_grid("/floor", width=4 * size, height=4 * size, cell_size=0.1, position=(0.0, 0.0, floor))
    else:
        vertices, faces = surface(show.terrain)
        server.scene.add_mesh_simple("/terrain", vertices, faces, color=(150, 165, 140), flat_shading=True)
    parts = []
    for unit, copies in solids.copies(body).items():
        places, turns = copies.place(poses[0])
        handle = server.scene.add_batched_meshes_simple(
            f"/body/{unit}",
            copies.mesh.vertices.astype(np.float32),
            copies.mesh.faces.astype(np.uint32),
            turns.astype(np.float32),
            places.astype(np.float32),
            batched_scales=copies.scales.astype(np.float32),
            batched_colors=copies.colors,
        )
        parts.append((copies, handle))
    marks = []
    for k, mark in enumerate(show.marks):
        path = np.broadcast_to(np.asarray(mark, float), (frames, 3)) if np.ndim(mark) == 1 else np.asarray(mark, float)
        marks.append(
            (path, server.scene.add_icosphere(f"/marks/{k}", radius=0.012 * size, color=MARK, position=path[0]))
        )
    props = [_prop(server, k, shape) for k, shape in enumerate(show.props)]
    serializer = server.get_scene_serializer()
    for frame in range(frames):
        with server.atomic():
            for copies, handle in parts:
                places, turns = copies.place(poses[frame])
                handle.batched_positions, handle.batched_wxyzs = places.astype(np.float32), turns.astype(np.float32)
            for path, handle in marks:
                handle.position = path[min(frame, len(path) - 1)]
            for k, path in show.moving.items():
                place = path[min(frame, len(path) - 1)] @ show.props[k].link_from_shape
                props[k].position, props[k].wxyz = place[:3, 3], mk.geometry.to_quaternion(place[:3, :3])
        serializer.insert_sleep(1.0 / RATE)
    return str(serializer.as_html())


def _prop(server: Any, k: int, shape: mk.Shape) -> Any:
    place = {
        "position": shape.link_from_shape[:3, 3],
        "wxyz": mk.geometry.to_quaternion(shape.link_from_shape[:3, :3]),
        "color": PROP,
    }
    if shape.kind == "sphere":
        return server.scene.add_icosphere(f"/props/{k}", radius=shape.size[0], **place)
    return server.scene.add_box(f"/props/{k}", dimensions=shape.size, **place)


def surface(terrain: mk.objectives.HeightField) -> tuple[Any, Any]:
    """The triangles of a height field."""
    heights = np.asarray(terrain.heights)
    rows, columns = heights.shape
    x = terrain.origin[0] + terrain.spacing[0] * np.arange(rows)
    y = terrain.origin[1] + terrain.spacing[1] * np.arange(columns)
    vertices = np.stack([*np.meshgrid(x, y, indexing="ij"), heights], axis=-1).reshape(-1, 3).astype(np.float32)
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)[None, :]).ravel()
    lower = np.stack([corner, corner + columns, corner + 1], axis=1)
    upper = np.stack([corner + 1, corner + columns, corner + columns + 1], axis=1)
    return vertices, np.concatenate([lower, upper]).astype(np.uint32)

"""A body, or a motion of it, recorded as one page that needs no server: what `mk.view` shows."""

from __future__ import annotations

import io
from contextlib import AbstractContextManager, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

import memetik as mk
from memetik.progress import in_notebook
from memetik.types import Array

AWAY = (1.0, -0.75, 0.35)  # from the body to the camera


def page(body: mk.Body, frames: Array, marks: list[tuple[Array, bool]], roots: list[str], rate: float) -> str:
    """The scene, recorded by a server that nobody is connected to.

    frames: poses of all links, (frames, links, 4, 4).
    marks: poses, and whether their axes are shown.
    roots: folders of meshes.
    rate: frames a second.
    """
    try:
        import viser

        from memetik_studio.solids import copies, extent
    except ImportError:
        raise mk.errors.MissingExtraError("viser", "mk.view", "studio") from None
    solids_of = (shape for link in body.links.values() for shape in (*link.visuals, *link.shapes))
    parts = copies(body, (*roots, *dict.fromkeys(str(Path(shape.mesh).parent) for shape in solids_of if shape.mesh)))
    with _quiet():  # it would print an address at which nobody is to look
        server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    try:
        scene: Any = server.scene
        size = extent(body)
        handles = {}
        for unit, solids in parts.items():
            positions, wxyzs = solids.place(frames[0])
            handles[unit] = scene.add_batched_meshes_simple(
                f"/{unit}", *solids.mesh, wxyzs, positions, batched_scales=solids.scales, batched_colors=solids.colors, lod="off",
                cast_shadow=False, receive_shadow=False, flat_shading=unit not in ("ball", "tube"),
            )  # fmt: skip
        low = float(frames[..., 2, 3].min())
        scene.add_grid("/grid", width=3.0 * size, height=3.0 * size, cell_size=0.1 * size, position=(0.0, 0.0, low))
        for k, (pose, turned) in enumerate(marks):
            wxyz = mk.geometry.to_quaternion(pose[:3, :3])
            scene.add_frame(
                f"/target_{k}", wxyz=wxyz, position=pose[:3, 3], show_axes=turned, axes_length=0.1 * size,
                axes_radius=0.004 * size, origin_radius=0.012 * size,
            )  # fmt: skip
            if not turned:
                scene.add_icosphere(f"/target_{k}/ball", radius=0.02 * size, color=(230, 60, 60))
        points = frames[0, :, :3, 3]
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        server.initial_camera.position = tuple(middle + 0.85 * size * np.array(AWAY))
        server.initial_camera.look_at = tuple(middle)
        recording = server.get_scene_serializer()
        for row in range(1, len(frames)):
            recording.insert_sleep(1.0 / rate)
            for unit, solids in parts.items():
                positions, wxyzs = solids.place(frames[row])
                handles[unit].batched_positions = positions.astype(np.float32)
                handles[unit].batched_wxyzs = wxyzs.astype(np.float32)
        if len(frames) > 1:
            recording.insert_sleep(1.0 / rate)
        return str(recording.as_html())
    finally:
        with _quiet():
            server.stop()


def _quiet() -> AbstractContextManager[Any]:
    """Keeps what is printed to itself; in a notebook that is shown by other means than stdout."""
    if in_notebook():
        from IPython.utils.capture import capture_output

        captured: AbstractContextManager[Any] = capture_output()
        return captured
    return redirect_stdout(io.StringIO())

"""view: a body, or a motion, to turn and zoom, in the cell of a notebook or as one file for a browser."""

from __future__ import annotations

import io
import tempfile
import webbrowser
from collections.abc import Iterable
from contextlib import AbstractContextManager, redirect_stdout
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import memetik as mk
from memetik.errors import FormatError, MissingExtraError, shown
from memetik.files import path_of, writable_file, write_whole
from memetik.geometry import as_transform
from memetik.progress import in_notebook
from memetik.types import Array

MOST = 10_000  # frames
AWAY = (1.0, -0.75, 0.35)  # from the body to the camera


class View:
    """A scene as one HTML page that needs no network and no server; a notebook shows it in the cell."""

    def __init__(self, page: str, height: int) -> None:
        self.page, self.height = page, height

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page as an .html file; return the path."""
        file = writable_file(path_of(path, FormatError, "the path of a view"), ".html")
        write_whole(file, self.page.encode())
        return file

    def _repr_html_(self) -> str:
        frame = f"width:100%;height:{self.height}px;border:0"
        return f'<iframe srcdoc="{escape(self.page)}" style="{frame}" allowfullscreen></iframe>'

    def __repr__(self) -> str:
        return f"<View: a page of {len(self.page) / 1e6:.1f} MB>"


def view(
    body: mk.Body,
    q: ArrayLike | None = None,
    *,
    targets: Iterable[Any] = (),
    roots: Iterable[str | PathLike[str]] = (),
    rate: float = 30.0,
    height: int = 480,
    path: str | PathLike[str] | None = None,
    open: bool | None = None,
) -> View:
    """A body in 3D, to turn and zoom: in a notebook in the cell, elsewhere in the browser.

    q: one joint vector (home unless given), or many (frames, dof), which the page then plays.
    targets: positions (x, y, z) [m] and 4x4 poses to mark.
    roots: folders of meshes, besides those in which mk.load found them.
    rate: frames a second of a motion.
    height: of the cell [pixels].
    path: an .html file to write the page to. It needs no network, and no program but a browser.
    open: whether to open it in a browser; unless given, outside of notebooks if no path is given.

    pip install "memetik[studio]"
    """
    if not isinstance(body, mk.Body):
        raise FormatError(f"view takes a body, not {shown(body)}. Give mk.load(...) and the like.")
    poses = body.forward(body.home if q is None else q).array
    frames = poses if poses.ndim == 4 else poses[None]
    if not 0 < len(frames) <= MOST:
        raise FormatError(f"a view has 1 to {MOST} frames, not {len(frames)}.")
    speed, tall = _number(rate, "rate", 0.01, 1000.0), round(_number(height, "height", 50.0, 10_000.0))
    if not (open is None or isinstance(open, bool)):
        raise FormatError(f"open is {shown(open)}; it must be True, False or None.")
    shown_page = View(_page(body, frames, _marks(targets), _texts(roots), speed), tall)
    file = None if path is None else shown_page.save(path)
    if open if open is not None else (path is None and not in_notebook()):
        if file is None:
            file = shown_page.save(Path(tempfile.mkdtemp(prefix="memetik_")) / "view.html")
        webbrowser.open(file.resolve().as_uri())
    return shown_page


def _quiet() -> AbstractContextManager[Any]:
    """Keeps what is printed to itself; in a notebook that is shown by other means than stdout."""
    if in_notebook():
        from IPython.utils.capture import capture_output

        captured: AbstractContextManager[Any] = capture_output()
        return captured
    return redirect_stdout(io.StringIO())


def _number(value: object, what: str, least: float, most: float) -> float:
    if isinstance(value, (int, float, np.integer, np.floating)) and least <= value <= most:
        return float(value)
    raise FormatError(f"{what} is {shown(value)}. Give a number from {least:g} to {most:g}.")


def _marks(targets: Any) -> list[tuple[Array, bool]]:
    """The targets as poses, and whether each is turned in a way that matters."""
    try:
        found = [targets] if isinstance(targets, np.ndarray) and targets.shape in ((3,), (4, 4)) else list(targets)
    except Exception:  # not iterable, or it fails half way
        raise FormatError(f"targets are {shown(targets)}. Give a list, for example [(0.5, 0.1, 0.4)].") from None
    return [(as_transform(target, name=f"targets[{k}]"), not _is_point(target)) for k, target in enumerate(found)]


def _is_point(target: Any) -> bool:
    return len(target) == 3 and all(np.ndim(part) == 0 for part in target)


def _texts(roots: Any) -> list[str]:
    try:
        given = [roots] if isinstance(roots, (str, PathLike)) else list(roots)
        return [str(Path(root)) for root in given]
    except Exception:
        raise FormatError(f"roots are {shown(roots)}. Give a list of folders.") from None


def _page(body: mk.Body, frames: Array, marks: list[tuple[Array, bool]], roots: list[str], rate: float) -> str:
    """The scene, recorded by a server that nobody is connected to."""
    try:
        import viser

        from memetik.studio.solids import copies, extent
    except ImportError:
        raise MissingExtraError("viser", "mk.view", "studio") from None
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
            wxyz = mk.to_quaternion(pose[:3, :3])
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

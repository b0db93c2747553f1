"""view: a body, or a motion, to turn and zoom, in the cell of a notebook or as one file for a browser."""

from __future__ import annotations

import tempfile
import webbrowser
from collections.abc import Iterable
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Body
from memetik.errors import FormatError, shown
from memetik.files import path_of, writable_file, write_whole
from memetik.geometry import as_transform
from memetik.plugins import PAGES, added, missing
from memetik.progress import in_notebook
from memetik.types import Array

MOST = 10_000  # frames


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
    body: Body,
    q: ArrayLike | None = None,
    *,
    targets: Iterable[Any] = (),
    roots: Iterable[str | PathLike[str]] = (),
    rate: float = 30.0,
    pixel_height: int = 480,
    path: str | PathLike[str] | None = None,
    open: bool | None = None,
) -> View:
    """A body in 3D, to turn and zoom: in a notebook in the cell, elsewhere in the browser.

    q: one joint vector (home unless given), or many (frames, dof), which the page then plays.
    targets: positions (x, y, z) [m] and 4x4 poses to mark.
    roots: folders of meshes, besides those in which mk.load found them.
    rate: frames a second of a motion.
    pixel_height: of the cell [pixels].
    path: an .html file to write the page to. It needs no network, and no program but a browser.
    open: whether to open it in a browser; unless given, outside of notebooks if no path is given.

    pip install "memetik[studio]"
    """
    if not isinstance(body, Body):
        raise FormatError(f"view takes a body, not {shown(body)}. Give mk.load(...) and the like.")
    poses = body.forward(body.home if q is None else q).array
    frames = poses if poses.ndim == 4 else poses[None]
    if not 0 < len(frames) <= MOST:
        raise FormatError(f"a view has 1 to {MOST} frames, not {len(frames)}.")
    speed, tall = _number(rate, "rate", 0.01, 1000.0), round(_number(pixel_height, "pixel_height", 50.0, 10_000.0))
    if not (open is None or isinstance(open, bool)):
        raise FormatError(f"open is {shown(open)}; it must be True, False or None.")
    marks, folders = _marks(targets), _texts(roots)
    if "view" not in added(PAGES):
        raise missing("view", "mk.view")
    shown_page = View(added(PAGES)["view"].load()(body, frames, marks, folders, speed), tall)
    file = None if path is None else shown_page.save(path)
    if open if open is not None else (path is None and not in_notebook()):
        if file is None:
            file = shown_page.save(Path(tempfile.mkdtemp(prefix="memetik_")) / "view.html")
        webbrowser.open(file.resolve().as_uri())
    return shown_page


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

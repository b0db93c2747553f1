"""Mesh names -> files, found only inside the directories that the caller trusts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from urllib.parse import unquote

from memetik.errors import FormatError, shown
from memetik.geometry.checks import several

Roots = Iterable[str | PathLike[str]]


def resolve_mesh(name: str, roots: Roots) -> Path | None:
    """The file that a mesh name means, None if it is in none of the roots.

    - `package://PACKAGE/path`: ROOT/PACKAGE/path, or ROOT/path if the root itself is called PACKAGE
    - `file:///path` and absolute paths: that path, if it lies inside a root
    - relative paths: ROOT/path

    Links and `..` are followed before the check, so that no name leads out of the roots.
    """
    if not isinstance(name, str):
        raise FormatError(f"the name of a mesh is {shown(name)}. Give a text.")
    for root in (roots,) if isinstance(roots, (str, PathLike)) else several(roots, FormatError, "roots", "['models']"):
        if not isinstance(root, (str, PathLike)):
            raise FormatError(f"a folder of meshes is {shown(root)}. Give a path.")
        try:
            inside = Path(root).resolve()
            for candidate in _candidates(name, inside):
                path = candidate.resolve()
                if path.is_relative_to(inside) and path.is_file():
                    return path
        except (OSError, ValueError, RuntimeError):  # too long, a null byte, a circle of links: no such file
            continue
    return None


def locate_mesh(name: str, roots: Roots) -> str:
    """The path of the file that a mesh name means, or the name as it is written if there is none."""
    path = resolve_mesh(name, roots)
    return name if path is None else str(path)


def _candidates(name: str, root: Path) -> Iterator[Path]:
    if name.startswith("package://"):
        package, _, path = name.removeprefix("package://").partition("/")
        yield root / package / path
        if package == root.name:
            yield root / path
    elif name.startswith("file://"):
        yield Path(unquote(name.removeprefix("file://").removeprefix("localhost")))
    elif "://" not in name:
        yield root / name

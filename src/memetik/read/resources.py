"""Mesh names -> files, found only inside the directories that the caller trusts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from memetik.errors import FormatError, shown
from memetik.files import path_of
from memetik.geometry.checks import several
from memetik.read.descriptions import cache

Roots = Iterable[str | PathLike[str]]

PACKAGE = "package://"
PACKAGE_PATHS = {"ROS_PACKAGE_PATH": "", "AMENT_PREFIX_PATH": "share"}  # where ROS 1 and 2 look, and the folder below


class Place(NamedTuple):
    """A path that a mesh may have, and the folder that it may not lead out of."""

    path: Path
    inside: Path


def resolve_mesh(name: str, roots: Roots, file: str | PathLike[str] | None = None) -> Path | None:
    """The file that a mesh name means, None if it is nowhere.

    - `package://PACKAGE/path`: ROOT/PACKAGE/path, or ROOT/path if the root itself is called PACKAGE
    - `file:///path` and absolute paths: that path, if it lies inside a root
    - relative paths: ROOT/path

    Links and `..` are followed before the check, so that no name leads out of the roots.

    `file` is the model that names the mesh, if the user chose it: packages are then also looked for among the folders
    above it, where ROS keeps them (ROS_PACKAGE_PATH, AMENT_PREFIX_PATH), and in the cache of robot_descriptions; paths, and
    those inside a package, beside it and one folder above.
    """
    for place in mesh_places(name, roots, file):
        try:
            path = place.path.resolve()
            if path.is_relative_to(place.inside.resolve()) and path.is_file():
                return path
        except (OSError, ValueError, RuntimeError):  # too long, a null byte, a circle of links: no such file
            continue
    return None


def mesh_places(name: str, roots: Roots, file: str | PathLike[str] | None = None) -> list[Place]:
    """Where `resolve_mesh` looks for a mesh, in this order."""
    if not isinstance(name, str):
        raise FormatError(f"the name of a mesh is {shown(name)}. Give a text.")
    found: list[Place] = []
    for root in folders_of(roots):
        found += _in_root(name, root)
    if file is not None:
        found += _around(name, path_of(file, FormatError, "the model that names a mesh"))
    return list(dict.fromkeys(found))


def folders_of(roots: Roots) -> list[Path]:
    """Folders of meshes as paths; a single one will do."""
    given = (roots,) if isinstance(roots, (str, PathLike)) else several(roots, FormatError, "roots", "['models']")
    for root in given:
        if not isinstance(root, (str, PathLike)):
            raise FormatError(f"a folder of meshes is {shown(root)}. Give a path.")
    return [Path(root) for root in given]


def _in_root(name: str, root: Path) -> Iterator[Place]:
    try:
        root = root.resolve()
    except (OSError, ValueError, RuntimeError):
        return
    if name.startswith(PACKAGE):
        package, path = _package(name)
        yield Place(root / package / path, root)
        if package == root.name:
            yield Place(root / path, root)
    elif name.startswith("file://"):
        yield Place(Path(unquote(name.removeprefix("file://").removeprefix("localhost"))), root)
    elif "://" not in name:
        yield Place(root / name, root)


def _around(name: str, file: Path) -> Iterator[Place]:
    """Near a model file, and where ROS keeps packages; never more of a folder than the package that is meant."""
    try:
        folder = file.resolve().parent
    except (OSError, ValueError, RuntimeError):
        return
    if not name.startswith(PACKAGE):
        path = Path(unquote(name.removeprefix("file://").removeprefix("localhost")))
        if name.startswith("file://") or "://" not in name:
            yield Place(folder / path, folder.parent)
        return
    package, path_inside = _package(name)
    if package in ("", ".", ".."):
        return
    for above in (folder, *folder.parents):
        if above.name == package:
            yield Place(above / path_inside, above)
        yield Place(above / package / path_inside, above / package)
    for variable, below in PACKAGE_PATHS.items():
        for entry in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            for own in _packages(Path(entry) / below, package):
                yield Place(own / path_inside, own)
    for pattern in (
        "",
        "*/",
        "*/*/",
    ):  # a repository that holds one package, or several, perhaps in a folder of their own
        yield from (Place(own / path_inside, own) for own in _cached(pattern, package))
    for above in (folder, folder.parent):  # a package that was copied under another name
        yield Place(above / path_inside, above)


def _packages(folder: Path, package: str) -> Iterator[Path]:
    """Where in a folder of packages one may be: in it, itself, or in a repository of several in it."""
    if folder.name == package:
        yield folder
    yield folder / package
    try:
        yield from (each / package for each in sorted(folder.glob("*/")) if (each / package).is_dir())
    except OSError:  # cannot be listed
        return


def _cached(pattern: str, package: str) -> Iterator[Path]:
    """Packages of this name in the cache of robot_descriptions."""
    try:
        yield from sorted(path for path in cache().glob(f"{pattern}{package}") if path.is_dir())
    except (OSError, ValueError, NotImplementedError):  # cannot be listed, or no name of a folder
        return


def _package(name: str) -> tuple[str, str]:
    """The package and the path in it; some files write a third slash."""
    package, _, path = name.removeprefix(PACKAGE).lstrip("/").partition("/")
    return package, path

"""Models of the package robot_descriptions: `robot_descriptions:panda_description`.

The package holds names and addresses; it clones the repository of a robot when its module is imported, once, into its cache.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from memetik.errors import FormatError, MissingExtraError, UnknownNameError, said

SCHEME = "robot_descriptions:"
PACKAGE = "robot_descriptions"
ENDING = "_description"


class Description(NamedTuple):
    """The files of a robot."""

    file: Path  # URDF or MJCF
    srdf: Path | None
    roots: tuple[Path, ...]  # where its meshes are


def find_description(source: str) -> Description:
    """The files that `robot_descriptions:NAME` means; "_description" at the end of the name may be left out."""
    name = source.removeprefix(SCHEME).strip()
    module = _module(name)
    path = next((str(getattr(module, key)) for key in ("URDF_PATH", "MJCF_PATH") if hasattr(module, key)), None)
    if path is None:
        path = _expanded(module, name)
    file = Path(path)
    if not file.is_file():
        raise FormatError(f"{source}: its file {file} is not there. Clear the cache at {cache()} and load it again.")
    folders = [Path(getattr(module, key)) for key in ("PACKAGE_PATH", "REPOSITORY_PATH") if hasattr(module, key)]
    roots = (*folders, *(folder.parent for folder in folders), file.parent)
    srdf = Path(module.SRDF_PATH) if hasattr(module, "SRDF_PATH") else None
    return Description(file, srdf if srdf is not None and srdf.is_file() else None, tuple(dict.fromkeys(roots)))


def cache() -> Path:
    """Where the package keeps what it cloned."""
    return Path(os.environ.get("ROBOT_DESCRIPTIONS_CACHE", "~/.cache/robot_descriptions")).expanduser()


def _module(name: str) -> ModuleType:
    """The module of a robot; importing it clones its repository."""
    known = _names()
    wanted = name if name in known else f"{name}{ENDING}"
    if known and wanted not in known:
        raise UnknownNameError("description", wanted, known, PACKAGE)
    try:
        return importlib.import_module(f"{PACKAGE}.{wanted}")
    except Exception as reason:  # git's own errors, no git at all, no network, a disk that is full
        if isinstance(reason, ModuleNotFoundError) and reason.name == f"{PACKAGE}.{wanted}":
            raise UnknownNameError("description", wanted, known, PACKAGE) from None
        raise FormatError(
            f"{SCHEME}{name} cannot be fetched: {' '.join(said(reason).split())[:300]}. It is cloned once, from the network, "
            f"into {cache()}; set ROBOT_DESCRIPTIONS_CACHE to a folder that has it already, or load its file by path."
        ) from reason


def _names() -> list[str]:
    try:
        importlib.import_module(PACKAGE)
    except ImportError:
        raise MissingExtraError(PACKAGE, f"loading {SCHEME}NAME", "descriptions") from None
    try:
        return list(importlib.import_module(f"{PACKAGE}._descriptions").DESCRIPTIONS)
    except (ImportError, AttributeError):  # its list has moved: the import of the module will tell
        return []


def _expanded(module: ModuleType, name: str) -> str:
    """The URDF that the package makes of the xacro file of a robot."""
    if not hasattr(module, "XACRO_PATH"):
        raise FormatError(f"{SCHEME}{name} has neither a URDF nor an MJCF file.")
    try:
        return str(importlib.import_module(f"{PACKAGE}._xacro").get_urdf_path(module))
    except Exception as reason:  # xacrodoc is missing, or says what it dislikes
        raise FormatError(
            f"{SCHEME}{name} is written in xacro, which could not be expanded: {said(reason)}. Install xacrodoc: "
            "pip install xacrodoc"
        ) from reason

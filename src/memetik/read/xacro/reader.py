"""xacro -> Body: the macro language of URDF, expanded here, or by the package `xacro` where a file is trusted to be Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path

from memetik.body import Body
from memetik.errors import FormatError, MissingExtraError
from memetik.files import path_of
from memetik.geometry.checks import flag, mapping
from memetik.read import xml
from memetik.read.resources import folders_of
from memetik.read.urdf import body_from_urdf
from memetik.read.xacro.expand import expand


def read_xacro(
    path: str | PathLike[str],
    *,
    args: Mapping[str, object] | None = None,
    roots: Iterable[str | PathLike[str]] = (),
    soft_limits: bool = False,
    trust: bool = False,
) -> Body:
    """The body in a xacro file; `args` are the values of its <xacro:arg> elements.

    Macros are expanded without Python: expressions are arithmetic, texts, lists and dicts of bounded size, and files are
    included from the folders of the model, its packages and `roots` only. `trust` lets the package `xacro` expand the file
    instead, with all of Python, the environment and the whole disk: for files that need it, and that you would run as a program.
    """
    file = path_of(path, FormatError, "the path of the file")
    given = mapping(args, FormatError, "args", "{'prefix': 'left_'}")
    texts = {str(name): str(value) for name, value in given.items()}
    trusted = flag(trust, FormatError, "trust")
    root = _run(file, texts) if trusted else expand(file, texts, folders_of(roots))
    return body_from_urdf(root, roots=roots, soft_limits=soft_limits, path=file)


def _run(file: Path, arguments: dict[str, str]) -> xml.Element:
    """The root element as the package `xacro` expands the file, which may run any Python."""
    xml.read(file)  # the same checks and messages as for URDF, before anything is expanded
    try:
        import xacro
    except ImportError as error:
        raise MissingExtraError("xacro", "reading .xacro files that are trusted", extra="xacro") from error
    try:
        text = str(xacro.process_file(str(file), mappings=arguments).toprettyxml(indent="  "))
    except Exception as error:  # expressions in the file may raise anything
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FormatError(f"{file.name} cannot be expanded by xacro: {reason}.") from error
    return xml.parse(text, f"{file.name} (expanded)")

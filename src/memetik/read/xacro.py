"""xacro -> Body: the macro language of URDF, expanded by the package `xacro` if it is installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path

from memetik.body import Body
from memetik.errors import FormatError, MissingExtraError
from memetik.files import path_of
from memetik.geometry.checks import mapping
from memetik.read import xml
from memetik.read.urdf import parse_urdf


def read_xacro(
    path: str | PathLike[str],
    *,
    arguments: Mapping[str, str] | None = None,
    roots: Iterable[str | PathLike[str]] = (),
    soft_limits: bool = False,
) -> Body:
    """The body in a xacro file; `arguments` are the values of its <xacro:arg> elements.

    A xacro file is a program: it includes files and evaluates expressions. Expand only those that you trust.
    """
    file = path_of(path, FormatError, "the path of the file")
    xml.read(file)  # the same checks and messages as for URDF, before anything is expanded
    text = _expand(file, mapping(arguments, FormatError, "arguments", "{'prefix': 'left_'}"))
    shown = f"{file.name} (expanded)"
    return parse_urdf(text, file=shown, roots=roots, soft_limits=soft_limits, path=file)


def _expand(file: Path, arguments: dict[str, str]) -> str:
    try:
        import xacro
    except ImportError as error:
        raise MissingExtraError("xacro", "reading .xacro files", extra="xacro") from error
    try:
        return str(xacro.process_file(str(file), mappings=arguments).toprettyxml(indent="  "))
    except Exception as error:  # expressions in the file may raise anything
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FormatError(f"{file.name} cannot be expanded by xacro: {reason}.") from error

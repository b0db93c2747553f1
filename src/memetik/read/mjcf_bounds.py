"""What a MuJoCo model names and how much it makes of itself, looked at before MuJoCo compiles it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

from memetik.errors import FormatError
from memetik.read import xml
from memetik.read.xml import Element

MAX_COPIES = 10_000  # elements that <replicate> makes, points of a grid: MuJoCo takes time with the square of them
MAX_PIXELS = 2**26  # of a texture or a height field that the file makes up
DIRECTORIES = ("meshdir", "texturedir", "assetdir")
INCLUDE = ("include", "model")


def check_model(path: Path, inside: Path | None = None) -> None:
    """Raise where a model makes more of itself than any body needs; with `inside`, where it names a file outside of that folder.

    Included files are looked at, too. MuJoCo looks for names in the folder of the model and in that of the including file, so
    each name has to stay inside from all of them, behind all folders that the files declare.
    """
    roots = _files(path, strict=inside is not None)
    for root in roots.values():
        _check_amount(root)
    if inside is not None:
        _check_names(roots, inside.resolve())


def every(root: Element) -> Iterator[Element]:
    """An element and all that is in it."""
    waiting = [root]
    while waiting:
        element = waiting.pop()
        yield element
        waiting += reversed(element.children)


def _files(path: Path, *, strict: bool) -> dict[Path, Element]:
    """The model and what it includes; what cannot be read is left to MuJoCo's own message, unless `strict`."""
    main = path.resolve()
    roots: dict[Path, Element] = {}
    waiting = [main]
    while waiting:
        file = waiting.pop()
        if file in roots:
            continue
        try:
            roots[file] = xml.read(file)
        except FormatError:
            if strict:
                raise
            continue
        for element in every(roots[file]):
            if element.tag in INCLUDE and "file" in element.attributes:
                name = _slashes(element.attributes["file"])
                near = dict.fromkeys(folder / name for folder in (main.parent, file.parent, *(f.parent for f in roots)))
                waiting += [each.resolve() for each in near if _is_file(each)]
    return roots


def _check_amount(root: Element) -> None:
    """Copies multiply: one within the other, and with all that is in them."""
    copies = 0
    waiting = [(root, 1)]
    while waiting:
        element, times = waiting.pop()
        if element.tag == "replicate":
            times *= max(int(_size(element, "count")), 1)
        elif element.tag in ("flexcomp", "composite"):
            copies += times * int(_size(element, "count"))
        if times > 1:
            copies += times
        if copies > MAX_COPIES:
            raise element.error(f"the model makes more than {MAX_COPIES} copies. Write fewer.")
        if _size(element, "width") * _size(element, "height") > MAX_PIXELS or (
            _size(element, "nrow") * _size(element, "ncol") > MAX_PIXELS
        ):
            raise element.error(f"<{element.tag}> has more than {MAX_PIXELS} points. Write fewer.")
        waiting += [(child, times) for child in element.children]


def _size(element: Element, name: str) -> float:
    """The product of the numbers of an attribute; 1 where there are none, as MuJoCo says what is wrong with it."""
    try:
        found = math.prod(max(abs(float(word)), 1.0) for word in element.attributes.get(name, "").split())
    except ValueError:
        return 1.0
    return found if found < 1e15 else 1e15  # also where a number is none


def _check_names(roots: dict[Path, Element], inside: Path) -> None:
    elements = [element for root in roots.values() for element in every(root)]
    below = ["", *(each.attributes[key] for each in elements for key in DIRECTORIES if key in each.attributes)]
    begins = {file.parent for file in roots}
    for element in elements:
        for key, value in element.attributes.items():
            if key not in DIRECTORIES and not key.startswith("file"):
                continue
            first = [""] if key in DIRECTORIES or element.tag in INCLUDE else below
            places = (os.path.normpath(begin / _slashes(own) / _slashes(value)) for begin in begins for own in first)
            if not all(Path(place).is_relative_to(inside) for place in places):
                raise element.error(f"{key} is {xml.short(value)}, which leads out of the upload.")
        if element.tag in INCLUDE and not element.attributes.get("file", "a.xml").endswith(".xml"):
            raise element.error("only .xml files can be included.")


def _slashes(name: str) -> str:
    """A name as MuJoCo takes it apart: backslashes separate folders on every system."""
    return name.replace("\\", "/")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or with a null byte
        return False

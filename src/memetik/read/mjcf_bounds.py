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
MAX_PIXELS = 2**26  # of all textures and height fields that the file makes up
MAX_VERTICES = 250_000  # of a mesh that the file makes up
MAX_KEYS = 100_000  # keyframes and numbers of a user's own, which MuJoCo makes room for
DIRECTORIES = ("meshdir", "texturedir", "assetdir")
INCLUDE = ("include", "model")


def check_model(path: Path, inside: Path | None = None) -> None:
    """Raise where a model makes more of itself than any body needs; with `inside`, where it names a file outside of that folder.

    Included files are looked at, too. MuJoCo looks for names in the folder of the model and in that of the including file, so
    each name has to stay inside from all of them, behind all folders that the files declare.
    """
    roots = _files(path, strict=inside is not None)
    for file, root in roots.items():
        _check_amount(root)
        _check_models(file, root, roots, main=path.resolve())
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
    copies, pixels = 0, 0.0
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
        pixels += (
            _size(element, "width") * _size(element, "height") + _size(element, "nrow") * _size(element, "ncol") - 2.0
        )
        if pixels > MAX_PIXELS:
            raise element.error(
                f"the textures and height fields up to here have more than {MAX_PIXELS} points. Write fewer."
            )
        if element.tag == "mesh" and "builtin" in element.attributes and _vertices(element) > MAX_VERTICES:
            raise element.error(f"the mesh has more than {MAX_VERTICES} vertices. Write fewer.")
        for name in element.attributes if element.tag == "size" else ():
            if (name == "nkey" or name.startswith("nuser")) and _size(element, name) > MAX_KEYS:
                raise element.error(f"{name} is more than {MAX_KEYS}. Write fewer.")
        waiting += [(child, times) for child in element.children]


def _vertices(element: Element) -> float:
    """About how many vertices a mesh of MuJoCo's own has: the first parameters are how many there are along its sides."""
    sizes = _sizes(element, "params")
    return max([sizes[0] ** 2, math.prod(sizes[:2])]) if sizes else 1.0


def _check_models(file: Path, root: Element, roots: dict[Path, Element], main: Path) -> None:
    """Raise where a model attaches itself, directly or through others: MuJoCo follows it until memory ends."""
    for element in every(root):
        if element.tag == "model" and "file" in element.attributes:
            waiting, seen = [element.attributes["file"]], set()
            while waiting:
                name = _slashes(waiting.pop())
                for folder in {main.parent, file.parent}:
                    found = (folder / name).resolve() if _is_file(folder / name) else None
                    if found in (file, main):
                        raise element.error(f"the model attaches itself, by the file {xml.short(name)}.")
                    if found in roots and found not in seen:
                        seen.add(found)
                        inner = (
                            each for each in every(roots[found]) if each.tag in INCLUDE and "file" in each.attributes
                        )
                        waiting += [each.attributes["file"] for each in inner]


def _size(element: Element, name: str) -> float:
    """The product of the numbers of an attribute; 1 where there are none, as MuJoCo says what is wrong with it."""
    found = math.prod(_sizes(element, name))
    return found if found < 1e15 else 1e15  # also where a number is none


def _sizes(element: Element, name: str) -> list[float]:
    """The numbers of an attribute, each at least 1; none where one cannot be read."""
    try:
        return [min(max(abs(float(word)), 1.0), 1e15) for word in element.attributes.get(name, "").split()]
    except ValueError:
        return []


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

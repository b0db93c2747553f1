"""The files that a xacro file includes: only those in the folders of the model, each read once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

from memetik.errors import FormatError
from memetik.read import xml
from memetik.read.resources import Place, mesh_places
from memetik.read.xacro.functions import PACKAGE, parse_yaml
from memetik.read.xacro.values import Work, symbols
from memetik.read.xml import Element

MAX_YAML = 200_000  # bytes
MAX_MATCHES = 1_000  # files that one pattern may include


class Source(NamedTuple):
    """A file, and the folder that what it names relative to itself has to lie in."""

    path: Path
    inside: Path


class Files:
    """Opens what a model includes. Nothing outside of the model's folder, the one above it, its packages and `roots` is read."""

    def __init__(self, file: Path, roots: Iterable[Path]) -> None:
        path = file.resolve()
        self.main = Source(path, path.parent.parent)
        self._roots = list(roots)
        self._elements: dict[Path, Element] = {}
        self._values: dict[Path, Any] = {}

    def element(self, source: Source, work: Work) -> Element:
        """The root element of a file."""
        if source.path not in self._elements:
            self._elements[source.path] = xml.read(source.path)
            work.add(source.path.stat().st_size // 100)
        work.add(10)
        return self._elements[source.path]

    def find(self, name: str, current: Source, element: Element, *, optional: bool) -> list[Source]:
        """The files that an include means: one, or those that match a pattern."""
        folder, _, last = name.rpartition("/")
        if any(c in last for c in "*?["):
            return sorted(self._matching(folder, last, current))
        found = self._found(name, current)
        if found is None and not optional:
            raise element.error(f"{self._absent(name)}")
        return [] if found is None else [found]

    def yaml(self, name: str, current: Source, work: Work) -> Any:
        """The value of a YAML file."""
        found = self._found(name, current)
        if found is None:
            raise FormatError(self._absent(name))
        if found.path not in self._values:
            with found.path.open("rb") as stream:
                data = stream.read(MAX_YAML + 1)
            if len(data) > MAX_YAML:
                raise FormatError(f"{found.path.name} is larger than {MAX_YAML // 1000} kB.")
            work.add(2 * len(data))
            self._values[found.path] = parse_yaml(data.decode(errors="replace"), symbols(), work)
        return self._values[found.path]

    def _found(self, name: str, current: Source) -> Source | None:
        for place in self._places(name, current):
            try:
                path, inside = place.path.resolve(), place.inside.resolve()
                if path.is_relative_to(inside) and path.is_file():
                    return Source(path, inside)
            except (OSError, ValueError, RuntimeError):  # too long, a null byte, a circle of links: no such file
                continue
        return None

    def _places(self, name: str, current: Source) -> list[Place]:
        if PACKAGE in name:  # also behind file://
            return mesh_places(name[name.index(PACKAGE) :], self._roots, self.main.path)
        own = Place(current.path.parent / name.removeprefix("file://"), current.inside)
        return [own, *mesh_places(name, self._roots)]

    def _matching(self, folder: str, pattern: str, current: Source) -> Iterator[Source]:
        for place in self._places(f"{folder}/" if folder else ".", current):
            path, inside = place.path.resolve(), place.inside.resolve()
            if path.is_relative_to(inside) and path.is_dir():
                names = [each for each in path.iterdir() if fnmatch(each.name, pattern)][:MAX_MATCHES]
                for each in names:
                    if each.resolve().is_relative_to(inside) and each.is_file():
                        yield Source(each.resolve(), inside)
                return

    def _absent(self, name: str) -> str:
        return (
            f"the file {xml.short(name)} is not in the folders of the model: {self.main.inside}, its packages, and roots. "
            "If it is elsewhere, name its folder: mk.load(..., roots=[FOLDER])."
        )

"""NAME.shapes.json: simple shapes that stand for the meshes of a body, link by link.

    {
     "format": "memetik shapes 1",
     "body": "panda",
     "links": {
      "panda_link0": {
       "of": "collision", "key": "8f0c...", "volume": 0.00312, "hull_volume": 0.00251,
       "shapes": [
        {"kind": "capsule", "size": [0.06, 0.12], "position": [0.0, 0.0, 0.1], "quaternion": [1.0, 0.0, 0.0, 0.0]}
       ]
      }
     }
    }

Metres; `size` as in Shape; `position` and `quaternion` (w, x, y, z) place a shape in the frame of its link. `of` says which
meshes the shapes stand for, `key` is a checksum of these and of how they were covered, volumes [m^3] are of the shapes
together and of the convex hull of the meshes.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from os import PathLike
from typing import Any, NamedTuple

from memetik.body import Body, Link, Shape
from memetik.body.cut import rebuilt
from memetik.errors import FormatError, known, shown
from memetik.files import path_of
from memetik.geometry import to_quaternion, transform
from memetik.read.notes import naming

FORMAT = "memetik shapes 1"
OF = ("collision", "visual")
MOST_BYTES = 64 * 2**20


class LinkShapes(NamedTuple):
    """The shapes that stand for the meshes of one link, and what is known about them."""

    shapes: tuple[Shape, ...]
    of: str  # whose meshes: of the collision geometry, or of the visuals
    key: str = ""  # checksum of the meshes and of the options
    volume: float = 0.0  # of the shapes together [m^3]
    hull_volume: float = 0.0  # of the convex hull of the meshes [m^3]


class ShapesFile(NamedTuple):
    """What is in the file."""

    file: str
    body: str
    links: dict[str, LinkShapes]


def read_shapes(path: str | PathLike[str]) -> ShapesFile:
    """The shapes in a file."""
    file = path_of(path, FormatError, "the path of a file of shapes")
    try:
        with file.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise FormatError(f"{file}: the file of shapes cannot be read: {error.strerror}.") from error
    if len(data) > MOST_BYTES:
        raise FormatError(f"{file.name}: a file of shapes has at most {MOST_BYTES // 2**20} MB. Is it another file?")
    return parse_shapes(data, file=file.name)


def parse_shapes(text: str | bytes, *, file: str = "text") -> ShapesFile:
    """The shapes in the text of a file; messages call it `file`."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{file} is not JSON: {str(error).rstrip('.')}.") from error
    content = _table(content, file, "a file of shapes")
    if content.get("format") != FORMAT:
        raise FormatError(f'{file}: "format" is {shown(content.get("format"))}. memetik reads {FORMAT!r}.')
    links = {
        name: _read_link(_table(entry, file, f"link {shown(name)}"), f"{file}, link {shown(name)}")
        for name, entry in _table(content.get("links"), file, '"links"').items()
    }
    return ShapesFile(file, str(content.get("body", "")), links)


def shapes_text(body: str, links: Mapping[str, LinkShapes]) -> str:
    """The text of the file, a line for each shape."""
    entries = []
    for name, link in links.items():
        facts = {"of": link.of, "key": link.key, "volume": link.volume, "hull_volume": link.hull_volume}
        rows = ",\n    ".join(json.dumps(_plain(shape)) for shape in link.shapes)
        entries.append(
            f'  {json.dumps(name)}: {{\n   {json.dumps(facts)[1:-1]},\n   "shapes": [\n    {rows}\n   ]\n  }}'
        )
    inner = ",\n".join(entries)
    return f'{{\n "format": {json.dumps(FORMAT)},\n "body": {json.dumps(body)},\n "links": {{\n{inner}\n }}\n}}\n'


def apply_shapes(body: Body, file: ShapesFile) -> Body:
    """The body with the shapes of a file in place of its meshes; simple shapes of its own stay.

    A link keeps its meshes for drawing: as visuals, if it has none.
    """
    for name in file.links:
        known(name, body.links, "link", f"body {body.name!r} (named in {file.file})")
    links = [covered(link, file.links[name]) if name in file.links else link for name, link in body.links.items()]
    return rebuilt(body, links=links)


def covered(link: Link, found: LinkShapes) -> Link:
    """The link with shapes in place of its meshes."""
    kept = [shape for shape in (link.shapes if found.of == "collision" else link.visuals) if shape.kind != "mesh"]
    return dataclasses.replace(link, shapes=(*kept, *found.shapes), visuals=link.visuals or link.shapes)


def _read_link(entry: dict[str, Any], where: str) -> LinkShapes:
    of = entry.get("of", OF[0])
    if of not in OF:
        raise FormatError(f'{where}: "of" is {shown(of)}. Write {" or ".join(OF)}.')
    rows = entry.get("shapes")
    if not isinstance(rows, list) or not rows:
        raise FormatError(f'{where}: "shapes" is {shown(rows)}. Write a list of at least one shape.')
    shapes = tuple(_read_shape(row, f"{where}, shape {k}") for k, row in enumerate(rows))
    volumes = (_volume(entry.get(key, 0.0), f"{where}: {key}") for key in ("volume", "hull_volume"))
    return LinkShapes(shapes, of, str(entry.get("key", "")), *volumes)


def _read_shape(row: object, where: str) -> Shape:
    values = _table(row, where, "a shape")
    kind = values.get("kind")
    if kind == "mesh":
        raise FormatError(f"{where}: a mesh cannot stand for a mesh. Write a sphere, capsule, cylinder or box.")
    with naming(where):
        place = transform(values.get("position", (0.0, 0.0, 0.0)), values.get("quaternion", (1.0, 0.0, 0.0, 0.0)))
        return Shape(kind, values.get("size"), place)  # type: ignore[arg-type]  # both are checked there


def _volume(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0.0:
        raise FormatError(f"{where} is {shown(value)}. Write a volume in cubic metres.")
    return float(value)


def _table(value: object, where: str, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FormatError(f"{where}: {what} is {shown(value)}, not an object in braces.")
    return value


def _plain(shape: Shape) -> dict[str, Any]:
    place = shape.link_from_shape
    return {
        "kind": shape.kind,
        "size": [round(length, 9) for length in shape.size],
        "position": [round(x, 9) + 0.0 for x in place[:3, 3].tolist()],
        "quaternion": [round(x, 9) + 0.0 for x in to_quaternion(place[:3, :3]).tolist()],
    }

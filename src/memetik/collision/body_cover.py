"""The covers of a whole body: made once, kept in a file beside the model, and used again as long as they fit."""

from __future__ import annotations

import hashlib
import statistics
from collections import Counter
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from memetik.body import Body
from memetik.body.cut import rebuilt
from memetik.collision.fit import KINDS
from memetik.collision.link_cover import Style, cover_surface
from memetik.collision.meshes import hull_volume, require_trimesh
from memetik.collision.sources import Source, find_sources
from memetik.errors import BodyError, known, shown
from memetik.files import cache_folder, is_writable, path_of, writable_file, write_whole
from memetik.geometry.checks import real_number, several, whole_number
from memetik.progress import Report, announce, teller
from memetik.read.resources import Roots
from memetik.read.shapes import OF, LinkShapes, ShapesFile, covered, parse_shapes, read_shapes, shapes_text
from memetik.tables import text_table

SUFFIX = ".shapes.json"
MOST = 8  # shapes of a link that can be asked for


class Cover(NamedTuple):
    """A body with simple shapes in place of meshes. `print(cover)` shows a table of its links."""

    body: Body  # with the shapes
    original: Body  # with the meshes
    links: dict[str, LinkShapes]  # the shapes of each link that has meshes, and how large they are
    made: tuple[str, ...]  # the links that were covered now; the others are from the file
    file: Path | None  # where the shapes are kept

    def ratios(self) -> dict[str, float]:
        """For each link the volume of its shapes over that of the convex hull of its meshes; flat meshes have none."""
        return {name: link.volume / link.hull_volume for name, link in self.links.items() if link.hull_volume > 0.0}

    def __str__(self) -> str:
        ratios = self.ratios()
        rows = [
            {
                "link": name,
                "shapes": _count(link),
                "volume [l]": 1e3 * link.volume,
                "hull [l]": 1e3 * link.hull_volume,
                "ratio": ratios.get(name),
            }
            for name, link in self.links.items()
        ]
        if not ratios:
            return text_table(rows) if rows else f"{self.body.name}: no link has a mesh."
        values = list(ratios.values())
        spread = f"median {statistics.median(values):.3f}, mean {statistics.fmean(values):.3f}, worst {max(values):.3f}"
        shapes = sum(len(link.shapes) for link in self.links.values())
        return (
            f"{text_table(rows)}\n\n{len(rows)} links, {shapes} shapes, volume over that of the convex hull: {spread}"
        )


def cover(
    body: Body,
    *,
    most: int = Style().most,
    kinds: Iterable[str] = Style().kinds,
    gain: float = Style().gain,
    of: str = "collision",
    links: Iterable[str] | None = None,
    roots: Roots = (),
    save: bool | str | PathLike[str] = True,
    progress: Report = None,
) -> Cover:
    """Cover the meshes of a body by simple shapes. `cover(body).body` is what `body.with_shapes()` gives; see there.

    gain: a further shape must save this share of the volume.
    """
    if not isinstance(body, Body):
        raise BodyError(f"cover takes a body, not {shown(body)}. Give one that mk.load returns.")
    style = _style(most, kinds, gain)
    if not isinstance(of, str) or of not in OF:
        raise BodyError(f"of is {shown(of)}. Give {' or '.join(map(repr, OF))}: whose meshes are covered.")
    names = list(body.links) if links is None else _links(body, links)
    sources = find_sources(body, names, of, roots)
    if not sources:
        return Cover(body, body, {}, (), None)
    require_trimesh("covering meshes")
    file = _file(body, save)
    known_shapes = _read(file)
    found, made = {}, []
    with teller(progress, len(sources), f"covering {body.name}") as tell:
        for done, source in enumerate(sources):
            tell(done)
            key = source.key(style)
            kept = known_shapes.get(source.link)
            if kept is None or (kept.key, kept.of) != (key, source.of):
                kept = _made(source, style, key)
                made.append(source.link)
            found[source.link] = kept
    text = shapes_text(body.name, {**known_shapes, **found})
    # What is used is what a later call reads, to the last digit.
    found = {name: link for name, link in parse_shapes(text).links.items() if name in found}
    if file is not None and made:
        _save(file, text, body)
    covered_links = [covered(link, found[name]) if name in found else link for name, link in body.links.items()]
    return Cover(rebuilt(body, links=covered_links), body, found, tuple(made), file)


def _made(source: Source, style: Style, key: str) -> LinkShapes:
    triangles = source.triangles()
    shapes, volume = cover_surface(triangles, style)
    return LinkShapes(shapes, source.of, key, volume, hull_volume(triangles))


def _count(link: LinkShapes) -> str:
    """As "2 capsules, 1 box"."""
    counts = Counter(shape.kind for shape in link.shapes)
    plural = {"box": "boxes"}
    return ", ".join(f"{n} {kind if n == 1 else plural.get(kind, kind + 's')}" for kind, n in counts.items())


# ---- Where shapes are kept -----------------------------------------------------------------------------------


def _file(body: Body, save: bool | str | PathLike[str]) -> Path | None:
    """The file: the one that is named, or beside the model, or in the user's cache if nothing can be written there."""
    if not isinstance(save, bool):
        return path_of(save, BodyError, "save")
    if not save or body.file is None:
        return None
    beside = body.file.with_name(body.file.stem + SUFFIX)
    if beside.exists() or is_writable(beside):
        return beside
    place = hashlib.sha256(str(body.file.resolve()).encode()).hexdigest()[:12]
    return cache_folder() / f"{body.file.stem}-{place}{SUFFIX}"


def _read(file: Path | None) -> dict[str, LinkShapes]:
    if file is None or not file.exists():
        return {}
    found: ShapesFile = read_shapes(file)
    return found.links


def _save(file: Path, text: str, body: Body) -> None:
    writable_file(file)
    write_whole(file, text.encode())
    if body.file is not None and file.parent == cache_folder():
        announce(f"the folder of {body.file.name} cannot be written to, so its shapes are kept in {file}")


# ---- Checks --------------------------------------------------------------------------------------------------


def _style(most: int, kinds: Iterable[str], gain: float) -> Style:
    count = whole_number(most, BodyError, "most", least=1, most=MOST)
    names = tuple(several((kinds,) if isinstance(kinds, str) else kinds, BodyError, "kinds", "['capsule', 'box']"))
    for name in names:
        known(name, KINDS, "kind of shape that covers")
    if not names:
        raise BodyError(f"kinds is empty. Give at least one of {', '.join(KINDS)}.")
    share = real_number(gain, BodyError, "gain")
    if not 0.0 <= share < 1.0:
        raise BodyError(f"gain is {share:g}. Give a share from 0 to below 1: what another shape has to save.")
    return Style(count, tuple(dict.fromkeys(names)), share)


def _links(body: Body, links: Iterable[str]) -> list[str]:
    names = several(links, BodyError, "links", "['hand', 'elbow']")
    return [known(name, body.links, "link", f"body {body.name!r}") for name in names]

"""SVG text: numbers, elements, gradients, and the document around them."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

from memetik.types import Array


def number(value: float) -> str:
    """At most two decimals, which is finer than any screen, and no needless zeros."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def points(xy: Iterable[Sequence[float] | Array]) -> str:
    """Coordinates, for `points` and `d` attributes."""
    return " ".join(f"{number(x)},{number(y)}" for x, y in xy)


def element(tag: str, content: str = "", /, **attributes: str | float) -> str:
    """One element; underscores in names become hyphens, numbers are rounded."""
    parts = [tag]
    for key, value in attributes.items():
        written = value if isinstance(value, str) else number(value)
        parts.append(f"{key.replace('_', '-')}={quoteattr(written)}")
    return f"<{' '.join(parts)}>{content}</{tag}>" if content else f"<{' '.join(parts)}/>"


def text(content: str, /, **attributes: str | float) -> str:
    """A line of text in the reader's own sans-serif font."""
    return element("text", escape(content), font_family="Helvetica, Arial, sans-serif", **attributes)


class Definitions:
    """What elements refer to by name: gradients and filters. Equal ones are kept once.

    The name is a checksum of the content, so that several pictures on one page can never disturb each other.
    """

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def add(self, tag: str, content: str, /, **attributes: str | float) -> str:
        """Keep an element and return the reference to it."""
        name = f"m{zlib.crc32(element(tag, content, **attributes).encode()):08x}"
        self._known[name] = element(tag, content, id=name, **attributes)
        return f"url(#{name})"

    def gradient(self, tag: str, stops: Iterable[tuple[float, str, float]], /, **attributes: str | float) -> str:
        """Keep a gradient given by (offset, colour, opacity) and return the reference to it."""
        content = ""
        for offset, color, opacity in stops:
            content += element("stop", offset=offset, stop_color=color, stop_opacity=opacity)
        return self.add(tag, content, **attributes)

    def __str__(self) -> str:
        return element("defs", "".join(self._known.values())) if self._known else ""


def document(size: tuple[float, float], label: str, definitions: Definitions, parts: Iterable[str]) -> str:
    """The whole file; `label` is what a screen reader says."""
    width, height = size
    content = "\n".join(["", element("title", escape(label)), str(definitions), *parts, ""])
    box: dict[str, str | float] = {"width": width, "height": height, "viewBox": f"0 0 {number(width)} {number(height)}"}
    return element("svg", content, xmlns="http://www.w3.org/2000/svg", **box, role="img") + "\n"

"""What a reader says with the place in the file: errors of the body, and what it mended by itself, each remark once."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from memetik.errors import BodyError, GeometryError, UnknownNameError, warn
from memetik.read.xml import Element

MOST_PLACES = 6


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Put `place` before the message of an error that knows nothing of files."""
    try:
        yield
    except (BodyError, GeometryError, UnknownNameError) as error:
        error.args = (f"{place}: {error}", *error.args[1:])
        raise


class Notes:
    """Gathers remarks while a file is read; `warn` tells each distinct one as a MemetikWarning: forty joints with the same
    flaw give one warning, not forty."""

    def __init__(self) -> None:
        self._places: dict[str, list[Element]] = {}

    def add(self, element: Element, remark: str) -> None:
        """Note that `remark` holds at this element."""
        self._places.setdefault(remark, []).append(element)

    def misspelled(self, element: Element, known: Sequence[str]) -> None:
        """Note children whose tag is nearly a known one; other unknown ones are extensions, and fine."""
        for child in element.children:
            if child.tag not in known:
                near = difflib.get_close_matches(child.tag, known, n=1, cutoff=0.8)
                if near:
                    self.add(child, f"<{child.tag}> is unknown and was ignored; did you mean <{near[0]}>?")

    def warn(self) -> None:
        """Give the warnings, at the line of the caller's program."""
        for remark, elements in self._places.items():
            named = [f"{element.owner} (line {element.line})" for element in elements[:MOST_PLACES]]
            more = len(elements) - len(named)
            places = ", ".join(named) + (f" and {more} more" if more else "")
            warn(f"{elements[0].file}, {places}: {remark}")

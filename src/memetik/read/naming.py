"""Errors of the body, told with the place in the file that caused them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from memetik.errors import BodyError, GeometryError, UnknownNameError


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Put `place` before the message of an error that knows nothing of files."""
    try:
        yield
    except (BodyError, GeometryError, UnknownNameError) as error:
        error.args = (f"{place}: {error}", *error.args[1:])
        raise

"""Uploads: a scene or a body that came through the page, read by the strict readers, never executed."""

from __future__ import annotations

from collections.abc import Sequence

from memetik import scenes
from memetik.errors import FormatError

MOST_BYTES = 8 * 2**20


def read_upload(name: str, content: bytes, roots: Sequence[str] = ()) -> scenes.Scene:
    """The scene in a .json, or a new one around the body in a .urdf."""
    short = name[-100:]
    if len(content) > MOST_BYTES:
        raise FormatError(f"{short} is larger than {MOST_BYTES >> 20} MB, the most that can be uploaded.")
    suffix = short.rpartition(".")[2].lower()
    if suffix == "json":
        return scenes.loads(content, short)
    if suffix not in ("urdf", "xml"):
        raise FormatError(f"{short}: upload a body as .urdf or a scene as .json.")
    try:
        source = scenes.BodySource("urdf", content.decode())
    except UnicodeDecodeError as error:
        raise FormatError(f"{short} is not text in UTF-8: {error.reason} at byte {error.start}.") from error
    return scenes.blank(source, scenes.load_body(source, roots))

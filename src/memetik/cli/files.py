"""Where the commands write."""

from __future__ import annotations

from pathlib import Path

from memetik.write.files import writable_file

OUT = Path("memetik-out")


def ready(path: Path, *suffixes: str) -> Path:
    """The same path, with its folder made, if a file with one of these endings can be written there."""
    return writable_file(path, *suffixes)

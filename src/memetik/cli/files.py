"""Where the commands write."""

from __future__ import annotations

from pathlib import Path

from memetik.batch.checks import require_writable
from memetik.errors import FormatError

OUT = Path("memetik-out")


def ready(path: Path) -> Path:
    """The same path, with its folder made; raise if no file can be written there, before there is one to lose."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"the folder {str(path.parent)!r} cannot be made: {error.strerror}.") from error
    if path.is_dir():
        raise FormatError(f"{path}: this is a folder. Give the name of a file.")
    require_writable(path.parent)
    return path
